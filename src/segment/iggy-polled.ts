/**
 * Reader of `iggy_polled`: the body of a poll reply (contract: formats §1).
 *
 *   0  partition id u32
 *   4  current offset u64: the partition's highest offset
 *  12  count u32
 *  16  `iggy` frames
 *
 * Always sealed. A body without a whole prefix, of another partition, or with a count that differs from its frames is
 * corrupt: one frame too many at that frame's first byte, one too few at the end of the body.
 */
import { OFFSET_MAX } from '../core/limits.js';
import {
  FRAME_CORRUPT,
  FRAME_END,
  FRAME_OK,
  type Frame,
  type FrameFault,
  type FrameReader,
  type FrameStatus,
  type ReaderOptions,
} from './frame.js';
import { IGGY_HEADER_BYTES, readIggyFrame } from './iggy.js';
import { readU32, ViewOfBytes } from './little-endian.js';

/** Bytes before the first frame. */
export const POLLED_PREFIX_BYTES = 16;

const TWO_POW_32 = 0x1_0000_0000;

/** Makes a reader of a polled body. */
export function iggyPolledReader(options: ReaderOptions): FrameReader {
  return new IggyPolledReader(options.partitionId, options.verifyChecksums);
}

class IggyPolledReader implements FrameReader {
  readonly frameBytesMin = IGGY_HEADER_BYTES;
  readonly prefixBytes = POLLED_PREFIX_BYTES;
  // The count is checked against the frames, so a reader has to know how many came before.
  readonly isSeekable = false;
  announcedOffset = -1;
  ordinal = 0;
  #count = 0;
  readonly #partitionId: number;
  readonly #verifyChecksums: boolean;
  readonly #views = new ViewOfBytes();

  constructor(partitionId: number, verifyChecksums: boolean) {
    this.#partitionId = partitionId;
    this.#verifyChecksums = verifyChecksums;
  }

  get framesAhead(): number {
    return this.#verifyChecksums ? 0 : Math.max(0, this.#count - this.ordinal);
  }

  readPrefix(bytes: Uint8Array, end: number, frame: Frame): FrameStatus {
    frame.frameStart = 0;
    if (end < POLLED_PREFIX_BYTES) return corrupt(frame, 'prefix');
    if (readU32(bytes, 0) !== this.#partitionId) return corrupt(frame, 'partition');
    const currentOffset = readU32(bytes, 8) * TWO_POW_32 + readU32(bytes, 4);
    if (currentOffset > OFFSET_MAX) return corrupt(frame, 'offset');
    this.announcedOffset = currentOffset;
    this.#count = readU32(bytes, 12);
    return FRAME_OK;
  }

  restart(ordinal: number): void {
    this.ordinal = ordinal;
  }

  read(bytes: Uint8Array, at: number, end: number, left: number, frame: Frame): FrameStatus {
    frame.frameStart = at;
    if (left > 0 && this.ordinal >= this.#count) return corrupt(frame, 'count');
    const status = readIggyFrame(this.#views.of(bytes), bytes, at, end, left, this.#verifyChecksums, frame);
    if (status === FRAME_OK) this.ordinal += 1;
    if (status === FRAME_END && this.ordinal !== this.#count) return corrupt(frame, 'count');
    return status;
  }
}

function corrupt(frame: Frame, fault: FrameFault): FrameStatus {
  frame.fault = fault;
  return FRAME_CORRUPT;
}
