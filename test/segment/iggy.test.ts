/**
 * `iggy` frames: fields, order of checks, torn tails, lying lengths, checksums (contract: formats §1).
 */
import { describe, expect, it } from 'vitest';
import { FRAME_BYTES_MAX, OFFSET_MAX } from '../../src/core/limits.js';
import { Frame, FRAME_NEEDS_BYTES, FRAME_OK } from '../../src/segment/frame.js';
import { encodeIggySegment, type IggyRecord } from '../../src/segment/iggy-writer.js';
import { iggyReader, readIggyIdentity } from '../../src/segment/iggy.js';
import { writeU32, writeU64 } from '../../src/segment/little-endian.js';
import { drain } from '../support/segment-drain.js';

const utf8 = new TextEncoder();

function record(offset: number, text: string, more: Partial<IggyRecord> = {}): IggyRecord {
  return { offset, payload: utf8.encode(text), ...more };
}

/** Three records of 64 + 5 bytes each. */
function three(more: Partial<IggyRecord> = {}): Uint8Array {
  return encodeIggySegment([record(4, 'first', more), record(5, 'secon', more), record(9, 'third', more)]);
}

describe('iggy frames', () => {
  it('yields payload, headers, timestamp and place of every record, gaps between offsets included', () => {
    const headers = Uint8Array.of(2, 1, 0, 0, 0, 0x61, 2, 1, 0, 0, 0, 0x62);
    const bytes = encodeIggySegment([record(4, 'first', { headers }), record(7, '')]);
    const drained = drain('iggy', bytes);
    expect(drained.offsets).toEqual([4, 7]);
    expect(drained.positions).toEqual([0, 64 + 5 + 12]);
    expect(drained.payloads.map((payload) => payload.length)).toEqual([5, 0]);
    expect(drained.headers).toEqual([headers, new Uint8Array(0)]);
    expect(drained.frames[1]).toEqual(bytes.slice(81));
    expect(drained.ending).toBe('end');
  });

  it('keeps 64-bit timestamps and 128-bit ids exact', () => {
    const timestamp = 2n ** 64n - 2n;
    const id = 2n ** 127n + 5n;
    const bytes = encodeIggySegment([record(0, 'x', { id, timestamp, originTimestamp: 3n })]);
    const frame = new Frame();
    const reader = iggyReader({ partitionId: 0, baseOffset: 0, sealed: true, verifyChecksums: false });
    expect(reader.read(bytes, 0, bytes.length, bytes.length, frame)).toBe(FRAME_OK);
    expect((BigInt(frame.timestampHigh) << 32n) | BigInt(frame.timestampLow)).toBe(timestamp);
    expect(readIggyIdentity(bytes, 0)).toEqual({ id, timestamp, originTimestamp: 3n });
  });

  it('is whole when it is empty', () => {
    expect(drain('iggy', new Uint8Array(0))).toMatchObject({ offsets: [], ending: 'end' });
    expect(drain('iggy', new Uint8Array(0), { windowBytes: 64 })).toMatchObject({ offsets: [], ending: 'end' });
  });

  it('calls a cut frame torn in a last unsealed segment and damage anywhere else', () => {
    for (const cut of [1, 63, 64, 68]) {
      const bytes = three().subarray(0, 2 * 69 + cut);
      expect(drain('iggy', bytes, { sealed: false }).ending).toBe(`torn ${cut}`);
      expect(drain('iggy', bytes, { sealed: true }).ending).toBe('torn at 138');
      expect(drain('iggy', bytes, { sealed: false, mayBeTorn: false }).ending).toBe('torn at 138');
      expect(drain('iggy', bytes, { sealed: false }).offsets).toEqual([4, 5]);
    }
  });

  it('calls an announced frame of up to frame_bytes_max torn and a larger one damage, sealed or not', () => {
    const bytes = three();
    writeU32(bytes, 138 + 52, FRAME_BYTES_MAX - 64);
    expect(drain('iggy', bytes, { sealed: false }).ending).toBe('torn 69');
    writeU32(bytes, 138 + 52, FRAME_BYTES_MAX - 63);
    expect(drain('iggy', bytes, { sealed: false }).ending).toBe('length at 138');
    writeU32(bytes, 138 + 52, 0xffff_ffff);
    writeU32(bytes, 138 + 48, 0xffff_ffff);
    expect(drain('iggy', bytes, { sealed: false }).ending).toBe('length at 138');
  });

  it('takes a frame that is not there in full for torn whatever else its header says', () => {
    const bytes = three().subarray(0, 138 + 66);
    bytes[138 + 60] = 1;
    writeU64(bytes, 138 + 24, 0n);
    expect(drain('iggy', bytes, { sealed: false }).ending).toBe('torn 66');
  });

  it('refuses a reserved field that is not zero', () => {
    for (let at = 56; at < 64; at += 1) {
      const bytes = three();
      bytes[69 + at] = 1;
      expect(drain('iggy', bytes)).toMatchObject({ offsets: [4], ending: 'reserved at 69' });
    }
  });

  it('accepts the offset 2^53 − 1 and refuses a larger one', () => {
    expect(drain('iggy', encodeIggySegment([record(OFFSET_MAX, 'x')])).offsets).toEqual([OFFSET_MAX]);
    const bytes = encodeIggySegment([record(0, 'x')]);
    writeU64(bytes, 24, 2n ** 53n);
    expect(drain('iggy', bytes).ending).toBe('offset at 0');
    writeU64(bytes, 24, 2n ** 64n - 1n);
    expect(drain('iggy', bytes).ending).toBe('offset at 0');
  });

  it('refuses an offset that does not increase, also against the segment before', () => {
    expect(drain('iggy', encodeIggySegment([record(4, 'a'), record(4, 'b')])).ending).toBe('order at 65');
    expect(drain('iggy', encodeIggySegment([record(4, 'a'), record(3, 'b')])).ending).toBe('order at 65');
    const mark = { position: 0, ordinal: 0, previousOffset: 4 };
    expect(drain('iggy', three(), { mark })).toMatchObject({ offsets: [], ending: 'order at 0' });
  });

  it('verifies checksums only when asked, and accepts zero as not set', () => {
    const good = three({ hasChecksum: true });
    expect(drain('iggy', good, { verifyChecksums: true }).ending).toBe('end');
    expect(drain('iggy', three(), { verifyChecksums: true }).ending).toBe('end');
    for (const at of [0, 7, 8, 40, 64, 68]) {
      const bad = good.slice();
      bad[69 + at]! ^= 0x40;
      expect(drain('iggy', bad, { verifyChecksums: true }), `byte ${at}`).toMatchObject({
        offsets: [4],
        ending: 'checksum at 69',
      });
      expect(drain('iggy', bad).offsets.length).toBe(3);
    }
  });

  it('verifies checksums in shared memory', () => {
    const good = three({ hasChecksum: true });
    const shared = new Uint8Array(new SharedArrayBuffer(good.length));
    shared.set(good);
    expect(drain('iggy', shared, { verifyChecksums: true })).toMatchObject({ offsets: [4, 5, 9], ending: 'end' });
    shared[70]! ^= 1;
    expect(drain('iggy', shared, { verifyChecksums: true }).ending).toBe('checksum at 69');
  });

  it('asks for the whole frame once its header is there and for nothing that the segment does not have', () => {
    const bytes = three();
    const frame = new Frame();
    const reader = iggyReader({ partitionId: 0, baseOffset: 0, sealed: true, verifyChecksums: false });
    expect(reader.read(bytes, 0, 10, bytes.length, frame)).toBe(FRAME_NEEDS_BYTES);
    expect(frame.needed).toBe(64);
    expect(reader.read(bytes, 0, 64, bytes.length, frame)).toBe(FRAME_NEEDS_BYTES);
    expect(frame.needed).toBe(69);
  });
});
