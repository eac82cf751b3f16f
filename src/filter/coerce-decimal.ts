/**
 * Exact decimals for the `number` coercion (contract: laser-filter §3 "Coercions").
 *
 * A value is read from UTF-8 bytes or a slot's integer into a `Decimal` that the caller keeps and reuses, so that a
 * record allocates nothing. Nothing is rounded.
 *
 * Invariants: a `Decimal` has neither leading nor trailing zeros, so equal numbers have equal fields. A function that
 * returns false has left its result undefined.
 */
import { COERCED_DIGITS_MAX } from '../core/limits.js';
import { ABOVE, BELOW, EQUAL } from './compare.js';
import type { Order } from './compare.js';

const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;

/** An exact decimal: ±0.d₁d₂…dₙ × 10^`exponent`. Zero has no digits, exponent 0 and no sign. */
export class Decimal {
  negative = false;
  exponent = 0;
  length = 0;
  readonly digits = new Uint8Array(COERCED_DIGITS_MAX);
}

/** Reads `[+-]digits[.digits]` or `[+-].digits`, at most {@link COERCED_DIGITS_MAX} digits, leading zeros counted. */
export function parseDecimal(bytes: Uint8Array, start: number, end: number, out: Decimal): boolean {
  let at = start;
  const sign = at < end ? bytes[at]! : 0;
  if (sign === MINUS || sign === PLUS) at++;
  // Everything but digits is at most a point.
  if (end - at > COERCED_DIGITS_MAX + 1) return false;
  let read = 0;
  let kept = 0;
  let whole = -1;
  let leadingZeros = 0;
  for (; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === POINT && whole < 0) {
      whole = read;
      continue;
    }
    const digit = byte - ZERO;
    if (digit < 0 || digit > 9 || read === COERCED_DIGITS_MAX) return false;
    read++;
    if (digit === 0 && kept === 0) leadingZeros++;
    else out.digits[kept++] = digit;
  }
  if (read === 0 || whole === read) return false;
  finishDecimal(out, sign === MINUS, kept, (whole < 0 ? read : whole) - leadingZeros);
  return true;
}

/**
 * The decimal of the integer `numbers[index]`, which lies within ±(2^53−1).
 *
 * PERF: it is read from where slots hold it, because a large number handed to a function may be boxed on the way.
 */
export function decimalOfInteger(numbers: Float64Array, index: number, out: Decimal): void {
  const value = numbers[index]!;
  let rest = Math.abs(value);
  let length = 0;
  for (let over = rest; over >= 1; over = Math.floor(over / 10)) length++;
  for (let i = length - 1; i >= 0; i--) {
    const digit = rest % 10;
    out.digits[i] = digit;
    rest = (rest - digit) / 10;
  }
  finishDecimal(out, value < 0, length, length);
}

/**
 * The decimal of a wider integer, given as in a slot (two's complement if `negative`). The words may be given as signed
 * or unsigned 32 bits; signed ones are never boxed on the way.
 */
export function decimalOfWideInteger(negative: boolean, high: number, low: number, out: Decimal): void {
  const length = wideDigits(negative, high, low, out.digits);
  finishDecimal(out, negative, length, length);
}

/**
 * The shortest decimal that round-trips a finite double, by way of the text that the language prints for it. It
 * allocates: the scan loop never needs it for a record.
 */
export function decimalOfDouble(value: number, out: Decimal): void {
  // As printed: d…[.d…][e±d…], at most 21 digits before the point.
  const [mantissa, power] = String(Math.abs(value)).split('e');
  const [whole, fraction] = mantissa!.split('.');
  const all = whole! + (fraction ?? '');
  const leadingZeros = all.length - all.replace(/^0+/, '').length;
  for (let i = leadingZeros; i < all.length; i++) out.digits[i - leadingZeros] = all.charCodeAt(i) - ZERO;
  finishDecimal(out, value < 0, all.length - leadingZeros, whole!.length - leadingZeros + Number(power ?? 0));
}

/** Drops trailing zeros and the sign of zero. */
function finishDecimal(out: Decimal, negative: boolean, length: number, exponent: number): void {
  while (length > 0 && out.digits[length - 1] === 0) length--;
  out.length = length;
  out.exponent = length === 0 ? 0 : exponent;
  out.negative = negative && length > 0;
}

/** Exact order of two decimals; never UNORDERED. */
export function orderDecimals(a: Decimal, b: Decimal): Order {
  if (a.negative !== b.negative) return a.negative ? BELOW : ABOVE;
  const order = orderMagnitudes(a, b);
  return a.negative ? (-order as Order) : order;
}

function orderMagnitudes(a: Decimal, b: Decimal): Order {
  if (a.length === 0 || b.length === 0) return orderExact(a.length, b.length);
  if (a.exponent !== b.exponent) return orderExact(a.exponent, b.exponent);
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    if (a.digits[i] !== b.digits[i]) return orderExact(a.digits[i]!, b.digits[i]!);
  }
  return orderExact(a.length, b.length);
}

/** Order of two numbers that are not NaN. */
export function orderExact(a: number, b: number): Order {
  return a < b ? BELOW : a > b ? ABOVE : EQUAL;
}

/**
 * Writes the digits (0 … 9 each) of a wide integer's magnitude, 16 … 20 of them, and returns how many. The words may be
 * given as signed or unsigned 32 bits.
 */
export function wideDigits(negative: boolean, highWord: number, lowWord: number, out: Uint8Array): number {
  const high = highWord >>> 0;
  const low = lowWord >>> 0;
  let restHigh = negative ? (low === 0 ? 0x1_0000_0000 : 0xffff_ffff) - high : high;
  let restLow = negative && low !== 0 ? 0x1_0000_0000 - low : low;
  let length = 0;
  while (restHigh > 0 || restLow > 0) {
    const highRemainder = restHigh % 10;
    const middle = highRemainder * 0x1_0000_0000 + restLow;
    const digit = middle % 10;
    restHigh = (restHigh - highRemainder) / 10;
    restLow = (middle - digit) / 10;
    out[length++] = digit;
  }
  for (let i = 0, j = length - 1; i < j; i++, j--) {
    const digit = out[i]!;
    out[i] = out[j]!;
    out[j] = digit;
  }
  return length;
}
