/**
 * Needle gate: which payloads hold none of the texts that a filter needs, so that no value has to be found in them
 * (design: house §5 "prefilter"). It runs on payloads that were found valid: it saves evaluation, never validation.
 *
 * The host has written the table at `NEEDLES_AT` (`src/codec/json/kernel-needles.ts` writes what this file reads). Header,
 * 32-bit words: needles of the gate (0 turns it off), needles in the table, longest payload that the gate judges, and from
 * byte 16 on the places of the gate's needles, in bytes from the start of the table. Row 0 is the text `\u`; the rows of
 * the needles follow. A row: the text, ones where it has bytes, the two bytes that are searched for sixteen times each,
 * then 32-bit words: length of the text, and where in it those two bytes stand.
 *
 * The two are sought 64 positions at a time, and what stands around a pair is compared in one piece; so hostile payloads
 * cost little more than others. Up to 63 bytes past the payload are read and never taken for its content.
 */
import { hasBackslash } from './json-bitmaps';
import { FRAME_ROWS, FRAMES_AT, NEEDLES_AT, WINDOW_AT } from './layout';

const PLACES: usize = 16;
const ROWS: usize = 144;
const ROW_BYTES: usize = 80;

// Fields of a row.
const MASK: usize = 16;
const FIRST: usize = 32;
const SECOND: usize = 48;
const LENGTH: usize = 64;
const FIRST_AT: usize = 68;
const SECOND_AT: usize = 72;

// Columns of the frame table: `src/core/kernel.ts`.
const PAYLOAD_STARTS: usize = FRAMES_AT + <usize>FRAME_ROWS * 20;
const PAYLOAD_ENDS: usize = FRAMES_AT + <usize>FRAME_ROWS * 24;

/**
 * True where the payload `start`…`end`, which the bitmaps are of, holds no needle of the gate. Needles hold no byte that
 * has an escape of its own, so they can hide only behind a `\u`.
 */
export function isBarren(start: usize, end: usize): bool {
  const count = <usize>load<u32>(NEEDLES_AT);
  if (count == 0 || end - start > <usize>load<u32>(NEEDLES_AT, 8)) return false;
  if (hasBackslash && stands(NEEDLES_AT + ROWS, start, end)) return false;
  for (let at: usize = 0; at < count; at++) {
    if (stands(NEEDLES_AT + <usize>load<u32>(NEEDLES_AT + PLACES + (at << 2)), start, end)) return false;
  }
  return true;
}

/** Which needles of the table stand in the payload of row `row`, written without escapes: bit `i` for needle `i`. */
export function findNeedles(row: i32): i32 {
  const column = (<usize>row) << 2;
  const start = WINDOW_AT + <usize>load<u32>(PAYLOAD_STARTS + column);
  const end = WINDOW_AT + <usize>load<u32>(PAYLOAD_ENDS + column);
  const count = load<i32>(NEEDLES_AT, 4);
  let found = 0;
  let needle = NEEDLES_AT + ROWS + ROW_BYTES;
  for (let at = 0; at < count; at++) {
    if (stands(needle, start, end)) found |= 1 << at;
    needle += ROW_BYTES;
  }
  return found;
}

function stands(needle: usize, start: usize, end: usize): bool {
  const length = <usize>load<u32>(needle, LENGTH);
  if (end - start < length) return false;
  const last = end - length;
  const first = v128.load(needle, FIRST);
  const second = v128.load(needle, SECOND);
  const firstAt = <usize>load<u32>(needle, FIRST_AT);
  const secondAt = <usize>load<u32>(needle, SECOND_AT);
  for (let at = start; at <= last; at += 64) {
    const one = at + firstAt;
    const other = at + secondAt;
    const a = v128.and(i8x16.eq(v128.load(one), first), i8x16.eq(v128.load(other), second));
    const b = v128.and(i8x16.eq(v128.load(one, 16), first), i8x16.eq(v128.load(other, 16), second));
    const c = v128.and(i8x16.eq(v128.load(one, 32), first), i8x16.eq(v128.load(other, 32), second));
    const d = v128.and(i8x16.eq(v128.load(one, 48), first), i8x16.eq(v128.load(other, 48), second));
    if (!v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) continue;
    let pairs =
      (<u64>i8x16.bitmask(a)) |
      ((<u64>i8x16.bitmask(b)) << 16) |
      ((<u64>i8x16.bitmask(c)) << 32) |
      ((<u64>i8x16.bitmask(d)) << 48);
    for (; pairs != 0; pairs &= pairs - 1) {
      const found = at + <usize>ctz(pairs);
      if (found > last) return false;
      if (isText(needle, found)) return true;
    }
  }
  return false;
}

function isText(needle: usize, at: usize): bool {
  const differs = v128.and(v128.xor(v128.load(at), v128.load(needle)), v128.load(needle, MASK));
  return !v128.any_true(differs);
}
