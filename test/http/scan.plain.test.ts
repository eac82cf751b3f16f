/**
 * `POST /v1/scan` end to end over loopback, with real workers: forms of the reply, both encodings, stored segments, and
 * the documented problem for everything that can be wrong.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { decodeMsgpack, decodeMsgpackFrames, encodeMsgpack } from '../../src/wire/msgpack.js';
import {
  ask,
  eventually,
  open,
  scanBody,
  serviceWith,
  stat,
  stopServices,
  type Reply,
  type TestService,
} from '../support/http-service.js';

const FILTER = { v: 1, evaluator_version: 1, expr: { present: 'a' }, codec: 'json' };
const NDJSON = 'application/x-ndjson';
const MSGPACK = 'application/msgpack';
const FRAMES = 'application/vnd.winnow.frames+msgpack';

let folder: string;
let service: TestService;

function record(offset: number, payload: string) {
  const bytes = new TextEncoder().encode(payload);
  return { offset, id: BigInt(offset), timestamp: BigInt(1_000 + offset), payload: bytes };
}

const SEGMENT = encodeIggySegment(
  Array.from({ length: 10 }, (_, offset) => record(offset, offset % 2 === 0 ? '{"a":1}' : '{"b":1}')),
);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winnow-http-'));
  writeFileSync(join(folder, '0.log'), SEGMENT);
  writeFileSync(join(folder, 'damaged.log'), [SEGMENT.subarray(0, 200), Buffer.alloc(200, 0xff)].reduce(concat));
  writeFileSync(join(folder, '..', 'outside-winnow.log'), SEGMENT);
  symlinkSync('/etc', join(folder, 'link'));
  service = await serviceWith({ WINNOW_STORES_DATA: folder, WINNOW_LIMITS_COUNT: '500' });
});
afterAll(async () => {
  await stopServices();
  rmSync(folder, { recursive: true });
  rmSync(join(folder, '..', 'outside-winnow.log'));
});

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  return Buffer.concat([a, b]);
}

function scan(more: object = {}, headers: Record<string, string> = {}): Promise<Reply> {
  return ask(service, { body: scanBody(more), headers });
}

function stored(path: string, more: object = {}): object {
  return { segments: [{ format: 'iggy', store: 'data', path, ...more }] };
}

/** The problem of a reply, whose media type, status and identity have been checked. */
function problem(reply: Reply, status: number): Record<string, unknown> {
  expect(reply.status, reply.text).toBe(status);
  expect(reply.headers['content-type']).toBe('application/problem+json');
  const document = JSON.parse(reply.text) as Record<string, unknown>;
  expect(document).toMatchObject({ status, title: expect.any(String), request_id: expect.any(String) });
  expect(document['type']).toBe(`urn:winnow:problem:${String(document['code'])}`);
  return document;
}

/** What must not differ: everything but the request's identity, the token (random in part) and the records' form. */
function comparable(page: Record<string, unknown>): Record<string, unknown> {
  const { request_id: _id, continuation: _token, records: _records, ...rest } = page;
  return rest;
}

