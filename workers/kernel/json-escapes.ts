/**
 * The escapes of JSON strings that no bitmap decides: `\u` with its four digits, and surrogates, which come in pairs.
 *
 * Nothing here asks where the payload ends: an escape that is cut leaves its string open, which is a fault by itself.
 */

/** Where the second half of a pair of surrogates is due: the address of its `u`, or 0. Carried between blocks. */
let pairedAt: usize = 0;

/** To be called before the first block of a payload. */
export function resetEscapes(): void {
  pairedAt = 0;
}

/** The bytes that may follow a backslash and need no second look: `"` `\` `/` `b` `f` `n` `r` `t`, as 0xff. */
export function simpleEscapes(bytes: v128): v128 {
  const nibble = i8x16.splat(15);
  const low = i8x16.swizzle(i8x16(0, 0, 1 | 4 | 8, 0, 8, 0, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1), v128.and(bytes, nibble));
  const high = i8x16.swizzle(
    i8x16(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0),
    v128.and(i16x8.shr_u(bytes, 4), nibble),
  );
  return i8x16.ne(v128.and(low, high), i8x16.splat(0));
}

/** False if one of the escaped bytes `escaped` of the block at `at`, none of them simple, begins no good `\u` escape. */
export function areUnicodeEscapes(at: usize, escaped: u64): bool {
  while (escaped != 0) {
    const u = at + <usize>ctz(escaped);
    escaped &= escaped - 1;
    if (load<u8>(u) != 0x75) return false;
    const unit = hexUnit(u + 1);
    if (unit < 0) return false;
    if (unit >> 11 != 0x1b) continue;
    if (unit < 0xdc00) {
      const low = load<u16>(u + 5) == 0x755c ? hexUnit(u + 7) : -1;
      if (low >> 10 != 0x37) return false;
      pairedAt = u + 6;
    } else if (pairedAt != u) return false;
  }
  return true;
}

/** The four hex digits at `at` as a number, or −1. */
export function hexUnit(at: usize): i32 {
  let unit = 0;
  for (let p = at; p < at + 4; p++) {
    const byte = <i32>load<u8>(p);
    let digit = byte - 0x30;
    if (<u32>digit > 9) {
      const letter = (byte | 0x20) - 0x61;
      if (<u32>letter > 5) return -1;
      digit = letter + 10;
    }
    unit = (unit << 4) | digit;
  }
  return unit;
}
