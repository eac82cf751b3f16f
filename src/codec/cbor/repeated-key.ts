/**
 * Whether some text among many stands there twice: for the keys of maps too large to compare in pairs.
 *
 * A table of hashes, half full at most, finds that in a few steps a text. Keys can be written so that their hashes
 * collide; where the steps exceed their budget, the texts are sorted instead, whose worst case is n log n comparisons.
 *
 * Invariants: memory follows the number of texts, and stays for the next call; time is linear in the bytes of the texts
 * but for the logarithm of the worst case.
 */

/** Steps that a table of honest keys stays far below: it takes one and a half for each. */
const STEPS_EACH_MAX = 16;

const EMPTY = 0;

export class RepeatedKey {
  /** By place in the list: hash of the text. */
  private hashes = new Int32Array(0);
  /** One more than a place in the list, or EMPTY; while sorting, the places in order. */
  private table = new Int32Array(0);

  /** True if two of the texts `starts[i]`…`ends[i]` of `bytes`, `from` ≤ i < `to`, are the same. */
  isAmong(bytes: Uint8Array, view: DataView, starts: Int32Array, ends: Int32Array, from: number, to: number): boolean {
    const count = to - from;
    let size = 2;
    while (size < count * 2) size *= 2;
    if (this.table.length < size) {
      this.table = new Int32Array(size);
      this.hashes = new Int32Array(size >> 1);
    }
    const { table, hashes } = this;
    table.fill(EMPTY, 0, size);
    let steps = count * STEPS_EACH_MAX;
    for (let place = 0; place < count; place++) {
      const start = starts[from + place]!;
      const end = ends[from + place]!;
      const hash = hashOf(bytes, view, start, end);
      hashes[place] = hash;
      let cell = hash & (size - 1);
      for (; table[cell] !== EMPTY; cell = (cell + 1) & (size - 1)) {
        if (--steps < 0) return this.isAmongSorted(bytes, starts, ends, from, count);
        const other = table[cell]! - 1;
        if (hashes[other] === hash && orderOf(bytes, starts[from + other]!, ends[from + other]!, start, end) === 0) {
          return true;
        }
      }
      table[cell] = place + 1;
    }
    return false;
  }

  /** As `isAmong`, by a heap sort of `count` texts from `from` on. */
  private isAmongSorted(bytes: Uint8Array, starts: Int32Array, ends: Int32Array, from: number, count: number): boolean {
    const order = this.table;
    const compare = (left: number, right: number): number =>
      orderOf(bytes, starts[left]!, ends[left]!, starts[right]!, ends[right]!);
    const sink = (top: number, length: number): void => {
      const sunk = order[top]!;
      let at = top;
      for (let child = at * 2 + 1; child < length; child = at * 2 + 1) {
        if (child + 1 < length && compare(order[child]!, order[child + 1]!) < 0) child++;
        if (compare(sunk, order[child]!) >= 0) break;
        order[at] = order[child]!;
        at = child;
      }
      order[at] = sunk;
    };
    for (let place = 0; place < count; place++) order[place] = from + place;
    for (let top = (count >> 1) - 1; top >= 0; top--) sink(top, count);
    for (let last = count - 1; last > 0; last--) {
      const greatest = order[0]!;
      order[0] = order[last]!;
      sink(0, last);
      if (compare(greatest, order[0]) === 0) return true;
    }
    return false;
  }
}

/** Some order of texts, 0 where the bytes `start`…`end` and `otherStart`…`otherEnd` are the same. */
export function orderOf(bytes: Uint8Array, start: number, end: number, otherStart: number, otherEnd: number): number {
  const longer = end - start - (otherEnd - otherStart);
  if (longer !== 0) return longer;
  for (let p = start, q = otherStart; p < end; p++, q++) {
    const difference = bytes[p]! - bytes[q]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Of all bytes of a text, four at a time. */
export function hashOf(bytes: Uint8Array, view: DataView, start: number, end: number): number {
  let hash = end - start;
  let p = start;
  for (; p <= end - 4; p += 4) {
    hash = Math.imul(hash ^ view.getInt32(p, true), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; p < end; p++) hash = Math.imul(hash ^ bytes[p]!, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return hash ^ (hash >>> 13);
}
