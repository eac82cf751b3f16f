/**
 * Reads a whole segment through the frame cursor, for tests: every record's own bytes, and how the segment ended.
 */
import type { Kernel } from '../../src/core/kernel.js';
import { createReader, type SegmentFormatName } from '../../src/segment/formats.js';
import type { ReaderOptions } from '../../src/segment/frame.js';
import {
  CURSOR_DAMAGED,
  CURSOR_FRAME,
  CURSOR_SKIPPED,
  CURSOR_TORN,
  FrameCursor,
  startMark,
  type CursorMark,
} from '../../src/source/frame-cursor.js';
import { inlineSource } from '../../src/source/inline.js';
import type { SegmentSource } from '../../src/source/segment-source.js';
import { Window } from '../../src/source/window.js';

/** Bytes as a source that is read in pieces, like a file; `available` below the length plays a file that shrank. */
export function piecewiseSource(bytes: Uint8Array, available = bytes.length): SegmentSource & { reads: number[] } {
  const reads: number[] = [];
  return {
    length: bytes.length,
    identity: 'piecewise',
    resident: null,
    reads,
    read(position, into, at, length) {
      const part = bytes.subarray(position, Math.min(position + length, available));
      if (at + length > into.length) throw new Error(`read of ${length} at ${at} leaves a window of ${into.length}`);
      into.set(part, at);
      reads.push(length);
      return part.length;
    },
    close() {},
  };
}

export interface Drained {
  readonly offsets: number[];
  readonly positions: number[];
  /** Stored frame bytes of each record. */
  readonly frames: Uint8Array[];
  readonly payloads: Uint8Array[];
  readonly headers: Uint8Array[];
  /** `end`, `torn <bytes>` or `<fault> at <position>`. */
  readonly ending: string;
}

export interface DrainOptions extends Partial<ReaderOptions> {
  readonly lastOffset?: number;
  /** Default: the opposite of `sealed`. */
  readonly mayBeTorn?: boolean;
  /** Read through a window of this size instead of in place. */
  readonly windowBytes?: number;
  /** Read through this kernel's window, frames a batch at a time. */
  readonly kernel?: Kernel;
  readonly source?: SegmentSource;
  readonly mark?: CursorMark;
}

/** Reads `bytes` to its end. */
export function drain(format: SegmentFormatName, bytes: Uint8Array, options: DrainOptions = {}): Drained {
  const sealed = options.sealed ?? true;
  const reader = createReader(format, {
    partitionId: options.partitionId ?? 0,
    baseOffset: options.baseOffset ?? 0,
    sealed,
    verifyChecksums: options.verifyChecksums ?? false,
  });
  const source = options.source ?? (options.windowBytes === undefined ? inlineSource(bytes) : piecewiseSource(bytes));
  const cursor = new FrameCursor(new Window(options.windowBytes ?? 4096, options.kernel));
  const visibility = {
    lastOffset: options.lastOffset ?? Number.POSITIVE_INFINITY,
    mayBeTorn: options.mayBeTorn ?? !sealed,
  };
  cursor.open(source, reader, visibility, options.mark ?? startMark());
  const drained = { offsets: [], positions: [], frames: [], payloads: [], headers: [] } as Omit<Drained, 'ending'>;
  for (;;) {
    const status = cursor.next();
    if (status === CURSOR_SKIPPED) continue;
    if (status !== CURSOR_FRAME) {
      const damage = `${cursor.fault} at ${cursor.damagePosition}`;
      const ending = status === CURSOR_DAMAGED ? damage : status === CURSOR_TORN ? `torn ${cursor.tornBytes}` : 'end';
      return { ...drained, ending };
    }
    const frame = cursor.frame;
    drained.offsets.push(frame.offset);
    drained.positions.push(cursor.framePosition);
    drained.frames.push(cursor.bytes.slice(frame.frameStart, frame.frameEnd));
    drained.payloads.push(cursor.bytes.slice(frame.payloadStart, frame.payloadEnd));
    drained.headers.push(cursor.bytes.slice(frame.headersStart, frame.headersEnd));
  }
}
