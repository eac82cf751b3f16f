/**
 * Committed bytes of each format, laid out by hand after the contract: writers must write them, readers must read them.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { xxh3Of } from '../../src/segment/checksum.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { encodeIggySegment, encodePolledBody, type IggyRecord } from '../../src/segment/iggy-writer.js';
import { readIggyIdentity } from '../../src/segment/iggy.js';
import { drain } from '../support/segment-drain.js';

function golden(name: string): Uint8Array {
  const hex = readFileSync(new URL(`${name}.hex`, import.meta.url), 'utf8').replaceAll(/\s/g, '');
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

function hashOf(text: string): string {
  return xxh3Of(Buffer.from(text), 0, Buffer.byteLength(text)).toString(16);
}

const RECORDS: readonly IggyRecord[] = [
  {
    id: 0x0123456789abcdeffedcba9876543210n,
    offset: 41,
    timestamp: 1767225600000001n,
    originTimestamp: 1767225600000000n,
    payload: Buffer.from('{"unit":"gyro"}'),
    headers: encodeHeaders([
      { key: 'agdx.ct', value: { kind: 'u8', value: 1 } },
      { key: 'unit', value: { kind: 'string', value: 'gyro' } },
    ]),
    hasChecksum: true,
  },
  {
    id: 2n ** 128n - 1n,
    offset: 42,
    timestamp: 2n ** 64n - 1n,
    payload: new Uint8Array(0),
    hasChecksum: true,
  },
  {
    id: 7n,
    offset: Number.MAX_SAFE_INTEGER,
    timestamp: 5n,
    originTimestamp: 6n,
    payload: Buffer.from('{"näme":"✓"}'),
    headers: encodeHeaders([{ key: Uint8Array.of(0xff, 0), value: { kind: 'bool', value: true } }]),
  },
];

describe('golden segments', () => {
  it('are what the writers write', () => {
    expect(encodeIggySegment(RECORDS)).toEqual(golden('iggy'));
    expect(encodePolledBody(9, Number.MAX_SAFE_INTEGER, RECORDS)).toEqual(golden('iggy-polled'));
  });

  it('are read back field by field', () => {
    for (const format of ['iggy', 'iggy_polled'] as const) {
      const bytes = golden(format.replace('_', '-'));
      const drained = drain(format, bytes, { partitionId: 9, verifyChecksums: true });
      expect(drained.ending).toBe('end');
      expect(drained.offsets).toEqual(RECORDS.map((record) => record.offset));
      expect(drained.payloads.map((payload) => Buffer.from(payload).toString())).toEqual([
        '{"unit":"gyro"}',
        '',
        '{"näme":"✓"}',
      ]);
      expect(drained.headers.map((block) => block.length)).toEqual([36, 0, 13]);
      for (const [index, record] of RECORDS.entries()) {
        expect(readIggyIdentity(bytes, drained.positions[index]!)).toEqual({
          id: record.id,
          timestamp: record.timestamp,
          originTimestamp: record.originTimestamp ?? 0n,
        });
      }
    }
  });

  it('of lines keep blank lines, both line ends and the open last line apart', () => {
    const drained = drain('ndjson', golden('ndjson'), { baseOffset: 7 });
    expect(drained.frames.map((frame) => Buffer.from(frame).toString())).toEqual([
      '{"a":1}',
      '{"b":"ä"}',
      '[]\r',
      '0',
      '{"open":true}',
    ]);
    expect(drained.offsets).toEqual([7, 8, 9, 10, 11]);
    expect(drain('ndjson', golden('ndjson'), { sealed: false }).ending).toBe('torn 13');
  });
});

describe('checksums', () => {
  it('are XxHash3-64 with seed 0, by the published vectors', () => {
    expect(['', 'a', 'abc'].map(hashOf)).toEqual(['2d06800538d394c2', 'e6c632b61e964e1f', '78af5f94892f3950']);
  });
});
