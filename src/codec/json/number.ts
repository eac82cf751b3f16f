/**
 * From the text of a valid JSON number to a slot: integers exact to 64 bits, every other number the nearest double
 * (contract: laser-filter §3, "Comparison of a payload field").
 *
 * A number without fraction or exponent in −2^63 … 2^64−1 is an integer; all others, and `-0`, are doubles. Allocates
 * nothing.
 */
import { SLOT_DOUBLE, SLOT_INTEGER, SLOT_INTEGER_WIDE, SLOT_NEGATIVE_WIDE, type Slots } from '../../core/slots.js';
import { putDouble, putEasyDouble } from './double.js';

const TWO_32 = 4294967296;
const MINUS = 0x2d;

/**
 * Fills `slot` from the number at `start`…`end`. Returns false where the nearest double takes the exact but slow
 * conversion: the slot then only remembers the text, and `finishNumbers` has to run before the slot is read.
 */
export function captureNumber(bytes: Uint8Array, start: number, end: number, slots: Slots, slot: number): boolean {
  let p = start;
  const negative = bytes[p] === MINUS;
  if (negative) p++;
  const digits = end - p;
  let value = 0;
  if (digits <= 15) {
    while (p < end) {
      const digit = bytes[p]! - 0x30;
      if (digit >>> 0 > 9) return captureDouble(bytes, start, end, slots, slot);
      value = value * 10 + digit;
      p++;
    }
    if (negative && value === 0) {
      slots.kinds[slot] = SLOT_DOUBLE;
      slots.numbers[slot] = -0;
      return true;
    }
    slots.kinds[slot] = SLOT_INTEGER;
    slots.numbers[slot] = negative ? -value : value;
    return true;
  }
  for (let at = p; at < end; at++) {
    if ((bytes[at]! - 0x30) >>> 0 > 9) return captureDouble(bytes, start, end, slots, slot);
  }
  if (digits <= 20 && captureWide(bytes, p, end, negative, slots, slot)) return true;
  return captureDouble(bytes, start, end, slots, slot);
}

/** Converts the numbers that `captureNumber` left; a repeated key leaves only its last. */
export function finishNumbers(bytes: Uint8Array, slots: Slots): void {
  const { kinds, numbers } = slots;
  for (let slot = 0; slot < slots.count; slot++) {
    if (kinds[slot] === SLOT_DOUBLE && Number.isNaN(numbers[slot])) {
      putDouble(bytes, slots.starts[slot]!, slots.ends[slot]!, numbers, slot);
    }
  }
}

function captureDouble(bytes: Uint8Array, start: number, end: number, slots: Slots, slot: number): boolean {
  slots.kinds[slot] = SLOT_DOUBLE;
  if (putEasyDouble(bytes, start, end, slots.numbers, slot)) return true;
  slots.numbers[slot] = NaN;
  slots.starts[slot] = start;
  slots.ends[slot] = end;
  return false;
}

/** 16 to 20 digits as a 64-bit integer; false where they leave −2^63 … 2^64−1. */
function captureWide(
  bytes: Uint8Array,
  start: number,
  end: number,
  negative: boolean,
  slots: Slots,
  slot: number,
): boolean {
  // value = upper × 10^10 + lower, both below 10^10.
  let upper = 0;
  let lower = 0;
  for (let at = start; at < end - 10; at++) upper = upper * 10 + (bytes[at]! - 0x30);
  for (let at = end - 10; at < end; at++) lower = lower * 10 + (bytes[at]! - 0x30);
  // 64-bit product from exact doubles: upper = a × 2^16 + b, so a × 10^10 and b × 10^10 stay below 2^53.
  const a = Math.floor(upper / 65536);
  const scaled = a * 1e10;
  const rest = (upper - a * 65536) * 1e10 + lower;
  let low = (scaled % 65536) * 65536 + (rest % TWO_32);
  let high = Math.floor(scaled / 65536) + Math.floor(rest / TWO_32);
  if (low >= TWO_32) {
    low -= TWO_32;
    high += 1;
  }
  if (high >= TWO_32) return false;
  if (high < 0x200000) {
    // Below 2^53: still a safe integer.
    const value = high * TWO_32 + low;
    slots.kinds[slot] = SLOT_INTEGER;
    slots.numbers[slot] = negative ? -value : value;
    return true;
  }
  if (!negative) {
    slots.kinds[slot] = SLOT_INTEGER_WIDE;
    slots.high[slot] = high;
    slots.low[slot] = low;
    return true;
  }
  if (high > 0x80000000 || (high === 0x80000000 && low !== 0)) return false;
  // Two's complement, so that words of equal sign order as unsigned numbers do.
  slots.kinds[slot] = SLOT_NEGATIVE_WIDE;
  slots.low[slot] = -low >>> 0;
  slots.high[slot] = (low === 0 ? -high : ~high) >>> 0;
  return true;
}
