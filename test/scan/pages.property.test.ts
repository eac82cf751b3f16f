/**
 * Pages against a plain restatement of their rules (scan-protocol §1), over random segments, filters and budgets.
 *
 * Each chain scans one random partition by following continuations to the end, with new budgets, reply form, encoding,
 * slice bounds and worker at every request. Every page has to say exactly what the model says, and all pages together
 * have to deliver exactly what one oracle pass selects, in order, once each.
 */
import { expect, test } from 'vitest';
import type { SliceRunner } from '../../src/scan/slice.js';
import type { ReplyForm } from '../../src/scan/task.js';
import type { Page } from '../../src/wire/page.js';
import { oracleOf } from '../support/oracle.js';
import { newRunner, scan, type ScanOptions, type ScanResult, SteppingClock } from '../support/scan-harness.js';
import {
  type ExpectedPage,
  expectedResponse,
  type Interruption,
  judge,
  type Judged,
  PARTITION_ID,
  type Partition,
  randomPartition,
  type StoredRecord,
  walk,
} from '../support/scan-model.js';
import { Seeded } from '../support/seeded.js';

const CHAINS = 1_200;
const SCANS_MIN = 2_000;
const HITS_MIN = 50;
const SEED = Number(process.env['WINNOW_TEST_SEED'] ?? 20_261_130);

const LEAVES = [
  { pred: { field: 'n', op: 'eq', value: { kind: 'int', value: 1 } } },
  { pred: { field: 'n', op: 'lt', value: { kind: 'long', value: 2 } } },
  { text: { field: 's', kind: 'prefix', pattern: 'a' } },
  { text: { field: 's', kind: 'regex', pattern: '^[ab]+$' } },
  { present: 's' },
  { header: { key: 'h', op: 'gte', value: { kind: 'int', value: 1 } } },
];

function randomFilter(random: Seeded): string {
  const leaf = (): object => random.pick(LEAVES);
  const expr = random.pick([
    leaf,
    () => ({ any: [leaf(), leaf()] }),
    () => ({ all: [leaf(), leaf()] }),
    () => ({ not: leaf() }),
  ])();
  const isHeaders = random.chance(0.1);
  return JSON.stringify({
    v: 1,
    evaluator_version: 1,
    expr: isHeaders ? LEAVES[5] : expr,
    codec: isHeaders ? 'headers_only' : 'json',
    fault_policy: random.pick(['stop', 'pass', 'drop']),
    foreign_policy: random.pick(['reject', 'pass']),
    mismatch_policy: random.pick(['reject', 'pass']),
  });
}

function randomBudgets(random: Seeded): Record<string, number> {
  const budgets: Record<string, number> = {};
  if (random.chance(0.6)) budgets['count'] = 1 + random.below(5);
  if (random.chance(0.5)) budgets['max_reply_bytes'] = 1 + random.below(random.pick([100, 400, 1200]));
  if (random.chance(0.4)) budgets['max_examined'] = 1 + random.below(15);
  if (random.chance(0.4)) budgets['max_examined_bytes'] = 1 + random.below(2000);
  if (random.chance(0.6)) budgets['pages'] = random.below(5);
  return budgets;
}

/** Counts of what the chains met, by name. */
class Tally {
  readonly counts = new Map<string, number>();

