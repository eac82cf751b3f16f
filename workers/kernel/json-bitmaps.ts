/**
 * First stage of the JSON kernel: one pass over a payload, 64 bytes at a time, that validates all of it and notes where
 * its structure stands (contract: laser-filter §5; design: kernel, "bit-parallel core").
 *
 * Each block becomes bitmaps, bit `i` for byte `i`. The grammar is a few rules on them: what may follow what is a shift
 * by one (over white space, a carrying addition), what strings hold lies between prefix-xored quotes, what a comma asks
 * for depends on the bracket around it. Everything that crosses a block is a carry, so no rule knows where blocks end. A
 * rule on bitmaps that is broken sets a bit in `broken`, which is looked at once, at the end; what is found broken one by
 * one ends the pass.
 *
 * Bytes past the end of the payload are read, up to 63 of them, and taken for spaces.
 *
 * Invariant: the root is an object or an array; whoever is asked about another payload has to ask the portable walker.
 */
import { areUnicodeEscapes, resetEscapes, simpleEscapes } from './json-escapes';
import { explainOdds, noteOdd } from './json-odds';
import { JSON_ASKS, JSON_BROKEN } from './json-verdict';
import { BITMAPS_AT, ODDS_AT } from './layout';
import { breaksUtf8 } from './utf8';

/** Columns of a row of bitmaps, in bytes. One row for each block. */
export const ROW_BYTES: usize = 48;
export const BRACKETS: usize = 0;
/** Opening ones among them. */
export const OPENS: usize = 8;
/** Quotes that open or close a string. */
export const QUOTES: usize = 16;
/** Closing quotes of keys. */
export const KEYS: usize = 24;
export const COMMAS: usize = 32;
export const BACKSLASHES: usize = 40;

/** Where block 0 begins: the first byte of the root. */
export let origin: usize = 0;
/** Where the root closes. */
export let rootEnd: usize = 0;
/** True where the payload holds a backslash. */
export let hasBackslash: bool = false;

/** By depth, whether the container there is an object. */
const IS_OBJECT: usize = memory.data(256);
/** Sixteen times each byte that is searched for: a load is cheaper than making them again in every block. */
const SPLATS: usize = memory.data<u8>(
  [
    0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x5c, 0x5c, 0x5c,
    0x5c, 0x5c, 0x5c, 0x5c, 0x5c, 0x5c, 0x5c, 0x5c, 0x5c, 0x5c, 0x5c, 0x5c, 0x5c, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
    0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0d, 0x0d, 0x0d, 0x0d, 0x0d, 0x0d, 0x0d, 0x0d, 0x0d, 0x0d, 0x0d, 0x0d,
    0x0d, 0x0d, 0x0d, 0x0d, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09,
    0x09, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x2c, 0x2c,
    0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2d, 0x2d, 0x2d, 0x2d, 0x2d,
    0x2d, 0x2d, 0x2d, 0x2d, 0x2d, 0x2d, 0x2d, 0x2d, 0x2d, 0x2d, 0x2d, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e,
    0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30,
    0x30, 0x30, 0x30, 0x30, 0x30, 0x26, 0x26, 0x26, 0x26, 0x26, 0x26, 0x26, 0x26, 0x26, 0x26, 0x26, 0x26, 0x26, 0x26,
    0x26, 0x26, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x50,
    0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0x8a, 0x8a, 0x8a, 0x8a,
    0x8a, 0x8a, 0x8a, 0x8a, 0x8a, 0x8a, 0x8a, 0x8a, 0x8a, 0x8a, 0x8a, 0x8a,
  ],
  16,
);
const QUOTE: usize = SPLATS;
const BACKSLASH: usize = SPLATS + 16;
const SPACE: usize = SPLATS + 32;
const LINE_FEED: usize = SPLATS + 48;
const CARRIAGE_RETURN: usize = SPLATS + 64;
const TAB: usize = SPLATS + 80;
const COLON: usize = SPLATS + 96;
const COMMA: usize = SPLATS + 112;
const MINUS: usize = SPLATS + 128;
const DOT: usize = SPLATS + 144;
const ZERO: usize = SPLATS + 160;
const BRACKET_IGNORED: usize = SPLATS + 176;
const BRACKET_LEFT: usize = SPLATS + 192;
/** Moves digits to the lowest ten signed bytes, since signed bytes compare in one instruction. */
const DIGIT_SHIFT: usize = SPLATS + 208;
const DIGIT_BOUND: usize = SPLATS + 224;
const EVERY_BIT: u64 = u64.MAX_VALUE;
const ODD_BITS: u64 = (u64.MAX_VALUE / 3) * 2;

