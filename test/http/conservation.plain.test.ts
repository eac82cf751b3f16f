/**
 * The laws of the metrics (scan-protocol §6) over random traffic on real workers: many filters, every policy, broken
 * and mistyped payloads, small budgets, and clients that leave in the middle.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { ask, eventually, open, serviceWith, stopServices, type TestService } from '../support/http-service.js';
import { Seeded } from '../support/seeded.js';

const SEED = Number(process.env['WINNOW_SEED'] ?? 20_261_130);
const CLIENTS = 6;

afterEach(stopServices);

const PAYLOADS = ['{"n":1}', '{"n":2,"s":"x"}', '{"n":"text"}', '{"s":"y"}', '{"n":', 'nul', '[1,2]', '{"n":1,"n":2}'];

const EXPRESSIONS = [
  { pred: { field: 'n', op: 'eq', value: { kind: 'int', value: 1 } } },
  { pred: { field: 'n', op: 'gt', value: { kind: 'int', value: 1 } } },
  { present: 's' },
  { any: [{ present: 's' }, { not: { pred: { field: 'n', op: 'eq', value: { kind: 'int', value: 1 } } } }] },
  { pred: { field: 's', op: 'eq', value: { kind: 'string', value: 'y' } } },
];

/** A scan of up to 300 records by up to 5 filters, each with policies of its own. */
function randomScan(random: Seeded): string {
  const lines = Array.from({ length: random.below(300) }, () => random.pick(PAYLOADS));
  const filters = Array.from({ length: 1 + random.below(5) }, (_, place) => ({
    id: `f${place}`,
    filter: {
      v: 1,
      evaluator_version: 1,
      expr: random.pick(EXPRESSIONS),
      codec: 'json',
      fault_policy: random.pick(['stop', 'pass', 'pass', 'drop', 'drop']),
      mismatch_policy: random.pick(['reject', 'pass']),
    },
    ...(random.chance(0.3) ? { start: { offset: random.below(200) } } : {}),
  }));
  return JSON.stringify({
    v: 1,
    source: { stream: 's', topic: 't' },
    partition_id: 0,
    segments: [{ format: 'ndjson', bytes: Buffer.from(lines.map((line) => `${line}\n`).join('')).toString('base64') }],
    filters,
    count: random.pick([1, 3, 100]),
    pages: random.pick([0, 1, 2, 20]),
    max_reply_bytes: random.pick([1, 50, 100_000]),
    max_examined: random.pick([1, 20, 10_000]),
    max_examined_bytes: random.pick([1, 500, 100_000]),
    reply: random.pick(['records', 'headers', 'offsets', 'count']),
  });
}

interface PageOrFrame {
  readonly frame: string;
  readonly stop: string;
  readonly examined: number;
  readonly matched: number;
  readonly rejected: number;
  readonly unevaluated_count: number;
  readonly dropped: number;
  readonly examined_bytes: number;
  readonly unevaluated: readonly { readonly reason: string }[];
  readonly fault?: { readonly reason: string };
}

type Totals = Record<string, number>;

function add(totals: Totals, name: string, amount: number): void {
  totals[name] = (totals[name] ?? 0) + amount;
}

/** Adds what the pages of one reply say, under the names of the metrics. */
function addPages(totals: Totals, text: string): void {
  const frames = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as PageOrFrame);
  for (const page of frames.filter(({ frame }) => frame === 'page')) {
    add(totals, `pages_total ${page.stop}`, 1);
    add(totals, 'records_examined_total json', page.examined);
    add(totals, 'records_total matched', page.matched);
    add(totals, 'records_total rejected', page.rejected);
    add(totals, 'records_total unevaluated', page.unevaluated_count);
    add(totals, 'records_total dropped', page.dropped);
    add(totals, 'bytes_examined_total', page.examined_bytes);
    for (const { reason } of page.unevaluated) add(totals, `record_faults_total ${reason}`, 1);
    // Only broken payloads fall under a policy that drops.
    add(totals, 'record_faults_total malformed', page.dropped);
    if (page.stop === 'fault') add(totals, `record_faults_total ${page.fault!.reason}`, 1);
  }
}

