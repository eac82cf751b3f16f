/**
 * Literals of coerced comparisons, prepared once when their filter is compiled (contract: laser-filter §1 "Validation
 * beyond limits", §3 "Coercions").
 *
 * A literal goes through the very functions that read values, so that both sides of a comparison mean the same.
 */
import { Decimal, decimalOfInteger, decimalOfWideInteger, parseDecimal } from './coerce-decimal.js';
import { Instant, instantOfInteger, instantOfWideInteger, parseInstant } from './coerce-instant.js';
import type { Coercion, Scalar, TimestampFormat } from './ir.js';

/** True if the literal parses under the coercion; a filter with one that does not is refused. */
export function literalCoerces(scalar: Scalar, coercion: Coercion): boolean {
  const prepared = coercion.kind === 'number' ? decimalLiteral(scalar) : instantLiteral(scalar, coercion.format);
  return prepared !== undefined;
}

/** The exact decimal of a decimal text or an integer; undefined for other text and other kinds, doubles included. */
export function decimalLiteral(scalar: Scalar): Decimal | undefined {
  const decimal = new Decimal();
  if (scalar.kind === 'string') {
    const utf8 = new TextEncoder().encode(scalar.value);
    return parseDecimal(utf8, 0, utf8.length, decimal) ? decimal : undefined;
  }
  if (scalar.kind !== 'integer') return undefined;
  const number = Number(scalar.value);
  if (Number.isSafeInteger(number)) decimalOfInteger(Float64Array.of(number), 0, decimal);
  else decimalOfWideInteger(scalar.value < 0n, highWord(scalar.value), lowWord(scalar.value), decimal);
  return decimal;
}

/** The instant of a text or an integer in that format; undefined where it does not parse or overflows. */
export function instantLiteral(scalar: Scalar, format: TimestampFormat): Instant | undefined {
  const instant = new Instant();
  if (scalar.kind === 'string') {
    const utf8 = new TextEncoder().encode(scalar.value);
    return parseInstant(utf8, 0, utf8.length, format, instant) ? instant : undefined;
  }
  if (scalar.kind !== 'integer') return undefined;
  const { value } = scalar;
  const number = Number(value);
  const parses = Number.isSafeInteger(number)
    ? instantOfInteger(Float64Array.of(number), 0, format, instant)
    : instantOfWideInteger(value < 0n, highWord(value), lowWord(value), format, instant);
  return parses ? instant : undefined;
}

/** Two's complement words of an integer in −2^63 … 2^64−1, as slots hold them. */
function highWord(value: bigint): number {
  return Number(BigInt.asUintN(64, value) >> 32n);
}

function lowWord(value: bigint): number {
  return Number(BigInt.asUintN(32, value));
}
