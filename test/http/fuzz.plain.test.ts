/**
 * A seeded fuzz of whole requests, built from the OpenAPI document: whatever is sent, the answer is one of the
 * contract's, never 500, nothing is held afterwards, and the metrics account for every request, page, record and byte.
 */
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ERROR_CATALOGUE } from '../../src/core/error-codes.js';
import { decodeMsgpack, decodeMsgpackFrames } from '../../src/wire/msgpack.js';
import {
  ask,
  eventually,
  serviceWith,
  stat,
  stopServices,
  type Reply,
  type TestService,
} from '../support/http-service.js';
import { RequestSource, type OpenApiDocument, type Shot, type ShotKind } from '../support/openapi-requests.js';
import { Seeded } from '../support/seeded.js';

const SEED = Number(process.env['WINNOW_SEED'] ?? 20_261_130);
const REQUESTS = 20_000;

/** Of twelve requests four derive from examples, one is a scan that runs, the rest is made from schemas. */
const KINDS: readonly ShotKind[] = [
  'mutated',
  'random',
  'random',
  'mutated',
  'random',
  'valid',
  'mutated',
  'random',
  'random',
  'mutated',
  'random',
  'random',
];

/** Clients at once, each with a connection that it keeps. */
const CLIENTS = 12;

/** Statuses that the contract keeps beside those of the catalogue. */
const KEPT_STATUSES = [405, 406, 408, 415, 431];

let service: TestService;
let document: OpenApiDocument;
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

beforeAll(async () => {
  service = await serviceWith({
    WINNOW_STORES_DATA: '/nonexistent',
    WINNOW_LIMITS_DEADLINE_MS: '500ms',
    // The clients run on the service's own event loop.
    WINNOW_ADMISSION_LOOP_DELAY_MAX: '0ms',
  });
  document = JSON.parse((await ask(service, { method: 'GET', path: '/openapi.json' })).text) as OpenApiDocument;
});
afterAll(async () => {
  agent.destroy();
  await stopServices();
});

