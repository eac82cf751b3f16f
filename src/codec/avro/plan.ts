/**
 * The walk plan: writer schemas times wanted paths, compiled once into one flat program for `AvroMachine`.
 *
 * A record's fields follow one another, nested records in place, so that a datum is read by going straight through the
 * program. A record that is mentioned more than once in its schema and is not small, or contains itself, becomes a
 * procedure for each node of the path tree that it is met at; what holds nothing wanted shares one procedure that only
 * checks.
 *
 * Invariants: DEPTH stands only where a schema can nest too deep at all, and where no instruction before on every way
 * has checked as deep; a procedure call is always followed by a deeper DEPTH before the next one, so calls cannot
 * outrun the depth limit; the program's size is bounded.
 */
import { refuse } from '../../core/error-codes.js';
import { AVRO_PLAN_WORDS_MAX } from '../../core/limits.js';
import { NONE, type PathTrie } from '../path-trie.js';
import * as op from './instructions.js';
import type { AvroArray, AvroEnum, AvroMap, AvroRecord, AvroSchema, AvroType, AvroUnion } from './schema.js';
import { SchemaSurvey } from './survey.js';

/** A value that stands for itself, as the elements of an array do: it fills slot 0, and nothing below it is wanted. */
const ELEMENT = -2;

/** What a larger `size` of FIXED would say no more. */
const INT32_MAX = 0x7fffffff;

const ROOT = 0;

/** Records of so many types, in programs of so many words, take less time in place than a call; anywhere, much room. */
const SMALL_RECORD_TYPES = 32;
const SMALL_PROGRAM_WORDS = 16_384;

/** The instruction for one wanted value, which is also their kind. */
const SCALARS = {
  boolean: op.BOOLEAN,
  int: op.INT,
  long: op.LONG,
  float: op.FLOAT,
  double: op.DOUBLE,
  string: op.STRING,
} as const;

export interface AvroPlan {
  readonly code: Int32Array;
  /** Where the program of each schema starts. */
  readonly entries: Int32Array;
  /** Symbols of wanted enums, one after another in UTF-8: symbol `i` from `symbolStarts[i]` to `symbolStarts[i + 1]`. */
  readonly symbols: Uint8Array;
  readonly symbolStarts: Int32Array;
  /** By node of the path tree: its place among the children by key of its parent. */
  readonly ordinals: Int32Array;
}

/**
 * Compiles `schemas` for the paths of `trie`. Refuses with `invalid_request` and the `limit` where schemas and paths
 * together make too large a program.
 */
export function planWalk(trie: PathTrie, schemas: readonly AvroSchema[], maxDepth: number): AvroPlan {
  const planner = new Planner(trie, maxDepth);
  const entries = Int32Array.from(schemas, ({ root }) => planner.program(root));
  return planner.finish(entries);
}

/** A program that is written later, and the words that are to be its place. */
interface Waiting {
  start: number;
  readonly words: number[];
  readonly write: () => void;
}

class Planner {
  private readonly trie: PathTrie;
  private readonly maxDepth: number;
  private readonly ordinals: Int32Array;
  private readonly words: number[] = [];
  private readonly symbolBytes: number[] = [];
  private readonly symbolStarts: number[] = [0];
  private readonly symbolPlaces = new Map<AvroEnum, number>();
  private readonly encoder = new TextEncoder();
  /** Of the schema at hand. */
  private survey = new SchemaSurvey({ kind: 'null' });
  private isDepthBound = false;
  /** Programs of records by node of the path tree, and of elements under ELEMENT. */
  private programs = new Map<AvroRecord | AvroArray, Map<number, Waiting>>();
  private waiting: Waiting[] = [];
  /** Values begun since the last instruction that counted. */
  private pending = 0;
  /** The run of unwanted values that stands last in the program, if nothing leads to behind it; else NONE. */
  private run = NONE;
  /** Deepest level that has been checked on every way to here. */
  private checked = NONE;
  /** True while levels are counted from the root of a datum. */
  private isRooted = true;