describe('the form of a reply', () => {
  it('one filter and one page are answered with a page object', async () => {
    const reply = await scan();
    expect(reply.headers['content-type']).toMatch(/^application\/json/);
    expect(JSON.parse(reply.text)).toMatchObject({
      v: 1,
      id: 'f',
      request_id: expect.any(String),
      budgets: { count: 100, pages: 1, deadline_ms: 10_000, max_reply_bytes: 1_048_576 },
      examined: 3,
      matched: 2,
      rejected: 1,
      stop: 'end_of_visible',
      next_scan_offset: 3,
      safe_ack_offset: 2,
    });
  });

  it('frames begin, carry pages and end exactly once', async () => {
    const reply = await scan({ count: 1, pages: 10 }, { accept: NDJSON });
    expect(reply.headers['content-type']).toBe(NDJSON);
    expect(reply.text.endsWith('\n')).toBe(true);
    const frames = reply.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(frames.map((frame) => frame['frame'])).toEqual(['begin', 'page', 'page', 'page', 'end']);
    expect(frames[0]).toMatchObject({ budgets: { count: 1, pages: 10 }, filters: [{ id: 'f' }] });
    expect(frames.at(-1)).toMatchObject({
      filters: [
        { id: 'f', stop: 'end_of_visible', totals: { pages: 3, examined: 3, matched: 2 }, next_scan_offset: 3 },
      ],
    });
  });

  it.each([
    ['application/json', { pages: 2 }, 406],
    [MSGPACK, { pages: 2 }, 406],
    ['text/html', {}, 406],
    ['application/json;q=0', {}, 406],
    ['*/*', { pages: 2 }, NDJSON],
    ['*/*', {}, 'application/json'],
    ['application/*', {}, 'application/json'],
    [`${MSGPACK}, application/json`, {}, MSGPACK],
    [`application/json, ${NDJSON};q=0.1`, {}, NDJSON],
    [`${NDJSON};q=0.5, ${FRAMES}`, {}, FRAMES],
    ['application/json, */*;q=0.1', { pages: 2 }, NDJSON],
  ])('Accept: %s with %j is %s', async (accept, more, expected) => {
    const reply = await scan(more, { accept });
    if (typeof expected === 'number') expect(problem(reply, expected)['code']).toBe('invalid_request');
    else expect(reply.headers['content-type']!.split(';')[0]).toBe(expected);
  });

  it('an absent Accept means the JSON forms', async () => {
    expect((await scan()).headers['content-type']).toMatch(/^application\/json/);
    expect((await scan({ pages: 2 })).headers['content-type']).toBe(NDJSON);
  });
});

describe('JSON and MessagePack', () => {
  const body = {
    v: 1,
    source: { stream: 's', topic: 't' },
    partition_id: 0,
    segments: [{ format: 'iggy', bytes: SEGMENT }],
    filters: [{ id: 'f', filter: FILTER }],
  };
  const inJson = JSON.stringify({
    ...body,
    segments: [{ format: 'iggy', bytes: Buffer.from(SEGMENT).toString('base64') }],
  });
  const inMsgpack = Buffer.from(encodeMsgpack(body));

  it('bodies and replies carry equal content in every combination', async () => {
    const pages: Record<string, unknown>[] = [];
    for (const [type, bytes] of [
      ['application/json', inJson],
      [MSGPACK, inMsgpack],
    ] as const) {
      const json = await ask(service, { body: bytes, headers: { 'content-type': type, accept: 'application/json' } });
      const msgpack = await ask(service, { body: bytes, headers: { 'content-type': type, accept: MSGPACK } });
      expect(msgpack.headers['content-type']).toBe(MSGPACK);
      pages.push(JSON.parse(json.text) as Record<string, unknown>);
      pages.push(decodeMsgpack(msgpack.bytes) as Record<string, unknown>);
    }
    expect(pages).toHaveLength(4);
    for (const page of pages) expect(comparable(page)).toEqual(comparable(pages[0]!));
    expect(pages[0]).toMatchObject({ examined: 10, matched: 5 });
  });

  it('frames carry equal content, and MessagePack the stored frames byte for byte', async () => {
    const json = await ask(service, { body: inJson, headers: { accept: NDJSON } });
    const msgpack = await ask(service, { body: inJson, headers: { accept: FRAMES } });
    const left = json.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const right = decodeMsgpackFrames(msgpack.bytes) as Record<string, unknown>[];
    expect(right.map((frame) => frame['frame'])).toEqual(left.map((frame) => frame['frame']));
    expect(comparable(right[1]!)).toEqual(comparable(left[1]!));
    const { bytes, positions } = right[1]!['records'] as { bytes: Uint8Array; positions: number[] };
    const frameBytes = SEGMENT.length / 10;
    const first = SEGMENT.subarray(0, frameBytes);
    expect(Buffer.from(bytes.subarray(positions[0]!, positions[1]!)).equals(first)).toBe(true);
    expect(bytes.length).toBe(5 * frameBytes);
  });

  it('offsets are numbers, and 64-bit numbers are accepted as text', async () => {
    const reply = await scan({ start: { offset: '1' }, reply: 'offsets' });
    expect(JSON.parse(reply.text)).toMatchObject({ offsets: [2] });
  });
});

