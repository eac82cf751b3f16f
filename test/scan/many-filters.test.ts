/**
 * Many filters in one pass: each gets exactly the pages that it would get alone, whatever the others do, over any number
 * of slices and workers, with the equality index and without it (scan-protocol §1 "All filters run in one pass").
 */
import { expect, test } from 'vitest';
import { EVALUATIONS_BETWEEN_LOOKS } from '../../src/core/limits.js';
import type { SliceRunner } from '../../src/scan/slice.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import type { Page } from '../../src/wire/page.js';
import {
  newRunner,
  planOf,
  runPlan,
  type ScanOptions,
  type ScanResult,
  SteppingClock,
  WIDE_BOUNDS,
} from '../support/scan-harness.js';
import { PARTITION_ID, randomPartition } from '../support/scan-model.js';
import { randomFilter } from '../support/random-filter.js';
import { randomRecord } from '../support/random-record.js';
import { filterText, requestOf, segmentOf } from '../support/scan-requests.js';
import { Seeded } from '../support/seeded.js';

const SEED = Number(process.env['WINNOW_TEST_SEED'] ?? 64);
const SCANS = 120;
/** Filters of a scan that are also run alone. */
const ALONE_MAX = 16;

/** One runner compiles each set of filters anew, so both kinds meet cold and warm caches. */
const INDEXED = [newRunner(), newRunner()];
const PLAIN = [newRunner({ isIndexed: false }), newRunner({ isIndexed: false })];

const integer = (value: number) => ({ kind: 'int', value });
const string = (value: string) => ({ kind: 'string', value });

/** A filter over the small vocabulary of `randomPartition`: mostly equalities, so that the index has work. */
function smallFilter(random: Seeded): string {
  const leaf = (): object =>
    random.pick<() => object>([
      () => ({ pred: { field: 'n', op: 'eq', value: integer(random.below(4)) } }),
      () => ({ pred: { field: 's', op: 'eq', value: string(random.pick(['a', 'ab', 'caé'])) } }),
      () => ({
        pred: { field: 'n', op: 'in', value: { kind: 'list', value: [integer(1), integer(random.below(4))] } },
      }),
      () => ({ header: { key: 'h', op: 'eq', value: integer(random.below(3)) } }),
      () => ({ header: { key: 'h', op: 'gte', value: integer(random.below(3)) } }),
      () => ({ text: { field: 's', kind: 'prefix', pattern: 'a' } }),
      () => ({ text: { field: 's', kind: 'regex', pattern: '^[ab]+$' } }),
    ])();
  const isHeaders = random.chance(0.15);
  const header = { header: { key: 'h', op: 'eq', value: integer(random.below(3)) } };
  const expr = random.pick<() => object>([leaf, leaf, () => ({ all: [leaf(), leaf()] }), () => ({ not: leaf() })])();
  return filterText({
    expr: isHeaders ? header : expr,
    codec: isHeaders ? 'headers_only' : 'json',
    fault_policy: random.pick(['stop', 'pass', 'drop', 'drop']),
    foreign_policy: random.pick(['reject', 'pass']),
    mismatch_policy: random.pick(['reject', 'pass']),
  });
}

interface Source {
  readonly segments: object[];
  readonly isDamaged: boolean;
  readonly hasTimestamps: boolean;
  readonly records: number;
  filter(): string;
}

/** Small records in up to four segments of any format, or one segment of records with anything in them. */
function randomSource(random: Seeded): Source {
  if (random.chance(0.6)) {
    const { segments, damage, format, records } = randomPartition(random);
    const hasTimestamps = format !== 'ndjson';
    const filter = () => smallFilter(random);
    return { segments: [...segments], isDamaged: damage !== undefined, hasTimestamps, records: records.length, filter };
  }
  const records = Array.from({ length: 20 + random.below(40) }, (_, offset) => {
    const { payload, headerBlock } = randomRecord(random);
    return { offset: offset * 2, timestamp: BigInt(1000 + offset), payload, headers: headerBlock };
  });
  return {
    segments: [{ format: 'iggy', bytes: encodeIggySegment(records) }],
    isDamaged: false,
    hasTimestamps: true,
    records: records.length,
    filter: () => randomFilter(random),
  };
}

function randomStart(random: Seeded, { isDamaged, hasTimestamps, records }: Source): object | string {
  // Damage below a filter's start is met only because another filter starts lower, so then all start alike.
  if (isDamaged) return 'first';
  const choices = ['first', 'first', 'offset', 'offset', 'last', ...(hasTimestamps ? ['timestamp'] : [])];
  const kind = random.pick(choices);
  if (kind === 'offset') return { offset: random.below(records * 2 + 3) };
  return kind === 'timestamp' ? { timestamp: 990 + random.below(80) } : kind;
}