/** Validates the payload `start`…`end` and fills the bitmaps. `maxDepth` 0…127. */
export function mapPayload(start: usize, end: usize, maxDepth: i32): i32 {
  let at = start;
  while (at < end && isSpace(load<u8>(at))) at++;
  if (at == end || (load<u8>(at) & 0xdf) != 0x5b) return JSON_ASKS;
  origin = at;
  resetEscapes();

  let row = BITMAPS_AT;
  let odds = ODDS_AT;
  let broken: u64 = 0;
  let backslashSeen: u64 = 0;
  let depth = 0;
  let before: v128 = i8x16.splat(0);
  // What the block before hands on: all ones or none for the first two, else bit 0 or nothing.
  let stringCarry: u64 = 0;
  let objectCarry: u64 = 0;
  let keyCarry: u64 = 0;
  let escapeCarry: u64 = 0;
  let cutCarry: u64 = 0;
  let scalarCarry: u64 = 0;
  let digitCarry: u64 = 0;
  let dotCarry: u64 = 0;
  let fractionCarry: u64 = 0;
  let zeroCarry: u64 = 0;
  let minusCarry: u64 = 0;
  let longest: u64 = 0;
  // The same for what has to follow (`after…` below).
  let wantsKey: u64 = 0;
  let wantsColon: u64 = 0;
  let wantsValue: u64 = 0;
  let wantsEnd: u64 = 0;
  let wantsMore: u64 = 0;

  while (at < end) {
    let a = v128.load(at);
    let b = v128.load(at, 16);
    let c = v128.load(at, 32);
    let d = v128.load(at, 48);
    if (at + 64 > end) {
      const left = i8x16.splat(<i8>(end - at));
      const space = i8x16.splat(0x20);
      a = v128.bitselect(a, space, i8x16.lt_s(i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), left));
      b = v128.bitselect(
        b,
        space,
        i8x16.lt_s(i8x16(16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31), left),
      );
      c = v128.bitselect(
        c,
        space,
        i8x16.lt_s(i8x16(32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47), left),
      );
      d = v128.bitselect(
        d,
        space,
        i8x16.lt_s(i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63), left),
      );
    }

    let quotes = where(a, b, c, d, QUOTE);
    // Backslashes, control characters and non-ASCII bytes are rare: one question for all of them.
    const rare = v128.or(v128.or(isRare(a), isRare(b)), v128.or(isRare(c), isRare(d)));
    let controls: u64 = 0;
    let backslashes: u64 = 0;
    if (((<u64>i8x16.bitmask(rare)) | escapeCarry | cutCarry) != 0) {
      const high = signs(a, b, c, d);
      if ((high | cutCarry) != 0) {
        if (breaksUtf8(before, a, b, c, d)) return JSON_BROKEN;
        // A character that is cut here shows in the next block.
        cutCarry = high >> 61;
      }
      controls = signs(below(a), below(b), below(c), below(d)) & ~high;
      backslashes = where(a, b, c, d, BACKSLASH);
      if ((backslashes | escapeCarry) != 0) {
        backslashSeen |= backslashes;
        // Runs of backslashes escape every second byte; subtracting finds where they end.
        const starts = backslashes & ~escapeCarry;
        const terminals = (((starts << 1) | ODD_BITS) - starts) ^ ODD_BITS;
        const escaped = terminals ^ (backslashes | escapeCarry);
        escapeCarry = (terminals & backslashes) >> 63;
        quotes &= ~escaped;
        const simple = signs(simpleEscapes(a), simpleEscapes(b), simpleEscapes(c), simpleEscapes(d));
        if (!areUnicodeEscapes(at, escaped & ~simple)) return JSON_BROKEN;
      }
    }
    before = d;

    // In `strings` are a string's bytes and its opening quote.
    let strings = quotes;
    strings ^= strings << 1;
    strings ^= strings << 2;
    strings ^= strings << 4;
    strings ^= strings << 8;
    strings ^= strings << 16;
    strings ^= strings << 32;
    strings ^= stringCarry;
    stringCarry = <u64>((<i64>strings) >> 63);
    const outside = ~(strings | quotes);
    const opensString = quotes & strings;
    const closesString = quotes & ~strings;
    let spaces = where(a, b, c, d, SPACE) & outside;
    if (controls != 0) {
      broken |= controls & strings;
      if ((controls & outside) != 0) {
        spaces |=
          (where(a, b, c, d, LINE_FEED) | where(a, b, c, d, CARRIAGE_RETURN) | where(a, b, c, d, TAB)) & outside;
      }
    }
    const brackets = bracketsOf(a, b, c, d) & outside;
    const colons = where(a, b, c, d, COLON) & outside;
    const commas = where(a, b, c, d, COMMA) & outside;
    const scalars = outside & ~(brackets | colons | commas | spaces);

    // Brackets one by one: types that match, depth, and which bytes stand in an object.
    let opens: u64 = 0;
    let inObject = objectCarry;
    let endBit: u64 = 0;
    let rest = brackets;
    while (rest != 0) {
      const bit = rest & (0 - rest);
      const byte = <i32>load<u8>(at + <usize>ctz(rest));
      rest ^= bit;
      const isObject = (byte >> 5) & 1;
      // The bytes that only look like brackets to `bracketsOf` have both bits or none.
      if ((byte & 6) == 2) {
        depth++;
        if (depth > maxDepth) return JSON_BROKEN;
        opens |= bit;
        store<u8>(IS_OBJECT + depth, isObject);
        inObject = isObject ? inObject | (0 - bit) : inObject & (bit - 1);
      } else {
        if ((byte & 6) != 4 || depth == 0 || <i32>load<u8>(IS_OBJECT + depth) != isObject) return JSON_BROKEN;
        depth--;
        if (depth == 0) {
          endBit = bit;
          // Only spaces may follow; the next bracket would be a second root.
          if (rest != 0) return JSON_BROKEN;
        }
        inObject = load<u8>(IS_OBJECT + depth) ? inObject | (0 - bit) : inObject & (bit - 1);
      }
    }
    objectCarry = <u64>((<i64>inObject) >> 63);
    const closes = brackets ^ opens;

    // Scalars: numbers by bitmaps, what is odd about them by `explainOdds`, later.
    let starts: u64 = 0;
    let pastScalars: u64 = 0;
    // PERF: many blocks hold no scalar, and where none reaches in, nothing of one is carried on.
    if ((scalars | scalarCarry) != 0) {
      starts = scalars & ~((scalars << 1) | scalarCarry);
      pastScalars = ((scalars << 1) | scalarCarry) & ~scalars;
      scalarCarry = scalars >> 63;
      const digits = digitsOf(a, b, c, d) & scalars;
      const dots = where(a, b, c, d, DOT) & scalars;
      const minuses = where(a, b, c, d, MINUS) & starts;
      const afterDigits = (digits << 1) | digitCarry;
      digitCarry = digits >> 63;
      const afterDots = (dots << 1) | dotCarry;
      dotCarry = dots >> 63;
      const afterMinuses = (minuses << 1) | minusCarry;
      minusCarry = minuses >> 63;
      const firsts = starts | afterMinuses;
      const leadingZeros = firsts & where(a, b, c, d, ZERO);
      const afterZeros = (leadingZeros << 1) | zeroCarry;
      zeroCarry = leadingZeros >> 63;
      const fractions = ((afterDots & digits) | fractionCarry) + digits;
      fractionCarry = u64(fractions < digits);
      broken |= (afterMinuses | afterDots) & ~digits;
      broken |= dots & (~afterDigits | (fractions & ~digits));
      broken |= afterZeros & digits;
      // Words and exponents, and the digits of the latter, are rare: they are noted without a branch, and explained later.
      const odd = scalars & ~(digits | dots | minuses);
      const strayDigits = digits & ~(afterDigits | firsts | afterDots);
      odds = noteOdd(odds, at, odd, starts, strayDigits);
      // So many digits in a row may overflow a double.
      longest |= u64(digits == u64.MAX_VALUE);
    }
    // What has to follow what. First keys, since only a key is followed by a colon.
    const commasInObjects = commas & inObject;
    const opensObject = opens & inObject;
    const asksKey = commasInObjects | opensObject;
    let afterKeyAsk = (asksKey << 1) | wantsKey;
    wantsKey = asksKey >> 63;
    const asksValue = colons | (commas ^ commasInObjects) | (opens ^ opensObject);
    let afterValueAsk = (asksValue << 1) | wantsValue;
    wantsValue = asksValue >> 63;
    const asksMore = colons | commas;
    let afterMoreAsk = (asksMore << 1) | wantsMore;
    wantsMore = asksMore >> 63;
    if (spaces != 0) {
      let over = (afterKeyAsk & spaces) + spaces;
      wantsKey |= u64(over < spaces);
      afterKeyAsk = (afterKeyAsk | over) & ~spaces;
      over = (afterValueAsk & spaces) + spaces;
      wantsValue |= u64(over < spaces);
      afterValueAsk = (afterValueAsk | over) & ~spaces;
      over = (afterMoreAsk & spaces) + spaces;
      wantsMore |= u64(over < spaces);
      afterMoreAsk = (afterMoreAsk | over) & ~spaces;
    }
    // Adding a key's first bit to its string carries to its closing quote.
    const keyEnds = strings + ((opensString & afterKeyAsk) | keyCarry);
    keyCarry = u64(keyEnds < strings);
    const keys = keyEnds & closesString;
    let afterKeys = (keys << 1) | wantsColon;
    wantsColon = keys >> 63;
    const ends = (closesString ^ keys) | closes;
    let afterEnds = (ends << 1) | pastScalars | wantsEnd;
    wantsEnd = ends >> 63;
    if (spaces != 0) {
      let over = (afterKeys & spaces) + spaces;
      wantsColon |= u64(over < spaces);
      afterKeys = (afterKeys | over) & ~spaces;
      over = (afterEnds & spaces) + spaces;
      wantsEnd |= u64(over < spaces);
      afterEnds = (afterEnds | over) & ~spaces;
    }
    broken |= afterKeyAsk & ~(opensString | closes);
    broken |= afterValueAsk & ~(opensString | starts | brackets);
    broken |= afterMoreAsk & closes;
    broken |= afterKeys ^ colons;
    broken |= afterEnds & ~(commas | closes);

    store<u64>(row, brackets, BRACKETS);
    store<u64>(row, opens, OPENS);
    store<u64>(row, quotes, QUOTES);
    store<u64>(row, keys, KEYS);
    store<u64>(row, commas, COMMAS);
    store<u64>(row, backslashes, BACKSLASHES);
    row += ROW_BYTES;
    at += 64;
    if (strings == EVERY_BIT && (escapeCarry | cutCarry) == 0) {
      const text = plainText(at, end, row);
      row += ((text - at) >> 6) * ROW_BYTES;
      at = text;
    }
    if (endBit != 0) {
      if (longest != 0) return JSON_ASKS;
      broken |= ~(endBit | (endBit - 1)) & ~spaces;
      rootEnd = at - 64 + <usize>ctz(endBit);
      while (at < end) {
        if (!isSpace(load<u8>(at))) return JSON_BROKEN;
        at++;
      }
      hasBackslash = backslashSeen != 0;
      if (broken != 0) return JSON_BROKEN;
      return explainOdds(odds);
    }
  }
  return JSON_BROKEN;
}

