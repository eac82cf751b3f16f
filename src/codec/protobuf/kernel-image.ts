/**
 * The plans of a Protobuf walker and the wanted paths in the form that the kernel reads (`workers/kernel/protobuf-image.ts`
 * says how it is laid out). Places in it are addresses of the kernel's memory, so it is made for the place it goes to.
 */
import { DEPTH_CEILING } from '../../core/limits.js';
import { NONE, type PathTrie } from '../path-trie.js';
import type { DecoderLimits } from '../walker.js';
import { AT_END, IS_WANTED, OP_MASK, OP_MESSAGE, type ProtobufPlan, ROW_SHIFT, ROW_WORDS } from './plan.js';

/** No place. */
const NOWHERE = 0;

const TAGS = 128;
/** Words before the codes of a state, of which the last six are used: codes stand on a multiple of eight bytes. */
const BEFORE_CODES = 8;
const STATE_BLOCK_WORDS = BEFORE_CODES + TAGS;
const STATE_WORDS = 14;
const WANT_WORDS = 8;
const LIST_WORDS = 5;
const ONEOF_WORDS = 4;
const NODE_WORDS = 12;
/** The kernel compares keys eight bytes at a time. */
const PADDING_BYTES = 8;
const ROW_BYTES = ROW_WORDS * 4;

/** Where an image goes, and how large it may be. */
export interface ImagePlace {
  readonly at: number;
  readonly bytesMax: number;
}

/** The image of `plans`, all for the paths of `trie`, which fill `count` slots; null where it has no room. */
export function protobufImage(
  place: ImagePlace,
  plans: readonly ProtobufPlan[],
  trie: PathTrie,
  limits: DecoderLimits,
  count: number,
): Uint8Array | null {
  // What can be large is looked at before it is written.
  const blocks = plans.reduce(
    (words, plan) => words + plan.needs.length * STATE_BLOCK_WORDS + plan.longCodes.length,
    0,
  );
  if (blocks * 4 > place.bytesMax) return null;
  const image = new Image(place.at);
  const header = image.reserve(4);
  const nodes = putNodes(image, trie);
  const table = image.reserve(plans.length);
  image.put(
    table,
    plans.map((plan) => putPlan(image, plan, trie, nodes)),
  );
  image.put(header, [limits.maxPayloadBytes, Math.min(limits.maxDepth, DEPTH_CEILING), count, table]);
  const bytes = image.bytes();
  return bytes.length <= place.bytesMax ? bytes : null;
}

/** Words that are reserved one behind the other and filled when what they point to is known. */
class Image {
  private readonly at: number;
  private readonly words: number[] = [];

  constructor(at: number) {
    this.at = at;
  }

  /** The address of `count` more words, all 0; a multiple of eight. */
  reserve(count: number): number {
    const address = this.at + this.words.length * 4;
    for (let word = 0; word < count + (count % 2); word++) this.words.push(0);
    return address;
  }

  put(address: number, words: Iterable<number>): void {
    let at = (address - this.at) / 4;
    for (const word of words) this.words[at++] = word;
  }

  /** Adds a copy of `values`, and returns its address. */
  add(values: Int32Array | Uint8Array | Float64Array): number {
    const bytes = new Uint8Array(Math.ceil((values.byteLength + PADDING_BYTES) / 4) * 4);
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    const words = new Int32Array(bytes.buffer);
    const address = this.reserve(words.length);
    this.put(address, words);
    return address;
  }

  bytes(): Uint8Array {
    return new Uint8Array(Int32Array.from(this.words).buffer);
  }
}

/** Addresses of the nodes of the tree. */
function putNodes(image: Image, trie: PathTrie): (node: number) => number {
  const first = image.reserve(trie.slotOf.length * NODE_WORDS);
  const addressOf = (node: number): number => (node === NONE ? NOWHERE : first + node * NODE_WORDS * 4);
  const buckets = image.add(trie.table.map(addressOf));
  const keys = image.add(trie.keyBytes);
  for (let node = 0; node < trie.slotOf.length; node++) {
    image.put(addressOf(node), [
      trie.slotOf[node]!,
      trie.below[node]!,
      trie.belowEnd[node]!,
      addressOf(trie.firstIndex[node]!),
      addressOf(trie.nextIndex[node]!),
      trie.indexAt[node]!,
      buckets + trie.tableStart[node]! * 4,
      trie.tableMask[node]!,
      addressOf(trie.nextInBucket[node]!),
      keys + trie.keyStart[node]!,
      trie.keyLength[node]!,
      node,
    ]);
  }
  return addressOf;
}

