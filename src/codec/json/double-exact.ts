/**
 * The last step of decimal to double: big integers in preallocated limbs, compared with the midpoints between
 * neighbouring doubles. Slow (tens of microseconds for the worst texts) and always right.
 *
 * The number is D × 10^E with at most DIGITS_MAX digits in D. A midpoint has at most 768 significant digits, so digits
 * beyond can be replaced by a single "something follows" digit without changing any comparison.
 */
const DIGITS_MAX = 800;
const LIMB = 65536;
/**
 * Largest operand: 801 digits times 2^1075, or 54 bits times 10^1131 (801 digits at a value near 10^−330), are both
 * below 2^3820, which is 239 limbs of 16 bits.
 */
const LIMBS = 256;

/** A magnitude in limbs of 16 bits, least first; the products below stay exact in a double. */
interface Big {
  readonly limbs: Float64Array;
  length: number;
}

const left: Big = { limbs: new Float64Array(LIMBS), length: 0 };
const right: Big = { limbs: new Float64Array(LIMBS), length: 0 };
const digits = new Uint8Array(DIGITS_MAX + 1);
const word = new DataView(new ArrayBuffer(8));

/** The nearest double of the valid JSON number at `start`…`end`, which is known not to overflow. */
export function exactDouble(bytes: Uint8Array, start: number, end: number): number {
  let p = start;
  const negative = bytes[p] === 0x2d;
  if (negative) p++;
  let count = 0;
  let exponent = 0;
  let fraction = false;
  for (; p < end; p++) {
    const digit = bytes[p]! - 0x30;
    if (digit === 0x2e - 0x30) {
      fraction = true;
    } else if (digit >>> 0 > 9) {
      exponent += exponentOf(bytes, p + 1, end);
      break;
    } else if (count < DIGITS_MAX) {
      if (count > 0 || digit > 0) digits[count++] = digit;
      if (fraction) exponent--;
    } else {
      // One more place stands for everything that is cut.
      if (count === DIGITS_MAX) {
        digits[count++] = 0;
        exponent--;
      }
      if (digit > 0) digits[DIGITS_MAX] = 1;
      if (!fraction) exponent++;
    }
  }
  const magnitude = magnitudeOf(count, exponent);
  return negative ? -magnitude : magnitude;
}

function magnitudeOf(count: number, exponent: number): number {
  // Below half of the smallest double, 2.47e-324.
  if (count === 0 || count + exponent < -324) return 0;
  let value = estimate(count, exponent);
  while (compareToMidpoint(count, exponent, value) > 0) value = neighbour(value, 1);
  while (value > 0 && compareToMidpoint(count, exponent, neighbour(value, -1)) < 0) value = neighbour(value, -1);
  return value;
}

/** The digits as a double, a few units in the last place off. */
function estimate(count: number, exponent: number): number {
  const used = Math.min(count, 17);
  let value = 0;
  for (let at = 0; at < used; at++) value = value * 10 + digits[at]!;
  let power = exponent + count - used;
  // In steps, since 10^power may leave the range where the product does not.
  for (; power < -300; power += 300) value /= 1e300;
  value = power < 0 ? value / 10 ** -power : value * 10 ** power;
  return Number.isFinite(value) ? value : Number.MAX_VALUE;
}

/**
 * Order of D × 10^E against the midpoint between `value` (≥ 0) and the next double above, where a tie counts as below
 * if `value` is the even one and as above if it is odd, which is how it rounds.
 */
function compareToMidpoint(count: number, exponent: number, value: number): number {
  word.setFloat64(0, value);
  const highWord = word.getUint32(0);
  const lowWord = word.getUint32(4);
  const biased = highWord >>> 20;
  const mantissa = (highWord & 0xfffff) * 4294967296 + lowWord + (biased === 0 ? 0 : 2 ** 52);
  const shift = (biased === 0 ? 1 : biased) - 1075 - 1;

  left.length = 0;
  for (let at = 0; at < count; at += 9) {
    const upTo = Math.min(at + 9, count);
    let chunk = 0;
    for (let digit = at; digit < upTo; digit++) chunk = chunk * 10 + digits[digit]!;
    multiplyAdd(left, 10 ** (upTo - at), chunk);
  }
  right.length = 0;
  // 2 × mantissa + 1 in two steps, since it may have 54 bits.
  multiplyAdd(right, 1, Math.floor(mantissa / LIMB));
  multiplyAdd(right, LIMB, mantissa % LIMB);
  multiplyAdd(right, 2, 1);
  scale(exponent < 0 ? right : left, Math.abs(exponent), 1e9, 10, 9);
  scale(shift < 0 ? left : right, Math.abs(shift), 2 ** 30, 2, 30);

  const order = compareBig(left, right);
  if (order !== 0) return order;
  return lowWord % 2 === 0 ? -1 : 1;
}

/** Multiplies by base^power, in steps of `stepValue` = base^step. */
function scale(big: Big, power: number, stepValue: number, base: number, step: number): void {
  let rest = power;
  for (; rest >= step; rest -= step) multiplyAdd(big, stepValue, 0);
  if (rest > 0) multiplyAdd(big, base ** rest, 0);
}

/** big = big × factor + plus; both up to 2^37, so each step stays below 2^53. */
function multiplyAdd(big: Big, factor: number, plus: number): void {
  let carry = plus;
  const { limbs } = big;
  for (let at = 0; at < big.length; at++) {
    const product = limbs[at]! * factor + carry;
    carry = Math.floor(product / LIMB);
    limbs[at] = product - carry * LIMB;
  }
  while (carry > 0) {
    const rest = Math.floor(carry / LIMB);
    limbs[big.length++] = carry - rest * LIMB;
    carry = rest;
  }
}

function compareBig(a: Big, b: Big): number {
  if (a.length !== b.length) return a.length < b.length ? -1 : 1;
  for (let at = a.length - 1; at >= 0; at--) {
    if (a.limbs[at] !== b.limbs[at]) return a.limbs[at]! < b.limbs[at]! ? -1 : 1;
  }
  return 0;
}

/** The double one step above or below a non-negative one. */
function neighbour(value: number, direction: 1 | -1): number {
  word.setFloat64(0, value);
  let high = word.getUint32(0);
  let low = word.getUint32(4) + direction;
  if (low < 0) {
    low = 0xffffffff;
    high--;
  } else if (low > 0xffffffff) {
    low = 0;
    high++;
  }
  word.setUint32(0, high);
  word.setUint32(4, low);
  return word.getFloat64(0);
}

/** Value of the exponent digits at `p`, its sign first; beyond ±10^8 it stays there. */
export function exponentOf(bytes: Uint8Array, from: number, end: number): number {
  let p = from;
  const negative = bytes[p] === 0x2d;
  if (negative || bytes[p] === 0x2b) p++;
  let value = 0;
  for (; p < end; p++) {
    if (value < 1e8) value = value * 10 + (bytes[p]! - 0x30);
  }
  return negative ? -value : value;
}
