/** Planning: what a request becomes, and the pointer of every refusal (scan-protocol §1, §3). */
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../src/core/error-codes.js';
import { planTest, planValidate } from '../../src/scan/plan-filter.js';
import { planScan } from '../../src/scan/plan.js';
import type { Budgets } from '../../src/scan/task.js';
import type { ScanRequest } from '../../src/wire/scan-request.js';

const CAPS: Budgets = {
  count: 1000,
  max_reply_bytes: 8 * 1024 * 1024,
  max_examined: 1_000_000,
  max_examined_bytes: 1024 ** 3,
  deadline_ms: 60_000,
  pages: 10_000,
  progress_ms: 60_000,
};

const GOOD: ScanRequest = {
  v: 1,
  source: { stream: 's', topic: 't' },
  partition_id: 3,
  segments: [{ format: 'iggy', store: 'data', path: 'a/0.log' }],
  filters: [{ id: 'f', filter: '{"v":1}' }],
};

function plan(request: object) {
  return planScan({
    request: request as ScanRequest,
    requestId: 'r',
    arrivedAtMs: 1000,
    caps: CAPS,
    encoding: 'json',
    framed: false,
  });
}

function problemFrom(run: () => unknown): Problem {
  try {
    run();
  } catch (thrown) {
    return (thrown as { problem: Problem }).problem;
  }
  throw new Error('nothing was refused');
}

function startOf(start: unknown) {
  return plan({ ...GOOD, start }).spec.filters[0]!.start;
}

describe('a planned scan', () => {
  test('takes the defaults of the contract', () => {
    const { spec, deadlineAtMs } = plan(GOOD);
    expect(spec.budgets).toEqual({
      count: 100,
      max_reply_bytes: 1024 * 1024,
      max_examined: 100_000,
      max_examined_bytes: 64 * 1024 * 1024,
      deadline_ms: 10_000,
      pages: 1,
      progress_ms: 1000,
    });
    expect(deadlineAtMs).toBe(11_000);
    expect(spec).toMatchObject({ generation: '', reply: 'records', diagnostic: false });
    expect(spec.segments[0]).toMatchObject({ sealed: false, verifyChecksums: false, baseOffset: 0 });
    expect(spec.filters[0]).toMatchObject({
      dialect: 'laser',
      pointer: '/filters/0/filter',
      asText: false,
      strict: false,
    });
  });

  test('lowers budgets to the caps and refuses none of them', () => {
    const high = { count: 5000, max_reply_bytes: 1e9, max_examined: 1e9, deadline_ms: 1e9, pages: 1e9 };
    expect(plan({ ...GOOD, ...high }).spec.budgets).toMatchObject({
      count: 1000,
      max_reply_bytes: 8 * 1024 * 1024,
      max_examined: 1_000_000,
      deadline_ms: 60_000,
      pages: 10_000,
    });
  });

  test('takes pages 0 as unbounded, and progress_ms up to its cap', () => {
    expect(plan({ ...GOOD, pages: 0, progress_ms: 100 }).spec.budgets).toMatchObject({ pages: 0, progress_ms: 100 });
    expect(plan({ ...GOOD, progress_ms: 1e9 }).spec.budgets.progress_ms).toBe(60_000);
  });

  test('hands inline bytes on, from base64 or bin, sealed unless said otherwise', () => {
    const { spec, inline } = plan({
      ...GOOD,
      segments: [
        { format: 'ndjson', bytes: 'e30K', base_offset: '7' },
        { format: 'ndjson', bytes: new Uint8Array([1]), sealed: false, last_offset: 9 },
      ],
    });
    expect(inline.map((bytes) => Buffer.from(bytes).toString('latin1'))).toEqual(['{}\n', '\u0001']);
    expect(spec.segments).toEqual([
      { format: 'ndjson', place: { inline: 0 }, baseOffset: 7, sealed: true, verifyChecksums: false },
      { format: 'ndjson', place: { inline: 1 }, baseOffset: 0, lastOffset: 9, sealed: false, verifyChecksums: false },
    ]);
  });

  test('reads every start', () => {
    expect(startOf(undefined)).toEqual({ at: 'first', pointer: '/start' });
    expect(startOf('last')).toEqual({ at: 'last', pointer: '/start' });
    expect(startOf({ offset: '12' })).toEqual({ at: 'offset', offset: 12, pointer: '/start' });
    expect(startOf({ timestamp: '18446744073709551615' })).toMatchObject({ timestamp: '18446744073709551615' });
    expect(startOf({ continue: 'x' })).toEqual({ at: 'continue', token: 'x', pointer: '/start/continue' });
  });

  test("lets an entry's own start override the request's", () => {
    const { spec } = plan({ ...GOOD, start: 'last', filters: [{ id: 'f', filter: '{}', start: { offset: 4 } }] });
    expect(spec.filters[0]!.start).toEqual({ at: 'offset', offset: 4, pointer: '/filters/0/start' });
  });

  const entry = (more: object) => ({ ...GOOD, filters: [{ id: 'f', filter: '{}', ...more }] });
  const segment = (more: object) => ({ ...GOOD, segments: [{ format: 'iggy', bytes: '', ...more }] });
  test.each([
    [{ ...GOOD, v: 2 }, 'version_skew', '/v'],
    [{ ...GOOD, source: { stream: 'é'.repeat(128), topic: 't' } }, 'invalid_request', '/source/stream'],
    [
      { ...GOOD, source: { stream: 's', topic: 't', generation: 'é'.repeat(65) } },
      'invalid_request',
      '/source/generation',
    ],
    [segment({ format: 'kafka' }), 'unsupported', '/segments/0/format'],
    [segment({ format: 'iggy_batch' }), 'unsupported', '/segments/0/format'],
    [segment({ store: 'd' }), 'invalid_request', '/segments/0'],
    [segment({ bytes: undefined }), 'invalid_request', '/segments/0'],
    [segment({ bytes: 'e30' }), 'invalid_request', '/segments/0/bytes'],
    [segment({ bytes: 'e30-' }), 'invalid_request', '/segments/0/bytes'],
    [segment({ bytes: 7 }), 'invalid_request', '/segments/0/bytes'],
    [segment({ format: 'iggy_polled', sealed: false }), 'invalid_request', '/segments/0/sealed'],
    [segment({ last_offset: '9007199254740992' }), 'invalid_request', '/segments/0/last_offset'],
    [
      {
        ...GOOD,
        segments: [
          { format: 'iggy', bytes: '' },
          { format: 'ndjson', bytes: '' },
        ],
      },
      'invalid_request',
      '/segments/1/format',
    ],
    [entry({ dialect: 'net' }), 'unsupported', '/filters/0/dialect'],
    [entry({ codec: 'json' }), 'invalid_request', '/filters/0/codec'],
    [entry({ filter: undefined }), 'invalid_request', '/filters/0'],
    [entry({ filter_text: '{}' }), 'invalid_request', '/filters/0'],
    [entry({ revision: { filter_id: 1 } }), 'unsupported', '/filters/0/revision'],
    [entry({ group: 'g' }), 'unsupported', '/filters/0/group'],
    [entry({ id: 'é'.repeat(65) }), 'invalid_request', '/filters/0/id'],
    [{ ...GOOD, filters: [GOOD.filters[0], GOOD.filters[0]] }, 'invalid_request', '/filters/1/id'],
    [
      { ...GOOD, filters: Array.from({ length: 9 }, (_, i) => ({ id: `f${i}`, filter: ' '.repeat(1 << 20) })) },
      'too_large',
      '/filters',
    ],
    [
      { ...GOOD, start: { continue: 'x' }, filters: [GOOD.filters[0], { id: 'g', filter: '{}' }] },
      'invalid_request',
      '/start/continue',
    ],
    [{ ...GOOD, start: { timestamp: '18446744073709551616' } }, 'invalid_request', '/start/timestamp'],
    [
      { ...GOOD, segments: [{ format: 'ndjson', bytes: '' }], start: { timestamp: 1 } },
      'invalid_request',
      '/start/timestamp',
    ],
  ])('case %# is refused as %s', (request, code, field) => {
    expect(problemFrom(() => plan(request))).toMatchObject({ code, field });
  });
});