/** Adds a plan, and returns its address. */
function putPlan(image: Image, plan: ProtobufPlan, trie: PathTrie, nodeAddress: (node: number) => number): number {
  const addresses = (count: number, words: number) => {
    const first = image.reserve(count * words);
    return (index: number): number => (index === NONE ? NOWHERE : first + index * words * 4);
  };
  const header = image.reserve(5);
  const wantCount = plan.wantNode.length;
  const stateAt = addresses(plan.wantedStates, STATE_WORDS);
  const wantAt = addresses(wantCount, WANT_WORDS);
  const listAt = addresses(plan.listFirst.length, LIST_WORDS);
  const oneofAt = addresses(plan.oneofFrom.length - 1, ONEOF_WORDS);
  const blockAt = addresses(plan.needs.length, STATE_BLOCK_WORDS);
  /** Of the plan's bases, which count its own words. */
  const basesByWords = new Map<number, number>();
  let firstBase = plan.root;
  for (let state = 0; state < plan.needs.length; state++) {
    basesByWords.set(firstBase, blockAt(state) + BEFORE_CODES * 4);
    firstBase += plan.words.length / plan.needs.length;
  }
  const baseAt = (base: number): number => basesByWords.get(base) ?? NOWHERE;

  const rows = new Map<number, number>();
  const codeWith = (code: number): number => {
    if (code === 0) return 0;
    const isWanted = (code & IS_WANTED) !== 0;
    const row = code >>> ROW_SHIFT;
    const key = row * 4 + (isWanted ? 2 : 0) + ((code & OP_MASK) === OP_MESSAGE ? 1 : 0);
    let address = rows.get(key);
    if (address === undefined) {
      const target = plan.rows[row * ROW_WORDS]!;
      address = image.reserve(ROW_WORDS);
      const first = isWanted ? wantAt(target) : (code & OP_MASK) === OP_MESSAGE ? baseAt(target) : NOWHERE;
      image.put(address, [first, plan.rows[row * ROW_WORDS + 1]!]);
      rows.set(key, address);
    }
    return (code & ((1 << ROW_SHIFT) - 1)) | ((address / ROW_BYTES) << ROW_SHIFT);
  };

  for (const [base, address] of basesByWords) {
    const state = (address - BEFORE_CODES * 4 - blockAt(0)) / (STATE_BLOCK_WORDS * 4);
    image.put(address - 24, [
      state < plan.wantedStates ? stateAt(state) : NOWHERE,
      plan.needs[state]!,
      plan.longFrom[state]!,
      plan.longDense[state]!,
      plan.longEnd[state]!,
      plan.words[base + AT_END]!,
      ...plan.words.subarray(base, base + TAGS).map(codeWith),
    ]);
  }
  for (let state = 0; state < plan.wantedStates; state++) {
    const node = plan.nodeOf[state]!;
    const count = trie.belowEnd[node]! - trie.below[node]!;
    const init = plan.initFrom[state]!;
    image.put(stateAt(state), [
      nodeAddress(node),
      trie.below[node]!,
      count,
      image.add(plan.initKinds.subarray(init, init + count)),
      image.add(plan.initNumbers.subarray(init, init + count)),
      stateAt(plan.statesEnd[state]!),
      listAt(plan.listsFrom[state]!),
      listAt(plan.listsEnd[state]!),
      plan.isMap[state]!,
      plan.keyType[state]!,
      plan.valueType[state]!,
      plan.valueDefault[state]!,
      baseAt(plan.baseOf[state]!),
    ]);
  }
  for (let want = 0; want < wantCount; want++) {
    const node = plan.wantNode[want]!;
    const state = plan.wantState[want]!;
    const isPlace = plan.isPlace[want] === 1 && plan.isMap[state] === 0;
    image.put(wantAt(want), [
      nodeAddress(node),
      node === NONE ? NONE : trie.slotOf[node]!,
      plan.wantType[want]!,
      listAt(plan.wantList[want]!),
      oneofAt(plan.wantOneof[want]!),
      baseAt(plan.wantBase[want]!),
      isPlace ? stateAt(state) : NOWHERE,
    ]);
  }
  for (const [list, node] of plan.listFirst.entries()) image.put(listAt(list), [nodeAddress(node), 0, 0, NONE, list]);
  const members = image.add(plan.oneofWants.map(wantAt));
  for (let oneof = 0; oneof + 1 < plan.oneofFrom.length; oneof++) {
    image.put(oneofAt(oneof), [
      NOWHERE,
      members + plan.oneofFrom[oneof]! * 4,
      members + plan.oneofFrom[oneof + 1]! * 4,
    ]);
  }
  image.put(header, [
    baseAt(plan.root),
    stateAt(0),
    image.add(plan.longNumbers),
    image.add(plan.longCodes.map(codeWith)),
    image.add(plan.stateOfNode.map(stateAt)),
  ]);
  return header;
}
