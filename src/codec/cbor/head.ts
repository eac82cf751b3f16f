/**
 * The heads of CBOR items (RFC 8949 §3): a byte of major type and information, and up to eight bytes of argument.
 *
 *     head = major << 5 | info        info 0–23: the argument itself; 24, 25, 26, 27: it follows in 1, 2, 4, 8 bytes,
 *                                     the greatest first; 28–31: reserved or indefinite, malformed here
 *
 * Nothing is allocated; nothing at or past `end` is read.
 */

/** Instead of a position: the bytes are not what the contract takes for CBOR. */
export const BAD_ITEM = -1;

/** First head of a major type (RFC 8949 §3.1), in the order of their numbers. */
export const NEGATIVE = 0x20;
export const BYTES = 0x40;
export const TEXT = 0x60;
export const ARRAY = 0x80;
export const MAP = 0xa0;
export const TAG = 0xc0;
export const SIMPLE = 0xe0;

/** Simple values. Undefined reads as null. */
export const FALSE = 0xf4;
export const TRUE = 0xf5;
export const NULL = 0xf6;
export const UNDEFINED = 0xf7;

/** Floats of 16, 32 and 64 bits. */
export const HALF = 0xf9;
export const SINGLE = 0xfa;
export const DOUBLE = 0xfb;

/** Information below this is the argument itself. */
export const INLINE_ARGUMENTS = 24;
const INFO = 31;
const TWO_32 = 4294967296;

/** Bytes of a head by its information, 0 where there is no such head. */
export const HEAD_BYTES = new Uint8Array(32).fill(1, 0, 24);
HEAD_BYTES.set([2, 3, 5, 9], 24);

/**
 * The argument of the head at `p`, rounded where it is beyond 2^53, or -1 where the head is cut short or there is none
 * such. What follows it begins at `p + HEAD_BYTES[info]`.
 */
export function argumentAt(bytes: Uint8Array, view: DataView, p: number, end: number): number {
  const info = bytes[p]! & INFO;
  if (info < INLINE_ARGUMENTS) return info;
  const size = HEAD_BYTES[info]!;
  if (size > end - p) return -1;
  switch (size) {
    case 2:
      return bytes[p + 1]!;
    case 3:
      return view.getUint16(p + 1);
    case 5:
      return view.getUint32(p + 1);
    case 9:
      return view.getUint32(p + 1) * TWO_32 + view.getUint32(p + 5);
    default:
      return -1;
  }
}

/** Past the text or byte string whose head stands at `p`, or BAD_ITEM if it is longer than the bytes left. */
export function pastContent(bytes: Uint8Array, view: DataView, p: number, end: number): number {
  const length = argumentAt(bytes, view, p, end);
  const start = p + HEAD_BYTES[bytes[p]! & INFO]!;
  return length < 0 || length > end - start ? BAD_ITEM : start + length;
}

/** Where the content of the item at `p` begins, behind its head. */
export function contentAt(bytes: Uint8Array, p: number): number {
  return (p + HEAD_BYTES[bytes[p]! & INFO]!) | 0;
}

/**
 * Past the item whose head stands at `p`, or BAD_ITEM if it is no text or longer than the bytes left. Whether it is UTF-8
 * is not looked at.
 */
export function pastText(bytes: Uint8Array, view: DataView, p: number, end: number): number {
  const length = bytes[p]! - TEXT;
  if (length >>> 0 < INLINE_ARGUMENTS) {
    const past = (p + 1 + length) | 0;
    return past <= end ? past : BAD_ITEM;
  }
  return (bytes[p]! & 0xe0) === TEXT ? pastContent(bytes, view, p, end) : BAD_ITEM;
}
