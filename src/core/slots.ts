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
/** Integer within ±(2^53−1): exact in `numbers`. In a header `high` is 1 if the value's kind is an unsigned one, else 0. */
export const SLOT_INTEGER = 4;
/** Integer in −2^63 … 2^64−1 beyond that: two's complement (or unsigned) in `high`/`low`; sign by {@link SLOT_NEGATIVE}. */
export const SLOT_INTEGER_WIDE = 5;
/** As {@link SLOT_INTEGER_WIDE}, below zero. */
export const SLOT_NEGATIVE_WIDE = 6;
/** Double in `numbers`: finite from a payload, any (NaN too) from a header. */
export const SLOT_DOUBLE = 7;
/** Text whose UTF-8 bytes stand at `starts`…`ends` (quotes excluded). */
export const SLOT_STRING = 8;
/**
 * Text that does not stand in the payload as it reads: `starts`…`ends` are what the walker's `unescape` turns into it (JSON
 * escapes, symbols of an enum).
 */
export const SLOT_STRING_ESCAPED = 9;
/** Array: its whole encoded bytes at `starts`…`ends`. */
export const SLOT_ARRAY = 10;
/** Object: its whole encoded bytes at `starts`…`ends`. In a header: bytes that are neither text nor a number. */
export const SLOT_OBJECT = 11;

/** Bytes that one slot takes. */
export const SLOT_BYTES = 25;

/** Memory that is given to slots instead of their own: `rows * count * SLOT_BYTES` bytes from `at`, a multiple of 8. */
export interface SlotMemory {
  readonly buffer: ArrayBuffer;
  readonly at: number;
  readonly rows: number;
}

/**
 * Extracted values, one row of `count` slots for each record of a batch: slot `i` of the current record stands at index
 * `base + i` of every array. `starts`/`ends` are positions in the buffer handed to the walker, half-open.
 */
export class Slots {
  /** Slots of one record. */
  readonly count: number;
  readonly rows: number;
  /** Where the current record's row begins: a multiple of `count`. Whoever fills rows ahead of their use moves it. */
  base = 0;
  readonly numbers: Float64Array;
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly kinds: Uint8Array;

  /** One row in memory of its own, or as many as `memory` has. The kernel knows this order of columns. */
  constructor(count: number, memory?: SlotMemory) {
    this.count = count;
    this.rows = memory?.rows ?? 1;
    const cells = count * this.rows;
    const { buffer, at } = memory ?? { buffer: new ArrayBuffer(cells * SLOT_BYTES), at: 0 };
    this.numbers = new Float64Array(buffer, at, cells);
    this.high = new Uint32Array(buffer, at + cells * 8, cells);
    this.low = new Uint32Array(buffer, at + cells * 12, cells);
    this.starts = new Int32Array(buffer, at + cells * 16, cells);
    this.ends = new Int32Array(buffer, at + cells * 20, cells);
    this.kinds = new Uint8Array(buffer, at + cells * 24, cells);
  }

  /** Takes the values of another's current row, of as many slots, into the current one. Makes nothing on the heap. */
  takeRow(from: Slots): void {
    for (let slot = 0; slot < this.count; slot++) {
      const to = this.base + slot;
      const at = from.base + slot;
      this.numbers[to] = from.numbers[at]!;
      this.high[to] = from.high[at]!;
      this.low[to] = from.low[at]!;
      this.starts[to] = from.starts[at]!;
      this.ends[to] = from.ends[at]!;
      this.kinds[to] = from.kinds[at]!;
    }
  }
}
