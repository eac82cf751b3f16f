/**
 * UTF-8 as the Unicode standard defines it, 64 bytes at a time (method: Keiser and Lemire, "Validating UTF-8 in less than
 * one instruction per byte", 2020): three table lookups by nibble say for each byte and the one before it which rules
 * the pair breaks, and what must be a second or third continuation byte is compared with what is one.
 */

// One bit for each rule that a pair of bytes may break.
const TOO_SHORT: i8 = 1;
const TOO_LONG: i8 = 2;
const OVERLONG_3: i8 = 4;
const TOO_LARGE: i8 = 8;
const SURROGATE: i8 = 16;
const OVERLONG_2: i8 = 32;
/** Overlong with four bytes, or beyond the last code point. */
const BAD_4: i8 = 64;
/** Not a fault where the bytes before ask for it. */
const TWO_CONTINUE: i8 = -128;
const ANY_LOW: i8 = TOO_SHORT | TOO_LONG | TWO_CONTINUE;
const BEYOND: i8 = ANY_LOW | TOO_LARGE | BAD_4;
const CONTINUES: i8 = TOO_LONG | OVERLONG_2 | TWO_CONTINUE;

/**
 * True where the 64 bytes of `a b c d`, that follow the 16 bytes `before`, hold anything that is no UTF-8. A character
 * that is cut at their end is not yet a fault.
 */
export function breaksUtf8(before: v128, a: v128, b: v128, c: v128, d: v128): bool {
  return v128.any_true(v128.or(v128.or(faults(before, a), faults(a, b)), v128.or(faults(b, c), faults(c, d))));
}

function faults(before: v128, bytes: v128): v128 {
  const nibble = i8x16.splat(15);
  const one = v128.shuffle<u8>(before, bytes, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
  const two = v128.shuffle<u8>(before, bytes, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
  const three = v128.shuffle<u8>(before, bytes, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28);
  const leadHigh = i8x16.swizzle(
    i8x16(
      TOO_LONG,
      TOO_LONG,
      TOO_LONG,
      TOO_LONG,
      TOO_LONG,
      TOO_LONG,
      TOO_LONG,
      TOO_LONG,
      TWO_CONTINUE,
      TWO_CONTINUE,
      TWO_CONTINUE,
      TWO_CONTINUE,
      TOO_SHORT | OVERLONG_2,
      TOO_SHORT,
      TOO_SHORT | OVERLONG_3 | SURROGATE,
      TOO_SHORT | TOO_LARGE | BAD_4,
    ),
    v128.and(i16x8.shr_u(one, 4), nibble),
  );
  const leadLow = i8x16.swizzle(
    i8x16(
      ANY_LOW | OVERLONG_3 | OVERLONG_2 | BAD_4,
      ANY_LOW | OVERLONG_2,
      ANY_LOW,
      ANY_LOW,
      ANY_LOW | TOO_LARGE,
      BEYOND,
      BEYOND,
      BEYOND,
      BEYOND,
      BEYOND,
      BEYOND,
      BEYOND,
      BEYOND,
      BEYOND | SURROGATE,
      BEYOND,
      BEYOND,
    ),
    v128.and(one, nibble),
  );
  const nextHigh = i8x16.swizzle(
    i8x16(
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      CONTINUES | OVERLONG_3 | BAD_4,
      CONTINUES | OVERLONG_3 | TOO_LARGE,
      CONTINUES | SURROGATE | TOO_LARGE,
      CONTINUES | SURROGATE | TOO_LARGE,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
    ),
    v128.and(i16x8.shr_u(bytes, 4), nibble),
  );
  const broken = v128.and(v128.and(leadHigh, leadLow), nextHigh);
  // The third byte of three and four, and the fourth of four, have to continue: their top bit is then asked for.
  const asked = v128.or(i8x16.sub_sat_u(two, i8x16.splat(0x60)), i8x16.sub_sat_u(three, i8x16.splat(0x70)));
  return v128.xor(v128.and(asked, i8x16.splat(-128)), broken);
}
