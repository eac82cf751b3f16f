/**
 * The walk plan: writer schemas times wanted paths, compiled once into one flat program for `AvroMachine`.
 *
 * A record's fields follow one another, nested records in place, so that a datum is read by going straight through the
 * program. A record that is mentioned more than once in its schema, or contains itself, becomes a procedure for each node
 * of the path tree that it is met at; what holds nothing wanted shares one procedure that only checks.
 *
 * An instruction is some words. The first is its code. The second says how many values the datum has begun since the
 * last instruction that added such a number to the count: instructions that only read a value use it where they fail,
 * the others (marked + below) add it when they run. So counting the value budget costs nothing where no loop and no jump
 * is, and every fault is still judged by the exact number.
 *
 *     END      +                                      the datum (or element) is read
 *     NULL     slot                                   slot NONE, here and below: read and checked, not kept
 *     BOOLEAN  slot
 *     INT      slot
 *     LONG     slot
 *     FLOAT    slot
 *     DOUBLE   slot
 *     STRING   slot
 *     BYTES    slot
 *     FIXED    slot size
 *     PICK     slot index                             of the bytes that BYTES or FIXED just read
 *     ENUM     slot size symbols                      `symbols`: place of the first in `symbolStarts`
 *     UNION  + size (target added)×size               `added`: values that the way to `target` begins
 *     JUMP   + target
 *     ARRAY  + slot body after first element (index target)… (−1 0)
 *     MAP    + slot body after first node target…     targets by the ordinal of the node's children
 *     NEXT   + header                                 `header`: the ARRAY or MAP whose next item comes now
 *     CALL   + target depth
 *     RETURN +
 *     DEPTH    depth                                  a value begins that many levels below the procedure's
 *     OBJECT   slot                                   a wanted record or map begins
 *     OBJECT_END slot
 *     CLEAR    from to                                slots that an earlier entry under the same key may have filled
 *
 * Invariants: DEPTH stands only where a schema can nest too deep at all, and where no instruction before on every way
 * has checked as deep; a procedure call is always followed by a deeper DEPTH before the next one, so calls cannot
 * outrun the depth limit; the program's size is bounded.
 */
import { refuse } from '../../core/error-codes.js';
import { AVRO_PLAN_WORDS_MAX } from '../../core/limits.js';
import { NONE, type PathTrie } from '../path-trie.js';
import type { AvroArray, AvroEnum, AvroMap, AvroRecord, AvroSchema, AvroType, AvroUnion } from './schema.js';
import { SchemaSurvey } from './survey.js';

export const OP_END = 0;
export const OP_NULL = 1;
export const OP_BOOLEAN = 2;
export const OP_INT = 3;
export const OP_LONG = 4;
export const OP_FLOAT = 5;
export const OP_DOUBLE = 6;
export const OP_STRING = 7;
export const OP_BYTES = 8;
export const OP_FIXED = 9;
export const OP_PICK = 10;
export const OP_ENUM = 11;
export const OP_UNION = 12;
export const OP_JUMP = 13;
export const OP_ARRAY = 14;
export const OP_MAP = 15;
export const OP_NEXT = 16;
export const OP_CALL = 17;
export const OP_RETURN = 18;
export const OP_DEPTH = 19;
export const OP_OBJECT = 20;
export const OP_OBJECT_END = 21;
export const OP_CLEAR = 22;

/** Words of ARRAY and MAP by their distance from the instruction. */
export const HEADER_SLOT = 2;
export const HEADER_BODY = 3;
export const HEADER_AFTER = 4;
export const HEADER_FIRST = 5;
/** ARRAY: program of an element, NONE where nobody wants the array. MAP: node of the path tree, or NONE. */
export const HEADER_INNER = 6;
export const HEADER_TARGETS = 7;

/** A value that stands for itself, as the elements of an array do: it fills slot 0, and nothing below it is wanted. */
const ELEMENT = -2;

/** What a larger `size` of FIXED would say no more. */
const INT32_MAX = 0x7fffffff;

const ROOT = 0;

