/**
 * The reader's view of one stored frame, and the one interface behind which every segment format stands.
 *
 * A reader is pure: it looks at bytes `at`…`end` of a buffer and says what stands there. Whoever owns the bytes
 * (`source/frame-cursor.ts`) refills the window and calls again, checks that offsets increase, and decides whether a
 * torn frame is the end of the visible records or damage. No length is trusted before the bytes are there.
 *
 * Invariants: a reader never throws, never looks outside `at`…`end`, and allocates nothing per frame (a checksum
 * asked for is the exception: the library's call makes a view and a bigint).
 */

/** A whole frame was read into the `Frame`. */
export const FRAME_OK = 0;
/** The bytes at hand end inside a frame and more exists: call again at `frameStart` with `needed` bytes or all that is left. */
export const FRAME_NEEDS_BYTES = 1;
/** Nothing is left: the segment ends exactly here. */
export const FRAME_END = 2;
/** The segment ends inside a frame (or frame header): torn if it is the last, unsealed segment, else corrupt. */
export const FRAME_TORN = 3;
/** The bytes here are no frame; `Frame.fault` says why. */
export const FRAME_CORRUPT = 4;
/** No record up to `next` (a long run of blank lines in `ndjson`): look at the clock, then read on there. */
export const FRAME_SKIPPED = 5;

export type FrameStatus = 0 | 1 | 2 | 3 | 4 | 5;

/**
 * Why bytes are no frame, or not this one: a closed set for logs, the inspector and tests.
 *
 * `length` over FRAME_BYTES_MAX · `reserved` not zero · `offset` beyond 2^53−1 · `checksum` asked for and wrong ·
 * `prefix`, `partition`, `count` (`iggy_polled`: no whole prefix, another partition, another number of frames) ·
 * `order` not above the offset before · `torn` cut short where a tail may not be torn · `shrunk` fewer bytes than
 * when the segment was opened.
 */
export type FrameFault =
  '' | 'length' | 'reserved' | 'offset' | 'checksum' | 'prefix' | 'partition' | 'count' | 'order' | 'torn' | 'shrunk';

/** One frame's place and fields; positions are in the buffer handed to the reader, half-open. Reused for every record. */
export class Frame {
  offset = 0;
  /** Microseconds, split because u64 does not fit a number: value = high × 2^32 + low. 0 for `ndjson`. */
  timestampHigh = 0;
  timestampLow = 0;
  /**
   * First byte of the stored frame; set with every status but SKIPPED, so that damage and a torn tail have a place
   * too. Past blank lines for `ndjson`.
   */
  frameStart = 0;
  frameEnd = 0;
  payloadStart = 0;
  payloadEnd = 0;
  /** User header block; empty (`headersStart === headersEnd`) where there is none. */
  headersStart = 0;
  headersEnd = 0;
  /** After FRAME_NEEDS_BYTES: how many bytes from `frameStart` are needed to get further; may exceed what is left. */
  needed = 0;
  /** After FRAME_CORRUPT; otherwise stale. */
  fault: FrameFault = '';
  /** Where to read on: `frameEnd`, for `ndjson` past the line end. */
  next = 0;
}

/** What a reader has to know of its segment and request. */
export interface ReaderOptions {
  /** u32; only `iggy_polled` carries one to compare with. */
  readonly partitionId: number;
  /** `ndjson`: offset of the first non-blank line, 0…2^53−1. */
  readonly baseOffset: number;
  /** `ndjson`: a last line without a newline is a record only in a sealed segment. */
  readonly sealed: boolean;
  /** Verify checksums that are set (`iggy`, `iggy_polled`). */
  readonly verifyChecksums: boolean;
}

/**
 * Reads frames of one format in one segment. The only state is `ordinal`, the number of frames before the next one, so
 * that a reader can be placed anywhere a frame is known to start.
 */
export interface FrameReader {
  /** Smallest possible distance between two frames, in bytes: bounds how many records a read of n bytes can hold. */
  readonly frameBytesMin: number;
  /** Bytes before the first frame. */
  readonly prefixBytes: number;
  /** Frames of this segment before the next one. */
  readonly ordinal: number;
  /**
   * True where a frame carries its own offset and nothing depends on how many came before, so that a place known only
   * as (position, offset) can be trusted after looking at the frame there (`iggy`).
   */
  readonly isSeekable: boolean;
  /**
   * How many frames from here on may be read as plain `iggy` frames by something else than this reader, which is told
   * of them by `restart`: 0 where it has to see each one.
   */
  readonly framesAhead: number;
  /** After `readPrefix`: highest offset the prefix announces, 0…2^53−1 (`iggy_polled`); −1 where there is none. */
  readonly announcedOffset: number;

  /** Reads the prefix in `bytes[0, end)`, where `end` ≥ prefixBytes unless the segment is shorter. OK or CORRUPT. */
  readPrefix(bytes: Uint8Array, end: number, frame: Frame): FrameStatus;

  /** Sets `ordinal`: 0 at the first frame, or what it was when the place was noted. */
  restart(ordinal: number): void;

  /**
   * Looks at `bytes[at, end)`. `left` is the number of bytes from `at` to the end of the segment, `left` ≥ `end − at`;
   * the bytes at hand are the segment's last when they are equal.
   */
  read(bytes: Uint8Array, at: number, end: number, left: number, frame: Frame): FrameStatus;
}
