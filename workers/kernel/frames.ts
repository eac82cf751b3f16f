/**
 * Frames of an `iggy` segment into the frame table, as many as are plainly whole and good (contract: formats §1; the
 * grammar of a frame stands in `src/segment/iggy.ts`).
 *
 * It judges nothing: before the first frame that is cut off at `end`, too long, holds a field that it must not, or has
 * an offset that is not above the one before it, it stops, and the host's reader says what that frame is. Columns of the table, each of FRAME_ROWS cells, in this order:
 *
 *     offset f64 | timestamp low u32 | timestamp high u32 | frame start i32 | payload start i32 | payload end i32 |
 *     frame end i32 | payload reason u8 | header reason u8
 *
 * Invariant: nothing is read outside `at`…`end` of the window, and no length is trusted before its bytes are there.
 */
import { FRAME_ROWS, FRAMES_AT, WINDOW_AT } from './layout';

const HEADER_BYTES: u64 = 64;
const OFFSET_MAX: u64 = (1 << 53) - 1;

const ROWS: usize = <usize>FRAME_ROWS;
const TIMESTAMP_LOW_AT: usize = FRAMES_AT + ROWS * 8;
const TIMESTAMP_HIGH_AT: usize = TIMESTAMP_LOW_AT + ROWS * 4;
const FRAME_START_AT: usize = TIMESTAMP_HIGH_AT + ROWS * 4;
const PAYLOAD_START_AT: usize = FRAME_START_AT + ROWS * 4;
export const PAYLOAD_END_AT: usize = PAYLOAD_START_AT + ROWS * 4;
export const FRAME_END_AT: usize = PAYLOAD_END_AT + ROWS * 4;
export const PAYLOAD_REASON_AT: usize = FRAME_END_AT + ROWS * 4;
export const HEADER_REASON_AT: usize = PAYLOAD_REASON_AT + ROWS;

/** Reads at most `most` frames, no more than FRAME_ROWS, from the window's bytes `at`…`end`; their number. */
export function readFrames(at: i32, end: i32, most: i32): i32 {
  let row: i32 = 0;
  let before: u64 = 0;
  while (row < most) {
    const held = <u64>(end - at);
    if (held < HEADER_BYTES) break;
    const frame = WINDOW_AT + <usize>at;
    const lengths = load<u64>(frame, 48);
    const payloadBytes = lengths >> 32;
    const frameBytes = HEADER_BYTES + payloadBytes + (lengths & 0xffffffff);
    const offset = load<u64>(frame, 24);
    if (frameBytes > held || load<u64>(frame, 56) != 0 || offset > OFFSET_MAX) break;
    if (offset <= before && row > 0) break;
    before = offset;
    const cell = (<usize>row) << 2;
    const timestamp = load<u64>(frame, 32);
    const payloadStart = at + <i32>HEADER_BYTES;
    store<f64>(FRAMES_AT + (cell << 1), <f64>offset);
    store<u32>(TIMESTAMP_LOW_AT + cell, <u32>timestamp);
    store<u32>(TIMESTAMP_HIGH_AT + cell, <u32>(timestamp >> 32));
    store<i32>(FRAME_START_AT + cell, at);
    store<i32>(PAYLOAD_START_AT + cell, payloadStart);
    store<i32>(PAYLOAD_END_AT + cell, payloadStart + <i32>payloadBytes);
    at += <i32>frameBytes;
    store<i32>(FRAME_END_AT + cell, at);
    row++;
  }
  return row;
}
