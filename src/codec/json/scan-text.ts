/**
 * The parts of a JSON walk that leave the fast path: strings that hold more than plain ASCII, numbers, and the depth
 * scan that decides between "too deep" and "malformed" (laser-filter §5).
 *
 * Pure functions over `bytes[p, end)`: no byte at or past `end` is read, nothing is allocated.
 */
import { utf8Length } from '../../core/utf8.js';
import { numberOverflows } from './double.js';
import { BACKSLASH, QUOTE, skipPlain } from './plain-text.js';

/**
 * Goes on inside a string at a byte that is not plain, up to its closing quote. Returns the quote's position times two,
 * plus one if an escape was seen, or -1 for anything malformed (also: no closing quote before `end`).
 */
export function finishString(bytes: Uint8Array, view: DataView, from: number, end: number): number {
  let p = from;
  let escaped = 0;
  while (p < end) {
    const byte = bytes[p]!;
    if (byte === QUOTE) {
      return p * 2 + escaped;
    } else if (byte === BACKSLASH) {
      escaped = 1;
      p = skipEscape(bytes, p, end);
      if (p < 0) return -1;
    } else if (byte >= 0x80) {
      const length = utf8Length(bytes, p, end);
      if (length === 0) return -1;
      p += length;
    } else if (byte >= 0x20) {
      p = skipPlain(view, p, end);
    } else {
      return -1;
    }
  }
  return -1;
}

/** Past the escape at `p`, or -1; `\u` escapes of surrogates have to come in pairs. */
function skipEscape(bytes: Uint8Array, p: number, end: number): number {
  if (p + 1 >= end) return -1;
  switch (bytes[p + 1]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return p + 2;
    case 0x75: // u
      break;
    default:
      return -1;
  }
  const unit = hexUnit(bytes, p + 2, end);
  if (unit < 0) return -1;
  if (unit < 0xd800 || unit > 0xdfff) return p + 6;
  if (unit > 0xdbff || p + 7 >= end || bytes[p + 6] !== BACKSLASH || bytes[p + 7] !== 0x75) return -1;
  const low = hexUnit(bytes, p + 8, end);
  return low >= 0xdc00 && low <= 0xdfff ? p + 12 : -1;
}

/** The four hex digits at `p` as a number, or -1. */
export function hexUnit(bytes: Uint8Array, p: number, end: number): number {
  if (p + 4 > end) return -1;
  let unit = 0;
  for (let at = p; at < p + 4; at++) {
    const digit = hexDigit(bytes[at]!);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Past the number that starts at `start`, or -1 if it breaks the grammar or overflows a double. */
export function skipNumber(bytes: Uint8Array, start: number, end: number): number {
  let p = start;
  let byte = bytes[p]!;
  if (byte === 0x2d) {
    p = (p + 1) | 0;
    if (p >= end) return -1;
    byte = bytes[p]!;
  }
  if ((byte - 0x30) >>> 0 > 9) return -1;
  p = (p + 1) | 0;
  const isZero = byte === 0x30;
  byte = p < end ? bytes[p]! : 0;
  if (!isZero) {
    while ((byte - 0x30) >>> 0 <= 9) {
      p = (p + 1) | 0;
      byte = p < end ? bytes[p]! : 0;
    }
  }
  if (byte === 0x2e) {
    const point = p;
    do {
      p = (p + 1) | 0;
      byte = p < end ? bytes[p]! : 0;
    } while ((byte - 0x30) >>> 0 <= 9);
    if (p === point + 1) return -1;
  }
  // A number without exponent reaches 1e308 only with 309 digits.
  return (byte | 0x20) === 0x65 || p - start > 308 ? skipLargeNumber(bytes, start, p, end) : p;
}

/** The end of `skipNumber` where an exponent stands at `from`, or so many digits before it that they may overflow. */
function skipLargeNumber(bytes: Uint8Array, start: number, from: number, end: number): number {
  let p = from;
  if (p < end && (bytes[p]! | 0x20) === 0x65) {
    p++;
    if (p < end && (bytes[p] === 0x2b || bytes[p] === 0x2d)) p++;
    const exponent = p;
    while (p < end && (bytes[p]! - 0x30) >>> 0 <= 9) p++;
    if (p === exponent) return -1;
    // 200 digits times 10^99 stay below 1e308.
    if (p - exponent <= 2 && p - start <= 200) return p;
  }
  return numberOverflows(bytes, start, p) ? -1 : p;
}

/**
 * True where the brackets outside strings nest deeper than `maxDepth` anywhere in the bytes, whether or not the rest is
 * JSON: the count never falls below zero, runs on past every other error and is blind after an unterminated string.
 */
export function exceedsDepth(bytes: Uint8Array, start: number, end: number, maxDepth: number): boolean {
  let depth = 0;
  let p = start;
  while (p < end) {
    const byte = bytes[p++]!;
    if (byte === QUOTE) {
      while (p < end && bytes[p] !== QUOTE) p += bytes[p] === BACKSLASH ? 2 : 1;
      p++;
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > maxDepth) return true;
    } else if ((byte === 0x7d || byte === 0x5d) && depth > 0) {
      depth--;
    }
  }
  return false;
}
