/**
 * Whether text that stands in a payload with its length before it is UTF-8 (RFC 3629): text of ASCII alone, which nearly
 * all of it is, is passed over eight bytes at a time.
 *
 * Reads through a DataView, whose unaligned 32-bit reads the compiler turns into one load; no byte outside
 * `start`…`end` is read and nothing is allocated.
 */
import { utf8Length } from '../core/utf8.js';

const HIGH_BITS = 0x80808080;

/** True if the text at `start`…`end` is whole, well-formed UTF-8; the empty text is. `view` covers the same bytes. */
export function isUtf8Text(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
  let p = start;
  while (p <= end - 8) {
    if (((view.getInt32(p, true) | view.getInt32(p + 4, true)) & HIGH_BITS) !== 0)
      return isMixedText(bytes, view, p, end);
    p = (p + 8) | 0;
  }
  if (p <= end - 4) {
    if ((view.getInt32(p, true) & HIGH_BITS) !== 0) return isMixedText(bytes, view, p, end);
    p = (p + 4) | 0;
  }
  for (; p < end; p = (p + 1) | 0) if (bytes[p]! >= 0x80) return isMixedText(bytes, view, p, end);
  return true;
}

/** As `isUtf8Text`, where something that is not ASCII stands near. */
function isMixedText(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
  let p = start;
  while (p < end) {
    if (bytes[p]! >= 0x80) {
      const length = utf8Length(bytes, p, end);
      if (length === 0) return false;
      p = (p + length) | 0;
    } else if (p <= end - 4 && (view.getInt32(p, true) & HIGH_BITS) === 0) {
      p = (p + 4) | 0;
    } else {
      p = (p + 1) | 0;
    }
  }
  return true;
}
