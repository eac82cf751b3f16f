/**
 * `iggy_polled` bodies: prefix, partition, count (contract: formats §1).
 */
import { describe, expect, it } from 'vitest';
import { createReader } from '../../src/segment/formats.js';
import { encodeIggySegment, encodePolledBody } from '../../src/segment/iggy-writer.js';
import { writeU64 } from '../../src/segment/little-endian.js';
import { FrameCursor, startMark, WHOLE_SEGMENT } from '../../src/source/frame-cursor.js';
import { inlineSource } from '../../src/source/inline.js';
import { Window } from '../../src/source/window.js';
import { drain, piecewiseSource } from '../support/segment-drain.js';

const RECORDS = [3, 4, 8].map((offset) => ({ offset, payload: new Uint8Array(offset) }));
const FRAMES_BYTES = 3 * 64 + 15;

describe('polled bodies', () => {
  it('yields the same frames as the segment without its prefix', () => {
    const body = drain('iggy_polled', encodePolledBody(0, 8, RECORDS));
    const plain = drain('iggy', encodeIggySegment(RECORDS));
    expect(body).toEqual({ ...plain, positions: plain.positions.map((position) => position + 16) });
  });

  it('announces the current offset of the prefix', () => {
    const cursor = new FrameCursor(new Window(64));
    for (const source of [inlineSource, piecewiseSource]) {
      const options = { partitionId: 7, baseOffset: 0, sealed: true, verifyChecksums: false };
      const body = encodePolledBody(7, 2 ** 33 + 5, RECORDS);
      cursor.open(source(body), createReader('iggy_polled', options), WHOLE_SEGMENT, startMark());
      expect(cursor.announcedOffset).toBe(2 ** 33 + 5);
    }
  });

  it('refuses another partition at its first byte', () => {
    const body = encodePolledBody(0xffff_ffff, 8, RECORDS);
    expect(drain('iggy_polled', body, { partitionId: 1 })).toMatchObject({ offsets: [], ending: 'partition at 0' });
    expect(drain('iggy_polled', body, { partitionId: 0xffff_ffff }).ending).toBe('end');
  });

  it('refuses a body without a whole prefix, the empty one too', () => {
    for (const length of [0, 1, 15]) {
      const body = encodePolledBody(0, 0, []).subarray(0, length);
      expect(drain('iggy_polled', body).ending).toBe('prefix at 0');
      expect(drain('iggy_polled', body, { windowBytes: 64 }).ending).toBe('prefix at 0');
    }
    expect(drain('iggy_polled', encodePolledBody(0, 0, [])).ending).toBe('end');
  });

  it('refuses a current offset of 2^53 or more', () => {
    const body = encodePolledBody(0, 0, RECORDS);
    writeU64(body, 4, 2n ** 53n);
    expect(drain('iggy_polled', body).ending).toBe('offset at 0');
  });

  it('refuses a frame more than counted at that frame and a frame less at the end', () => {
    const low = encodePolledBody(0, 8, RECORDS, 2);
    expect(drain('iggy_polled', low)).toMatchObject({ offsets: [3, 4], ending: 'count at 151' });
    const high = encodePolledBody(0, 8, RECORDS, 4);
    expect(drain('iggy_polled', high)).toMatchObject({ offsets: [3, 4, 8], ending: `count at ${16 + FRAMES_BYTES}` });
  });

  it('is never torn: bytes cut off are damage', () => {
    const body = encodePolledBody(0, 8, RECORDS);
    expect(drain('iggy_polled', body.subarray(0, body.length - 1))).toMatchObject({
      offsets: [3, 4],
      ending: 'torn at 151',
    });
  });
});
