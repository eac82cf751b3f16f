/** The four reply forms in both encodings, as a single page and as frames (scan-protocol §1 "A page"). */
import { describe, expect, test } from 'vitest';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { decodeMsgpack, decodeMsgpackFrames } from '../../src/wire/msgpack.js';
import { newRunner, scanned } from '../support/scan-harness.js';
import { requestOf } from '../support/scan-requests.js';

const runner = newRunner();
const PAYLOAD = '{"n":1}';
const headers = encodeHeaders([
  { key: 'text', value: { kind: 'string', value: 'é' } },
  { key: 'wide', value: { kind: 'u64', value: 2n ** 64n - 1n } },
  { key: 'small', value: { kind: 'i16', value: -5 } },
  { key: 'zero', value: { kind: 'f64', value: -0 } },
  { key: 'nan', value: { kind: 'f64', value: Number.NaN } },
  { key: 'yes', value: { kind: 'bool', value: true } },
  { key: 'raw', value: { kind: 'raw', value: Uint8Array.from([255, 0]) } },
  { key: Uint8Array.from([1, 2]), keyCode: 12, value: { kind: 'u8', value: 3 } },
  { key: 'text', value: { kind: 'string', value: 'again' } },
]);
const BAD_BLOCK = Uint8Array.from([2, 9, 9]);

/** A filter that reads nothing but the payload, so that a header block that does not parse is passed on. */
const filters = [
  {
    id: 'f',
    filter: JSON.stringify({
      v: 1,
      evaluator_version: 1,
      expr: { present: 'n' },
      codec: 'json',
      fault_policy: 'pass',
    }),
  },
];

const stored = encodeIggySegment([
  {
    offset: 2 ** 40,
    payload: Buffer.from(PAYLOAD),
    headers,
    id: 2n ** 127n + 1n,
    timestamp: 2n ** 63n,
    originTimestamp: 7n,
  },
  { offset: 2 ** 40 + 5, payload: Buffer.from(PAYLOAD), headers: BAD_BLOCK, timestamp: 2n ** 33n },
]);

const HEADER_ENTRIES = [
  { key: 'text', key_kind: 2, value: { kind: 'string', value: 'é' } },
  { key: 'wide', key_kind: 2, value: { kind: 'uint', value: '18446744073709551615' } },
  { key: 'small', key_kind: 2, value: { kind: 'int', value: -5 } },
  { key: 'zero', key_kind: 2, value: { kind: 'float', value: '-0.0' } },
  { key: 'nan', key_kind: 2, value: { kind: 'float', value: 'NaN' } },
  { key: 'yes', key_kind: 2, value: { kind: 'bool', value: true } },
  { key: 'raw', key_kind: 2, value: { kind: 'raw', value: '/wA=' } },
  { key: 'AQI=', key_kind: 12, value: { kind: 'uint', value: 3 } },
  { key: 'text', key_kind: 2, value: { kind: 'string', value: 'again' } },
];

function pageOf(reply: string, encoding: 'json' | 'msgpack') {
  return scanned([runner], requestOf([stored], { reply, filters }), { encoding }).pages[0]!;
}