type Answer = ScanResult | { readonly problem: object };

interface Order {
  readonly body: object;
  readonly options: ScanOptions;
}

function run(runners: readonly SliceRunner[], { body, options }: Order, filters: readonly object[]): Answer {
  return runPlan(runners, planOf({ ...body, filters }, options), options);
}

/** What depends on the filter alone: the end of the data is known to the pass, so another filter may have shown it. */
function own({ frontier: _frontier, torn_bytes: _torn, request_id: _id, ...page }: Page): object {
  return page;
}

function numbers(result: ScanResult, filter: number): object {
  const { frontier: _frontier, ...progress } = result.filters[filter]!;
  return progress;
}

/** The sum of the counters of all slices, as the metrics see them. */
function summed(results: readonly ScanResult[]): object {
  const counters = results.flatMap((result) => result.counters);
  const sum = (of: (one: (typeof counters)[number]) => number) => counters.reduce((all, one) => all + of(one), 0);
  const faults: Record<string, number> = {};
  const examined: Record<string, number> = {};
  for (const one of counters) {
    for (const [name, count] of Object.entries(one.faults)) faults[name] = (faults[name] ?? 0) + count;
    for (const [name, count] of Object.entries(one.examined)) examined[name] = (examined[name] ?? 0) + count;
  }
  return {
    faults,
    examined,
    matched: sum((one) => one.matched),
    rejected: sum((one) => one.rejected),
    unevaluated: sum((one) => one.unevaluated),
    dropped: sum((one) => one.dropped),
    bytesExamined: sum((one) => one.bytesExamined),
    bytesReturned: sum((one) => one.bytesReturned),
  };
}

/** `alone` holds what some of the filters got alone, by their place among the filters. */
function compare(together: ScanResult, alone: ReadonlyMap<number, Answer>): number {
  let compared = 0;
  for (const [i, single] of alone) {
    const pages = together.pages.filter((page) => page.id === `f${i}`);
    if ('problem' in single) {
      // Damage before this filter examined a record: alone a refusal, beside others an end without a page.
      expect(pages).toEqual([]);
      expect(together.filters[i]).toMatchObject({ stop: 'corrupt', totals: { pages: 0, examined: 0 } });
      continue;
    }
    expect(pages.map(own)).toEqual(single.pages.map(own));
    expect(numbers(together, i)).toEqual(numbers(single, 0));
    compared += pages.length;
  }
  return compared;
}

test('a filter gets the pages that it gets alone', () => {
  const random = new Seeded(SEED);
  const seen = new Set<string>();
  let compared = 0;
  let skipped = 0;
  for (let scans = 0; scans < SCANS; scans += 1) {
    const source = randomSource(random);
    const count = 1 + random.below(random.pick([4, 16, 64]));
    const filters = Array.from({ length: count }, (_, i) => ({
      id: `f${i}`,
      filter: source.filter(),
      start: randomStart(random, source),
    }));
    const budgets = {
      count: 1 + random.below(random.pick([4, 50])),
      pages: random.below(4),
      ...(random.chance(0.5) ? { max_examined: 1 + random.below(30) } : {}),
      ...(random.chance(0.4) ? { max_examined_bytes: 1 + random.below(4000) } : {}),
      ...(random.chance(0.4) ? { max_reply_bytes: 1 + random.below(900) } : {}),
    };
    const order = {
      body: {
        v: 1,
        source: { stream: 's', topic: 't' },
        partition_id: PARTITION_ID,
        segments: source.segments,
        reply: random.pick(['records', 'offsets', 'count', 'headers']),
        ...budgets,
      },
      options: {
        framed: true,
        wantsWholePages: true,
        bounds: { recordsMax: 1 + random.below(random.pick([3, 20, 4096])), bytesMax: 1 << 20, timeMaxMs: 1e9 },
        pickRunner: () => random.below(2),
      },
    };
    const indexed = run(INDEXED, order, filters);
    const plain = run(PLAIN, order, filters);
    const places = filters.map((_, i) => i);
    while (places.length > ALONE_MAX) places.splice(random.below(places.length), 1);
    const alone = new Map(
      places.map((i) => [i, run(random.chance(0.5) ? INDEXED : PLAIN, order, [filters[i]!])] as const),
    );
    if ('problem' in indexed || 'problem' in plain) {
      expect(indexed).toEqual(plain);
      for (const one of alone.values()) expect(one).toEqual(indexed);
      seen.add('problem');
      continue;
    }
    compared += compare(indexed, alone) + compare(plain, alone);
    expect(summed([indexed])).toEqual(summed([plain]));
    const singles = [...alone.values()].flatMap((one) => ('problem' in one ? [] : [one]));
    if (alone.size === filters.length) expect(summed([indexed])).toEqual(summed(singles));
    for (const page of indexed.pages) seen.add([page.stop, page.budget, page.filled_by].filter(Boolean).join(' '));
    skipped += indexed.counters.reduce((all, one) => all + one.skippedByIndex, 0);
    expect(plain.counters.every((one) => one.skippedByIndex === 0)).toBe(true);
    if (indexed.damage !== undefined) seen.add('damage');
  }
  expect(compared).toBeGreaterThan(SCANS * 15);
  expect(skipped).toBeGreaterThan(SCANS * 10);
  for (const stop of [
    'fault',
    'oversized_record',
    'end_of_visible',
    'corrupt',
    'filled count',
    'filled reply_bytes',
    'budget examined',
    'budget examined_bytes',
    'problem',
    'damage',
  ]) {
    expect(seen).toContain(stop);
  }
});

