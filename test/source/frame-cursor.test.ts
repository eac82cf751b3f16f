/**
 * The frame cursor: windows, probes, visibility, marks, shrinking files (contract: scan-protocol §1, §4).
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OFFSET_MAX, WINDOW_BYTES } from '../../src/core/limits.js';
import { createReader } from '../../src/segment/formats.js';
import { encodeIggySegment, encodePolledBody } from '../../src/segment/iggy-writer.js';
import { encodeNdjson } from '../../src/segment/ndjson-writer.js';
import {
  CURSOR_DAMAGED,
  CURSOR_END,
  CURSOR_FRAME,
  FrameCursor,
  startMark,
  WHOLE_SEGMENT,
} from '../../src/source/frame-cursor.js';
import { inlineSource } from '../../src/source/inline.js';
import { Window } from '../../src/source/window.js';
import { newKernel } from '../support/kernel.js';
import { drain, piecewiseSource } from '../support/segment-drain.js';

const READER_OPTIONS = { partitionId: 0, baseOffset: 0, sealed: true, verifyChecksums: false };

function segmentOf(count: number, payloadBytes: (index: number) => number): Uint8Array {
  return encodeIggySegment(
    Array.from({ length: count }, (_, index) => ({
      offset: index * 2,
      payload: new Uint8Array(payloadBytes(index)).fill(index),
    })),
  );
}

describe('reading through a window', () => {
  it('yields the same records through any window as in place', () => {
    const bytes = segmentOf(40, (index) => (index * 37) % 300);
    const whole = drain('iggy', bytes);
    for (const windowBytes of [64, 65, 100, 364, 1000, 100_000]) {
      expect(drain('iggy', bytes, { windowBytes })).toEqual(whole);
    }
  });

  it('grows for a frame larger than the window and shrinks back after it', () => {
    const bytes = segmentOf(9, (index) => (index === 4 ? 10_000 : 50));
    const window = new Window(512);
    const cursor = new FrameCursor(window);
    cursor.open(piecewiseSource(bytes), createReader('iggy', READER_OPTIONS), WHOLE_SEGMENT, startMark());
    const grown: boolean[] = [];
    while (cursor.next() === CURSOR_FRAME) grown.push(window.isGrown);
    expect(grown).toEqual([false, false, false, false, true, false, false, false, false]);
    expect(window.bytes.length).toBe(512);
  });

  it('never grows for a length that the segment does not back', () => {
    const bytes = segmentOf(2, () => 10);
    bytes[74 + 54] = 0x30;
    const window = new Window(64);
    const cursor = new FrameCursor(window);
    const options = { lastOffset: OFFSET_MAX, mayBeTorn: true };
    cursor.open(piecewiseSource(bytes), createReader('iggy', READER_OPTIONS), options, startMark());
    while (cursor.next() === CURSOR_FRAME);
    expect(window.bytes.length).toBeLessThanOrEqual(74);
    expect(cursor.tornBytes).toBe(74);
  });

  it('holds at most 128 records in its first read of a stored segment', () => {
    for (const [format, bytes, frameBytesMin] of [
      ['iggy', segmentOf(1000, () => 0), 64],
      ['ndjson', encodeNdjson(Array.from({ length: 1000 }, () => Uint8Array.of(0x31))), 2],
    ] as const) {
      const source = piecewiseSource(bytes);
      const cursor = new FrameCursor(new Window());
      cursor.open(source, createReader(format, READER_OPTIONS), WHOLE_SEGMENT, startMark());
      cursor.next();
      expect(source.reads).toEqual([128 * frameBytesMin]);
    }
  });

  it('reads no further than the caller means to look, but always what the next frame needs', () => {
    const bytes = segmentOf(100, () => 136);
    const source = piecewiseSource(bytes);
    const cursor = new FrameCursor(new Window());
    const mark = { position: 200, ordinal: 1, previousOffset: 0 };
    cursor.open(source, createReader('iggy', READER_OPTIONS), WHOLE_SEGMENT, mark);
    cursor.readAheadBytes = 1000;
    for (let index = 0; index < 5; index += 1) cursor.next();
    expect(source.reads).toEqual([1000]);
    expect(cursor.averageFrameBytes).toBe(200);
    cursor.readAheadBytes = 0;
    cursor.next();
    expect(source.reads).toEqual([1000, 64, 136]);
  });
});

describe('frames a batch at a time', () => {
  it('are the frames, places and means that one at a time are, up to and over the rows of a batch', () => {
    const kernel = newKernel();
    const { rows } = kernel.frames;
    for (const count of [1, rows - 1, rows, rows + 1, 3 * rows + 7]) {
      const bytes = segmentOf(count, (index) => index % 5);
      const alone = new FrameCursor(new Window());
      const batched = new FrameCursor(new Window(WINDOW_BYTES, kernel));
      for (const cursor of [alone, batched]) {
        cursor.open(inlineSource(bytes), createReader('iggy', READER_OPTIONS), WHOLE_SEGMENT, startMark());
      }
      for (let index = 0; index < count; index += 1) {
        expect([alone.next(), batched.next()]).toEqual([CURSOR_FRAME, CURSOR_FRAME]);
        expect({ ...batched.frame, needed: 0 }).toEqual({ ...alone.frame });
        expect(batched.framePosition).toBe(alone.framePosition);
        expect(batched.averageFrameBytes).toBe(alone.averageFrameBytes);
        expect(kernel.frames.isPayload(batched.frame.payloadStart, batched.frame.payloadEnd)).toBe(true);
      }
      expect(batched.next()).toBe(CURSOR_END);
      expect(kernel.frames.row).toBe(-1);
    }
  });

  it('leave a frame to the reader that has to see it: checksums asked for, a frame larger than the window', () => {
    const kernel = newKernel();
    const bytes = segmentOf(3, (index) => (index === 1 ? 2_000_000 : 10));
    const rows = (verifyChecksums: boolean) => {
      const cursor = new FrameCursor(new Window(WINDOW_BYTES, kernel));
      const reader = createReader('iggy', { ...READER_OPTIONS, verifyChecksums });
      cursor.open(inlineSource(bytes), reader, WHOLE_SEGMENT, startMark());
      const seen = [];
      while (cursor.next() === CURSOR_FRAME) seen.push(kernel.frames.row);
      return seen;
    };
    expect(rows(false)).toEqual([0, -1, 0]);
    expect(rows(true)).toEqual([-1, -1, -1]);
  });
});

describe('a cursor that was never opened', () => {
  it('stands at the end of nothing and knows the smallest frame', () => {
    const cursor = new FrameCursor(new Window(64));
    expect(cursor.averageFrameBytes).toBe(64);
    expect(cursor.announcedOffset).toBe(-1);
    expect(cursor.next()).toBe(CURSOR_END);
  });
});

describe('visibility', () => {
  it('ends before the first frame above last_offset, exact or in a gap, and does not judge what follows', () => {
    const bytes = segmentOf(5, () => 8);
    expect(drain('iggy', bytes, { lastOffset: 4 })).toMatchObject({ offsets: [0, 2, 4], ending: 'end' });
    expect(drain('iggy', bytes, { lastOffset: 5 })).toMatchObject({ offsets: [0, 2, 4], ending: 'end' });
    const damaged = bytes.slice();
    damaged[3 * 72 + 60] = 9;
    expect(drain('iggy', damaged, { lastOffset: 4 })).toMatchObject({ offsets: [0, 2, 4], ending: 'end' });
    expect(drain('iggy', damaged, { lastOffset: 5 }).ending).toBe('reserved at 216');
  });

  it('shows whole frames of a file that shrank since it was opened, then damage', () => {
    const bytes = segmentOf(5, () => 8);
    for (const available of [0, 100, 3 * 72, 3 * 72 + 5]) {
      const drained = drain('iggy', bytes, { source: piecewiseSource(bytes, available), windowBytes: 128 });
      const whole = Math.floor(available / 72);
      expect(drained.offsets).toEqual([0, 2, 4].slice(0, whole));
      expect(drained.ending).toBe(`shrunk at ${whole * 72}`);
    }
  });
});

describe('marks', () => {
  it('reads the same frame again after saveFrame and the following one after saveNext, in every format', () => {
    const payloads = Array.from({ length: 30 }, (_, index) => new TextEncoder().encode(`{"n":${index}}`));
    const records = payloads.map((payload, index) => ({ offset: 3 * index, payload }));
    const segments = [
      ['iggy', encodeIggySegment(records)],
      ['iggy_polled', encodePolledBody(0, 99, records)],
      ['ndjson', encodeNdjson(payloads)],
    ] as const;
    const otherKernel = newKernel();
    for (const [format, bytes, kernel] of segments.flatMap(([name, stored]) => [
      [name, stored, undefined] as const,
      [name, stored, newKernel()] as const,
    ])) {
      const whole = drain(format, bytes);
      const cursor = new FrameCursor(new Window(100, kernel));
      cursor.open(piecewiseSource(bytes), createReader(format, READER_OPTIONS), WHOLE_SEGMENT, startMark());
      for (let index = 0; index < payloads.length; index += 1) {
        expect(cursor.next()).toBe(CURSOR_FRAME);
        const mark = startMark();
        cursor.saveFrame(mark);
        const more = kernel === undefined ? {} : { kernel: otherKernel };
        expect(drain(format, bytes, { mark, windowBytes: 80, ...more }).offsets).toEqual(whole.offsets.slice(index));
        cursor.saveNext(mark);
        expect(drain(format, bytes, { mark }).offsets).toEqual(whole.offsets.slice(index + 1));
        expect(drain(format, bytes, { mark }).ending).toBe('end');
      }
      expect(cursor.next()).toBe(CURSOR_END);
      expect(cursor.next()).toBe(CURSOR_END);
    }
  });

  it('calls a place past the end damage', () => {
    const bytes = segmentOf(2, () => 8);
    const mark = { position: 1000, ordinal: 5, previousOffset: 1 };
    expect(drain('iggy', bytes, { mark }).ending).toBe('shrunk at 144');
  });

  it('says the same again after damage', () => {
    const cursor = new FrameCursor(new Window());
    const source = piecewiseSource(new Uint8Array(10));
    cursor.open(source, createReader('iggy', READER_OPTIONS), WHOLE_SEGMENT, startMark());
    expect([cursor.next(), cursor.next()]).toEqual([CURSOR_DAMAGED, CURSOR_DAMAGED]);
  });
});

describe('any segment', () => {
  const payload = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 40 }),
    fc.uint8Array({ minLength: 1, maxLength: 900, size: 'max' }),
  );

  it('reads back as written, through any window, and goes on from any mark', () => {
    const cases = fc.record({
      records: fc.array(fc.record({ gap: fc.integer({ min: 1, max: 1000 }), payload }), { maxLength: 25 }),
      format: fc.constantFrom('iggy' as const, 'iggy_polled' as const, 'ndjson' as const),
      windowBytes: fc.integer({ min: 64, max: 2000 }),
      resumeAt: fc.nat(25),
    });
    fc.assert(
      fc.property(cases, ({ records: drawn, format, windowBytes, resumeAt }) => {
        let offset = -1;
        const records = drawn.map(({ gap, payload: bytes }) => {
          offset = format === 'ndjson' ? offset + 1 : offset + gap;
          // A line is any bytes but a line feed, and begins and ends with something that is seen.
          const line = Uint8Array.from([0x22, ...bytes.map((byte) => (byte === 0x0a ? 0x0b : byte)), 0x22]);
          return { offset, payload: format === 'ndjson' ? line : bytes, hasChecksum: true };
        });
        const bytes =
          format === 'iggy'
            ? encodeIggySegment(records)
            : format === 'iggy_polled'
              ? encodePolledBody(0, 0, records)
              : encodeNdjson(
                  records.map((record) => record.payload),
                  '\r\n',
                );
        const whole = drain(format, bytes, { windowBytes, verifyChecksums: true });
        expect(whole.ending).toBe('end');
        expect(whole.offsets).toEqual(records.map((record) => record.offset));
        expect(whole.payloads).toEqual(records.map((record) => record.payload));
        const at = Math.min(resumeAt, records.length - 1);
        if (at < 0) return;
        const mark = { position: whole.positions[at]!, ordinal: at, previousOffset: whole.offsets[at - 1] ?? -1 };
        expect(drain(format, bytes, { windowBytes, mark }).offsets).toEqual(whole.offsets.slice(at));
      }),
      { seed: 7, numRuns: 400 },
    );
  });
});