describe('stored segments', () => {
  it('are read by the worker under their root', async () => {
    const reply = await scan({ ...stored('0.log'), reply: 'offsets' });
    expect(JSON.parse(reply.text)).toMatchObject({ offsets: [0, 2, 4, 6, 8], examined: 10 });
  });

  it.each([
    '../outside-winnow.log',
    'a/../../outside-winnow.log',
    '/etc/passwd',
    'link/passwd',
    './0.log',
    'a//0.log',
    '0.log\0',
    '..',
  ])('the path %j is refused with its pointer', async (path) => {
    const document = problem(await scan(stored(path)), 400);
    expect(document).toMatchObject({ code: 'invalid_request', retryable: false });
    expect(document['field']).toMatch(/^\/segments\/0/);
    expect(document['detail']).not.toContain(folder);
  });

  it('an unknown store and a missing file are named, without the folder', async () => {
    const unknown = await scan({ segments: [{ format: 'iggy', store: 'nowhere', path: '0.log' }] });
    expect(JSON.parse(unknown.text)).toMatchObject({ field: expect.stringMatching(/^\/segments\/0/) });
    expect(unknown.status).toBeGreaterThanOrEqual(400);
    expect(unknown.status).toBeLessThan(500);
    const missing = problem(await scan(stored('absent.log')), 404);
    expect(missing['code']).toBe('not_found');
    expect(missing['detail']).not.toContain(folder);
  });

  it('damage before any record was examined is 422 in both reply forms', async () => {
    const start = { start: { offset: 5 } };
    for (const accept of ['application/json', NDJSON]) {
      const reply = await scan({ ...stored('damaged.log', { sealed: true }), ...start }, { accept });
      expect(problem(reply, 422)).toMatchObject({ code: 'source_corrupt', segment: 0, position: expect.any(Number) });
    }
  });

  it('damage after a record was examined is a page that says so, and an error frame', async () => {
    const single = await scan(stored('damaged.log', { sealed: true }));
    expect(JSON.parse(single.text)).toMatchObject({
      stop: 'corrupt',
      examined: 2,
      fault: { reason: 'source_corrupt' },
    });
    const framed = await scan(stored('damaged.log', { sealed: true }), { accept: NDJSON });
    const frames = framed.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(frames.map((frame) => frame['frame'])).toEqual(['begin', 'page', 'error']);
    expect(frames[2]).toMatchObject({
      problem: { code: 'source_corrupt', status: 422, segment: 0 },
      filters: [{ id: 'f', next_scan_offset: 2, safe_ack_offset: 1, continuation: expect.any(String) }],
    });
  });
});

describe('continuations', () => {
  it('go on where the page ended', async () => {
    const first = JSON.parse((await scan({ count: 1, reply: 'offsets' })).text) as Record<string, unknown>;
    expect(first).toMatchObject({ offsets: [0], stop: 'filled' });
    const again = await scan({ reply: 'offsets', start: { continue: first['continuation'] } });
    expect(JSON.parse(again.text)).toMatchObject({ offsets: [2], stop: 'end_of_visible' });
  });

  it('that were tampered with, or are for another stream, filter or generation, are refused as documented', async () => {
    const { continuation } = JSON.parse((await scan({ count: 1 })).text) as { continuation: string };
    const start = { start: { continue: continuation } };
    const flipped = continuation.slice(0, -2) + (continuation.endsWith('AA') ? 'BB' : 'AA');
    const forged = problem(await scan({ start: { continue: flipped } }), 400);
    expect(forged).toMatchObject({ code: 'invalid_request', field: '/start/continue' });
    expect(problem(await scan({ start: { continue: 'nonsense' } }), 400)['code']).toBe('invalid_request');
    const elsewhere = await scan({ ...start, source: { stream: 'other', topic: 'single' } });
    expect(problem(elsewhere, 400)['code']).toBe('invalid_request');
    const filters = [{ id: 'f', filter: { ...FILTER, expr: { present: 'b' } } }];
    expect(problem(await scan({ ...start, filters }), 409)['code']).toBe('conflict');
    const moved = await scan({ ...start, source: { stream: 's', topic: 'single', generation: '2' } });
    expect(problem(moved, 409)['code']).toBe('source_changed');
  });
});

