/**
 * The reader's view of one stored frame, and the one interface behind which every segment format stands.
 *
 * A reader is pure: it looks at bytes `at`…`end` of a buffer and says what stands there. Whoever owns the bytes
 * (scan loop, inspector, test) refills the window and calls again. No length is trusted before the bytes are there.
 */

/** A whole frame was read into the `Frame`. */
export const FRAME_OK = 0;
/** The bytes at hand end inside a frame and more of the segment exists: refill the window with at least `needed` bytes. */
export const FRAME_NEEDS_BYTES = 1;
/** Nothing is left: the segment ends exactly here. */
export const FRAME_END = 2;
/** The segment ends inside a frame (or frame header): torn if it is the last, unsealed segment, else corrupt. */
export const FRAME_TORN = 3;
/** The bytes here are no frame: a lying length, a failed checksum, an offset beyond 2^53−1. */
export const FRAME_CORRUPT = 4;

export type FrameStatus = 0 | 1 | 2 | 3 | 4;

/** One frame's place and fields; positions are in the buffer handed to the reader, half-open. Reused for every record. */
export class Frame {
  offset = 0;
  /** Microseconds, split because u64 does not fit a number: value = high × 2^32 + low. */
  timestampHigh = 0;
  timestampLow = 0;
  frameStart = 0;
  frameEnd = 0;
  payloadStart = 0;
  payloadEnd = 0;
  /** User header block; empty (`headersStart === headersEnd`) where there is none. */
  headersStart = 0;
  headersEnd = 0;
  /** After FRAME_NEEDS_BYTES: how many bytes from `at` the frame needs. */
  needed = 0;
  /** After FRAME_CORRUPT: one closed word for logs and tests, e.g. `length`, `checksum`, `offset`, `reserved`. */
  fault = '';
  /** Where the next frame starts (`ndjson`: past the line end and blank lines are handled by the reader). */
  next = 0;
}

/**
 * Reads frames of one format. Stateful only where the format needs it (`ndjson` counts lines): `restart` sets that
 * state when a reader is placed at a known offset and position.
 */
export interface FrameReader {
  /** Places the reader at the start of a segment or at a continuation's frame. */
  restart(nextOffset: number): void;
  /**
   * Looks at `bytes[at, end)`; `atEnd` says that `end` is the end of the segment's visible bytes. `sealed` matters to
   * `ndjson`, whose last line without a newline is a record only in a sealed segment.
   */
  read(bytes: Uint8Array, at: number, end: number, atEnd: boolean, sealed: boolean, frame: Frame): FrameStatus;
}
