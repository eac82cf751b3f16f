/**
 * Slots: what a walker extracts from one payload or header block, as flat typed arrays that are reused for every record.
 *
 * Slot `i` answers "what is at wanted path `i`?" with a kind, a byte range into the payload's buffer and, for numbers,
 * the value. The arrays are the interface between every codec's walker (TypeScript or WebAssembly), the header walker and
 * the program; nothing is allocated per record. They stand in `core` because readers on three layers share them.
 *
 * Invariant: a slot's fields other than `kind` are meaningful only as the kind's comment says.
 */

/** The path leads nowhere in this payload. */
export const SLOT_MISSING = 0;
export const SLOT_NULL = 1;
export const SLOT_FALSE = 2;
export const SLOT_TRUE = 3;
/** Integer within ±(2^53−1): exact in `numbers`. */
export const SLOT_INTEGER = 4;
/** Integer in −2^63 … 2^64−1 beyond that: two's complement (or unsigned) in `high`/`low`; sign by {@link SLOT_NEGATIVE}. */
export const SLOT_INTEGER_WIDE = 5;
/** As {@link SLOT_INTEGER_WIDE}, below zero. */
export const SLOT_NEGATIVE_WIDE = 6;
/** Double in `numbers`: finite from a payload, any (NaN too) from a header. */
export const SLOT_DOUBLE = 7;
/** Text whose UTF-8 bytes stand at `starts`…`ends` (quotes excluded). */
export const SLOT_STRING = 8;
/** Text at `starts`…`ends` that holds escapes of its codec and must be unescaped before use (JSON only). */
export const SLOT_STRING_ESCAPED = 9;
/** Array: its whole encoded bytes at `starts`…`ends`. */
export const SLOT_ARRAY = 10;
/** Object: its whole encoded bytes at `starts`…`ends`. In a header: bytes that are neither text nor a number. */
export const SLOT_OBJECT = 11;

/** One record's extracted values. `starts`/`ends` are positions in the buffer handed to the walker, half-open. */
export class Slots {
  readonly count: number;
  readonly kinds: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly numbers: Float64Array;
  readonly high: Uint32Array;
  readonly low: Uint32Array;

  constructor(count: number) {
    this.count = count;
    this.kinds = new Uint8Array(count);
    this.starts = new Int32Array(count);
    this.ends = new Int32Array(count);
    this.numbers = new Float64Array(count);
    this.high = new Uint32Array(count);
    this.low = new Uint32Array(count);
  }
}
