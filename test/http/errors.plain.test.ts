/**
 * Everything that is wrong before a scan: paths, methods, media types, sizes, broken HTTP. Each gets a problem with the
 * status of the contract, and the catalogue of codes is bound to what is really answered.
 */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE, Refusal, type ErrorCode } from '../../src/core/error-codes.js';
import { problemOfError } from '../../src/http/problem-reply.js';
import { problemDocument, statusOf } from '../../src/wire/problem.js';
import {
  ask,
  open,
  replyTo,
  scanBody,
  serviceWith,
  stat,
  stopServices,
  type Ask,
  type Reply,
  type TestService,
} from '../support/http-service.js';

let service: TestService;

beforeAll(async () => {
  service = await serviceWith({ WINNOW_HTTP_JSON_BODY_MAX: '64 KiB', WINNOW_HTTP_MSGPACK_BODY_MAX: '128 KiB' });
});
afterAll(stopServices);

function problem(reply: Reply): Record<string, unknown> {
  expect(reply.headers['content-type'], reply.text).toBe('application/problem+json');
  return JSON.parse(reply.text) as Record<string, unknown>;
}

/** Says `text` on a bare socket and returns all that comes back until the service closes it. */
async function say(text: string): Promise<string> {
  const socket = connect(service.port, '127.0.0.1');
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

describe('statuses that are kept', () => {
  const json = { 'content-type': 'application/json' };
  const cases: readonly [string, Ask, number, string][] = [
    ['an unknown path', { method: 'GET', path: '/v1/nothing' }, 404, 'not_found'],
    ['an unknown path under POST', { path: '/v1/scans', body: '{}' }, 404, 'not_found'],
    ['a path that is no URL path', { method: 'GET', path: '/%zz' }, 400, 'invalid_request'],
    ['a method that the path does not take', { method: 'GET', path: '/v1/scan' }, 405, 'invalid_request'],
    ['another such method', { method: 'DELETE', path: '/livez' }, 405, 'invalid_request'],
    ['a body that nobody reads', { body: 'x', headers: { 'content-type': 'text/plain' } }, 415, 'invalid_request'],
    ['a compressed body', { body: 'x', headers: { ...json, 'content-encoding': 'gzip' } }, 415, 'invalid_request'],
    [
      'a body in another charset',
      { body: '{}', headers: { 'content-type': 'application/json; charset=utf-16' } },
      415,
      'invalid_request',
    ],
    [
      'a reply form that is not there',
      { path: '/v1/filters/validate', body: '{}', headers: { accept: 'text/html' } },
      406,
      'invalid_request',
    ],
    ['an empty body', { body: '' }, 400, 'invalid_request'],
    ['preview', { path: '/v1/filters/preview', body: '{}' }, 400, 'invalid_request'],
    ['diff', { path: '/v1/filters/diff', body: '{}' }, 400, 'invalid_request'],
  ];

  it.each(cases)('%s', async (_what, request, status, code) => {
    const reply = await ask(service, request);
    expect(reply.status).toBe(status);
    expect(problem(reply)).toMatchObject({ status, code, instance: request.path ?? '/v1/scan' });
  });

  it('405 names the methods that the path takes', async () => {
    const reply = await ask(service, { method: 'PUT', path: '/v1/scan', body: '{}' });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST']);
    expect((await ask(service, { path: '/livez', body: '{}' })).headers.allow).toBe('GET, HEAD');
  });

  it('charset utf-8 is the charset of JSON and accepted', async () => {
    const headers = { 'content-type': 'application/json; charset="UTF-8"' };
    expect((await ask(service, { body: scanBody(), headers })).status).toBe(200);
  });
});

describe('a body over the limit', () => {
  const over = 'x'.repeat(65_537);

  it('is refused from its announced length, with limit and size', async () => {
    const reply = await ask(service, { body: over, headers: { 'content-length': '65537' } });
    expect(reply.status).toBe(413);
    expect(problem(reply)).toMatchObject({ code: 'too_large', limit: 65_536, given: 65_537, retryable: false });
  });

  it('is refused where it passes the limit when no length was announced', async () => {
    const request = open(service, { headers: { 'transfer-encoding': 'chunked' } });
    const reply = replyTo(request);
    request.write(over);
    expect((await reply).status).toBe(413);
    request.destroy();
  });

  it('has a limit of its own in MessagePack', async () => {
    const headers = { 'content-type': 'application/msgpack' };
    const within = await ask(service, { body: Buffer.alloc(100_000, 0xc0), headers });
    expect(problem(within)).toMatchObject({ code: 'invalid_request', status: 400 });
    const beyond = await ask(service, { body: Buffer.alloc(131_073), headers });
    expect(problem(beyond)).toMatchObject({ code: 'too_large', limit: 131_072 });
  });

  it('costs nothing but the refusal: the connection serves the next request', async () => {
    expect((await ask(service, { body: over })).status).toBe(413);
    expect((await ask(service, { body: scanBody() })).status).toBe(200);
    expect(await stat(service, 'winnow_scans_running')).toBe(0);
  });
});

describe('what is no request', () => {
  it.each([
    ['GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 'Host'],
    ['GET /livez HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n', 'Expect'],
  ])('%j is answered with a problem that names the header', async (text, header) => {
    const [head, body] = (await say(text)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(head).toContain('application/problem+json');
    expect(JSON.parse(body!)).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining(header) });
  });

  it('is answered 400 with a problem', async () => {
    const answer = await say('HELLO\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('Content-Type: application/problem+json');
    expect(JSON.parse(answer.split('\r\n\r\n')[1]!)).toMatchObject({ code: 'invalid_request', status: 400 });
  });

  it('with headers that are too large is answered 431 with a problem', async () => {
    const answer = await say(`GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1]!)).toMatchObject({ code: 'invalid_request', status: 431 });
  });
});

describe('the catalogue', () => {
  it.each(Object.keys(ERROR_CATALOGUE) as ErrorCode[])(
    '%s is answered with its status and says whether to retry',
    (code) => {
      const refused = problemOfError(new Refusal({ code, detail: 'why' }));
      expect(refused).toEqual({ code, detail: 'why' });
      const row = ERROR_CATALOGUE[code];
      expect(statusOf(refused!)).toBe(row.status);
      expect(problemDocument(refused!, 'id')).toMatchObject({ title: row.title, retryable: row.retryable });
    },
  );

  it('has the statuses of the contract', () => {
    const statuses = Object.fromEntries(Object.entries(ERROR_CATALOGUE).map(([code, row]) => [code, row.status]));
    expect(statuses).toEqual({
      invalid_request: 400,
      unauthenticated: 401,
      forbidden: 403,
      not_found: 404,
      conflict: 409,
      source_changed: 409,
      version_skew: 409,
      unsupported: 501,
      revision_disabled: 503,
      catalog_unavailable: 503,
      unavailable: 503,
      capacity_exhausted: 429,
      too_large: 413,
      source_corrupt: 422,
      backend: 500,
    });
  });

  it('an unknown error is not a problem of its own: its text stays inside', () => {
    expect(problemOfError(new Error('a path on this machine'))).toBeUndefined();
    expect(problemOfError({ code: 'EACCES' })).toBeUndefined();
  });
});

describe('filters', () => {
  const filter = { v: 1, evaluator_version: 1, expr: { present: 'a.b' }, codec: 'json' };

  it('are validated: digest, what is read, cost', async () => {
    const reply = await ask(service, { path: '/v1/filters/validate', body: JSON.stringify({ filter }) });
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text)).toMatchObject({
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      reads_payload: true,
      reads_headers: false,
      paths: ['a.b'],
      warnings: [],
    });
  });

  it('are refused with a pointer into the body', async () => {
    const body = JSON.stringify({ filter: { ...filter, expr: { all: [] } } });
    const reply = await ask(service, { path: '/v1/filters/validate', body });
    expect(reply.status).toBe(400);
    expect(problem(reply)).toMatchObject({
      field: expect.stringMatching(/^\/filter\/expr/),
      instance: '/v1/filters/validate',
    });
  });

  it('are tested on a record, exactly: an integer beyond 2^53 is not rounded', async () => {
    const body =
      '{"filter":{"v":1,"evaluator_version":1,"expr":{"pred":{"field":"n","op":"eq","value":{"kind":"long","value":9007199254740993}}},' +
      '"codec":"json"},"record":{"payload_text":"{\\"n\\":9007199254740993}"}}';
    const selected = await ask(service, { path: '/v1/filters/test', body });
    expect(JSON.parse(selected.text)).toMatchObject({ explanation: { verdict: 'selected', root: { truth: 'match' } } });
    const beside = await ask(service, { path: '/v1/filters/test', body: body.replace('993}}}', '992}}}') });
    expect(JSON.parse(beside.text)).toMatchObject({ explanation: { verdict: 'rejected' } });
  });

  it('a fault verdict is an answer, not an error', async () => {
    const body = JSON.stringify({ filter, record: { payload_text: '{' } });
    const reply = await ask(service, { path: '/v1/filters/test', body });
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text)).toMatchObject({ explanation: { verdict: 'fault', fault: 'malformed' } });
  });
});

describe('operations', () => {
  it('say that the service lives, is ready, and what it can', async () => {
    for (const path of ['/livez', '/readyz']) expect((await ask(service, { method: 'GET', path })).status).toBe(200);
    const { text } = await ask(service, { method: 'GET', path: '/v1/capabilities' });
    expect(JSON.parse(text)).toMatchObject({
      evaluator_versions: [1],
      dialects: ['laser'],
      codecs: ['json', 'cbor', 'avro', 'protobuf', 'headers_only'],
      // As pages announce them beside unevaluated records.
      limits: { json_body_max: 65_536, max_payload_bytes: 1_048_576, max_depth: 64, segments_per_scan: 1024 },
      caps: { count: 1000 },
    });
  });

  it('metrics count requests by route and outcome', async () => {
    const before = await stat(service, 'winnow_requests_total', { route: 'scan', outcome: 'invalid_request' });
    await ask(service, { body: '{' });
    expect(await stat(service, 'winnow_requests_total', { route: 'scan', outcome: 'invalid_request' })).toBe(
      before + 1,
    );
    const { text, headers } = await ask(service, { method: 'GET', path: '/metrics' });
    expect(headers['content-type']).toContain('text/plain');
    expect(text).toContain('winnow_requests_total{route="scan",outcome="invalid_request"}');
  });
});