const LEAF_OPS = {
  null: OP_NULL,
  boolean: OP_BOOLEAN,
  int: OP_INT,
  long: OP_LONG,
  float: OP_FLOAT,
  double: OP_DOUBLE,
  string: OP_STRING,
  bytes: OP_BYTES,
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
    this.count(OP_END);
  }

  private begin(isRooted: boolean): void {
    this.pending = 0;
    this.isRooted = isRooted;
    // Whoever calls a record's program has checked the record itself.
    this.checked = isRooted ? NONE : 0;
  }

  /** Reads a value of `type` at `level`; `isCounted` by the block that it is an item of. */
  private value(type: AvroType, node: number, level: number, isCounted: boolean): void {
    if (this.isDepthBound && level > this.checked) {
      this.checked = level;
      if (!this.isRooted || level > this.maxDepth) this.read(OP_DEPTH, level);
    }
    if (type.kind === 'union') return this.union(type, node, level, isCounted);
    if (!isCounted) this.pending++;
    const slot = this.slotOf(node);
    switch (type.kind) {
      case 'record':
        if (this.survey.isMentionedOnce(type)) return this.fields(type, node, level);
        this.count(OP_CALL, NONE, level);
        this.later(this.words.length - 2, type, node, () => {
          this.begin(false);
          this.fields(type, node, 0);
          this.count(OP_RETURN);
        });
        return;
      case 'array':
        return this.array(type, node, slot, level);
      case 'map':
        return this.map(type, node, slot, level);
      case 'enum':
        return this.read(OP_ENUM, slot, type.symbols.length, slot === NONE ? NONE : this.symbolsOf(type));
      case 'null':
        if (slot !== NONE) this.read(OP_NULL, slot);
        return;
      case 'bytes':
        this.read(OP_BYTES, slot);
        return this.picks(node);
      case 'fixed':
        if (type.size > 0 || node !== NONE) this.read(OP_FIXED, slot, Math.min(type.size, INT32_MAX));
        return this.picks(node);
      default:
        this.read(LEAF_OPS[type.kind], slot);
    }
  }

  private fields(type: AvroRecord, node: number, level: number): void {
    const slot = this.slotOf(node);
    if (slot !== NONE) this.read(OP_OBJECT, slot);
    for (const field of type.fields) this.value(field.type, this.childByKey(node, field.name), level + 1, false);
    if (slot !== NONE) this.read(OP_OBJECT_END, slot);
  }

  private union(type: AvroUnion, node: number, level: number, isCounted: boolean): void {
    this.count(OP_UNION, type.branches.length);
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
      this.count(OP_JUMP, NONE);
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
    const header = this.header(OP_ARRAY, slot);
    // Elements of an element are looked for by nobody.
    if (slot !== NONE && node !== ELEMENT)
      this.later(header + HEADER_INNER, type, ELEMENT, () => this.whole(type.items, ELEMENT, true));
    const targets = this.words.length;
    const children = this.indexChildren(node);
    for (const child of children) this.emit(this.trie.indexAt[child]!, NONE);
    this.emit(NONE, NONE);
    const checked = this.checked;
    this.loop(header, type.items, level);
    for (const [place, child] of children.entries()) {
      this.words[targets + 2 * place + 1] = this.words.length;
      this.item(header, type.items, child, level, checked);
    }
    this.words[header + HEADER_AFTER] = this.words.length;
    this.checked = checked;
  }

  private map(type: AvroMap, node: number, slot: number, level: number): void {
    const header = this.header(OP_MAP, slot);
    const children = this.keyChildren(node);
    if (children.length > 0) this.words[header + HEADER_INNER] = node;
    const targets = this.words.length;
    for (let place = 0; place < children.length; place++) this.emit(NONE);
    const checked = this.checked;
    this.loop(header, type.values, level);
    for (const child of children) {
      this.words[targets + this.ordinals[child]!] = this.words.length;
      const from = this.trie.below[child]!;
      const to = this.trie.belowEnd[child]!;
      if (from < to) this.read(OP_CLEAR, from, to);
      this.item(header, type.values, child, level, checked);
    }
    this.words[header + HEADER_AFTER] = this.words.length;
    this.checked = checked;
  }

  /** Begins an ARRAY or MAP, up to its targets, and returns its place. */
  private header(op: number, slot: number): number {
    const header = this.words.length;
    this.count(op, slot, NONE, NONE, NONE, NONE);
    return header;
  }

  /** The NEXT that fetches the first item, and the way of items that nothing is wanted of. */
  private loop(header: number, type: AvroType, level: number): void {
    this.words[header + HEADER_FIRST] = this.words.length;
    this.count(OP_NEXT, header);
    this.words[header + HEADER_BODY] = this.words.length;
    this.item(header, type, NONE, level, this.checked);
  }

  private item(header: number, type: AvroType, node: number, level: number, checked: number): void {
    this.checked = checked;
    this.value(type, node, level + 1, true);
    this.count(OP_NEXT, header);
  }

  /** The bytes of a run that are wanted by their index. */
  private picks(node: number): void {
    for (const child of this.indexChildren(node)) {
      const slot = this.slotOf(child);
      if (slot !== NONE) this.read(OP_PICK, slot, this.trie.indexAt[child]!);
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
  private read(op: number, ...operands: readonly number[]): void {
    this.emit(op, this.pending, ...operands);
  }

  /** An instruction that counts the values begun so far. */
  private count(op: number, ...operands: readonly number[]): void {
    this.read(op, ...operands);
    this.pending = 0;
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