  constructor(trie: PathTrie, maxDepth: number) {
    this.trie = trie;
    this.maxDepth = maxDepth;
    this.ordinals = ordinalsOf(trie);
  }

  /** Writes the program of one schema and returns its place. */
  program(root: AvroType): number {
    this.survey = new SchemaSurvey(root);
    this.isDepthBound = this.survey.height > this.maxDepth;
    this.programs = new Map();
    this.waiting = [];
    const place = this.words.length;
    this.whole(root, ROOT, false);
    // Writing one may add others, and ask for those before it.
    for (const waiting of this.waiting) {
      waiting.start = this.words.length;
      waiting.write();
    }
    for (const { words, start } of this.waiting) {
      for (const word of words) this.words[word] = start;
    }
    return place;
  }

  finish(entries: Int32Array): AvroPlan {
    return {
      code: Int32Array.from(this.words),
      entries,
      symbols: Uint8Array.from(this.symbolBytes),
      symbolStarts: Int32Array.from(this.symbolStarts),
      ordinals: this.ordinals,
    };
  }

  private whole(type: AvroType, node: number, isCounted: boolean): void {
    this.begin(true);
    this.value(type, node, 0, isCounted);
    this.count(op.END);
  }

  private begin(isRooted: boolean): void {
    this.pending = 0;
    this.isRooted = isRooted;
    // Whoever calls a record's program has checked the record itself.
    this.checked = isRooted ? NONE : 0;
  }

  /** Reads a value of `type` at `level`; `isCounted` by the block that it is an item of. */
  private value(type: AvroType, node: number, level: number, isCounted: boolean): void {
    if (this.isDepthAsked(level)) this.read(op.DEPTH, level);
    this.checked = Math.max(this.checked, level);
    if (type.kind === 'union') return this.union(type, node, level, isCounted);
    if (!isCounted) this.pending++;
    const slot = this.slotOf(node);
    switch (type.kind) {
      case 'record':
        if (this.isInPlace(type)) return this.fields(type, node, level);
        this.count(op.CALL, NONE, level);
        this.later(this.words.length - 2, type, node, () => {
          this.begin(false);
          this.fields(type, node, 0);
          this.count(op.RETURN);
        });
        return;
      case 'array':
        return this.array(type, node, slot, level);
      case 'map':
        return this.map(type, node, slot, level);
      case 'enum':
        return this.read(op.ENUM, slot, type.symbols.length, slot === NONE ? NONE : this.symbolsOf(type));
      case 'null':
        if (slot !== NONE) this.read(op.NULL, slot);
        return;
      case 'bytes':
        this.read(op.BYTES, slot);
        return this.picks(node);
      case 'fixed':
        if (type.size > 0 || node !== NONE) this.read(op.FIXED, slot, Math.min(type.size, INT32_MAX));
        return this.picks(node);
      default:
        if (slot === NONE) this.skip(SCALARS[type.kind]);
        else this.read(SCALARS[type.kind], slot);
    }
  }

  /** True where a value at `level` may be too deep and nothing before it says. */
  private isDepthAsked(level: number): boolean {
    return this.isDepthBound && level > this.checked && (!this.isRooted || level > this.maxDepth);
  }

  /** True for a record that is read where it is met: what stands in one place only, and what is small in a small program. */
  private isInPlace(type: AvroRecord): boolean {
    if (this.survey.isMentionedOnce(type)) return true;
    return this.survey.sizeOf(type) <= SMALL_RECORD_TYPES && this.words.length <= SMALL_PROGRAM_WORDS;
  }

  private fields(type: AvroRecord, node: number, level: number): void {
    const slot = this.slotOf(node);
    if (slot !== NONE) this.read(op.OBJECT, slot);
    for (const field of type.fields) this.value(field.type, this.childByKey(node, field.name), level + 1, false);
    if (slot !== NONE) this.read(op.OBJECT_END, slot);
  }

