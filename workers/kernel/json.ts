/**
 * JSON payloads of a batch: statuses and slots out (contract: laser-filter §5; design: kernel, "batch interface").
 */
import { FRAME_ROWS, FRAMES_AT, WINDOW_AT } from './layout';
import { mapPayload } from './json-bitmaps';
import { JSON_ASKS, JSON_GOOD } from './json-verdict';
import { numbersLeft, resetNumbers } from './json-numbers';
import { findValues } from './json-values';
import { isBarren } from './needles';
import { depthMax, openPathRow, payloadBytesMax, slotCount } from './paths';

// Reasons: `src/core/verdict.ts`.
const NO_REASON: u8 = 0;
const MALFORMED: u8 = 6;
const TOO_LARGE: u8 = 7;
const TOO_DEEP: u8 = 8;

/** Instead of a reason: valid, and no text that the gate seeks stands in it; the row of slots was not filled. */
export const BARREN: i32 = 253;
/** Instead of a reason: valid, and some slots hold the text of a number that the host has to convert. */
export const NUMBERS_LEFT: i32 = 254;
/** Instead of a reason: nothing is known, and the portable walker has to look at this payload. */
export const ASKS_WALKER: i32 = 255;

// Columns of the frame table: `src/core/kernel.ts`.
const PAYLOAD_STARTS: usize = FRAMES_AT + <usize>FRAME_ROWS * 20;
const PAYLOAD_ENDS: usize = FRAMES_AT + <usize>FRAME_ROWS * 24;
const PAYLOAD_REASONS: usize = FRAMES_AT + <usize>FRAME_ROWS * 32;

/**
 * Walks the payloads of `count` rows of the frame table from row `first` on: a reason for each, and for each good one a
 * row of slots, the first of them row 0.
 */
export function walkJson(first: i32, count: i32): void {
  for (let row = 0; row < count; row++) {
    const column = <usize>(first + row);
    const start = WINDOW_AT + load<u32>(PAYLOAD_STARTS + (column << 2));
    const end = WINDOW_AT + load<u32>(PAYLOAD_ENDS + (column << 2));
    store<u8>(PAYLOAD_REASONS + column, walkOne(start, end, <usize>row));
  }
}

function walkOne(start: usize, end: usize, row: usize): u8 {
  if (end - start > payloadBytesMax()) return TOO_LARGE;
  const verdict = mapPayload(start, end, depthMax());
  if (verdict != JSON_GOOD) {
    if (verdict == JSON_ASKS) return <u8>ASKS_WALKER;
    return exceedsDepth(start, end, depthMax()) ? TOO_DEEP : MALFORMED;
  }
  if (isBarren(start, end)) return <u8>BARREN;
  if (slotCount() == 0) return NO_REASON;
  openPathRow(row);
  resetNumbers();
  findValues();
  return numbersLeft ? <u8>NUMBERS_LEFT : NO_REASON;
}

/**
 * True where the brackets outside strings nest deeper than `max` anywhere in the bytes, whether or not the rest is JSON:
 * the count never falls below zero, runs on past every other error and is blind after a string that does not end.
 */
function exceedsDepth(start: usize, end: usize, max: i32): bool {
  let depth = 0;
  let at = start;
  while (at < end) {
    const byte = <u32>load<u8>(at++);
    if (byte == 0x22) {
      while (at < end && load<u8>(at) != 0x22) at += load<u8>(at) == 0x5c ? 2 : 1;
      at++;
    } else if (byte == 0x7b || byte == 0x5b) {
      if (++depth > max) return true;
    } else if ((byte == 0x7d || byte == 0x5d) && depth > 0) depth--;
  }
  return false;
}
