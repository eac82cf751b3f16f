/**
 * Orders the number in a text against a decimal fixed beforehand, digit by digit, so that nothing is converted and the
 * time is linear in the text whatever its digits and exponent are.
 *
 * Two questions are answered this way: does a number round to infinity, and is one given double its nearest.
 */
import type { SoughtNumber } from '../walker.js';
import { exponentOf } from './double-exact.js';

const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;

/** The positive number 0.d₁d₂… × 10^`exponent`, with no zero at either end of its digits. */
export interface FixedDecimal {
  readonly digits: Uint8Array;
  readonly exponent: number;
}

/** numerator × 2^`power`, exactly; the numerator is positive. Allocates. */
export function fixedDecimal(numerator: bigint, power: number): FixedDecimal {
  // A negative power of two is as many fives and a point.
  const scaled = power < 0 ? numerator * 5n ** BigInt(-power) : numerator << BigInt(power);
  const text = scaled.toString();
  return { digits: Uint8Array.from(text.replace(/0+$/, ''), Number), exponent: text.length + Math.min(power, 0) };
}

/** Order (−1, 0, 1) of the magnitude of the valid JSON number at `start`…`end` and a fixed decimal. */
export function orderMagnitude(bytes: Uint8Array, start: number, end: number, fixed: FixedDecimal): number {
  let p = start;
  if (bytes[p] === MINUS) p++;
  // The first non-zero digit and how many places before the point it stands, at first without the written exponent.
  let first = -1;
  let places = 1;
  let isFraction = false;
  let exponent = 0;
  for (; p < end; p++) {
    const byte = bytes[p]!;
    if ((byte - ZERO) >>> 0 <= 9) {
      if (first >= 0) {
        if (!isFraction) places++;
        continue;
      }
      if (isFraction) places--;
      if (byte !== ZERO) first = p;
    } else if (byte === POINT) {
      isFraction = true;
    } else {
      exponent = exponentOf(bytes, p + 1, end);
      break;
    }
  }
  if (first < 0) return -1;
  places += exponent;
  if (places !== fixed.exponent) return places < fixed.exponent ? -1 : 1;
  return orderDigits(bytes, first, end, fixed.digits);
}

/** Order of the digits from `first` to an exponent or `end`, a point among them skipped, and `fixed`. */
function orderDigits(bytes: Uint8Array, first: number, end: number, fixed: Uint8Array): number {
  let at = 0;
  for (let p = first; p < end; p++) {
    const digit = bytes[p]! - ZERO;
    if (digit >>> 0 > 9) {
      if (bytes[p] === POINT) continue;
      break;
    }
    // Past the last fixed digit there are zeros.
    const other = at < fixed.length ? fixed[at]! : 0;
    if (digit !== other) return digit < other ? -1 : 1;
    at++;
  }
  // Missing digits are zeros, and the fixed ones end in another.
  return at < fixed.length ? -1 : 0;
}

/** One finite double, and the decimals between which it is the nearest: halfway to its neighbours. */
export class NearestDouble implements SoughtNumber {
  readonly value: number;
  private readonly isNegative: boolean;
  /** Undefined for zero, which is the nearest of everything small. */
  private readonly lower: FixedDecimal | undefined;
  private readonly upper: FixedDecimal;
  /** A number exactly halfway rounds to the even neighbour. */
  private readonly takesHalves: boolean;

  /** Allocates: once per literal. */
  constructor(value: number) {
    const word = new DataView(new ArrayBuffer(8));
    word.setFloat64(0, Math.abs(value));
    const bits = word.getBigUint64(0);
    const biased = Number(bits >> 52n);
    const fraction = bits & (2n ** 52n - 1n);
    const mantissa = biased === 0 ? fraction : fraction + 2n ** 52n;
    const power = Math.max(biased, 1) - 1075;
    this.value = value;
    this.isNegative = value < 0;
    this.takesHalves = mantissa % 2n === 0n;
    this.upper = fixedDecimal(2n * mantissa + 1n, power - 1);
    // Below a power of two the neighbours stand twice as close.
    if (fraction === 0n && biased > 1) this.lower = fixedDecimal(4n * mantissa - 1n, power - 2);
    else if (mantissa > 0n) this.lower = fixedDecimal(2n * mantissa - 1n, power - 1);
  }

  isNearest(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.lower !== undefined && (bytes[start] === MINUS) !== this.isNegative) return false;
    const above = orderMagnitude(bytes, start, end, this.upper);
    if (above > 0 || (above === 0 && !this.takesHalves)) return false;
    if (this.lower === undefined) return true;
    const below = orderMagnitude(bytes, start, end, this.lower);
    return below > 0 || (below === 0 && this.takesHalves);
  }
}
