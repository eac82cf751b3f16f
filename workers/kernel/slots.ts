/**
 * Slots of the current row, as every walker fills them (`src/core/slots.ts` says what they mean and in which order their
 * columns stand).
 *
 * Invariant: whoever walks a payload opens its row first.
 */

// Slot kinds: `src/core/slots.ts`.
export const SLOT_NULL: u8 = 1;
export const SLOT_FALSE: u8 = 2;
export const SLOT_TRUE: u8 = 3;
export const SLOT_INTEGER: u8 = 4;
export const SLOT_INTEGER_WIDE: u8 = 5;
export const SLOT_NEGATIVE_WIDE: u8 = 6;
export const SLOT_DOUBLE: u8 = 7;
export const SLOT_STRING: u8 = 8;
export const SLOT_STRING_ESCAPED: u8 = 9;
export const SLOT_ARRAY: u8 = 10;
export const SLOT_OBJECT: u8 = 11;

// Columns of the slots, in the order of `src/core/slots.ts`.

/** Where the row that is being filled begins, in every column. */
let numbersAt: usize = 0;
let highAt: usize = 0;
let lowAt: usize = 0;
let startsAt: usize = 0;
let endsAt: usize = 0;
let kindsAt: usize = 0;

/** Goes to row `row` of `rows` rows of `count` slots that stand at `at`; its slots all become missing. */
export function openRow(at: usize, rows: usize, count: usize, row: usize): void {
  const cells = rows * count;
  const base = row * count;
  numbersAt = at + (base << 3);
  highAt = at + (cells << 3) + (base << 2);
  lowAt = highAt + (cells << 2);
  startsAt = lowAt + (cells << 2);
  endsAt = startsAt + (cells << 2);
  kindsAt = at + cells * 24 + base;
  if (count <= 8) {
    // What it overwrites of later rows is filled after this one.
    store<u64>(kindsAt, 0);
  } else memory.fill(kindsAt, 0, count);
}

/** Makes the slots `from`…`to` of the row missing. */
export function clearSlots(from: i32, to: i32): void {
  for (let slot = from; slot < to; slot++) store<u8>(kindsAt + <usize>slot, 0);
}
export function putKind(slot: i32, kind: u8): void {
  store<u8>(kindsAt + <usize>slot, kind);
}
/** Positions in the window. */
export function putRange(slot: i32, start: usize, end: usize): void {
  store<u32>(startsAt + ((<usize>slot) << 2), <u32>start);
  store<u32>(endsAt + ((<usize>slot) << 2), <u32>end);
}
/** The end alone, of a range that was begun before. */
export function putEnd(slot: i32, end: usize): void {
  store<u32>(endsAt + ((<usize>slot) << 2), <u32>end);
}
export function putNumber(slot: i32, value: f64): void {
  store<f64>(numbersAt + ((<usize>slot) << 3), value);
}
export function putWords(slot: i32, value: u64): void {
  store<u32>(highAt + ((<usize>slot) << 2), <u32>(value >> 32));
  store<u32>(lowAt + ((<usize>slot) << 2), <u32>value);
}
