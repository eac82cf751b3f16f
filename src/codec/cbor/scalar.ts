/**
 * CBOR items that hold no others, one at a time and by their kind: what is not plain (see `plain-item.ts`), and what
 * stands too near to the end of the payload to be looked at in words.
 *
 * Nothing at or past `end` is read and nothing is allocated.
 */
import { MALFORMED, type Reason, TOO_DEEP } from '../../core/verdict.js';
import { isUtf8Text } from '../utf8-text.js';
import {
  argumentAt,
  BAD_ITEM,
  BYTES,
  contentAt,
  DOUBLE,
  FALSE,
  HALF,
  MAP,
  NEGATIVE,
  pastContent,
  pastText,
  SIMPLE,
  SINGLE,
  TAG,
  TEXT,
  UNDEFINED,
} from './head.js';

/**
 * What is wrong where the entries of an array or map would stand too deep: the depth, unless the first key of a map is bad,
 * which comes before its value. The head stands at `from`, the first entry at `p`.
 */
export function deepReason(bytes: Uint8Array, view: DataView, from: number, p: number, end: number): Reason {
  if (bytes[from]! < MAP) return TOO_DEEP;
  const past = pastText(bytes, view, p, end);
  return past >= 0 && isUtf8Text(bytes, view, contentAt(bytes, p), past) ? TOO_DEEP : MALFORMED;
}

/** Past the integer, byte string, text, simple value or float at `p`, or BAD_ITEM. */
export function pastScalar(bytes: Uint8Array, view: DataView, p: number, end: number): number {
  const byte = bytes[p]!;
  if (byte >= SIMPLE) return pastSimple(bytes, p, end);
  if (byte >= TAG) return BAD_ITEM;
  if (byte >= TEXT) {
    const past = pastContent(bytes, view, p, end);
    return past >= 0 && isUtf8Text(bytes, view, contentAt(bytes, p), past) ? past : BAD_ITEM;
  }
  if (byte >= BYTES) return pastContent(bytes, view, p, end);
  if (argumentAt(bytes, view, p, end) < 0) return BAD_ITEM;
  // An integer below −2^63: eight bytes whose first bit is set.
  if (byte === NEGATIVE + 27 && bytes[p + 1]! >= 0x80) return BAD_ITEM;
  return contentAt(bytes, p);
}

/** Past the simple value or finite float at `p`, or BAD_ITEM. */
function pastSimple(bytes: Uint8Array, p: number, end: number): number {
  const byte = bytes[p]!;
  switch (byte) {
    case DOUBLE:
      // Eleven bits of exponent, all set where the float is not finite; they stand in the first two bytes, as those below.
      if (end - p < 9 || ((bytes[p + 1]! & 0x7f) === 0x7f && bytes[p + 2]! >= 0xf0)) return BAD_ITEM;
      return (p + 9) | 0;
    case SINGLE:
      if (end - p < 5 || ((bytes[p + 1]! & 0x7f) === 0x7f && bytes[p + 2]! >= 0x80)) return BAD_ITEM;
      return (p + 5) | 0;
    case HALF:
      if (end - p < 3 || (bytes[p + 1]! & 0x7c) === 0x7c) return BAD_ITEM;
      return (p + 3) | 0;
    default:
      return byte >= FALSE && byte <= UNDEFINED ? (p + 1) | 0 : BAD_ITEM;
  }
}