test('damage gives a page to every filter that examined a record, and none to the others', () => {
  const bytes = segmentOf(['{"n":1}', '{"n":1}']).subarray(0, -1);
  const order = { body: requestOf([bytes], { count: 1, pages: 9 }), options: { framed: true, wantsWholePages: true } };
  const filters = [
    { id: 'reads', filter: filterText() },
    { id: 'waits', filter: filterText(), start: { offset: 1 } },
  ];
  const both = run(INDEXED, order, filters);
  if ('problem' in both) throw new Error(JSON.stringify(both.problem));
  expect(both.pages.map(({ id, stop }) => [id, stop])).toEqual([
    ['reads', 'filled'],
    ['reads', 'corrupt'],
  ]);
  expect(both.damage).toMatchObject({ code: 'source_corrupt', segment: 0, position: 71, offset_before: 0 });
  expect(both.filters.map(({ stop, totals }) => [stop, totals.pages])).toEqual([
    ['corrupt', 2],
    ['corrupt', 0],
  ]);
  const alone = run(INDEXED, order, filters.slice(1));
  expect('problem' in alone && alone.problem).toMatchObject({ code: 'source_corrupt', offset_before: 0 });
});

test('many filters are compiled into one scan, each with its own start, up to the largest number', () => {
  const filters = Array.from({ length: 4096 }, (_, i) => ({
    id: `f${i}`,
    filter: filterText({ expr: { pred: { field: 'n', op: 'eq', value: integer(i % 64) } } }),
    start: { offset: i % 64 },
  }));
  const records = Array.from({ length: 128 }, (_, i) => `{"n":${i % 64}}`);
  const order = { body: requestOf([segmentOf(records)], { reply: 'offsets' }), options: { framed: true } };
  const result = run(INDEXED, order, filters);
  if ('problem' in result) throw new Error(JSON.stringify(result.problem));
  expect(result.pages).toHaveLength(4096);
  for (const [i, { id, matched, examined, offsets }] of result.pages.entries()) {
    expect({ id, matched, examined, offsets }).toEqual({
      id: `f${i}`,
      matched: 2,
      examined: 128 - (i % 64),
      offsets: [i % 64, 64 + (i % 64)],
    });
  }
});

test('a slice whose time is used up ends within a record, and every filter judges every record once', () => {
  const timeMaxMs = 3;
  const filters = Array.from({ length: 1000 }, (_, i) => ({
    id: `f${i}`,
    filter: filterText({ expr: { pred: { field: 'n', op: 'ne', value: integer(i % 5) } } }),
  }));
  const records = Array.from({ length: 6 }, (_, n) => `{"n":${n}}`);
  const order = {
    body: requestOf([segmentOf(records)], { reply: 'offsets', deadline_ms: 60_000 }),
    options: {
      framed: true,
      wantsWholePages: true,
      bounds: { ...WIDE_BOUNDS, timeMaxMs },
      pickRunner: (n: number) => n % 2,
    },
  };
  // A millisecond goes by between two looks at the clock.
  const runners = [newRunner({ clock: new SteppingClock(1) }), newRunner({ clock: new SteppingClock(1) })];
  const result = run(runners, order, filters);
  const whole = run(INDEXED, order, filters);
  if ('problem' in result || 'problem' in whole) throw new Error('the scan was refused');
  const byFilter = ({ pages }: ScanResult) => new Map(pages.map((page) => [page.id, page]));
  const wanted = byFilter(whole);
  expect(result.pages).toHaveLength(filters.length);
  for (const [id, page] of byFilter(result)) expect(own(page)).toEqual(own(wanted.get(id)!));
  expect(summed([result])).toEqual(summed([whole]));
  for (const { matched } of result.counters) expect(matched).toBeLessThanOrEqual(timeMaxMs * EVALUATIONS_BETWEEN_LOOKS);
  expect(whole.slices).toBe(1);
});
