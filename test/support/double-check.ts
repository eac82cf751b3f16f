/** Decimal to double against the platform's own conversion, which is correctly rounded. */
import { NearestDouble } from '../../src/codec/json/decimal-order.js';
import { exactDouble } from '../../src/codec/json/double-exact.js';
import { numberOverflows, putDouble } from '../../src/codec/json/double.js';
import type { Seeded } from './seeded.js';

const utf8 = new TextEncoder();
const out = new Float64Array(1);
const word = new DataView(new ArrayBuffer(8));

/** Reads the number in `text` in every way there is; throws an `Error` where one differs from the platform's. */
export function checkDouble(text: string): void {
  const bytes = utf8.encode(`1${text}2`);
  const end = bytes.length - 1;
  const wanted = Number(text);
  if (numberOverflows(bytes, 1, end) !== !Number.isFinite(wanted)) throw new Error(`overflow of ${text}`);
  if (!Number.isFinite(wanted)) return;
  putDouble(bytes, 1, end, out, 0);
  if (!Object.is(out[0], wanted)) throw new Error(`${text} is not ${out[0]}`);
  if (!Object.is(exactDouble(bytes, 1, end), wanted))
    throw new Error(`${text} is not exactly ${exactDouble(bytes, 1, end)}`);
}

/** Tells the nearest double of a number from its neighbours by the text alone; throws an `Error` where that fails. */
export function checkNearest(text: string): void {
  const bytes = utf8.encode(`1${text}2`);
  const end = bytes.length - 1;
  const wanted = Number(text);
  if (!new NearestDouble(wanted).isNearest(bytes, 1, end)) throw new Error(`${text} is not nearest to ${wanted}`);
  for (const other of [-wanted, neighbour(wanted, 1n), wanted === 0 ? 5e-324 : neighbour(wanted, -1n)]) {
    if (!Number.isFinite(other) || other === wanted) continue;
    if (new NearestDouble(other).isNearest(bytes, 1, end)) throw new Error(`${text} is also nearest to ${other}`);
  }
}

/** The double one step away from zero (1) or, of one that is not zero, towards it (−1). */
function neighbour(value: number, step: 1n | -1n): number {
  word.setFloat64(0, value);
  word.setBigUint64(0, word.getBigUint64(0) + step);
  return word.getFloat64(0);
}

/** Any finite double. */
export function randomDouble(random: Seeded): number {
  word.setUint32(0, random.below(2 ** 32));
  word.setUint32(4, random.below(2 ** 32));
  const value = word.getFloat64(0);
  return Number.isFinite(value) ? value : 1.5;
}

/** The exact decimal half way between a positive double and the next one above. */
export function midpoint(value: number): { digits: bigint; exponent: number } {
  word.setFloat64(0, value);
  const bits = word.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const mantissa = (bits & ((1n << 52n) - 1n)) | (biased === 0 ? 0n : 1n << 52n);
  const power = Math.max(biased, 1) - 1076;
  const odd = 2n * mantissa + 1n;
  return power >= 0
    ? { digits: odd << BigInt(power), exponent: 0 }
    : { digits: odd * 5n ** BigInt(-power), exponent: power };
}