async function send({ method, path, headers, body }: Shot): Promise<Reply> {
  const length = body === undefined ? {} : { 'content-length': String(body.byteLength) };
  const request = httpRequest({
    host: '127.0.0.1',
    port: service.port,
    agent,
    method,
    path,
    headers: { ...headers, ...length },
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return {
    status: response.statusCode!,
    headers: response.headers,
    bytes,
    get text() {
      return bytes.toString();
    },
  };
}

/** What pages of replies said, to be met again in the metrics. */
const seen = { pages: 0, examined: 0, matched: 0, rejected: 0, unevaluated_count: 0, dropped: 0, examined_bytes: 0 };

type Counted = Partial<Record<keyof typeof seen, number>> & { readonly frame?: string };

/** Adds a reply of a scan; a reply of frames has exactly one last frame, and it is the last. */
function countScan(reply: Reply): void {
  const type = String(reply.headers['content-type']);
  const values = (
    type === 'application/json'
      ? [JSON.parse(reply.text)]
      : type === 'application/msgpack'
        ? [decodeMsgpack(reply.bytes)]
        : type === 'application/x-ndjson'
          ? reply.text
              .trimEnd()
              .split('\n')
              .map((line) => JSON.parse(line) as unknown)
          : decodeMsgpackFrames(reply.bytes)
  ) as Counted[];
  for (const page of values.filter(({ frame }) => frame === undefined || frame === 'page')) {
    seen.pages += 1;
    for (const name of ['examined', 'matched', 'rejected', 'unevaluated_count', 'dropped', 'examined_bytes'] as const) {
      seen[name] += Number(page[name]);
    }
  }
  const last = values.map(({ frame }) => frame).filter((frame) => frame === 'end' || frame === 'error');
  if (values[0]!.frame !== undefined) expect([last.length, values.at(-1)!.frame]).toEqual([1, last[0]]);
}

function checkReply(shot: Shot, reply: Reply): void {
  const told = (): string =>
    `${shot.method} ${shot.path} ${reply.text.slice(0, 500)} for ${String(shot.body).slice(0, 500)}`;
  if (reply.status === 500) throw new Error(told());
  if (reply.status < 400) {
    if (shot.path === '/v1/scan' && shot.method === 'POST') countScan(reply);
    return;
  }
  if (shot.method === 'HEAD') return;
  expect(reply.headers['content-type'], told()).toBe('application/problem+json');
  const { code, status } = JSON.parse(reply.text) as { code: keyof typeof ERROR_CATALOGUE; status: number };
  expect(status).toBe(reply.status);
  expect([ERROR_CATALOGUE[code].status, ...KEPT_STATUSES], told()).toContain(status);
}

it('no request is answered with an internal fault, and every refusal is a problem of the catalogue', async () => {
  const source = new RequestSource(document, new Seeded(SEED));
  const counts = { mutated: 0, valid: 0, random: 0, scans: 0, refused: new Map<number, number>() };
  let sent = 0;
  const client = async (): Promise<void> => {
    while (sent < REQUESTS) {
      const kind = KINDS[sent % KINDS.length]!;
      sent += 1;
      const shot = source.next(kind);
      const reply = await send(shot);
      checkReply(shot, reply);
      counts[kind] += 1;
      if (reply.status === 200 && shot.path === '/v1/scan') counts.scans += 1;
      counts.refused.set(reply.status, (counts.refused.get(reply.status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));

  expect(counts.mutated).toBeGreaterThanOrEqual(Math.floor(REQUESTS / 3));
  expect(counts.scans).toBeGreaterThanOrEqual(REQUESTS / 20);
  // The fuzz reached what it is for: successes, refusals of many kinds.
  for (const status of [200, 400, 404, 405, 406, 409, 415, 501]) {
    expect(counts.refused.get(status) ?? 0, `status ${status}`).toBeGreaterThan(10);
  }
  await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
  expect(await stat(service, 'winnow_worker_restarts_total')).toBe(0);
  expect(await stat(service, 'winnow_workers', { state: 'busy' })).toBe(0);
  expect(service.lines.filter((line) => line.level === 'error')).toEqual([]);
});

it('the metrics account for all of it: what replies said is what was counted, and nothing is lost between', async () => {
  const { text } = await ask(service, { method: 'GET', path: '/stats' });
  const stats = JSON.parse(text) as Record<
    string,
    { labels: Record<string, string>; value?: number; count?: number }[]
  >;
  const total = (name: string, isCounted: (labels: Record<string, string>) => boolean = () => true): number =>
    stats[`winnow_${name}`]!.filter(({ labels }) => isCounted(labels)).reduce(
      (sum, { value, count }) => sum + (value ?? count ?? 0),
      0,
    );
  const outcome = (name: string): number => total('records_total', (labels) => labels['outcome'] === name);
  expect(seen.pages).toBeGreaterThan(REQUESTS / 20);
  expect(total('pages_total')).toBe(seen.pages);
  expect(total('records_examined_total')).toBe(seen.examined);
  expect(total('records_total')).toBe(seen.examined);
  expect([outcome('matched'), outcome('rejected')]).toEqual([seen.matched, seen.rejected]);
  expect([outcome('unevaluated'), outcome('dropped')]).toEqual([seen.unevaluated_count, seen.dropped]);
  expect(total('bytes_examined_total')).toBe(seen.examined_bytes);
  expect(total('bytes_returned_total') + total('bytes_avoided_total')).toBe(seen.examined_bytes);
  // Every request once in the counts, once in the times, and once in the log under an id of its own. The statistics
  // themselves are asked for meanwhile, so they are left out.
  const isOther = (labels: Record<string, string>): boolean => labels['route'] !== 'stats';
  const lines = service.lines.filter((line) => line.message === 'request' && line['route'] !== 'stats');
  expect(total('requests_total', isOther)).toBe(lines.length);
  expect(total('request_seconds', isOther)).toBe(lines.length);
  expect(new Set(lines.map((line) => line['request_id'])).size).toBe(lines.length);
  expect(lines.length).toBeGreaterThan(REQUESTS * 0.9);
});

it('/metrics and /stats show the same numbers after all of it', async () => {
  const { text: stats } = await ask(service, { method: 'GET', path: '/stats' });
  const { text: lines } = await ask(service, { method: 'GET', path: '/metrics' });
  const shown = new Set(lines.split('\n'));
  let compared = 0;
  for (const [name, series] of Object.entries(
    JSON.parse(stats) as Record<string, { labels: Record<string, string>; value?: number; count?: number }[]>,
  )) {
    // The request for the one is counted in the other, and the process goes on living between the two.
    if (!name.startsWith('winnow_') || name.startsWith('winnow_request')) continue;
    for (const { labels, value, count } of series) {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
      const line = `${name}${value === undefined ? '_count' : ''}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value ?? count}`;
      expect(shown.has(line), line).toBe(true);
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(50);
});
