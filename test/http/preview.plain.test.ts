/**
 * `POST /v1/filters/preview` and `…/diff` over HTTP, with real workers: both encodings, refusals with pointers, turns
 * slice by slice, and that everything is given back however it ends.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { checked } from '../../src/wire/check.js';
import { decodeMsgpack, encodeMsgpack } from '../../src/wire/msgpack.js';
import { type DiffReply, DiffReplySchema, type PreviewReply, PreviewReplySchema } from '../../src/wire/preview.js';
import {
  ask,
  eventually,
  open,
  type Reply,
  SCRIPTED_WORKER,
  scanBody,
  serviceWith,
  stat,
  stopServices,
  type TestService,
} from '../support/http-service.js';

const FILTER = { v: 1, evaluator_version: 1, expr: { present: 'a' }, codec: 'json' };
const PREVIEW = '/v1/filters/preview';
const DIFF = '/v1/filters/diff';

function lines(...records: readonly string[]): object[] {
  return [{ format: 'ndjson', bytes: Buffer.from(records.map((record) => `${record}\n`).join('')).toString('base64') }];
}

let folder: string;
let service: TestService;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winnow-http-preview-'));
  const many = Array.from({ length: 3_000 }, (_, i) => `{"a":${i}}`).join('\n');
  writeFileSync(join(folder, 'many.ndjson'), `${many}\n`);
  service = await serviceWith({ WINNOW_STORES_DATA: folder, WINNOW_SLICE_RECORDS_MAX: '100' });
});
afterAll(async () => {
  await stopServices();
  rmSync(folder, { recursive: true });
});

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Reply> {
  return ask(service, { path, headers, body: JSON.stringify(body) });
}

async function answered<T>(path: string, body: object): Promise<T> {
  const reply = await post(path, body);
  expect(reply.status, reply.text).toBe(200);
  return JSON.parse(reply.text) as T;
}

describe('a preview', () => {
  const segments = lines('{"a":1}', '{"b":1}', '{"a":2}');

  it('answers with counts, records in order and the funnel', async () => {
    const reply = await answered<PreviewReply>(PREVIEW, { filter: FILTER, segments });
    checked(PreviewReplySchema, reply);
    expect(reply).toMatchObject({ examined: 3, matched: 2, rejected: 1, stop: 'end_of_visible', next_scan_offset: 3 });
    expect(reply.records.map(({ offset, payload_text }) => [offset, payload_text])).toEqual([
      [0, '{"a":1}'],
      [2, '{"a":2}'],
      [1, '{"b":1}'],
    ]);
    expect(reply.funnel.root).toMatchObject({
      label: 'a is present',
      match: 2,
      no_match: 1,
      rejected: 1,
      examples: [1],
    });
  });

  it('says of the same range what a scan says', async () => {
    const range = {
      segments: [{ format: 'ndjson', store: 'data', path: 'many.ndjson', sealed: true }],
      max_examined: 150,
    };
    const preview = await answered<PreviewReply>(PREVIEW, { filter: FILTER, ...range, from_offset: '2900' });
    const scan = await ask(service, {
      body: scanBody({
        ...range,
        filters: [{ id: 'f', filter: FILTER }],
        start: { offset: 2900 },
        count: 1_000,
        reply: 'count',
      }),
    });
    const { examined, matched, rejected, stop, next_scan_offset, examined_bytes } = preview;
    expect(JSON.parse(scan.text)).toMatchObject({
      examined,
      matched,
      rejected,
      stop,
      next_scan_offset,
      examined_bytes,
    });
    expect(examined).toBe(100);
  });

  it('is a full range by default limits: 1,000 examined, 20 returned', async () => {
    const range = { segments: [{ format: 'ndjson', store: 'data', path: 'many.ndjson' }] };
    const reply = await answered<PreviewReply>(PREVIEW, { filter: FILTER, ...range });
    expect(reply).toMatchObject({ examined: 1_000, stop: 'budget', budget: 'examined', next_scan_offset: 1_000 });
    expect(reply.records).toHaveLength(20);
  });

  it('reads the numbers of its filters exactly, in either place', async () => {
    const pred = (value: string): string => `{"pred":{"field":"a","op":"eq","value":{"kind":"long","value":${value}}}}`;
    const text = (value: string): string => `{"v":1,"evaluator_version":1,"expr":${pred(value)},"codec":"json"}`;
    const range = `"segments":${JSON.stringify(lines('{"a":9007199254740993}', '{"a":9007199254740992}'))}`;
    const previewed = await ask(service, { path: PREVIEW, body: `{"filter":${text('9007199254740993')},${range}}` });
    expect((JSON.parse(previewed.text) as PreviewReply).funnel.root).toMatchObject({ match: 1, examples: [1] });
    const entries = `"a":{"filter":${text('9007199254740993')}},"b":{"filter":${text('9007199254740992')}}`;
    const compared = await ask(service, { path: DIFF, body: `{${entries},${range}}` });
    expect(JSON.parse(compared.text)).toMatchObject({ only_a: { examples: [0] }, only_b: { examples: [1] } });
  });

  it('takes and answers MessagePack, with a timestamp beyond 2^53 as an integer there and as text in JSON', async () => {
    const record = {
      offset: 7,
      payload: Buffer.from('{"a":1}'),
      id: 1n,
      timestamp: 2n ** 60n + 1n,
      originTimestamp: 0n,
    };
    const bytes = encodeIggySegment([record]);
    const reply = await ask(service, {
      path: PREVIEW,
      headers: { 'content-type': 'application/msgpack', accept: 'application/msgpack' },
      body: encodeMsgpack({ filter: FILTER, segments: [{ format: 'iggy', bytes }] }),
    });
    expect(reply.status).toBe(200);
    expect((decodeMsgpack(reply.bytes) as PreviewReply).records[0]).toMatchObject({
      offset: 7,
      timestamp: 2n ** 60n + 1n,
    });
    const base64 = { filter: FILTER, segments: [{ format: 'iggy', bytes: Buffer.from(bytes).toString('base64') }] };
    const text = await answered<PreviewReply>(PREVIEW, base64);
    checked(PreviewReplySchema, text);
    expect(text.records[0]!.timestamp).toBe(String(2n ** 60n + 1n));
  });

  it.each<[string, object, number, object]>([
    ['an eleventh thousand', { max_examined: 10_001 }, 400, { field: '/max_examined', limit: 10_000, given: 10_001 }],
    ['a hundred and first record', { max_records: 101 }, 400, { field: '/max_records', limit: 100, given: 101 }],
    ['a filter that is none', { filter: { ...FILTER, expr: {} } }, 400, { field: '/filter/expr' }],
    ['a version of another evaluator', { filter: { ...FILTER, evaluator_version: 2 } }, 409, { code: 'version_skew' }],
    ['another digest', { expect_digest: '0'.repeat(64) }, 409, { code: 'conflict', field: '/expect_digest' }],
    [
      'an id without a schema',
      { filter: { ...FILTER, codec: 'avro', schema_refs: [7] } },
      400,
      { code: 'invalid_request', field: '/filter/schema_refs/0' },
    ],
    ['a saved filter', { group: 'g' }, 501, { code: 'unsupported', field: '/group' }],
    ['a start', { start: 'first' }, 400, { field: '/start' }],
    ['an unknown member', { count: 3 }, 400, { field: '/count' }],
    [
      'a segment that is not there',
      { segments: [{ format: 'ndjson', store: 'data', path: 'no' }] },
      404,
      { field: '/segments/0/path' },
    ],
    [
      'damage before any record',
      { segments: [{ format: 'iggy', bytes: '/////w==' }] },
      422,
      { code: 'source_corrupt', segment: 0, position: 0 },
    ],
  ])('refuses %s', async (_name, more, status, problem) => {
    const reply = await post(PREVIEW, { filter: FILTER, segments, ...more });
    expect(reply.status, reply.text).toBe(status);
    expect(reply.headers['content-type']).toBe('application/problem+json');
    expect(JSON.parse(reply.text)).toMatchObject(problem);
  });

  it('refuses what the client does not accept before it works', async () => {
    expect((await post(PREVIEW, { filter: FILTER, segments }, { accept: 'text/html' })).status).toBe(406);
  });

  it('runs in slices that are counted as such, and counts nothing as examined for a consumer', async () => {
    const range = { segments: [{ format: 'ndjson', store: 'data', path: 'many.ndjson' }], max_examined: 1_000 };
    const figures = async (): Promise<number[]> =>
      Promise.all(
        ['slice_seconds', 'records_scanned_total', 'records_examined_total', 'bytes_avoided_total', 'pages_total'].map(
          (name) => stat(service, `winnow_${name}`),
        ),
      );
    const before = await figures();
    await answered<PreviewReply>(PREVIEW, { filter: FILTER, ...range });
    const [slices, scanned, ...others] = (await figures()).map((value, i) => value - before[i]!);
    // Slices of at most 100 records; a slow machine makes more of them.
    expect(slices).toBeGreaterThanOrEqual(10);
    // The pass had met one more record when the budget forbade it.
    expect(scanned).toBe(1_001);
    expect(others).toEqual([0, 0, 0]);
    expect(await stat(service, 'winnow_requests_total', { route: 'preview', outcome: 'ok' })).toBeGreaterThan(0);
  });
});

describe('a diff', () => {
  it('answers with the four parts', async () => {
    const b = { filter: { ...FILTER, expr: { present: 'b' } } };
    const segments = lines('{"a":1}', '{"a":1,"b":1}', '{"b":1}', '{}', '{"a":2}');
    const reply = await answered<DiffReply>(DIFF, { a: { id: 'old', filter: FILTER }, b, segments });
    checked(DiffReplySchema, reply);
    expect(reply).toMatchObject({
      examined: 5,
      stop: 'end_of_visible',
      only_a: { count: 2, bytes: 14, examples: [0, 4] },
      only_b: { count: 1, examples: [2] },
      both: { count: 1, examples: [1] },
      neither: { count: 1, examples: [3] },
    });
    expect(reply.policies.a.digest).not.toBe(reply.policies.b.digest);
  });

  it.each<[string, object, number, object]>([
    ['one entry', { a: { filter: FILTER } }, 400, { detail: expect.stringContaining('b') as string }],
    ['an entry without a filter', { a: { filter: FILTER }, b: {} }, 400, { field: '/b' }],
    [
      'a bad filter',
      { a: { filter: FILTER }, b: { filter: { ...FILTER, expr: {} } } },
      400,
      { field: '/b/filter/expr' },
    ],
    [
      'more than 10,000',
      { a: { filter: FILTER }, b: { filter: FILTER }, max_examined: 10_001 },
      400,
      { field: '/max_examined' },
    ],
  ])('refuses %s', async (_name, body, status, problem) => {
    const reply = await post(DIFF, { segments: lines('{}'), ...body });
    expect(reply.status, reply.text).toBe(status);
    expect(JSON.parse(reply.text)).toMatchObject(problem);
  });
});

describe('admission and endings', () => {
  it('inline bytes beyond what the service ever holds are too large', async () => {
    const small = await serviceWith({ WINNOW_ADMISSION_INLINE_BYTES_MAX: '1 MiB' });
    const body = JSON.stringify({ filter: FILTER, segments: lines('x'.repeat(2 ** 20)) });
    const reply = await ask(small, { path: PREVIEW, body });
    expect(reply.status).toBe(413);
    expect(JSON.parse(reply.text)).toMatchObject({ code: 'too_large', field: '/segments', limit: 2 ** 20 });
  });

  it('inline bytes are given back, also after a refusal: many in a row find room', async () => {
    const small = await serviceWith({ WINNOW_ADMISSION_INLINE_BYTES_MAX: '1 MiB' });
    const good = JSON.stringify({ filter: FILTER, segments: lines('{"a":1}'.padEnd(900_000)) });
    const bad = JSON.stringify({ filter: { ...FILTER, expr: {} }, segments: lines('{"a":1}'.padEnd(900_000)) });
    for (let i = 0; i < 5; i += 1) {
      expect((await ask(small, { path: PREVIEW, body: bad })).status).toBe(400);
      expect((await ask(small, { path: PREVIEW, body: good })).status).toBe(200);
    }
  });

  it('past the deadline it answers with what it found so far', async () => {
    const hasty = await serviceWith({ WINNOW_STORES_DATA: folder, WINNOW_LIMITS_DEADLINE_MS: '1ms' });
    const segments = [{ format: 'ndjson', store: 'data', path: 'many.ndjson' }];
    const reply = await ask(hasty, {
      path: PREVIEW,
      body: JSON.stringify({ filter: FILTER, segments, max_examined: 3_000 }),
    });
    // Either no worker was free before the deadline, or it ended there.
    expect([200, 429]).toContain(reply.status);
    if (reply.status === 200)
      expect(JSON.parse(reply.text)).toMatchObject({ stop: 'deadline', budgets: { deadline_ms: 1 } });
  });

  it('a client that hangs up ends it, and the service goes on', async () => {
    const request = open(service, { path: PREVIEW });
    const segments = [{ format: 'ndjson', store: 'data', path: 'many.ndjson' }];
    request.end(JSON.stringify({ filter: FILTER, segments, max_examined: 3_000, explain: true, max_records: 100 }));
    request.once('socket', (socket) => socket.once('connect', () => setImmediate(() => request.destroy())));
    await eventually(async () => (await stat(service, 'winnow_workers', { state: 'busy' })) === 0);
    expect((await post(PREVIEW, { filter: FILTER, segments: lines('{"a":1}') })).status).toBe(200);
  });

  it.each(['dies', 'hangs'])('a worker that %s is a retryable 500, and the next request is served', async (topic) => {
    const scripted = await serviceWith({ WINNOW_SLICE_KILL_AFTER: '300ms' }, { workerUrl: SCRIPTED_WORKER });
    const body = JSON.stringify({ filter: FILTER, segments: lines('{}'), source: { stream: 's', topic } });
    const reply = await ask(scripted, { path: PREVIEW, body });
    expect(reply.status).toBe(500);
    expect(JSON.parse(reply.text)).toMatchObject({ code: 'backend', retryable: true });
    expect((await ask(scripted, { body: scanBody() })).status).toBe(200);
  });
});
