/**
 * "Next frame" over one segment after another: source + reader + window, for the scan loop and the inspector.
 *
 * It adds to a format's reader what all formats share: refilling the window, strictly increasing offsets across all
 * segments, `last_offset` visibility, and whether an unfinished frame at the end is a torn tail or damage (contract:
 * formats, scan-protocol §1 "Rules"). It knows nothing of filters, pages or budgets.
 *
 * Where the window is the kernel's, frames come a batch at a time from the kernel's frame table, and the reader of the
 * format judges only the frame that the kernel stopped at. Everything said below holds there too.
 *
 * Invariants: `next` allocates nothing unless a frame outgrows the window or checksums are verified; a frame's
 * positions are valid until the following `next`; after END, TORN or DAMAGED every further `next` says the same.
 * Damage is a status, not an exception; only a failing store throws (`Refusal`).
 */
import type { FrameTable, Kernel } from '../core/kernel.js';
import { INLINE_PIECE_BYTES, PROBE_RECORDS_MAX } from '../core/limits.js';
import {
  FRAME_CORRUPT,
  FRAME_END,
  FRAME_NEEDS_BYTES,
  FRAME_OK,
  FRAME_SKIPPED,
  Frame,
  type FrameFault,
  type FrameReader,
} from '../segment/frame.js';
import { iggyReader } from '../segment/iggy.js';
import { inlineSource } from './inline.js';
import type { SegmentSource } from './segment-source.js';
import type { Window } from './window.js';

/** A visible record stands in `frame`. */
export const CURSOR_FRAME = 0;
/** No visible record is left in this segment. */
export const CURSOR_END = 1;
/** The same, and `tornBytes` of an unfinished frame follow. */
export const CURSOR_TORN = 2;
/** The segment is damaged at `damagePosition`; `fault` says how. */
export const CURSOR_DAMAGED = 3;
/** Only blank lines were stepped over so far: look at the clock and call again. */
export const CURSOR_SKIPPED = 4;

export type CursorStatus = 0 | 1 | 2 | 3 | 4;

/** A place between two frames of a segment, as plain data that may cross threads. Made once and saved into. */
export interface CursorMark {
  /** Byte position of the next frame in its segment. */
  position: number;
  /** Frames of the segment before it; −1 where unknown (only for a format that is seekable). */
  ordinal: number;
  /** Offset of the record before it, across segments; −1 where there is none or it is unknown. */
  previousOffset: number;
}

/** The place before the first record of a scan. */
export function startMark(): CursorMark {
  return { position: 0, ordinal: 0, previousOffset: -1 };
}

export interface CursorOptions {
  /** Frames above it are not visible; infinity where none was given. */
  readonly lastOffset: number;
  /** True only for the last segment, and only when it is not sealed. */
  readonly mayBeTorn: boolean;
}

/** Options under which everything is visible and nothing may be torn. */
export const WHOLE_SEGMENT: CursorOptions = {
  lastOffset: Number.POSITIVE_INFINITY,
  mayBeTorn: false,
};

/** What a cursor stands on before its first `open`: an empty segment. */
const NOTHING = inlineSource(new Uint8Array(0));
const NO_FRAMES = iggyReader({ partitionId: 0, baseOffset: 0, sealed: true, verifyChecksums: false });

/** Walks segments; one for each worker, because it holds the worker's window. */
export class FrameCursor {
  /** Reused for every record; valid after CURSOR_FRAME. Its positions are in `bytes`. */
  readonly frame = new Frame();
  /** The window, or a resident segment itself where no kernel is. */
  bytes: Uint8Array;
  /** Offset of the record before `frame`, across segments; −1 if none. */
  offsetBefore = -1;
  /** After CURSOR_TORN: bytes from the unfinished frame's start to the end of the segment. */
  tornBytes = 0;
  /** After CURSOR_DAMAGED: position in the segment of the damaged frame's first byte. */
  damagePosition = 0;
  /** After CURSOR_DAMAGED: why. */
  fault: FrameFault = '';
  /**
   * Bytes that the caller still means to look at; a refill of a stored segment reads no further than that beyond what
   * the next frame needs (scan-protocol §4). The caller lowers it to the rest of its byte budget, or to the rest of
   * its record budget times `averageFrameBytes`.
   */
  readAheadBytes = Number.POSITIVE_INFINITY;