describe('refusals', () => {
  const leafWithExtra = { pred: { field: 'a', op: 'eq', value: { kind: 'int', value: 1 }, extra: 1 } };

  it.each([
    ['an unknown format', { segments: [{ format: 'parquet', bytes: '' }] }, 400, '/segments/0/format'],
    ['a format that is not built', { segments: [{ format: 'kafka', bytes: '' }] }, 501, '/segments/0/format'],
    [
      'an unknown node kind',
      { filters: [{ id: 'f', filter: { ...FILTER, expr: { near: 'a' } } }] },
      400,
      '/filters/0/filter/expr',
    ],
    [
      'an unknown leaf member under strict',
      { filters: [{ id: 'f', strict: true, filter: { ...FILTER, expr: leafWithExtra } }] },
      400,
      '/filters/0/filter/expr/pred/extra',
    ],
    ['an entry without a filter', { filters: [{ id: 'f' }] }, 400, '/filters/0'],
    ['no filter at all', { filters: [] }, 400, '/filters'],
    ['an unknown member', { fliters: [] }, 400, '/fliters'],
    ['another version', { v: 2 }, 409, '/v'],
    [
      'another evaluator',
      { filters: [{ id: 'f', filter: { ...FILTER, evaluator_version: 2 } }] },
      409,
      '/filters/0/filter/evaluator_version',
    ],
    [
      'a schema that is nowhere',
      { filters: [{ id: 'f', filter: { ...FILTER, codec: 'avro', schema_refs: [7] } }] },
      400,
      '/filters/0/filter/schema_refs/0',
    ],
    [
      'another digest',
      { filters: [{ id: 'f', filter: FILTER, expect_digest: '0'.repeat(64) }] },
      409,
      '/filters/0/expect_digest',
    ],
    ['bytes that are not base64', { segments: [{ format: 'ndjson', bytes: '*' }] }, 400, '/segments/0/bytes'],
    ['a count of nothing', { count: 0 }, 400, '/count'],
    [
      'a segment too many',
      { segments: Array.from({ length: 1025 }, () => ({ format: 'ndjson', bytes: '' })) },
      400,
      '/segments',
    ],
    ['a wrong type', { partition_id: '0' }, 400, '/partition_id'],
  ])('%s is refused with its pointer', async (_what, more, status, field) => {
    const document = problem(await scan(more, { accept: `application/json, ${NDJSON}` }), status);
    expect(document['field']).toBe(field);
    expect(document['instance']).toBe('/v1/scan');
  });

  it('without strict an unknown leaf member is ignored', async () => {
    expect((await scan({ filters: [{ id: 'f', filter: { ...FILTER, expr: leafWithExtra } }] })).status).toBe(200);
  });

  it('a filter given as text is refused with its position', async () => {
    const filter_text = '{"v":1,"evaluator_version":1,"expr":{"near":"a"},"codec":"json"}';
    const document = problem(await scan({ filters: [{ id: 'f', filter_text }] }), 400);
    expect(document).toMatchObject({
      field: '/filters/0/filter_text',
      filter_field: '/expr',
      position: expect.any(Number),
    });
  });

  it('a budget of any size is lowered, as a number or as text, and one page is one page either way', async () => {
    const body = scanBody({ max_examined: 7, count: '3', pages: '1', max_reply_bytes: 1e30 });
    const reply = await ask(service, { body: body.replace('"max_examined":7', '"max_examined":18446744073709551615') });
    expect(JSON.parse(reply.text)).toMatchObject({
      budgets: { max_examined: 1_000_000_000, count: 3, pages: 1, max_reply_bytes: 8_388_608 },
    });
  });

  it('budgets above a configured cap are lowered, and the reply says so', async () => {
    expect(JSON.parse((await scan({ count: 1_000_000, deadline_ms: 999_999_999 })).text)).toMatchObject({
      budgets: { count: 500, deadline_ms: 60_000 },
    });
  });

  it('a body that is not JSON is refused with its position and a caret', async () => {
    const document = problem(await ask(service, { body: '{"v":1,}' }), 400);
    expect(document).toMatchObject({ code: 'invalid_request', position: 7 });
    expect(document['detail']).toContain('^');
  });

  it('a bad MessagePack body is refused with its position', async () => {
    const reply = await ask(service, { body: Buffer.from([0x81, 0xa1]), headers: { 'content-type': MSGPACK } });
    expect(problem(reply, 400)).toMatchObject({ position: expect.any(Number) });
  });
});

