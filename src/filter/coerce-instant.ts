/**
 * Instants for the `timestamp` coercion (contract: laser-filter §3 "Coercions").
 *
 * A value is read from UTF-8 bytes or a slot's integer into an `Instant` that the caller keeps and reuses, so that a
 * record allocates nothing. Epoch counts are scaled exactly; nothing is rounded.
 *
 * Invariant: an `Instant` lies in −2^63 … 2^63−1 microseconds around 1970. A function that returns false has left its
 * result undefined.
 */
import type { Order } from './compare.js';
import { orderExact, wideDigits } from './coerce-decimal.js';
import type { TimestampFormat } from './ir.js';

const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const POWERS_OF_TEN = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

/** An instant: `seconds` since 1970-01-01T00:00:00Z (floored) plus `micros`, 0 … 999,999. */
export class Instant {
  seconds = 0;
  micros = 0;
}

/** Order of two instants; never UNORDERED. */
export function orderInstants(a: Instant, b: Instant): Order {
  return a.seconds === b.seconds ? orderExact(a.micros, b.micros) : orderExact(a.seconds, b.seconds);
}

/** Decimal digits below the second in one unit of each epoch format. */
const EPOCH_DECIMALS = { epoch_seconds: 0, epoch_millis: 3, epoch_micros: 6 } as const;
/** The ends of a signed 64-bit count of microseconds. */
const SECONDS_MAX = 9_223_372_036_854;
const SECONDS_MAX_MICROS = 775_807;
const SECONDS_MIN = -9_223_372_036_855;
const SECONDS_MIN_MICROS = 224_192;

/**
 * False where the instant is out of range or NaN.
 *
 * PERF: callers write the fields first, because a large number passed to a function that is not inlined is boxed.
 */
function isInRange(out: Instant): boolean {
  const { seconds, micros } = out;
  if (seconds > SECONDS_MAX || (seconds === SECONDS_MAX && micros > SECONDS_MAX_MICROS)) return false;
  return seconds > SECONDS_MIN || (seconds === SECONDS_MIN && micros >= SECONDS_MIN_MICROS);
}

/** Reads an instant in any format from text: {@link parseRfc3339} or an epoch's integer text. */
export function parseInstant(
  bytes: Uint8Array,
  start: number,
  end: number,
  format: TimestampFormat,
  out: Instant,
): boolean {
  if (format === 'rfc3339') return parseRfc3339(bytes, start, end, out);
  const sign = start < end ? bytes[start]! : 0;
  const from = sign === MINUS || sign === PLUS ? start + 1 : start;
  if (from === end) return false;
  for (let at = from; at < end; at++) if (!isDigit(bytes[at]!)) return false;
  return epochOfDigits(bytes, from, end, ZERO, sign === MINUS, EPOCH_DECIMALS[format], out);
}

/**
 * The instant of the integer `numbers[index]`, which lies within ±(2^53−1). False under `rfc3339`, which takes text
 * only, and on overflow.
 *
 * PERF: it is read from where slots hold it, because a large number handed to a function may be boxed on the way.
 */
export function instantOfInteger(numbers: Float64Array, index: number, format: TimestampFormat, out: Instant): boolean {
  if (format === 'rfc3339') return false;
  const value = numbers[index]!;
  const decimals = EPOCH_DECIMALS[format];
  const unitsPerSecond = POWERS_OF_TEN[decimals]!;
  // The remainder is taken first: a quotient of large integers would round.
  let units = value % unitsPerSecond;
  if (units < 0) units += unitsPerSecond;
  out.seconds = (value - units) / unitsPerSecond;
  out.micros = units * POWERS_OF_TEN[6 - decimals]!;
  return isInRange(out);
}

const WIDE_DIGITS = new Uint8Array(20);

/** The instant of a wider integer, given as in a slot (two's complement if `negative`), words as signed or unsigned. */
export function instantOfWideInteger(
  negative: boolean,
  high: number,
  low: number,
  format: TimestampFormat,
  out: Instant,
): boolean {
  if (format === 'rfc3339') return false;
  const length = wideDigits(negative, high, low, WIDE_DIGITS);
  return epochOfDigits(WIDE_DIGITS, 0, length, 0, negative, EPOCH_DECIMALS[format], out);
}

