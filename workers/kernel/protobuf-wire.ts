/**
 * The less common parts of Protobuf's wire format: varints of several bytes, packed elements, and unknown fields
 * (contract: laser-filter §5).
 *
 * Bytes past a limit may be loaded, up to 16, but decide nothing.
 */

// Operations: `src/codec/protobuf/plan.ts`.
export const OP_STRING: u32 = 1;
export const OP_DOUBLE: u32 = 2;
export const OP_MESSAGE: u32 = 3;
export const OP_VARINT: u32 = 4;
export const OP_FLOAT: u32 = 5;
export const OP_FIXED64: u32 = 6;
export const OP_FIXED32: u32 = 7;
export const OP_BYTES: u32 = 8;
export const OP_PACKED: u32 = 9;

const TOP_BITS: u64 = ((<u64>0x80808080) << 32) | 0x80808080;
const LENGTH_MAX: u32 = 0x7fffffff;
export const DOUBLE_EXPONENT: u32 = 0x7ff00000;
export const FLOAT_EXPONENT: u32 = 0x7f800000;

/** Past the varint at `from`, of 64 bits in at most ten bytes, or 0 where it is none or goes past `limit`. */
export function skipVarint(from: usize, limit: usize): usize {
  const ends = ~load<u64>(from) & TOP_BITS;
  const past = ends == 0 ? pastLong(from) : from + ((<usize>ctz(ends)) >> 3) + 1;
  return past > limit ? 0 : past;
}

/** The same of one of nine or ten bytes; past every limit where it is none. */
function pastLong(from: usize): usize {
  if (load<u8>(from, 8) < 0x80) return from + 9;
  return load<u8>(from, 9) <= 1 ? from + 10 : usize.MAX_VALUE;
}

/** The value of the varint at `from`, which is one. */
export function varintAt(from: usize): u64 {
  let byte = <u64>load<u8>(from);
  let value = byte & 0x7f;
  let p = from;
  for (let shift: u64 = 7; byte >= 0x80; shift += 7) {
    byte = <u64>load<u8>(++p);
    value |= (byte & 0x7f) << shift;
  }
  return value;
}

/** The length in the varint at `from`, which is one, or one that no payload has where it is larger. */
export function lengthAt(from: usize): u32 {
  const value = varintAt(from);
  return value > <u64>LENGTH_MAX ? LENGTH_MAX : <u32>value;
}

/** Past the varint at `from`, which is one. */
export function afterVarint(from: usize): usize {
  let p = from;
  while (load<u8>(p) >= 0x80) p++;
  return p + 1;
}

/** Past the value of wire type `wireType` from `from` on, or 0: groups, and wire types that are none. */
export function skipUnknown(wireType: u32, from: usize, limit: usize): usize {
  let past: usize = 0;
  switch (wireType) {
    case 0:
      return skipVarint(from, limit);
    case 1:
      past = from + 8;
      break;
    case 2:
      past = skipVarint(from, limit);
      if (past == 0) return 0;
      past += <usize>lengthAt(from);
      break;
    case 5:
      past = from + 4;
      break;
    default:
      return 0;
  }
  return past > limit ? 0 : past;
}

/** The same of a field that has been found sound. */
export function skipField(wireType: u32, from: usize): usize {
  if (wireType == 0) return afterVarint(from);
  if (wireType == 2) return afterVarint(from) + <usize>lengthAt(from);
  return wireType == 1 ? from + 8 : from + 4;
}

/** True if `from`…`end` is elements of operation `op` that stand packed, floats finite. */
export function isPacked(op: u32, from: usize, end: usize): bool {
  let p = from;
  if (op == OP_VARINT) {
    while (p < end) {
      p = skipVarint(p, end);
      if (p == 0) return false;
    }
    return true;
  }
  if (op == OP_DOUBLE || op == OP_FIXED64) {
    if (((end - from) & 7) != 0) return false;
    if (op == OP_DOUBLE) for (; p < end; p += 8) if (!isFinite64(p)) return false;
    return true;
  }
  if (((end - from) & 3) != 0) return false;
  if (op == OP_FLOAT) for (; p < end; p += 4) if (!isFinite32(p)) return false;
  return true;
}

export function isFinite64(at: usize): bool {
  return (load<u32>(at, 4) & DOUBLE_EXPONENT) != DOUBLE_EXPONENT;
}
export function isFinite32(at: usize): bool {
  return (load<u32>(at) & FLOAT_EXPONENT) != FLOAT_EXPONENT;
}
