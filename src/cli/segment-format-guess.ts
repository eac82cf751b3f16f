/**
 * Guesses the format of a segment file from its first bytes.
 *
 * Text is `ndjson`; binary is what reads as more frames in a row. A guess only saves typing `--format`: nothing but
 * commands uses it.
 */
import { createReader, type SegmentFormatName } from '../segment/formats.js';
import { readU32 } from '../segment/little-endian.js';
import { POLLED_PREFIX_BYTES } from '../segment/iggy-polled.js';
import { CURSOR_DAMAGED, CURSOR_FRAME, FrameCursor, startMark } from '../source/frame-cursor.js';
import { inlineSource } from '../source/inline.js';
import type { SegmentSource } from '../source/segment-source.js';
import type { Window } from '../source/window.js';

/** Bytes looked at: several hundred frames, or the start of a large one. */
const GUESS_BYTES = 256 * 1024;
/** Frames in a row that settle it. */
const GUESS_FRAMES = 32;

/** The format of the segment; undefined where nothing fits. An empty segment is `iggy`. */
export function guessSegmentFormat(source: SegmentSource, window: Window): SegmentFormatName | undefined {
  const head = new Uint8Array(Math.min(source.length, GUESS_BYTES));
  const bytes = head.subarray(0, source.read(0, head, 0, head.length));
  if (bytes.length === 0) return 'iggy';
  if (isText(bytes)) return 'ndjson';
  const plain = framesInRow('iggy', bytes, source.length, window);
  const polled = framesInRow('iggy_polled', bytes, source.length, window);
  if (plain === 0 && polled === 0) return undefined;
  return polled > plain ? 'iggy_polled' : 'iggy';
}

/** The partition that a polled body says it belongs to; 0 where it is too short to say. */
export function polledPartitionOf(source: SegmentSource): number {
  const prefix = new Uint8Array(POLLED_PREFIX_BYTES);
  return source.read(0, prefix, 0, Math.min(source.length, prefix.length)) < 4 ? 0 : readU32(prefix, 0);
}

/** JSON text has no control characters but white space. */
function isText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte >= 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
}

/** Frames that read well from the start of `bytes`, the first part of a segment of `length` bytes; the end counts one. */
function framesInRow(format: SegmentFormatName, bytes: Uint8Array, length: number, window: Window): number {
  const source = inlineSource(bytes);
  const options = { partitionId: polledPartitionOf(source), baseOffset: 0, sealed: true, verifyChecksums: false };
  const cursor = new FrameCursor(window);
  const visibility = { lastOffset: Number.POSITIVE_INFINITY, mayBeTorn: length > bytes.length };
  cursor.open(source, createReader(format, options), visibility, startMark());
  let frames = 0;
  for (;;) {
    const status = cursor.next();
    if (status !== CURSOR_FRAME) return frames + (status === CURSOR_DAMAGED ? 0 : 1);
    frames += 1;
    if (frames === GUESS_FRAMES) return frames;
  }
}
