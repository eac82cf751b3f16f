/**
 * Items whose head says their size, all of it at most seventeen bytes: short text and byte strings, numbers, simple
 * values. They are checked and passed without a branch that depends on what they are.
 *
 * PERF: change records have two items to ten bytes, and a wrong guess of the processor costs as much as all the loads
 * here. The tables are used only by functions of this file, which the compiler folds into the caller with them.
 */
import { BYTES, DOUBLE, FALSE, HALF, NEGATIVE, SINGLE, TEXT, UNDEFINED } from './head.js';

/** Bytes behind a head that are looked at, whatever they belong to: four words. */
const PLAIN_CONTENT_BYTES = 16;

/** By head: bytes of the whole item, 0 where it is not plain. */
const SIZE = new Int32Array(256);
/** By head: the bits of each word behind it that are set only in text that is not ASCII. */
const FIRST_BITS = new Int32Array(256);
const SECOND_BITS = new Int32Array(256);
const THIRD_BITS = new Int32Array(256);
const FOURTH_BITS = new Int32Array(256);
/** By head: bits of the first word, and what they are where a float is not finite or an integer is below −2^63. */
const EXCESS_BITS = new Int32Array(256);
const EXCESS = new Int32Array(256).fill(1);

for (let length = 0; length < 24; length++) {
  SIZE[length] = 1;
  SIZE[NEGATIVE + length] = 1;
  if (length > PLAIN_CONTENT_BYTES) continue;
  SIZE[BYTES + length] = 1 + length;
  SIZE[TEXT + length] = 1 + length;
  for (let at = 0; at < length; at++) {
    const bits = [FIRST_BITS, SECOND_BITS, THIRD_BITS, FOURTH_BITS][at >> 2]!;
    bits[TEXT + length]! |= 0x80 << ((at & 3) * 8);
  }
}
for (const [place, size] of [2, 3, 5, 9].entries()) {
  SIZE[24 + place] = size;
  SIZE[NEGATIVE + 24 + place] = size;
}
for (let head = FALSE; head <= UNDEFINED; head++) SIZE[head] = 1;
for (const [head, size, excess] of [
  // All bits of the exponent, as the bytes stand: the first is the lowest.
  [HALF, 3, 0x7c],
  [SINGLE, 5, 0x807f],
  [DOUBLE, 9, 0xf07f],
  [NEGATIVE + 27, 9, 0x80],
] as const) {
  SIZE[head] = size;
  EXCESS_BITS[head] = excess;
  EXCESS[head] = excess;
}

/** Bytes of an item with this head, its content included, or 0 where it has to be looked at by its kind. */
export function plainSize(head: number): number {
  return SIZE[head]!;
}

/**
 * Whether the plain item at `p` may be other than it should be: 0 where it is valid, anything else where `pastScalar` has
 * to say. Sixteen bytes have to stand behind the head.
 */
export function plainDoubt(view: DataView, p: number, head: number): number {
  const first = view.getInt32((p + 1) | 0, true);
  return (
    (first & FIRST_BITS[head]!) |
    (view.getInt32((p + 5) | 0, true) & SECOND_BITS[head]!) |
    (view.getInt32((p + 9) | 0, true) & THIRD_BITS[head]!) |
    (view.getInt32((p + 13) | 0, true) & FOURTH_BITS[head]!) |
    ((first & EXCESS_BITS[head]!) === EXCESS[head]! ? 1 : 0)
  );
}