/** The counters of `/stats`, by name and label. */
async function counted(service: TestService): Promise<Totals> {
  const { text } = await ask(service, { method: 'GET', path: '/stats' });
  const stats = JSON.parse(text) as Record<
    string,
    { labels: Record<string, string>; value?: number; count?: number }[]
  >;
  const totals: Totals = {};
  for (const [name, series] of Object.entries(stats)) {
    for (const { labels, value, count } of series) {
      const label = Object.values(labels).join(' ');
      const key = `${name.replace('winnow_', '')}${label === '' ? '' : ` ${label}`}`;
      add(totals, key, value ?? count ?? 0);
    }
  }
  return totals;
}

function sum(totals: Totals, name: string): number {
  return Object.entries(totals).reduce((all, [key, value]) => (key.split(' ')[0] === name ? all + value : all), 0);
}

function expectLaws(totals: Totals): void {
  expect(sum(totals, 'records_examined_total')).toBe(sum(totals, 'records_total'));
  const { bytes_examined_total: examined, bytes_returned_total: returned, bytes_avoided_total: avoided } = totals;
  expect(examined).toBe(returned! + avoided!);
  expect(sum(totals, 'scans_running')).toBe(0);
  expect(sum(totals, 'admission_queue_depth')).toBe(0);
  expect(sum(totals, 'worker_restarts_total')).toBe(0);
}

/** Runs `shoot` `times` times over a few clients at once. */
async function volley(times: number, shoot: (random: Seeded) => Promise<void>): Promise<void> {
  const random = new Seeded(SEED);
  let fired = 0;
  const client = async (): Promise<void> => {
    while (fired < times) {
      fired += 1;
      await shoot(random);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

const NDJSON = { accept: 'application/x-ndjson' };

it('what replies said of records, bytes, pages, faults and stops is what is counted, to the last of each', async () => {
  const service = await serviceWith({ WINNOW_SLICE_RECORDS_MAX: '37' });
  const said: Totals = {};
  await volley(400, async (random) => {
    const reply = await ask(service, { body: randomScan(random), headers: NDJSON });
    expect(reply.status, reply.text).toBe(200);
    addPages(said, reply.text);
  });
  await eventually(async () => sum(await counted(service), 'scans_running') === 0);
  const totals = await counted(service);
  expectLaws(totals);
  for (const [name, amount] of Object.entries(said)) expect([name, totals[name]]).toEqual([name, amount]);
  expect(sum(totals, 'pages_total')).toBe(sum(said, 'pages_total'));
  expect(sum(totals, 'record_faults_total')).toBe(sum(said, 'record_faults_total'));
  expect(totals['requests_total scan ok']).toBe(400);
  // The traffic was of every kind: every outcome, several stops, both kinds of fault.
  for (const name of ['matched', 'rejected', 'unevaluated', 'dropped'])
    expect(said[`records_total ${name}`]).toBeGreaterThan(100);
  for (const stop of ['filled', 'budget', 'fault', 'end_of_visible', 'flushed'])
    expect(said[`pages_total ${stop}`]).toBeGreaterThan(10);
  for (const reason of ['malformed', 'type_mismatch'])
    expect(said[`record_faults_total ${reason}`]).toBeGreaterThan(10);
});

it('clients that leave in the middle cost nothing that is not accounted for', async () => {
  const service = await serviceWith({ WINNOW_SLICE_RECORDS_MAX: '5' });
  const times = 200;
  await volley(times, async (random) => {
    const request = open(service, { headers: NDJSON });
    request.end(randomScan(random));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if (random.chance(0.5)) {
      // The begin frame is there, and with it nothing or a page or two.
      request.destroy();
      return;
    }
    response.resume();
    await once(response, 'end');
  });
  await eventually(async () => {
    const totals = await counted(service);
    return (
      sum(totals, 'scans_running') === 0 &&
      ['ok', 'client_gone'].reduce((all, how) => all + totals[`requests_total scan ${how}`]!, 0) === times
    );
  });
  const totals = await counted(service);
  expectLaws(totals);
  expect(totals['requests_total scan ok']).toBeGreaterThan(times / 4);
  expect(totals['request_seconds scan']).toBe(times);
});