describe('records', () => {
  test('in JSON are objects with base64 payloads and decimal text where a double would lie', () => {
    const base64 = Buffer.from(PAYLOAD).toString('base64');
    expect(pageOf('records', 'json').records).toEqual([
      {
        offset: 2 ** 40,
        id: String(2n ** 127n + 1n),
        timestamp: '9223372036854775808',
        origin_timestamp: 7,
        headers: HEADER_ENTRIES,
        payload: base64,
      },
      {
        offset: 2 ** 40 + 5,
        id: '0',
        timestamp: 2 ** 33,
        origin_timestamp: 0,
        header_block: Buffer.from(BAD_BLOCK).toString('base64'),
        payload: base64,
      },
    ]);
  });

  test('in MessagePack are the stored frames byte for byte', () => {
    const { records } = pageOf('records', 'msgpack') as unknown as { records: Record<string, unknown> };
    expect(Buffer.from(records['bytes'] as Uint8Array).equals(Buffer.from(stored))).toBe(true);
    expect(records).toMatchObject({
      format: 'iggy',
      positions: [0, 64 + PAYLOAD.length + headers.length],
      offsets: [2 ** 40, 2 ** 40 + 5],
      timestamps: ['9223372036854775808', 2 ** 33],
    });
  });

  test('of lines have only offset, timestamp and payload', () => {
    const lines = { format: 'ndjson', bytes: Buffer.from(`${PAYLOAD}\r\n`), base_offset: 7 };
    const request = requestOf([lines], { filters });
    const json = scanned([runner], request, { encoding: 'json' }).pages[0]!;
    expect(json.records).toEqual([{ offset: 7, timestamp: 0, payload: Buffer.from(PAYLOAD).toString('base64') }]);
    const { records } = scanned([runner], request).pages[0] as unknown as { records: Record<string, unknown> };
    expect(records).toMatchObject({ format: 'ndjson', positions: [0], offsets: [7], timestamps: [0] });
    expect(Buffer.from(records['bytes'] as Uint8Array).toString()).toBe(PAYLOAD);
  });
});

test('headers are the objects without payload in both encodings', () => {
  for (const encoding of ['json', 'msgpack'] as const) {
    const records = pageOf('headers', encoding).records as Record<string, unknown>[];
    expect(records.map((record) => 'payload' in record)).toEqual([false, false]);
    expect(records[0]).toMatchObject({ offset: 2 ** 40, id: String(2n ** 127n + 1n), headers: HEADER_ENTRIES });
    const block = records[1]!['header_block'] as string | Uint8Array;
    expect(typeof block === 'string' ? Buffer.from(block, 'base64') : Buffer.from(block)).toEqual(
      Buffer.from(BAD_BLOCK),
    );
  }
});

test('offsets and count carry no records', () => {
  for (const encoding of ['json', 'msgpack'] as const) {
    expect(pageOf('offsets', encoding)).toMatchObject({ offsets: [2 ** 40, 2 ** 40 + 5] });
    expect(pageOf('offsets', encoding)).not.toHaveProperty('records');
    const count = pageOf('count', encoding);
    expect(count.matched + count.unevaluated_count).toBe(2);
    expect(count).not.toHaveProperty('records');
    expect(count).not.toHaveProperty('offsets');
  }
});

test('frames are one line each in NDJSON and stand back to back in MessagePack', () => {
  const request = requestOf([stored], { reply: 'offsets', filters, count: 1, pages: 3 });
  const lines = Buffer.concat(scanned([runner], request, { encoding: 'json', framed: true }).bytes).toString();
  expect(lines.endsWith('\n')).toBe(true);
  const pages = lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(pages.map(({ frame, stop }) => [frame, stop])).toEqual([
    ['page', 'filled'],
    ['page', 'filled'],
    ['page', 'end_of_visible'],
  ]);
  expect(pages[0]).not.toHaveProperty('budgets');
  const packed = Buffer.concat(scanned([runner], request, { framed: true }).bytes);
  expect(decodeMsgpackFrames(packed).map((page) => (page as { stop: string }).stop)).toEqual(
    pages.map(({ stop }) => stop),
  );
});

test('offsets beyond 32 bits are integers in MessagePack, not doubles', () => {
  const [bytes] = scanned([runner], requestOf([stored], { reply: 'offsets', filters })).bytes;
  expect((decodeMsgpack(bytes!) as { offsets: number[] }).offsets).toEqual([2 ** 40, 2 ** 40 + 5]);
  // The name of the member, a list of two, then the first as a 64-bit integer.
  const at = Buffer.from(bytes!).indexOf('offsets');
  expect(
    Buffer.from(bytes!)
      .subarray(at + 7, at + 17)
      .toString('hex'),
  ).toBe('92d30000010000000000');
});