/** Past the blocks from `at` on that hold nothing but plain bytes of the string they lie in; their rows are empty. */
function plainText(at: usize, end: usize, row: usize): usize {
  const quote = v128.load(QUOTE);
  for (; at + 64 <= end; at += 64) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const quotes = v128.or(
      v128.or(i8x16.eq(a, quote), i8x16.eq(b, quote)),
      v128.or(i8x16.eq(c, quote), i8x16.eq(d, quote)),
    );
    const rare = v128.or(v128.or(isRare(a), isRare(b)), v128.or(isRare(c), isRare(d)));
    if (v128.any_true(v128.or(quotes, rare))) return at;
    memory.fill(row, 0, ROW_BYTES);
    row += ROW_BYTES;
  }
  return at;
}

function isSpace(byte: u32): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09;
}

/** The bytes that are the one repeated at `splat`, of four times sixteen. */
function where(a: v128, b: v128, c: v128, d: v128, splat: usize): u64 {
  const wanted = v128.load(splat);
  return signs(i8x16.eq(a, wanted), i8x16.eq(b, wanted), i8x16.eq(c, wanted), i8x16.eq(d, wanted));
}

/** The brackets, and outside strings four more bytes that no JSON has there. */
function bracketsOf(a: v128, b: v128, c: v128, d: v128): u64 {
  const ignored = v128.load(BRACKET_IGNORED);
  const wanted = v128.load(BRACKET_LEFT);
  return signs(
    i8x16.eq(v128.or(a, ignored), wanted),
    i8x16.eq(v128.or(b, ignored), wanted),
    i8x16.eq(v128.or(c, ignored), wanted),
    i8x16.eq(v128.or(d, ignored), wanted),
  );
}

function digitsOf(a: v128, b: v128, c: v128, d: v128): u64 {
  return signs(isDigit(a), isDigit(b), isDigit(c), isDigit(d));
}

function isDigit(bytes: v128): v128 {
  return i8x16.lt_s(i8x16.add(bytes, v128.load(DIGIT_SHIFT)), v128.load(DIGIT_BOUND));
}

/** Below space as signed bytes: control characters, and all that is not ASCII. */
function below(bytes: v128): v128 {
  return i8x16.lt_s(bytes, v128.load(SPACE));
}

function isRare(bytes: v128): v128 {
  return v128.or(below(bytes), i8x16.eq(bytes, v128.load(BACKSLASH)));
}

/** The top bits of four times sixteen bytes. */
function signs(a: v128, b: v128, c: v128, d: v128): u64 {
  const low = (<u32>i8x16.bitmask(a)) | ((<u32>i8x16.bitmask(b)) << 16);
  const high = (<u32>i8x16.bitmask(c)) | ((<u32>i8x16.bitmask(d)) << 16);
  return (<u64>low) | ((<u64>high) << 32);
}