/** Digits (bytes minus `zero`) of an epoch count with `decimals` of them below the second. */
function epochOfDigits(
  bytes: Uint8Array,
  start: number,
  end: number,
  zero: number,
  negative: boolean,
  decimals: number,
  out: Instant,
): boolean {
  let from = start;
  while (from < end && bytes[from] === zero) from++;
  // 13 digits of seconds are the most that fit; beyond that the sums below would lose digits.
  if (end - from > 13 + decimals) return false;
  const point = Math.max(from, end - decimals);
  let seconds = 0;
  for (let at = from; at < point; at++) seconds = seconds * 10 + (bytes[at]! - zero);
  let micros = 0;
  for (let at = point; at < end; at++) micros = micros * 10 + (bytes[at]! - zero);
  micros *= POWERS_OF_TEN[6 - decimals]!;
  // Floored, as every instant is: −0.5 s is second −1 and half a second.
  const borrows = negative && micros > 0;
  out.seconds = negative ? 0 - seconds - (borrows ? 1 : 0) : seconds;
  out.micros = borrows ? 1_000_000 - micros : micros;
  return isInRange(out);
}

/**
 * Reads `YYYY-MM-DD(T|t)hh:mm:ss[.f…](Z|z|±hh:mm)`: real dates of the proleptic Gregorian calendar, years 0000 … 9999,
 * hours to 23, no leap second, 1 … 9 fraction digits of which those past the sixth are zero, offsets to ±23:59.
 */
export function parseRfc3339(bytes: Uint8Array, start: number, end: number, out: Instant): boolean {
  if (end - start < 20) return false;
  const year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2);
  const month = twoDigits(bytes, start + 5);
  const day = twoDigits(bytes, start + 8);
  const hour = twoDigits(bytes, start + 11);
  const minute = twoDigits(bytes, start + 14);
  const second = twoDigits(bytes, start + 17);
  if (!(bytes[start + 4] === MINUS && bytes[start + 7] === MINUS && (bytes[start + 10]! | 0x20) === 0x74)) return false;
  if (!(bytes[start + 13] === COLON && bytes[start + 16] === COLON)) return false;
  // NaN from a non-digit fails every one of these.
  if (!(year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return false;
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return false;
  let at = start + 19;
  let micros = 0;
  if (bytes[at] === POINT) {
    const first = ++at;
    for (; at < end && isDigit(bytes[at]!); at++) {
      const place = at - first;
      if (place < 6) micros += (bytes[at]! - ZERO) * POWERS_OF_TEN[5 - place]!;
      else if (place > 8 || bytes[at] !== ZERO) return false;
    }
    if (at === first) return false;
  }
  const offset = zoneMinutes(bytes, at, end);
  const days = daysSinceEpoch(year, month, day);
  // An offset that is NaN makes the seconds NaN, which is no instant.
  out.seconds = days * 86_400 + hour * 3600 + (minute - offset) * 60 + second;
  out.micros = micros;
  return isInRange(out);
}

/** Minutes east of UTC, or NaN where `bytes[at, end)` is no zone. */
function zoneMinutes(bytes: Uint8Array, at: number, end: number): number {
  if (end - at === 1) return (bytes[at]! | 0x20) === 0x7a ? 0 : NaN;
  const sign = bytes[at] === PLUS ? 1 : bytes[at] === MINUS ? -1 : NaN;
  if (end - at !== 6 || bytes[at + 3] !== COLON) return NaN;
  const hours = twoDigits(bytes, at + 1);
  const minutes = twoDigits(bytes, at + 4);
  return hours <= 23 && minutes <= 59 ? sign * (hours * 60 + minutes) : NaN;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}

/** 0 … 99, or NaN. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]!;
  const ones = bytes[at + 1]!;
  return isDigit(tens) && isDigit(ones) ? (tens - ZERO) * 10 + (ones - ZERO) : NaN;
}

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function daysInMonth(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && leap ? 29 : DAYS_IN_MONTH[month - 1]!;
}

/** Days from 1970-01-01, negative before it. Years are counted from March, so that a leap day ends its year. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const marchMonth = (month + 9) % 12;
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  // 719,468 days lie between 0000-03-01 and 1970-01-01.
  return marchYear * 365 + leapDays + Math.floor((marchMonth * 153 + 2) / 5) + day - 1 - 719_468;
}
