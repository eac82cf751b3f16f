/**
 * Nothing is allocated per frame, whatever the format and wherever the bytes are.
 *
 * A file of its own, so that the engine has not seen the loop in other shapes before.
 */
import { expect, it } from 'vitest';
import { WINDOW_BYTES } from '../../src/core/limits.js';
import { createReader } from '../../src/segment/formats.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { encodeNdjson } from '../../src/segment/ndjson-writer.js';
import { CURSOR_FRAME, FrameCursor, startMark, WHOLE_SEGMENT } from '../../src/source/frame-cursor.js';
import { inlineSource } from '../../src/source/inline.js';
import type { SegmentSource } from '../../src/source/segment-source.js';
import { Window } from '../../src/source/window.js';
import { newKernel } from '../support/kernel.js';
import { piecewiseSource } from '../support/segment-drain.js';

const FRAMES = 60_000;
const PASSES = 4;
/** The smallest object takes 16 bytes, so this many per frame is none. */
const BYTES_PER_FRAME_MAX = 2;

const SEGMENTS = {
  iggy: encodeIggySegment(Array.from({ length: FRAMES }, (_, offset) => ({ offset, payload: new Uint8Array(20) }))),
  ndjson: encodeNdjson(Array.from({ length: FRAMES }, () => Uint8Array.of(0x7b, 0x7d))),
};

function readAll(cursor: FrameCursor, format: keyof typeof SEGMENTS, source: SegmentSource): number {
  const options = { partitionId: 0, baseOffset: 0, sealed: true, verifyChecksums: false };
  let frames = 0;
  for (let pass = 0; pass < PASSES; pass += 1) {
    cursor.open(source, createReader(format, options), WHOLE_SEGMENT, startMark());
    while (cursor.next() === CURSOR_FRAME) frames += 1;
  }
  return frames;
}

it.each([
  ['iggy', 'a window', undefined],
  ['ndjson', 'a window', undefined],
  ['iggy', "the kernel's window", newKernel()],
] as const)('reading %s in place and through %s allocates nothing per frame', (format, _, kernel) => {
  const cursor = new FrameCursor(new Window(WINDOW_BYTES, kernel));
  for (const source of [inlineSource(SEGMENTS[format]), piecewiseSource(SEGMENTS[format])]) {
    // The first rounds run unoptimised, which boxes numbers; the steady state is what counts.
    const grown = Array.from({ length: 8 }, () => {
      globalThis.gc!();
      const before = process.memoryUsage().heapUsed;
      expect(readAll(cursor, format, source)).toBe(FRAMES * PASSES);
      return process.memoryUsage().heapUsed - before;
    });
    expect(Math.min(...grown), source.identity).toBeLessThan(FRAMES * PASSES * BYTES_PER_FRAME_MAX);
  }
});
