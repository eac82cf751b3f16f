/**
 * Reader of `iggy` segments: message frames back to back (contract: formats §1, torn tail: scan-protocol §1).
 *
 *   0  checksum u64, XxHash3-64 of bytes 8…end; 0 = not set
 *   8  id u128
 *  24  offset u64
 *  32  timestamp u64, microseconds
 *  40  origin timestamp u64, microseconds
 *  48  user headers length u32
 *  52  payload length u32
 *  56  reserved u64, zero
 *  64  payload, then user headers
 *
 * Checks stand in this order: length, presence in full, reserved, offset, checksum. So a frame that is not there in
 * full is torn whatever else its header says: a header half overwritten by the next append must not look like damage.
 */
import { FRAME_BYTES_MAX, OFFSET_MAX } from '../core/limits.js';
import { hasXxh3 } from './checksum.js';
import {
  FRAME_CORRUPT,
  FRAME_END,
  FRAME_NEEDS_BYTES,
  FRAME_OK,
  FRAME_TORN,
  type Frame,
  type FrameReader,
  type FrameStatus,
  type ReaderOptions,
} from './frame.js';
import { readU64, ViewOfBytes } from './little-endian.js';

/** Bytes of a frame header. */
export const IGGY_HEADER_BYTES = 64;

const TWO_POW_32 = 0x1_0000_0000;

/**
 * Looks at one frame; the whole rule of `iggy` and the frames of `iggy_polled`. See {@link FrameReader.read}. `view`
 * shows the same bytes as `bytes`.
 */
export function readIggyFrame(
  view: DataView,
  bytes: Uint8Array,
  at: number,
  end: number,
  left: number,
  verifyChecksums: boolean,
  frame: Frame,
): FrameStatus {
  frame.frameStart = at;
  if (left === 0) return FRAME_END;
  if (left < IGGY_HEADER_BYTES) return FRAME_TORN;
  if (end - at < IGGY_HEADER_BYTES) {
    frame.needed = IGGY_HEADER_BYTES;
    return FRAME_NEEDS_BYTES;
  }
  const headersBytes = view.getUint32(at + 48, true);
  const payloadBytes = view.getUint32(at + 52, true);
  // Both are u32, so the sum is an exact number below 2^34.
  const frameBytes = IGGY_HEADER_BYTES + payloadBytes + headersBytes;
  if (frameBytes > FRAME_BYTES_MAX) {
    frame.fault = 'length';
    return FRAME_CORRUPT;
  }
  if (frameBytes > left) return FRAME_TORN;
  if (frameBytes > end - at) {
    frame.needed = frameBytes;
    return FRAME_NEEDS_BYTES;
  }
  if ((view.getUint32(at + 56, true) | view.getUint32(at + 60, true)) !== 0) {
    frame.fault = 'reserved';
    return FRAME_CORRUPT;
  }
  const offset = view.getUint32(at + 28, true) * TWO_POW_32 + view.getUint32(at + 24, true);
  if (offset > OFFSET_MAX) {
    frame.fault = 'offset';
    return FRAME_CORRUPT;
  }
  if (verifyChecksums) {
    const low = view.getUint32(at, true);
    const high = view.getUint32(at + 4, true);
    if ((low | high) !== 0 && !hasXxh3(bytes, at + 8, at + frameBytes, high, low)) {
      frame.fault = 'checksum';
      return FRAME_CORRUPT;
    }
  }
  frame.offset = offset;
  frame.timestampLow = view.getUint32(at + 32, true);
  frame.timestampHigh = view.getUint32(at + 36, true);
  frame.payloadStart = at + IGGY_HEADER_BYTES;
  frame.payloadEnd = frame.payloadStart + payloadBytes;
  frame.headersStart = frame.payloadEnd;
  frame.headersEnd = at + frameBytes;
  frame.frameEnd = frame.headersEnd;
  frame.next = frame.headersEnd;
  return FRAME_OK;
}

/** Makes a reader of `iggy` frames. */
export function iggyReader(options: ReaderOptions): FrameReader {
  return new IggyReader(options.verifyChecksums);
}

class IggyReader implements FrameReader {
  readonly frameBytesMin = IGGY_HEADER_BYTES;
  readonly prefixBytes = 0;
  readonly isSeekable = true;
  readonly announcedOffset = -1;
  readonly framesAhead: number;
  ordinal = 0;
  readonly #verifyChecksums: boolean;
  readonly #views = new ViewOfBytes();

  constructor(verifyChecksums: boolean) {
    this.#verifyChecksums = verifyChecksums;
    this.framesAhead = verifyChecksums ? 0 : Number.POSITIVE_INFINITY;
  }

  readPrefix(): FrameStatus {
    return FRAME_OK;
  }

  restart(ordinal: number): void {
    this.ordinal = ordinal;
  }

  read(bytes: Uint8Array, at: number, end: number, left: number, frame: Frame): FrameStatus {
    const status = readIggyFrame(this.#views.of(bytes), bytes, at, end, left, this.#verifyChecksums, frame);
    if (status === FRAME_OK) this.ordinal += 1;
    return status;
  }
}

/** What a reply shows of a frame header beyond what the scan needs (scan-protocol §1 `records`). */
export interface IggyIdentity {
  /** u128. */
  readonly id: bigint;
  /** Microseconds, u64. */
  readonly timestamp: bigint;
  /** Microseconds, u64. */
  readonly originTimestamp: bigint;
}

/** Microseconds, u64, of the whole frame that starts at `frameStart`. */
export function readIggyTimestamp(bytes: Uint8Array, frameStart: number): bigint {
  return readU64(bytes, frameStart + 32);
}

/** Reads id and timestamps of the whole frame that starts at `frameStart`. Allocates: only for records delivered. */
export function readIggyIdentity(bytes: Uint8Array, frameStart: number): IggyIdentity {
  return {
    id: (readU64(bytes, frameStart + 16) << 64n) | readU64(bytes, frameStart + 8),
    timestamp: readIggyTimestamp(bytes, frameStart),
    originTimestamp: readU64(bytes, frameStart + 40),
  };
}