describe('a planned validate or test', () => {
  test('points at the filter as it was given', () => {
    expect(planValidate({ filter_text: '{}', expect_digest: 'AB'.repeat(32) })).toEqual({
      kind: 'validate',
      filter: {
        dialect: 'laser',
        text: '{}',
        pointer: '/filter_text',
        asText: true,
        expectDigest: 'ab'.repeat(32),
        strict: false,
      },
      schemas: [],
    });
    expect(planTest({ filter: '{}', record: '{"payload":""}', limits: { max_depth: 3 } })).toMatchObject({
      kind: 'test',
      record: '{"payload":""}',
      limits: { max_depth: 3 },
      filter: { pointer: '/filter' },
    });
  });

  test('a filter of a MiB is handed on, a longer one is refused before anybody reads it', () => {
    const fits = ' '.repeat(2 ** 20 - 2) + '{}';
    expect(planValidate({ filter_text: fits }).filter.text).toBe(fits);
    // Measured in bytes: a character of two counts twice.
    const long = `"${'é'.repeat(2 ** 19)}"`;
    const fault = { code: 'invalid_request', limit: 2 ** 20, given: 2 ** 20 + 2 };
    expect(problemFrom(() => planValidate({ filter: long }))).toMatchObject({ ...fault, field: '/filter' });
    expect(problemFrom(() => plan({ ...GOOD, filters: [{ id: 'f', filter_text: long }] }))).toMatchObject({
      ...fault,
      field: '/filters/0/filter_text',
    });
  });

  test.each([
    [() => planValidate({ filter: '{}', input_schema: {} }), 'invalid_request', '/input_schema'],
    [() => planValidate({}), 'invalid_request', ''],
  ])('case %# is refused', (run, code, field) => {
    expect(problemFrom(run)).toMatchObject({ code, field });
  });
});
