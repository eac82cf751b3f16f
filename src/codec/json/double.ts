/**
 * The nearest double of a decimal number in text (IEEE round-half-even), without allocating, and without ever being
 * one bit off: three steps, each of which either is certain or hands on.
 *
 * 1. up to 15 digits and a power of ten up to 10^22: both exact, one correctly rounded operation;
 * 2. up to 19 digits (more are cut, which widens the error bound) times a power of ten, in double-double arithmetic
 *    with an error bound: certain unless the bound straddles a rounding boundary;
 * 3. `double-exact.ts`: big integers against the midpoints between neighbouring doubles.
 */
import { fixedDecimal, orderMagnitude } from './decimal-order.js';
import { exactDouble, exponentOf } from './double-exact.js';

/** Powers of ten that are exactly doubles. */
const EXACT_POWERS = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
/** Range of the double-double powers: within it neither a product nor its error term leaves the normal range. */
const POWER_MAX = 250;
/** 10^(i − POWER_MAX) ≈ high + low, to about 2^−106 of its size. */
const POWER_HIGH = new Float64Array(2 * POWER_MAX + 1);
const POWER_LOW = new Float64Array(2 * POWER_MAX + 1);
for (let power = -POWER_MAX; power <= POWER_MAX; power++) fillPower(power);

const SPLITTER = 134217729; // 2^27 + 1

/** 2^1024 − 2^970, the smallest magnitude that rounds to infinity. */
const OVERFLOW = fixedDecimal(2n ** 54n - 1n, 970);

function fillPower(power: number): void {
  const high = Number(`1e${power}`);
  POWER_HIGH[power + POWER_MAX] = high;
  if (power >= 0) {
    POWER_LOW[power + POWER_MAX] = Number(10n ** BigInt(power) - BigInt(high));
    return;
  }
  // 10^power × 2^1000 as an integer keeps 169 bits and more; high × 2^1000 is an exact integer.
  const scaled = 2n ** 1000n / 10n ** BigInt(-power);
  POWER_LOW[power + POWER_MAX] = Number(scaled - BigInt(high * 2 ** 1000)) / 2 ** 1000;
}

/**
 * Puts the nearest double of the valid JSON number at `start`…`end` into `out[at]`; false, and nothing put, where only
 * the exact conversion can tell. It returns no number, because a double that crosses a call may be boxed on the heap.
 */
export function putEasyDouble(bytes: Uint8Array, start: number, end: number, out: Float64Array, at: number): boolean {
  let p = start;
  const negative = bytes[p] === 0x2d;
  if (negative) p++;
  // Leading digits: 15 into `front`, 4 more into `back`; the rest only moves the exponent.
  let front = 0;
  let back = 0;
  let backDigits = 0;
  let digits = 0;
  let cut = false;
  let exponent = 0;
  let fraction = false;
  for (; p < end; p++) {
    const digit = bytes[p]! - 0x30;
    if (digit >>> 0 <= 9) {
      if (digits === 0 && digit === 0) {
        if (fraction) exponent--;
        continue;
      }
      digits++;
      if (digits <= 15) {
        front = front * 10 + digit;
      } else if (digits <= 19) {
        back = back * 10 + digit;
        backDigits++;
      } else {
        if (digit !== 0) cut = true;
        if (!fraction) exponent++;
        continue;
      }
      if (fraction) exponent--;
    } else if (digit === 0x2e - 0x30) {
      fraction = true;
    } else {
      exponent += exponentOf(bytes, p + 1, end);
      break;
    }
  }
  if (digits === 0) {
    out[at] = negative ? -0 : 0;
    return true;
  }
  if (digits <= 15 && exponent >= -22 && exponent <= 22) {
    const value = exponent < 0 ? front / EXACT_POWERS[-exponent]! : front * EXACT_POWERS[exponent]!;
    out[at] = negative ? -value : value;
    return true;
  }
  if (exponent < -POWER_MAX || exponent > POWER_MAX) return false;
  parts[0] = front;
  parts[1] = back;
  if (!scaleParts(backDigits, exponent, cut)) return false;
  out[at] = negative ? -parts[0]! : parts[0]!;
  return true;
}

/** The nearest double of the valid JSON number at `start`…`end`, always; the number is known not to overflow. */
export function putDouble(bytes: Uint8Array, start: number, end: number, out: Float64Array, at: number): void {
  if (!putEasyDouble(bytes, start, end, out, at)) out[at] = exactDouble(bytes, start, end);
}

/** Working numbers: in, the leading and the following digits; out, the result; then two operands and their error. */
const parts = new Float64Array(5);

/** Makes `parts[0]` (parts[0] × 10^backDigits + parts[1]) × 10^exponent; false if the error bound leaves two candidates. */
function scaleParts(backDigits: number, exponent: number, cut: boolean): boolean {
  // The digits as an exact sum high + low.
  parts[2] = parts[0]!;
  parts[3] = EXACT_POWERS[backDigits]!;
  let high = parts[2] * parts[3];
  multiplyError();
  let low = parts[4]! + parts[1]!;
  let sum = high + low;
  low -= sum - high;
  high = sum;
  // Times the power of ten.
  const powerHigh = POWER_HIGH[exponent + POWER_MAX]!;
  const product = high * powerHigh;
  parts[2] = high;
  parts[3] = powerHigh;
  multiplyError();
  let rest = parts[4]! + (high * POWER_LOW[exponent + POWER_MAX]! + low * powerHigh);
  sum = product + rest;
  rest -= sum - product;
  // Relative errors: below 2^−100 of the arithmetic; cut digits are below one unit of a 19-digit number, 2^−59.
  const error = sum * (cut ? 2 ** -58 : 2 ** -95);
  parts[0] = sum + (rest - error);
  return parts[0] === sum + (rest + error);
}

/** Makes `parts[4]` the error of the rounded product parts[2] × parts[3], exactly (Dekker); within range, see above. */
function multiplyError(): void {
  const a = parts[2]!;
  const b = parts[3]!;
  let scaled = SPLITTER * a;
  const aHigh = scaled - (scaled - a);
  const aLow = a - aHigh;
  scaled = SPLITTER * b;
  const bHigh = scaled - (scaled - b);
  const bLow = b - bHigh;
  parts[4] = aLow * bLow - (a * b - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

/** True where the valid JSON number at `start`…`end` rounds to an infinite double. */
export function numberOverflows(bytes: Uint8Array, start: number, end: number): boolean {
  return orderMagnitude(bytes, start, end, OVERFLOW) >= 0;
}
