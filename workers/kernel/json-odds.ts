/**
 * What bitmaps do not decide about scalars: literal words and exponents. Blocks that hold bytes of them are noted while
 * the bitmaps are made, and explained byte by byte when the rest of the payload has been found good.
 *
 * Nothing here asks where the payload ends: its root is a container and closed, so behind every scalar stands a byte of the
 * payload.
 */
import { JSON_ASKS, JSON_BROKEN, JSON_GOOD } from './json-verdict';
import { ODDS_AT } from './layout';

/** Longest number before its exponent, in bytes, that is looked at here. */
const MANTISSA_BYTES_MAX: usize = 200;
/** A number of so many digits, exponent included, is below 10^308. */
const EXPONENT_SAFE_MAX: i32 = 308;

const WORD_TRUE: u32 = 0x65757274;
const WORD_NULL: u32 = 0x6c6c756e;
const WORD_FALS: u32 = 0x736c6166;

/** A noted block: its address, its odd bytes, the first bytes of its scalars, and digits that nothing explains yet. */
const NOTE_BYTES: usize = 32;

/** Notes a block at `note` if there is something to explain; returns where the next note goes. */
export function noteOdd(note: usize, at: usize, odd: u64, starts: u64, strayDigits: u64): usize {
  store<u64>(note, at);
  store<u64>(note, odd, 8);
  store<u64>(note, starts, 16);
  store<u64>(note, strayDigits, 24);
  return note + ((<usize>((odd | strayDigits) != 0)) << 5);
}

/** Explains all notes up to `end`. */
export function explainOdds(end: usize): i32 {
  // Everything before this address belongs to a word, or to an exponent's sign.
  let explained: usize = 0;
  for (let note = ODDS_AT; note < end; note += NOTE_BYTES) {
    const at = <usize>load<u64>(note);
    const starts = load<u64>(note, 16);
    let stray = load<u64>(note, 24);
    for (; stray != 0; stray &= stray - 1) if (!isExponent(at + <usize>ctz(stray))) return JSON_BROKEN;
    let odd = load<u64>(note, 8);
    for (; odd != 0; odd &= odd - 1) {
      const p = at + <usize>ctz(odd);
      if (p < explained) continue;
      explained = (starts & (odd & (0 - odd))) != 0 ? pastWord(p) : pastExponentMark(p);
      if (explained == 0) return JSON_BROKEN;
      if (explained == 1) return JSON_ASKS;
    }
  }
  return JSON_GOOD;
}

/** Past the word at `p`, or 0 if it is none or goes on behind. */
function pastWord(p: usize): usize {
  const word = load<u32>(p);
  let past = p + 4;
  if (word == WORD_FALS) {
    if (load<u8>(past) != 0x65) return 0;
    past++;
  } else if (word != WORD_TRUE && word != WORD_NULL) return 0;
  const behind = <u32>load<u8>(past);
  return behind <= 0x20 || behind == 0x2c || behind == 0x5d || behind == 0x7d ? past : 0;
}

/** Past the `e` at `p` and its sign, 0 if it is no exponent, or 1 if the number may overflow. */
function pastExponentMark(p: usize): usize {
  if ((load<u8>(p) | 0x20) != 0x65 || !isDigit(p - 1)) return 0;
  const sign = load<u8>(p + 1);
  const first = p + (sign == 0x2b || sign == 0x2d ? 2 : 1);
  let past = first;
  let exponent = 0;
  for (; isDigit(past); past++) if (past - first < 3) exponent = exponent * 10 + <i32>load<u8>(past) - 0x30;
  if (past == first) return 0;
  const behind = load<u8>(past);
  if (behind == 0x2e || (behind | 0x20) == 0x65) return 0;
  let begin = p;
  while (isDigit(begin - 1) || load<u8>(begin - 1) == 0x2e) {
    begin--;
    if (p - begin > MANTISSA_BYTES_MAX) return 1;
  }
  // So short a mantissa stays finite below zero. Above, its digits and the exponent together may not reach 308.
  if (sign == 0x2d) return first;
  return past - first <= 3 && <i32>(p - begin) + exponent <= EXPONENT_SAFE_MAX ? first : 1;
}

/** True where the digit at `p` is the first of an exponent, whose mark is explained by itself. */
function isExponent(p: usize): bool {
  const before = load<u8>(p - 1);
  if ((before | 0x20) == 0x65) return true;
  return (before == 0x2b || before == 0x2d) && (load<u8>(p - 2) | 0x20) == 0x65;
}

function isDigit(at: usize): bool {
  return <u32>load<u8>(at) - 0x30 <= 9;
}