it('what was scanned is conserved in the metrics, and equals what the reply says', async () => {
  const names = ['pages', 'records', 'records_examined', 'bytes_examined', 'bytes_returned', 'bytes_avoided'];
  const read = () => Promise.all(names.map((name) => stat(service, `winnow_${name}_total`)));
  const before = await read();
  const reply = await scan({ count: 1, pages: 5, max_examined: 2 }, { accept: NDJSON });
  const after = await read();
  const [pages, records, examined, bytesExamined, bytesReturned, bytesAvoided] = after.map(
    (value, at) => value - before[at]!,
  );
  const end = JSON.parse(reply.text.trimEnd().split('\n').at(-1)!) as { filters: { totals: Record<string, number> }[] };
  const { totals } = end.filters[0]!;
  expect(pages).toBe(totals['pages']);
  expect([records, examined]).toEqual([totals['examined'], totals['examined']]);
  expect(bytesExamined).toBe(totals['examined_bytes']);
  expect(bytesReturned! + bytesAvoided!).toBe(bytesExamined);
  expect(bytesReturned).toBeGreaterThan(0);
  expect(bytesAvoided).toBeGreaterThan(0);
});

it('a client that hangs up in the middle of a stream ends its scan far from its end', async () => {
  // 10,000 pages of 4 KiB are more than the buffers between the two hold.
  const line = `{"a":"${'x'.repeat(4096)}"}\n`;
  writeFileSync(join(folder, 'long.ndjson'), line.repeat(10_000));
  const segments = [{ format: 'ndjson', store: 'data', path: 'long.ndjson', sealed: true }];
  const before = await stat(service, 'winnow_records_scanned_total');
  const request = open(service, { headers: { accept: NDJSON } });
  request.end(scanBody({ segments, count: 1, pages: 10_000 }));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  await once(response, 'readable');
  request.destroy();
  await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
  const scanned = (await stat(service, 'winnow_records_scanned_total')) - before;
  expect(scanned).toBeLessThan(10_000);
  expect((await scan()).status).toBe(200);
  // Three records more are those of the scan just served.
  expect((await stat(service, 'winnow_records_scanned_total')) - before).toBe(scanned + 3);
});

it('the log names requests by their id and holds neither payloads nor header values', async () => {
  const secret = Buffer.from('{"a":"payload-secret"}\n').toString('base64');
  const reply = await scan(
    { segments: [{ format: 'ndjson', bytes: secret }] },
    { authorization: 'header-secret', 'winnow-shard': 'header-secret' },
  );
  const { request_id } = JSON.parse(reply.text) as { request_id: string };
  expect(service.lines.filter((line) => line['request_id'] === request_id)).toEqual([
    expect.objectContaining({
      level: 'info',
      message: 'request',
      route: 'scan',
      status: 200,
      outcome: 'ok',
    }),
  ]);
  const all = JSON.stringify(service.lines);
  for (const text of ['payload-secret', secret, 'header-secret']) expect(all).not.toContain(text);
});
