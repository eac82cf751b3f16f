/**
 * The less common parts of the wire format: varints of several bytes, packed elements, and unknown fields.
 * Nothing at or past `limit` is read, nothing is allocated.
 */
import { highWord, lowWord } from './capture.js';
import { OP_DOUBLE, OP_FIXED32, OP_FIXED64, OP_FLOAT } from './plan.js';

/** Not a place: the bytes are not what they should be. */
export const BAD = -1;

const VARINT_BYTES_MAX = 10;
const LENGTH_MAX = 0x7fffffff;
const DOUBLE_EXPONENT = 0x7ff00000;
const FLOAT_EXPONENT = 0x7f800000;

/** Past the varint at `from`, of 64 bits in at most ten bytes, or BAD. */
export function skipVarint(bytes: Uint8Array, from: number, limit: number): number {
  const last = from + VARINT_BYTES_MAX - 1;
  const end = limit <= last ? limit : last;
  let p = from;
  while (p < end) if (bytes[p++]! < 0x80) return p;
  return p < limit && bytes[p]! <= 1 ? p + 1 : BAD;
}

/** True if the whole varint at `from` is the tag of a number that may be. */
export function isTag(bytes: Uint8Array, from: number): boolean {
  return highWord(bytes, from) === 0;
}

/** The length in the whole varint at `from`, or one that no payload has where it is larger. */
export function lengthIn(bytes: Uint8Array, from: number): number {
  const low = lowWord(bytes, from);
  return low < 0 || highWord(bytes, from) !== 0 ? LENGTH_MAX : low;
}

/** Past the value of an unknown field that starts at `from`, or BAD: groups and wire types that are none. */
export function skipUnknown(bytes: Uint8Array, wireType: number, from: number, limit: number): number {
  switch (wireType) {
    case 0:
      return skipVarint(bytes, from, limit);
    case 1:
      return limit - from >= 8 ? from + 8 : BAD;
    case 2: {
      const start = skipVarint(bytes, from, limit);
      if (start === BAD) return BAD;
      const length = lengthIn(bytes, from);
      return length <= limit - start ? start + length : BAD;
    }
    case 5:
      return limit - from >= 4 ? from + 4 : BAD;
    default:
      return BAD;
  }
}

/** True if `from`…`end` is elements of operation `op` that stand packed, floats finite. `view` covers the same bytes. */
export function isPacked(bytes: Uint8Array, view: DataView, op: number, from: number, end: number): boolean {
  switch (op) {
    case OP_FIXED64:
      return (end - from) % 8 === 0;
    case OP_FIXED32:
      return (end - from) % 4 === 0;
    case OP_DOUBLE:
      if ((end - from) % 8 !== 0) return false;
      for (let p = from; p < end; p += 8) {
        if ((view.getInt32(p + 4, true) & DOUBLE_EXPONENT) === DOUBLE_EXPONENT) return false;
      }
      return true;
    case OP_FLOAT:
      if ((end - from) % 4 !== 0) return false;
      for (let p = from; p < end; p += 4) {
        if ((view.getInt32(p, true) & FLOAT_EXPONENT) === FLOAT_EXPONENT) return false;
      }
      return true;
    default:
      for (let p = from; p < end;) {
        p = skipVarint(bytes, p, end);
        if (p === BAD) return false;
      }
      return true;
  }
}