  private union(type: AvroUnion, node: number, level: number, isCounted: boolean): void {
    this.count(op.UNION, type.branches.length);
    const table = this.words.length;
    for (let word = 0; word < 2 * type.branches.length; word++) this.emit(0);
    const checked = this.checked;
    /** Words that lead behind the union, each before the number of values that it adds. */
    const ends: { readonly target: number; readonly added: number }[] = [];
    let last = NONE;
    for (const [index, branch] of type.branches.entries()) {
      const entry = table + 2 * index;
      const start = this.words.length;
      this.pending = 0;
      this.checked = checked;
      this.value(branch, node, level + 1, isCounted);
      if (this.words.length === start) {
        // Nothing to read, so that the way leads on at once.
        this.words[entry + 1] = this.pending;
        ends.push({ target: entry, added: entry + 1 });
        continue;
      }
      this.words[entry] = start;
      last = this.words.length;
      this.count(op.JUMP, NONE);
      ends.push({ target: last + 2, added: last + 1 });
    }
    // The branch that was written last needs no jump: what it begins is counted later, and the others count it off.
    let begun = 0;
    if (last !== NONE) {
      begun = this.words[last + 1]!;
      this.words.length = last;
    }
    for (const { target, added } of ends) {
      if (target === last + 2) continue;
      this.words[target] = this.words.length;
      this.words[added]! -= begun;
    }
    this.pending = begun;
    this.checked = checked;
  }

  private array(type: AvroArray, node: number, slot: number, level: number): void {
    const children = this.indexChildren(node);
    if (children.length === 0 && isScalar(type.items) && !this.isDepthAsked(level + 1)) {
      this.count(op.LEAVES, slot, NONE, SCALARS[type.items.kind]);
      this.wantItems(this.words.length - 2, type, node, slot);
      return;
    }
    const header = this.header(op.ARRAY, slot);
    this.wantItems(header + op.HEADER_INNER, type, node, slot);
    const targets = this.words.length;
    for (const child of children) this.emit(this.trie.indexAt[child]!, NONE);
    this.emit(NONE, NONE);
    const checked = this.checked;
    this.loop(header, type.items, level);
    for (const [place, child] of children.entries()) {
      this.words[targets + 2 * place + 1] = this.words.length;
      this.item(header, type.items, child, level, checked);
    }
    this.words[header + op.HEADER_AFTER] = this.words.length;
    this.checked = checked;
  }

  /** `word` is to be the program of one item, if anybody may look through the array: elements of an element nobody does. */
  private wantItems(word: number, type: AvroArray, node: number, slot: number): void {
    if (slot !== NONE && node !== ELEMENT) this.later(word, type, ELEMENT, () => this.whole(type.items, ELEMENT, true));
  }

  private map(type: AvroMap, node: number, slot: number, level: number): void {
    const header = this.header(op.MAP, slot);
    const children = this.keyChildren(node);
    if (children.length > 0) this.words[header + op.HEADER_INNER] = node;
    const targets = this.words.length;
    for (let place = 0; place < children.length; place++) this.emit(NONE);
    const checked = this.checked;
    this.loop(header, type.values, level);
    for (const child of children) {
      this.words[targets + this.ordinals[child]!] = this.words.length;
      const from = this.trie.below[child]!;
      const to = this.trie.belowEnd[child]!;
      if (from < to) this.read(op.CLEAR, from, to);
      this.item(header, type.values, child, level, checked);
    }
    this.words[header + op.HEADER_AFTER] = this.words.length;
    this.checked = checked;
  }

  /** Begins an ARRAY or MAP, up to its targets, and returns its place. */
  private header(code: number, slot: number): number {
    const header = this.words.length;
    this.count(code, slot, NONE, NONE, NONE, NONE);
    return header;
  }

  /** The NEXT that fetches the first item, and the way of items that nothing is wanted of. */
  private loop(header: number, type: AvroType, level: number): void {
    this.words[header + op.HEADER_FIRST] = this.words.length;
    this.count(op.NEXT, header);
    this.words[header + op.HEADER_BODY] = this.words.length;
    this.item(header, type, NONE, level, this.checked);
  }

  private item(header: number, type: AvroType, node: number, level: number, checked: number): void {
    this.checked = checked;
    this.value(type, node, level + 1, true);
    this.count(op.NEXT, header);
  }

