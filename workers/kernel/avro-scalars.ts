/**
 * Scalars of Avro data, one after another: checked and stepped over, and integers read (contract: laser-filter §5; the same
 * judgement as `src/codec/avro/{skip-scalars,varint}.ts`).
 *
 * Whoever steps gets what is past the last value, or 0 at the first value that is malformed; `valuesLeft` is then how many
 * were still to come, that one among them. Invariant: bytes past `end` may be loaded, and decide nothing.
 */
import { isText } from './texts';

// Kinds, as instructions name them: `src/codec/avro/instructions.ts`.
const STRING: i32 = 1;
const LONG: i32 = 2;
const INT: i32 = 3;
const DOUBLE: i32 = 4;
const FLOAT: i32 = 5;

const HIGH_BITS: u64 = ((<u64>0x80808080) << 32) | 0x80808080;
// Every other seven bits, 14 bits and 28 bits of lanes twice as wide.
const SEPTETS: u64 = ((<u64>0x7f007f) << 32) | 0x7f007f;
const PAIRS: u64 = ((<u64>0x3fff) << 32) | 0x3fff;
const FOURS: u64 = 0xfffffff;
/** Lengths of texts that take one byte are even and below this. */
const LONG_OR_ODD: u32 = 0x81;
const DOUBLE_EXPONENT: u32 = 0x7ff00000;
const FLOAT_EXPONENT: u32 = 0x7f800000;

export let valuesLeft: i32 = 0;
/** The integer that `readLong` has read. */
export let long: i64 = 0;

/** Reads the zigzag varint at `p` into `long`: past it, or 0 where none is. Ten bytes at most, the tenth one bit. */
export function readLong(p: usize, end: usize): usize {
  const bytes = load<u64>(p);
  const ends = ~bytes & HIGH_BITS;
  if (ends == 0) return readLongest(p, end);
  const past = p + 1 + ((<usize>ctz(ends)) >> 3);
  if (past > end) return 0;
  putLong(packed(bytes & (ends ^ (ends - 1))));
  return past;
}

/** One of nine or ten bytes, or of none. */
function readLongest(p: usize, end: usize): usize {
  const low = packed(load<u64>(p));
  const ninth = load<u64>(p, 8) & 0xff;
  if (ninth < 0x80) {
    putLong(low | (ninth << 56));
    return p + 9 > end ? 0 : p + 9;
  }
  const tenth = load<u64>(p, 9) & 0xff;
  putLong(low | ((ninth & 0x7f) << 56) | (tenth << 63));
  return p + 10 > end || tenth > 1 ? 0 : p + 10;
}

/** The low seven bits of each byte side by side. */
function packed(bytes: u64): u64 {
  const pairs = (bytes & SEPTETS) | ((bytes & (SEPTETS << 8)) >> 1);
  const fours = (pairs & PAIRS) | ((pairs & (PAIRS << 16)) >> 2);
  return (fours & FOURS) | ((fours & (FOURS << 32)) >> 4);
}

function putLong(zigzag: u64): void {
  long = (<i64>(zigzag >> 1)) ^ -(<i64>(zigzag & 1));
}

/** Steps over `count` values of a kind, 1 or more. */
export function skipScalars(kind: i32, from: usize, end: usize, count: i32): usize {
  if (kind == STRING) return skipStrings(from, end, count);
  if (kind == DOUBLE) return skipDoubles(from, end, count);
  if (kind == LONG) return skipLongs(from, end, count);
  if (kind == INT) return skipInts(from, end, count);
  if (kind == FLOAT) return skipFloats(from, end, count);
  return skipBooleans(from, end, count);
}

export function skipStrings(from: usize, end: usize, count: i32): usize {
  let p = from;
  let left = count;
  do {
    let length = <u32>load<u8>(p);
    if ((length & LONG_OR_ODD) == 0) {
      length >>= 1;
      p++;
    } else {
      p = readLong(p, end);
      if (p == 0 || <u64>long > <u64>(end - p)) return failAt(left);
      length = <u32>long;
    }
    const past = p + <usize>length;
    if (past > end) return failAt(left);
    const high = i8x16.bitmask(v128.load(p)) | (i8x16.bitmask(v128.load(p, 16)) << 16);
    const isPlain = length < 32 && (high & ((1 << length) - 1)) == 0;
    if (!isPlain && !isText(p, length)) return failAt(left);
    p = past;
  } while (--left != 0);
  return p;
}

export function skipLongs(from: usize, end: usize, count: i32): usize {
  let p = from;
  let left = count;
  do {
    const ends = ~load<u64>(p) & HIGH_BITS;
    if (ends != 0) {
      p += 1 + ((<usize>ctz(ends)) >> 3);
      if (p > end) return failAt(left);
    } else {
      p = readLongest(p, end);
      if (p == 0) return failAt(left);
    }
  } while (--left != 0);
  return p;
}

export function skipInts(from: usize, end: usize, count: i32): usize {
  let p = from;
  let left = count;
  do {
    const ends = ~load<u32>(p) & (<u32>HIGH_BITS);
    if (ends != 0) {
      p += 1 + ((<usize>ctz(ends)) >> 3);
      if (p > end) return failAt(left);
    } else {
      // Four bytes are 28 bits.
      p = readLong(p, end);
      if (p == 0 || !isInt(long)) return failAt(left);
    }
  } while (--left != 0);
  return p;
}

export function isInt(value: i64): bool {
  return <i64>(<i32>value) == value;
}

export function skipDoubles(from: usize, end: usize, count: i32): usize {
  let p = from;
  let left = count;
  do {
    // All ones in the exponent is infinite or no number.
    if (p + 8 > end || (load<u32>(p, 4) & DOUBLE_EXPONENT) == DOUBLE_EXPONENT) return failAt(left);
    p += 8;
  } while (--left != 0);
  return p;
}

export function skipFloats(from: usize, end: usize, count: i32): usize {
  let p = from;
  let left = count;
  do {
    if (p + 4 > end || (load<u32>(p) & FLOAT_EXPONENT) == FLOAT_EXPONENT) return failAt(left);
    p += 4;
  } while (--left != 0);
  return p;
}

export function skipBooleans(from: usize, end: usize, count: i32): usize {
  let p = from;
  let left = count;
  do {
    if (p >= end || load<u8>(p) > 1) return failAt(left);
    p++;
  } while (--left != 0);
  return p;
}

function failAt(left: i32): usize {
  valuesLeft = left;
  return 0;
}