  readonly #window: Window;
  #source: SegmentSource = NOTHING;
  #reader: FrameReader = NO_FRAMES;
  #options: CursorOptions = WHOLE_SEGMENT;
  /** Position in the segment of `bytes[0]`. */
  #base = 0;
  /** Where the next frame starts, and where the bytes at hand end, in `bytes`. */
  #at = 0;
  #end = 0;
  #previousOffset = -1;
  #isProbing = false;
  #final: CursorStatus = CURSOR_END;
  #isFinal = true;
  /** Where this cursor started in the segment. */
  #startPosition = 0;
  #startOrdinal = 0;
  /** True where `bytes` is the segment itself. */
  #isInPlace = false;
  readonly #kernel: Kernel | undefined;
  /** Rows of the frame table that hold frames behind `#at`, and the next of them to take. */
  #rowCount = 0;
  #rowNext = 0;
  /** Rows taken that the reader has not been told of. */
  #rowsUntold = 0;

  constructor(window: Window) {
    this.#window = window;
    this.#kernel = window.kernel;
    this.bytes = window.bytes;
  }

  /**
   * Starts on a segment at `mark`. `reader` is fresh; `source` stays the caller's to close. A prefix that is wrong,
   * or a position past the end, shows as damage at the first `next`. A hint without an ordinal may be used only where
   * the reader `isSeekable`, and holds only if the frame found there has the expected offset.
   */
  open(source: SegmentSource, reader: FrameReader, options: CursorOptions, mark: CursorMark): void {
    this.#source = source;
    this.#reader = reader;
    this.#options = options;
    this.#previousOffset = mark.previousOffset;
    this.offsetBefore = mark.previousOffset;
    this.#isFinal = false;
    this.#base = 0;
    this.#at = 0;
    this.#rowsUntold = 0;
    this.#forgetRows();
    this.#isProbing = source.resident === null && (mark.position === 0 || reader.prefixBytes > 0);
    // The kernel sees only its own memory, so a resident segment goes through the window too where there is one.
    this.#isInPlace = source.resident !== null && this.#kernel === undefined;
    if (source.resident !== null && this.#isInPlace) {
      this.bytes = source.resident;
      this.#end = source.length;
    } else {
      this.bytes = this.#window.bytes;
      this.#end = 0;
    }
    const start = Math.max(mark.position, reader.prefixBytes);
    if (reader.prefixBytes > 0 && !this.#readPrefix()) return;
    if (start > source.length) {
      this.#damage('shrunk', source.length);
      return;
    }
    this.#startPosition = start;
    this.#startOrdinal = Math.max(mark.ordinal, 0);
    reader.restart(this.#startOrdinal);
    this.#seek(start);
  }

  /** Highest offset that the segment's prefix announces; −1 where there is none. */
  get announcedOffset(): number {
    return this.#reader.announcedOffset;
  }

  /** Mean distance of the frames read since `open`, in bytes; the smallest possible one before the first. */
  get averageFrameBytes(): number {
    const frames = this.#ordinal - this.#startOrdinal;
    if (frames === 0) return this.#reader.frameBytesMin;
    return (this.#base + this.#at - this.#startPosition) / frames;
  }

  /** Position in the segment of `frame`'s first byte. */
  get framePosition(): number {
    return this.#base + this.frame.frameStart;
  }

  /** Steps to the next visible record. */
  next(): CursorStatus {
    if (this.#isFinal) return this.#final;
    const frame = this.frame;
    if (this.#previousOffset >= this.#options.lastOffset) return this.#finish(CURSOR_END);
    for (;;) {
      if (this.#rowNext < this.#rowCount || this.#readRows()) return this.#takeRow();
      const left = this.#source.length - this.#base - this.#at;
      const status = this.#reader.read(this.bytes, this.#at, this.#end, left, frame);
      switch (status) {
        case FRAME_OK:
          if (frame.offset <= this.#previousOffset) return this.#damage('order', this.#base + frame.frameStart);
          if (frame.offset > this.#options.lastOffset) return this.#finish(CURSOR_END);
          this.offsetBefore = this.#previousOffset;
          this.#previousOffset = frame.offset;
          this.#at = frame.next;
          return CURSOR_FRAME;
        case FRAME_NEEDS_BYTES:
          this.#at = frame.frameStart;
          if (!this.#refill(frame.needed)) return this.#damage('shrunk', this.#base + this.#at);
          break;
        case FRAME_SKIPPED:
          this.#at = frame.next;
          return CURSOR_SKIPPED;
        case FRAME_END:
          return this.#finish(CURSOR_END);
        case FRAME_CORRUPT:
          return this.#damage(frame.fault, this.#base + frame.frameStart);
        default:
          if (!this.#options.mayBeTorn) return this.#damage('torn', this.#base + frame.frameStart);
          this.tornBytes = this.#source.length - this.#base - frame.frameStart;
          return this.#finish(CURSOR_TORN);
      }
    }
  }

  /**
   * Rows of the kernel's frame table that may be stepped over unseen, from `nextRow` on: visible frames of this segment
   * in order of their offsets. The first of a batch is never among them. 0 without a kernel.
   */
  get rowsAhead(): number {
    const kernel = this.#kernel;
    if (kernel === undefined || this.#rowNext === 0) return 0;
    const { offsets } = kernel.frames;
    let end = this.#rowCount;
    while (end > this.#rowNext && offsets[end - 1]! > this.#options.lastOffset) end -= 1;
    return end - this.#rowNext;
  }

  /** Row of the frame that `next` gives, if it is one of `rowsAhead`. */
  get nextRow(): number {
    return this.#rowNext;
  }

  /** The kernel's frame table; null without a kernel. */
  get table(): FrameTable | null {
    return this.#kernel?.frames ?? null;
  }

  /** Steps over the first 1…`rowsAhead` of the rows ahead, to the last of them. */
  takeRows(count: number): void {
    const skipped = count - 1;
    if (skipped > 0) {
      this.#rowNext += skipped;
      this.#rowsUntold += skipped;
      this.#previousOffset = this.#kernel!.frames.offsets[this.#rowNext - 1]!;
    }
    this.#takeRow();
  }

  /** After FRAME: notes the place of `frame`, so that a cursor opened there reads it again. */
  saveFrame(mark: CursorMark): void {
    mark.position = this.framePosition;
    mark.ordinal = this.#ordinal - 1;
    mark.previousOffset = this.offsetBefore;
  }

  /** Notes the place after `frame`; after END, TORN or DAMAGED only `previousOffset` means something. */
  saveNext(mark: CursorMark): void {
    mark.position = this.#base + this.#at;
    mark.ordinal = this.#ordinal;
    mark.previousOffset = this.#previousOffset;
  }

  get #ordinal(): number {
    return this.#reader.ordinal + this.#rowsUntold;
  }

  /** Fills the frame table from `#at` on; false if the next frame has to be judged by the reader. */
  #readRows(): boolean {
    const kernel = this.#kernel;
    if (kernel === undefined) return false;
    this.#forgetRows();
    if (this.bytes !== kernel.window) return false;
    const most = Math.min(this.#reader.framesAhead, kernel.frames.rows);
    if (most === 0) return false;
    const count = kernel.exports.readFrames(this.#at, this.#end, most);
    this.#rowCount = count;
    kernel.frames.begin(count);
    return count > 0;
  }

  /** Tells the reader of the rows that were taken, and drops the others. */
  #forgetRows(): void {
    if (this.#rowsUntold > 0) this.#reader.restart(this.#ordinal);
    this.#rowsUntold = 0;
    this.#rowCount = 0;
    this.#rowNext = 0;
    this.#kernel?.frames.begin(0);
  }

  /** Makes the next row the current record. */
  #takeRow(): CursorStatus {
    const { frame } = this;
    const frames = this.#kernel!.frames;
    const row = this.#rowNext;
    const offset = frames.offsets[row]!;
    const frameStart = frames.frameStarts[row]!;
    frame.frameStart = frameStart;
    if (offset <= this.#previousOffset) return this.#damage('order', this.#base + frameStart);
    if (offset > this.#options.lastOffset) return this.#finish(CURSOR_END);
    const payloadEnd = frames.payloadEnds[row]!;
    const frameEnd = frames.frameEnds[row]!;
    frames.row = row;
    frame.offset = offset;
    frame.timestampLow = frames.timestampLow[row]!;
    frame.timestampHigh = frames.timestampHigh[row]!;
    frame.payloadStart = frames.payloadStarts[row]!;
    frame.payloadEnd = payloadEnd;
    frame.headersStart = payloadEnd;
    frame.headersEnd = frameEnd;
    frame.frameEnd = frameEnd;
    frame.next = frameEnd;
    this.#rowNext = row + 1;
    this.#rowsUntold += 1;
    this.offsetBefore = this.#previousOffset;
    this.#previousOffset = offset;
    this.#at = frameEnd;
    return CURSOR_FRAME;
  }

  #readPrefix(): boolean {
    const prefixBytes = Math.min(this.#reader.prefixBytes, this.#source.length);
    if (!this.#isInPlace && !this.#refill(prefixBytes)) {
      this.#damage('shrunk', 0);
      return false;
    }
    if (this.#reader.readPrefix(this.bytes, Math.min(this.#end, this.#source.length), this.frame) === FRAME_OK)
      return true;
    this.#damage(this.frame.fault, 0);
    return false;
  }

  /** Moves to `position`, in the bytes at hand or by dropping them. */
  #seek(position: number): void {
    if (position <= this.#base + this.#end) {
      this.#at = position - this.#base;
    } else {
      this.#base = position;
      this.#at = 0;
      this.#end = 0;
    }
  }

  /** Makes `bytes` hold at least `neededBytes` from `#at` on, or all that is left. False when the bytes are not there. */
  #refill(neededBytes: number): boolean {
    const position = this.#base + this.#at;
    const left = this.#source.length - position;
    const held = this.#end - this.#at;
    const needed = Math.min(neededBytes, left);
    this.#forgetRows();
    this.#window.reserve(needed, this.#at, this.#end);
    this.bytes = this.#window.bytes;
    this.#base = position;
    this.#at = 0;
    this.#end = held;
    const ahead = this.#source.resident === null ? this.readAheadBytes : INLINE_PIECE_BYTES;
    let wanted = Math.min(ahead, left, this.#window.capacity);
    if (this.#isProbing) wanted = Math.min(wanted, PROBE_RECORDS_MAX * this.#reader.frameBytesMin);
    this.#isProbing = false;
    const missing = Math.max(needed, wanted) - held;
    const got = this.#source.read(position + held, this.bytes, held, missing);
    this.#end = held + got;
    // Whole frames in a short read are still delivered; the next refill meets the missing bytes again.
    return this.#end >= needed;
  }

  #damage(fault: FrameFault, position: number): CursorStatus {
    this.fault = fault;
    this.damagePosition = position;
    return this.#finish(CURSOR_DAMAGED);
  }

  #finish(status: CursorStatus): CursorStatus {
    this.#isFinal = true;
    this.#final = status;
    return status;
  }
}