  add(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
}

/** A page as the model states it, with what it delivered checked byte for byte against the stored records. */
function compared(page: Page, expected: ExpectedPage, form: ReplyForm, encoding: 'json' | 'msgpack', format: string) {
  const { delivered, fault, ...rest } = expected;
  const actual = Object.fromEntries(Object.keys(rest).map((name) => [name, page[name as keyof Page]]));
  const { offset_before: _before, ...pageFault } = page.fault ?? { reason: undefined };
  expect({ ...actual, fault: page.fault === undefined ? undefined : pageFault }).toEqual({ ...rest, fault });
  expect(page.examined).toBe(page.matched + page.rejected + page.unevaluated_count + page.dropped);
  expect(page.evaluation_limits !== undefined).toBe(page.unevaluated.length > 0);
  expectDelivered(page, delivered, form, encoding, format);
}

function expectDelivered(
  page: Page,
  delivered: readonly StoredRecord[],
  form: ReplyForm,
  encoding: 'json' | 'msgpack',
  format: string,
): void {
  const offsets = delivered.map(({ offset }) => offset);
  if (form === 'count' || form === 'offsets') {
    expect(page.records).toBeUndefined();
    expect(page.offsets).toEqual(form === 'offsets' ? offsets : undefined);
    return;
  }
  expect(page.offsets).toBeUndefined();
  if (form === 'records' && encoding === 'msgpack') {
    const batch = page.records as { format: string; bytes: Uint8Array; positions: number[]; offsets: number[] };
    expect(batch.format).toBe(format === 'ndjson' ? 'ndjson' : 'iggy');
    expect(batch.offsets).toEqual(offsets);
    expect(Buffer.from(batch.bytes).equals(Buffer.concat(delivered.map(({ frame }) => frame)))).toBe(true);
    let at = 0;
    const positions = delivered.map(({ frame }) => (at += frame.length) - frame.length);
    expect(batch.positions).toEqual(positions);
    return;
  }
  const records = page.records as { offset: number; timestamp: number; payload?: string }[];
  const seen = records.map(({ offset, timestamp, payload }) => ({ offset, timestamp, payload }));
  const wanted = delivered.map(({ offset, timestamp, payload }) => ({
    offset,
    timestamp,
    payload: form === 'records' ? payload.toString('base64') : undefined,
  }));
  expect(seen).toEqual(wanted);
}

interface Chain {
  readonly random: Seeded;
  readonly partition: Partition;
  readonly filter: string;
  readonly runners: readonly SliceRunner[];
  readonly clock: SteppingClock;
  readonly tally: Tally;
}

/** One request of a chain; returns what was delivered and where to go on, or null at the end. */
function request(
  chain: Chain,
  start: object | string,
  judged: readonly Judged[],
  ending: Parameters<typeof expectedResponse>[1],
): { delivered: StoredRecord[]; next: object | null; left: readonly Judged[] } {
  const { random, partition, tally, clock } = chain;
  const form = random.pick<ReplyForm>(['records', 'records', 'headers', 'offsets', 'count']);
  const encoding = random.pick(['json', 'msgpack'] as const);
  const cancelAt = random.chance(0.1) ? random.below(4) : -1;
  clock.stepMs = random.chance(0.1) ? 1 : 0;
  const options: ScanOptions = {
    encoding,
    framed: random.chance(0.5),
    wantsWholePages: random.chance(0.2),
    bounds: {
      recordsMax: 1 + random.below(random.pick([3, 20, 4096])),
      bytesMax: 1 + random.below(random.pick([300, 5000, 1 << 20])),
      timeMaxMs: random.chance(0.3) ? 1 + random.below(3) : 10_000,
    },
    pickRunner: () => random.below(chain.runners.length),
    cancelBefore: (slice) => slice === cancelAt,
    arrivedAtMs: clock.ms,
  };
  const body = {
    v: 1,
    source: { stream: 's', topic: 't', generation: 'g' },
    partition_id: PARTITION_ID,
    segments: partition.segments,
    filters: [{ id: 'f', filter: chain.filter }],
    start,
    reply: form,
    ...randomBudgets(random),
    ...(clock.stepMs === 0 ? {} : { deadline_ms: 1 + random.below(40) }),
  };
  const result = scan(chain.runners, body, options);
  tally.add('scans');
  const budgets = { ...DEFAULT_BUDGETS, ...body };
  const totals = 'problem' in result ? undefined : result.filters[0]!.totals;
  const stop = 'problem' in result ? undefined : result.filters[0]!.stop;
  const interruption: Interruption | undefined =
    stop === 'cancelled' || stop === 'deadline' ? { stop, after: totals!.examined } : undefined;
  const sliceEnds = options.framed === true && options.wantsWholePages !== true ? sliceEndsOf(result) : NO_SLICE_ENDS;
  const expected = expectedResponse(judged, ending, budgets, form, interruption, sliceEnds);
  if ('problem' in result) {
    expect(expected.isProblem, JSON.stringify(result.problem)).toBe(true);
    expect(result.problem).toMatchObject({ code: 'source_corrupt', ...ending.damage });
    tally.add('source_corrupt problem');
    return { delivered: [], next: null, left: [] };
  }
  expect(expected.isProblem).toBe(false);
  expect(result.pages).toHaveLength(expected.pages.length);
  result.pages.forEach((page, i) => compared(page, expected.pages[i]!, form, encoding, partition.format));
  checkEnd(result, expected.endStop, expected.endBudget);
  for (const page of result.pages) tally.add([page.stop, page.budget, page.filled_by].filter(Boolean).join(' '));
  if (expected.endBudget === 'pages') tally.add('end: pages');
  checkCounters(result);
  const examined = result.filters[0]!.totals.examined;
  for (const one of judged.slice(0, examined)) tally.add(`${one.becomes} ${one.reason}`);
  const delivered = expected.pages.flatMap((page) => page.delivered);
  const left = judged.slice(examined);
  if (stop === 'end_of_visible' || stop === 'corrupt') return { delivered, next: null, left };
  return { delivered, next: { continue: result.filters[0]!.continuation }, left };
}

const NO_SLICE_ENDS: ReadonlySet<number> = new Set();

/** Examined records after each slice but the last. */
function sliceEndsOf(result: ScanResult | { readonly problem: unknown }): ReadonlySet<number> {
  if ('problem' in result) return NO_SLICE_ENDS;
  let examined = 0;
  const ends = result.counters.map((one) => (examined += Object.values(one.examined).reduce((all, n) => all + n, 0)));
  return new Set(ends.slice(0, -1));
}

const DEFAULT_BUDGETS = {
  count: 100,
  max_reply_bytes: 1024 * 1024,
  max_examined: 100_000,
  max_examined_bytes: 64 * 1024 * 1024,
  deadline_ms: 10_000,
  pages: 1,
  progress_ms: 1000,
};

/** The material of the end frame: sums and highest offsets over the pages, and the last page's token. */
function checkEnd(result: ScanResult, stop: string, budget: string | undefined): void {
  const [filter] = result.filters;
  const highest = (name: 'next_scan_offset' | 'safe_ack_offset') =>
    result.pages.reduce<number | undefined>((high, page) => page[name] ?? high, undefined);
  const sums = { examined: 0, matched: 0, rejected: 0, unevaluated_count: 0, dropped: 0, examined_bytes: 0 };
  for (const page of result.pages) {
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += page[name];
  }
  expect(filter).toMatchObject({ stop, totals: { pages: result.pages.length, ...sums } });
  expect(filter!.budget).toBe(budget);
  expect(filter!.next_scan_offset).toBe(highest('next_scan_offset'));
  expect(filter!.safe_ack_offset).toBe(highest('safe_ack_offset'));
  expect(filter!.continuation).toBe(result.pages.at(-1)!.continuation);
  expect(result.damage === undefined).toBe(stop !== 'corrupt');
}

/** Counters of the slices add up to the totals, and conserve records. */
function checkCounters({ counters, filters }: ScanResult): void {
  const sum = (of: (one: ScanResult['counters'][number]) => number) => counters.reduce((all, one) => all + of(one), 0);
  const { totals } = filters[0]!;
  expect(sum((one) => Object.values(one.examined).reduce((all, n) => all + n, 0))).toBe(totals.examined);
  expect(sum((one) => one.matched + one.rejected + one.unevaluated + one.dropped)).toBe(totals.examined);
  expect(sum((one) => one.bytesExamined)).toBe(totals.examined_bytes);
  expect(sum((one) => one.bytesReturned)).toBeLessThanOrEqual(totals.examined_bytes);
  expect(sum((one) => one.recordsScanned)).toBeGreaterThanOrEqual(totals.examined);
}

/** Where a chain starts: the member of the request, and what is to be seen from there. */
function randomStart(
  random: Seeded,
  { records, format }: Partition,
): { start: object | string; lowest: number } & {
  pick(judged: readonly Judged[]): readonly Judged[];
} {
  const kind = random.pick(['first', 'first', 'offset', 'last', format === 'ndjson' ? 'first' : 'timestamp']);
  switch (kind) {
    case 'offset': {
      const offset = random.below((records.at(-1)?.offset ?? 5) + 3);
      return { start: { offset }, lowest: offset, pick: (all) => all.filter(({ record }) => record.offset >= offset) };
    }
    case 'last':
      return { start: 'last', lowest: 0, pick: (all) => all.slice(-1) };
    case 'timestamp': {
      const timestamp = 1000 + random.below(60);
      const pick = (all: readonly Judged[]) => {
        const first = all.findIndex(({ record }) => record.timestamp >= timestamp);
        return first < 0 ? [] : all.slice(first);
      };
      return { start: { timestamp }, lowest: 0, pick };
    }
    default:
      return { start: 'first', lowest: 0, pick: (all) => all };
  }
}

function runChain(chain: Chain): void {
  const { random, partition, tally } = chain;
  const start = randomStart(random, partition);
  const seen = walk(partition, start.lowest);
  let left = start.pick(judge(oracleOf(chain.filter), seen.visible));
  // The last visible record is looked for over everything, so damage anywhere is met before anything is examined.
  if (start.start === 'last' && seen.damage !== undefined) left = [];
  const selected = left.filter(({ becomes }) => becomes === 'matched' || becomes === 'unevaluated');
  const delivered: StoredRecord[] = [];
  const oversized = new Set<number>();
  let from: object | string = start.start;
  for (let requests = 0; ; requests += 1) {
    expect(requests).toBeLessThan(500);
    const step = request(chain, from, left, seen);
    delivered.push(...step.delivered);
    if (step.next === null) break;
    const isStuck = step.left.length === left.length && step.left[0] !== undefined;
    from = step.next;
    left = step.left;
    // A record that cannot be passed with these budgets: now and then it is passed by offset, as a reader would.
    if (isStuck && random.chance(0.5)) {
      const [{ record }] = left as [Judged];
      if (left[0]!.becomes !== 'stop' && selected.some((one) => one.record === record)) oversized.add(record.offset);
      from = { offset: record.offset + 1 };
      left = left.slice(1);
    }
  }
  tally.add(partition.format);
  const wanted = selected.map(({ record }) => record.offset).filter((offset) => !oversized.has(offset));
  if (partition.damage === undefined) expect(delivered.map(({ offset }) => offset)).toEqual(wanted);
}

test('continuations followed to the end deliver what one oracle pass selects, page by page as the rules say', () => {
  const random = new Seeded(SEED);
  const tally = new Tally();
  const clock = new SteppingClock(0);
  const runners = [1, 2, 3].map(() => newRunner({ clock, recordsBetweenLooks: 1 }));
  for (let number = 0; number < CHAINS; number += 1) {
    try {
      runChain({ random, partition: randomPartition(random), filter: randomFilter(random), runners, clock, tally });
    } catch (thrown) {
      throw new Error(`chain ${number} of seed ${SEED}: ${String(thrown)}`, { cause: thrown });
    }
  }
  const { counts } = tally;
  expect(counts.get('scans')).toBeGreaterThan(SCANS_MIN);
  const wanted = [
    'cancelled',
    'deadline',
    'end_of_visible',
    'budget examined',
    'budget examined_bytes',
    'fault',
    'oversized_record',
    'filled reply_bytes',
    'filled count',
    'corrupt',
    'flushed',
    'end: pages',
    'source_corrupt problem',
    'matched none',
    'rejected none',
    'rejected foreign_codec',
    'rejected type_mismatch',
    'unevaluated foreign_codec',
    'unevaluated type_mismatch',
    'unevaluated malformed',
    'dropped malformed',
    'iggy',
    'iggy_polled',
    'ndjson',
  ];
  const rare = wanted.filter((name) => (counts.get(name) ?? 0) < HITS_MIN);
  expect(rare.map((name) => `${name}: ${counts.get(name)}`)).toEqual([]);
});
