/** Numbers at the edges of what integers and doubles hold, and many spellings of each. */
import { midpoint, randomDouble } from './double-check.js';
import type { Seeded } from './seeded.js';

const INTEGER_EDGES = [53n, 63n, 64n, 31n, 32n].flatMap((bits) => [2n ** bits, -(2n ** bits)]);
const POWERS_OF_TEN = Array.from({ length: 22 }, (_, exponent) => 10n ** BigInt(exponent));

/** Integers at and around ±2^31, ±2^32, ±2^53, ±2^63, ±2^64 and every power of ten up to 10^21, and doubles of them. */
export function integerTexts(): string[] {
  const edges = [...INTEGER_EDGES, ...POWERS_OF_TEN, ...POWERS_OF_TEN.map((power) => -power), 0n];
  return edges.flatMap((edge) =>
    [-2n, -1n, 0n, 1n, 2n].flatMap((near) => {
      const text = String(edge + near);
      return [text, `${text}.0`, `${text}e0`, `${text}0e-1`, `${text}.5`, `${text}${'0'.repeat(8)}`];
    }),
  );
}

/** Numbers near the largest and the smallest doubles, zeros in every dress, and numbers of many digits. */
export const DOUBLE_TEXTS: readonly string[] = [
  ['-0', '-0.0', '-0e0', '0e5', '-0e-5', '0.0e999', '-0e999', '0e99999999999999999999', '0.000', '-0.0000000000001'],
  ['1.7976931348623157e308', '1.7976931348623158e308', '1.7976931348623159e308', '-1.7976931348623159e308'],
  ['179769313486231570000e289', '179769313486231580793e288', '179769313486231580794e288', '0.17976931348623159e309'],
  ['1e308', '1e309', '10e307', '10e308', '0.1e309', '0.1e310', '1e400', '1e999', '-1e309', '1e2147483648', '9e307'],
  ['1e4294967296', '1e4294967297', '1e18446744073709551616', '1e-18446744073709551616', '1e99999999999999999999999'],
  ['2.2250738585072014e-308', '2.2250738585072011e-308', '2.225073858507201e-308', '2.2250738585072009e-308'],
  ['4.9e-324', '5e-324', '4e-324', '2.5e-324', '2.4703282292062327e-324', '2.4703282292062328e-324', '2e-324'],
  ['1e-400', '-1e-400', '1e-999', '123456789e-333', '0.000001e-320', '1e-323', '1e-322', '3e-310'],
  ['0.1', '0.2', '0.3', '0.30000000000000004', '1.1', '123456.789', '1e22', '1e23', '8.5e22', '9007199254740993.0'],
  ['9007199254740992.5', '9007199254740993e0', '0.9999999999999999', '0.99999999999999999', '4503599627370496.5'],
  ['7.2057594037927933e16', '1.0000000000000002', '1.00000000000000011102230246251565', '12345678901234567e-5'],
  ['9'.repeat(308)],
  ['9'.repeat(309)],
  [`1${'0'.repeat(308)}`],
  [`1${'0'.repeat(309)}`],
  [`${'9'.repeat(400)}e-92`],
  [`${'9'.repeat(400)}e-91`],
  [`0.${'0'.repeat(400)}1e400`],
  [`0.${'0'.repeat(400)}1e709`],
  [`0.${'0'.repeat(400)}1e710`],
  [`1.${'0'.repeat(800)}1`],
  [`1${'0'.repeat(320)}e-320`],
  [`1.${'7'.repeat(100)}e+00000000000000000005`],
  [`1e${'0'.repeat(100)}308`],
  [`1e${'0'.repeat(100)}309`],
  [`1e-${'0'.repeat(100)}5`],
].flat();

/** A number in a random spelling: of a random double, of a midpoint between two, or digits as they come. */
export function randomNumberText(random: Seeded): string {
  const value = randomDouble(random);
  switch (random.below(6)) {
    case 0:
      return String(value);
    case 1:
      return value.toPrecision(1 + random.below(30));
    case 2: {
      const { digits, exponent } = midpoint(Math.abs(value));
      return `${digits + BigInt(random.below(3) - 1)}e${exponent}`;
    }
    case 3:
      return `${random.chance(0.5) ? '-' : ''}${digitsOf(random, 14 + random.below(9))}`;
    case 4: {
      const exponent = random.pick([0, -1, -5, 5, -300, 280, 305, 308, -320, -340]) + random.below(9);
      return `${digitsOf(random, 1 + random.below(25))}.${digitsOf(random, 1 + random.below(25))}e${exponent}`;
    }
    default:
      return (random.next() * 10 ** (random.below(40) - 20)).toFixed(random.below(20));
  }
}

/** Digits that do not begin with a zero. */
function digitsOf(random: Seeded, count: number): string {
  let text = String(1 + random.below(9));
  while (text.length < count) text += String(random.below(10));
  return text;
}