  /** The bytes of a run that are wanted by their index. */
  private picks(node: number): void {
    for (const child of this.indexChildren(node)) {
      const slot = this.slotOf(child);
      if (slot !== NONE) this.read(op.PICK, slot, this.trie.indexAt[child]!);
    }
  }

  private symbolsOf(type: AvroEnum): number {
    let place = this.symbolPlaces.get(type);
    if (place === undefined) {
      place = this.symbolStarts.length - 1;
      this.symbolPlaces.set(type, place);
      for (const symbol of type.symbols) {
        for (const byte of this.encoder.encode(symbol)) this.symbolBytes.push(byte);
        this.symbolStarts.push(this.symbolBytes.length);
      }
    }
    return place;
  }

  /** Asks that `word` be the place of the program of `type` at `node`, which `write` writes if nobody asked before. */
  private later(word: number, type: AvroRecord | AvroArray, node: number, write: () => void): void {
    let known = this.programs.get(type);
    if (known === undefined) {
      known = new Map();
      this.programs.set(type, known);
    }
    let waiting = known.get(node);
    if (waiting === undefined) {
      waiting = { start: NONE, words: [], write };
      known.set(node, waiting);
      this.waiting.push(waiting);
    }
    waiting.words.push(word);
  }

  /** An instruction that reads: it says how many values have begun, for the case that it fails. */
  private read(code: number, ...operands: readonly number[]): void {
    this.run = NONE;
    this.emit(code, this.pending, ...operands);
  }

  /** An instruction that counts the values begun so far. */
  private count(code: number, ...operands: readonly number[]): void {
    this.read(code, ...operands);
    this.pending = 0;
  }

  /** One more value that nobody wants. */
  private skip(kind: number): void {
    const { words } = this;
    if (this.run !== NONE && words[this.run] === kind + op.RUN_OF) {
      words[this.run + 1]!++;
      return this.emit(this.pending);
    }
    this.run = words.length;
    this.emit(kind + op.RUN_OF, 1, this.pending);
  }

  private emit(...words: readonly number[]): void {
    if (this.words.length + words.length > AVRO_PLAN_WORDS_MAX) {
      refuse('invalid_request', 'The writer schemas and the paths that the filters read are too many together.', {
        limit: AVRO_PLAN_WORDS_MAX,
      });
    }
    this.words.push(...words);
  }

  private slotOf(node: number): number {
    if (node === ELEMENT) return 0;
    return node === NONE ? NONE : this.trie.slotOf[node]!;
  }

  private childByKey(node: number, key: string): number {
    if (node < 0 || this.trie.keyMarks[node] === 0) return NONE;
    const bytes = this.encoder.encode(key);
    return this.trie.childByKey(node, bytes, 0, bytes.length);
  }

  private keyChildren(node: number): number[] {
    return node < 0 ? [] : keyChildrenOf(this.trie, node);
  }

  /** Those that an array in memory can have, in ascending order. */
  private indexChildren(node: number): number[] {
    const children: number[] = [];
    if (node < 0) return children;
    const { firstIndex, nextIndex, indexAt } = this.trie;
    for (let child = firstIndex[node]!; child !== NONE; child = nextIndex[child]!) {
      if (indexAt[child]! <= INT32_MAX) children.push(child);
    }
    return children;
  }
}

function isScalar(type: AvroType): type is AvroType & { readonly kind: keyof typeof SCALARS } {
  return type.kind in SCALARS;
}

function keyChildrenOf(trie: PathTrie, node: number): number[] {
  const children: number[] = [];
  const start = trie.tableStart[node]!;
  for (let bucket = start; bucket <= start + trie.tableMask[node]!; bucket++) {
    for (let child = trie.table[bucket]!; child !== NONE; child = trie.nextInBucket[child]!) children.push(child);
  }
  return children;
}

function ordinalsOf(trie: PathTrie): Int32Array {
  const ordinals = new Int32Array(trie.slotOf.length);
  for (let node = 0; node < ordinals.length; node++) {
    for (const [ordinal, child] of keyChildrenOf(trie, node).entries()) ordinals[child] = ordinal;
  }
  return ordinals;
}
