/**
 * UTF-8 by its definition (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
 *
 * Works on bytes in place and allocates nothing; payload and header walkers share it.
 */

/**
 * Length of the well-formed sequence that starts at `p`, 2…4, or 0 where there is none before `end`. The byte at `p` is
 * 0x80 or above.
 */
export function utf8Length(bytes: Uint8Array, p: number, end: number): number {
  const first = bytes[p]!;
  if (first < 0xc2 || first > 0xf4 || p + 1 >= end) return 0;
  const second = bytes[p + 1]!;
  if (first < 0xe0) return isContinuation(second) ? 2 : 0;
  if (p + 2 >= end || !isContinuation(bytes[p + 2]!)) return 0;
  if (first < 0xf0) {
    // No overlong forms (E0) and no surrogates (ED).
    const low = first === 0xe0 ? 0xa0 : 0x80;
    const high = first === 0xed ? 0x9f : 0xbf;
    return second >= low && second <= high ? 3 : 0;
  }
  if (p + 3 >= end || !isContinuation(bytes[p + 3]!)) return 0;
  // No overlong forms (F0) and nothing above U+10FFFF (F4).
  const low = first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high ? 4 : 0;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** True if `bytes[start, end)` is whole, well-formed UTF-8; the empty text is. */
export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  let p = start;
  while (p < end) {
    if (bytes[p]! < 0x80) {
      p++;
      continue;
    }
    const length = utf8Length(bytes, p, end);
    if (length === 0) return false;
    p += length;
  }
  return true;
}
