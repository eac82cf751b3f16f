/**
 * Whether short stretches of bytes are UTF-8: fields of header blocks, texts of binary payloads. Texts of JSON are checked
 * with everything around them (`utf8.ts`).
 *
 * Invariant: what lies behind a text may be loaded, by up to 32 bytes, but decides nothing.
 */

/** True if the `length` bytes from `start` are UTF-8. */
export function isText(start: usize, length: u32): bool {
  if (length <= 32) {
    const high = i8x16.bitmask(v128.load(start)) | (i8x16.bitmask(v128.load(start, 16)) << 16);
    return ((<u64>(<u32>high)) & (((<u64>1) << (<u64>length)) - 1)) == 0 || isUtf8(start, start + <usize>length);
  }
  // The last block may overlap the one before it, so that no single bytes are left over.
  const last = start + <usize>length - 16;
  let seen = v128.load(last);
  for (let p = start; p < last; p += 16) seen = v128.or(seen, v128.load(p));
  return i8x16.bitmask(seen) == 0 || isUtf8(start, start + <usize>length);
}

/** By its definition (RFC 3629), a byte at a time: texts are short, and few hold more than ASCII. */
function isUtf8(start: usize, end: usize): bool {
  let p = start;
  while (p < end) {
    const first = load<u8>(p);
    if (first < 0x80) {
      // Bytes of ASCII come many together.
      const high = i8x16.bitmask(v128.load(p));
      p += high == 0 ? 16 : <usize>ctz(high);
      continue;
    }
    if (first < 0xc2 || first > 0xf4) return false;
    const bytes: usize = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (p + bytes > end) return false;
    const second = load<u8>(p, 1);
    // No overlong forms (E0, F0), no surrogates (ED), nothing above U+10FFFF (F4).
    const low: u8 = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const high: u8 = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (second < low || second > high) return false;
    for (let at: usize = 2; at < bytes; at++) if ((load<u8>(p + at) & 0xc0) != 0x80) return false;
    p += bytes;
  }
  return true;
}
