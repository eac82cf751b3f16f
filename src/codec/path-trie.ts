/**
 * The wanted paths of a walker as a tree in flat arrays: at each object or array the walker asks "which child is this
 * key (or index)?" and gets a node number, which says the slot to fill and where to go on.
 *
 * Keys are UTF-8 bytes, compared with the payload's bytes in place; a small hash table per node (length, first and last
 * byte) keeps a node with hundreds of children as cheap as one with two.
 *
 * Invariants: node 0 is the root value; the paths come in the order of `comparePaths` without repeats, so that the
 * slots below a node are one range (`below[node]` … `belowEnd[node]`), which a repeated key clears at once.
 */
import { comparePaths, type Path } from '../core/path.js';

/** No node, no slot. */
export const NONE = -1;

const EMPTY_KEY_BYTE = 0x22;

interface BuildNode {
  readonly id: number;
  slot: number;
  below: number;
  belowEnd: number;
  readonly keys: Map<string, BuildNode>;
  readonly indexes: Map<number, BuildNode>;
}

export class PathTrie {
  /** Slot of the value at each node, or NONE where only something below it is wanted. */
  readonly slotOf: Int32Array;
  /** First slot of the paths strictly below a node, and one past the last. */
  readonly below: Int32Array;
  readonly belowEnd: Int32Array;
  /** First index child of a node in ascending order, then along `nextIndex`; `indexAt` is the child's index. */
  readonly firstIndex: Int32Array;
  readonly nextIndex: Int32Array;
  readonly indexAt: Float64Array;
  /** What `isMarked` asks: which first bytes and lengths the keys under a node have. */
  readonly keyMarks: Int32Array;
  /** The hash table of each node: where it starts in `table`, its size less one, and children of one bucket chained. */
  readonly tableStart: Int32Array;
  readonly tableMask: Int32Array;
  readonly table: Int32Array;
  readonly nextInBucket: Int32Array;
  /** By child: its key in `keyBytes`. */
  readonly keyStart: Int32Array;
  readonly keyLength: Int32Array;
  readonly keyBytes: Uint8Array;

  /** Throws a plain `Error` if the paths are not strictly ascending, which is a programming error. */
  constructor(paths: readonly Path[]) {
    const nodes = buildTree(paths);
    const count = nodes.length;
    this.slotOf = new Int32Array(count);
    this.below = new Int32Array(count);
    this.belowEnd = new Int32Array(count);
    this.firstIndex = new Int32Array(count).fill(NONE);
    this.nextIndex = new Int32Array(count).fill(NONE);
    this.indexAt = new Float64Array(count);
    this.keyMarks = new Int32Array(count);
    this.tableStart = new Int32Array(count);
    this.tableMask = new Int32Array(count);
    this.nextInBucket = new Int32Array(count).fill(NONE);
    this.keyStart = new Int32Array(count);
    this.keyLength = new Int32Array(count);

    const encoder = new TextEncoder();
    const keyBytes: number[] = [];
    let tableSize = 0;
    for (const node of nodes) {
      this.slotOf[node.id] = node.slot;
      this.below[node.id] = node.below;
      this.belowEnd[node.id] = node.belowEnd;
      let size = 1;
      while (size < node.keys.size * 2) size *= 2;
      this.tableStart[node.id] = tableSize;
      this.tableMask[node.id] = size - 1;
      tableSize += size;
      for (const [key, child] of node.keys) {
        const bytes = encoder.encode(key);
        this.keyStart[child.id] = keyBytes.length;
        this.keyLength[child.id] = bytes.length;
        this.keyMarks[node.id]! |= 1 << markOf(bytes[0] ?? EMPTY_KEY_BYTE, bytes.length);
        keyBytes.push(...bytes);
      }
      let before = NONE;
      for (const [index, child] of [...node.indexes].toSorted(([a], [b]) => a - b)) {
        this.indexAt[child.id] = index;
        if (before === NONE) this.firstIndex[node.id] = child.id;
        else this.nextIndex[before] = child.id;
        before = child.id;
      }
    }
    this.keyBytes = Uint8Array.from(keyBytes);
    this.table = new Int32Array(tableSize).fill(NONE);
    for (const node of nodes) {
      for (const child of node.keys.values()) {
        const start = this.keyStart[child.id]!;
        const bucket = this.bucketOf(node.id, this.keyBytes, start, start + this.keyLength[child.id]!);
        this.nextInBucket[child.id] = this.table[bucket]!;
        this.table[bucket] = child.id;
      }
    }
  }

  /** The child of `node` whose key is the bytes `start`…`end`, or NONE. */
  childByKey(node: number, bytes: Uint8Array, start: number, end: number): number {
    let child = this.table[this.bucketOf(node, bytes, start, end)]!;
    const length = end - start;
    while (child !== NONE) {
      if (this.keyLength[child] === length) {
        const keyBytes = this.keyBytes;
        const keyStart = this.keyStart[child]!;
        let at = 0;
        while (at < length && keyBytes[keyStart + at] === bytes[start + at]) at++;
        if (at === length) return child;
      }
      child = this.nextInBucket[child]!;
    }
    return NONE;
  }

  private bucketOf(node: number, bytes: Uint8Array, start: number, end: number): number {
    const hash = start < end ? end - start + bytes[start]! * 3 + bytes[end - 1]! * 5 : 0;
    return this.tableStart[node]! + (hash & this.tableMask[node]!);
  }
}

/**
 * False where no key with this first byte and this length is among those that `marks` was made of; true says nothing.
 * It spares most unwanted keys the table. The empty key is asked with the quote that closes it.
 */
export function isMarked(marks: number, firstByte: number, length: number): boolean {
  return ((marks >>> markOf(firstByte, length)) & 1) !== 0;
}

function markOf(firstByte: number, length: number): number {
  return (firstByte + length * 7) & 31;
}

function buildTree(paths: readonly Path[]): BuildNode[] {
  const nodes: BuildNode[] = [];
  const add = (slot: number): BuildNode => {
    const node = { id: nodes.length, slot: NONE, below: slot, belowEnd: slot, keys: new Map(), indexes: new Map() };
    nodes.push(node);
    return node;
  };
  const root = add(0);
  for (const [slot, path] of paths.entries()) {
    const before = paths[slot - 1];
    if (before !== undefined && comparePaths(before, path) >= 0) {
      throw new Error('wanted paths must be strictly ascending');
    }
    let node = root;
    for (const step of path) {
      node.belowEnd = slot + 1;
      const children: Map<string | number, BuildNode> = typeof step === 'number' ? node.indexes : node.keys;
      let child = children.get(step);
      if (child === undefined) {
        child = add(slot);
        children.set(step, child);
      }
      node = child;
    }
    node.slot = slot;
    node.below = slot + 1;
    node.belowEnd = slot + 1;
  }
  return nodes;
}
