/**
 * Preview and diff, slice by slice in this thread: how far they look is what a scan of the same range says, what they
 * find is what the oracle says of each record, and nothing depends on where slices end or which worker runs them.
 */
import { describe, expect, it } from 'vitest';
import { decodeJson } from '../../src/codec/json/decode.js';
import { PREVIEW_EXAMINED_MAX, PREVIEW_TEXT_BYTES } from '../../src/core/limits.js';
import { diffSlice } from '../../src/scan/diff.js';
import { planDiff, planPreview } from '../../src/scan/plan-preview.js';
import type { ScanPlan } from '../../src/scan/plan.js';
import { previewSlice } from '../../src/scan/preview.js';
import type { SliceRunner } from '../../src/scan/slice.js';
import {
  CONTROL_CELLS,
  type SliceBounds,
  type SliceTask,
  type WatchReply,
  type WorkerReply,
} from '../../src/scan/task.js';
import { decodingOnce } from '../../src/scan/payload-decoders.js';
import type { Problem } from '../../src/core/error-codes.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { checked } from '../../src/wire/check.js';
import { encodeMsgpack } from '../../src/wire/msgpack.js';
import {
  type DiffReply,
  DiffReplySchema,
  type DiffRequest,
  DiffRequestSchema,
  type PreviewReply,
  PreviewReplySchema,
  type PreviewRequest,
  PreviewRequestSchema,
} from '../../src/wire/preview.js';
import { recountFunnel } from '../support/funnel-model.js';
import { oracleOf, storedRecord } from '../support/oracle.js';
import { problemFrom } from '../support/refused.js';
import { CAPS, newRunner, scan, SteppingClock, WIDE_BOUNDS } from '../support/scan-harness.js';
import { judge, PARTITION_ID, type Partition, randomPartition, walk } from '../support/scan-model.js';
import { Seeded } from '../support/seeded.js';

const SEED = Number(process.env['WINNOW_TEST_SEED'] ?? 20_261_201);
const LIMITS = { maxPayloadBytes: 1024 * 1024, maxDepth: 64 };
const INPUT = { requestId: 'request', arrivedAtMs: 0, caps: CAPS };

interface Runs {
  readonly runners?: readonly SliceRunner[];
  readonly bounds?: SliceBounds;
  /** True cancels before that slice. */
  readonly cancelBefore?: (slice: number) => boolean;
}

let keys = 0;

/** Runs all slices as the service does, each on the next runner, with what was found cloned in between. */
function watched<Found, Answer>(
  plan: ScanPlan,
  { runners = [newRunner()], bounds = WIDE_BOUNDS, cancelBefore = () => false }: Runs,
  run: (runner: SliceRunner, slice: SliceTask, found: Found | null) => WorkerReply<WatchReply<Found, Answer>>,
): { readonly answer: Answer; readonly slices: number } | { readonly problem: Problem } {
  keys += 1;
  const common = {
    kind: 'slice',
    scanKey: `watched-${keys}`,
    spec: shared(encodeMsgpack(plan.spec)),
    control: new SharedArrayBuffer(4 * CONTROL_CELLS),
    inline: plan.inline.map(shared),
    bounds,
    deadlineAtMs: plan.deadlineAtMs,
  } as const;
  let before: WatchReply<Found, Answer> | null = null;
  for (let slice = 0; ; slice += 1) {
    if (cancelBefore(slice)) Atomics.store(new Int32Array(common.control), 0, 1);
    const runner = runners[slice % runners.length]!;
    const reply = run(runner, { ...common, state: before?.state ?? null }, before?.found ?? null);
    if ('problem' in reply) return reply;
    before = structuredClone(reply.ok);
    if (before.answer !== undefined) return { answer: before.answer, slices: slice + 1 };
  }
}

function shared(bytes: Uint8Array): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(bytes.length);
  new Uint8Array(memory).set(bytes);
  return memory;
}

function tryPreview(request: object, runs: Runs = {}) {
  const {
    scan: plan,
    maxRecords,
    explain,
  } = planPreview(checked(PreviewRequestSchema, request) as PreviewRequest, INPUT);
  return watched(plan, runs, (runner, slice, found: Parameters<typeof previewSlice>[1]['found']) =>
    previewSlice(runner, { kind: 'preview', slice, maxRecords, explain, found }),
  );
}

function preview(request: object, runs: Runs = {}): PreviewReply {
  const ended = tryPreview(request, runs);
  if ('problem' in ended) throw new Error(JSON.stringify(ended.problem));
  expectSchema(PreviewReplySchema, ended.answer);
  return ended.answer;
}

/** Checks the JSON form of a reply, in which bigints are text, against its schema. */
function expectSchema(schema: typeof PreviewReplySchema | typeof DiffReplySchema, reply: object): void {
  checked(schema, JSON.parse(JSON.stringify(reply, (_, value) => (typeof value === 'bigint' ? String(value) : value))));
}

function tryDiff(request: object, runs: Runs = {}) {
  const { scan: plan, other } = planDiff(checked(DiffRequestSchema, request) as DiffRequest, INPUT);
  return watched(plan, runs, (runner, slice, found: Parameters<typeof diffSlice>[1]['found']) =>
    diffSlice(runner, { kind: 'diff', slice, other, found }),
  );
}

function diff(request: object, runs: Runs = {}): DiffReply {
  const ended = tryDiff(request, runs);
  if ('problem' in ended) throw new Error(JSON.stringify(ended.problem));
  expectSchema(DiffReplySchema, ended.answer);
  return ended.answer;
}

const LEAVES = [
  { pred: { field: 'n', op: 'eq', value: { kind: 'int', value: 1 } } },
  { pred: { field: 'n', op: 'lt', value: { kind: 'long', value: 2 } } },
  { text: { field: 's', kind: 'prefix', pattern: 'a' } },
  { text: { field: 's', kind: 'regex', pattern: '^[ab]+$' } },
  { present: 's' },
  { header: { key: 'h', op: 'gte', value: { kind: 'int', value: 1 } } },
];

function randomFilter(random: Seeded, faultPolicies: readonly string[] = ['stop', 'pass', 'drop']): string {
  const leaf = (): object => random.pick(LEAVES);
  const expr = random.pick([
    leaf,
    () => ({ any: [leaf(), leaf()] }),
    () => ({ all: [leaf(), { any: [leaf(), { not: leaf() }] }, leaf()] }),
    () => ({ not: { all: [leaf(), leaf()] } }),
  ])();
  return JSON.stringify({
    v: 1,
    evaluator_version: 1,
    expr,
    codec: 'json',
    fault_policy: random.pick(faultPolicies),
    foreign_policy: random.pick(['reject', 'pass']),
    mismatch_policy: random.pick(['reject', 'pass']),
  });
}

/** A random range of a random partition, as both kinds of request name it. */
function randomRange(random: Seeded, partition: Partition) {
  const from = random.chance(0.5) ? random.below(20) : 0;
  const maxExamined = random.chance(0.5) ? 1 + random.below(15) : 1000;
  return {
    from,
    range: { partition_id: PARTITION_ID, segments: partition.segments },
    preview: { ...(from === 0 ? {} : { from_offset: from }), max_examined: maxExamined },
    scan: {
      v: 1,
      source: { stream: 's', topic: 't' },
      start: { offset: from },
      max_examined: maxExamined,
      count: 1000,
    },
  };
}

function randomRuns(random: Seeded): Runs {
  const runners = [newRunner({ recordsBetweenLooks: 1 }), newRunner({ recordsBetweenLooks: 1 })];
  return { runners, bounds: { ...WIDE_BOUNDS, recordsMax: random.pick([1, 2, 3, 4096]) } };
}

describe('a preview of a random range', () => {
  it('looks as far as a scan, shows what the oracle says, and its funnel equals a recount', () => {
    const random = new Seeded(SEED);
    const stops = new Map<string, number>();
    for (let i = 0; i < 220; i += 1) {
      const partition = randomPartition(random);
      const filter_text = randomFilter(random);
      const { from, ...range } = randomRange(random, partition);
      const maxRecords = random.pick([0, 1, 5, 100]);
      const runs = randomRuns(random);
      const asked = { filter_text, ...range.range, ...range.preview, max_records: maxRecords };
      const seen = tryPreview(asked, runs);
      const wanted = scan(
        runs.runners!,
        { ...range.scan, ...range.range, filters: [{ id: 'preview', filter_text }], reply: 'count' },
        { encoding: 'json' },
      );
      if ('problem' in wanted) {
        expect(seen).toMatchObject({ problem: { code: wanted.problem.code, segment: wanted.problem.segment } });
        stops.set('problem', (stops.get('problem') ?? 0) + 1);
        continue;
      }
      if ('problem' in seen) throw new Error(JSON.stringify(seen.problem));
      const reply = seen.answer;
      expectSchema(PreviewReplySchema, reply);
      const page = wanted.pages[0]!;
      for (const name of [
        ...(['examined', 'matched', 'rejected', 'unevaluated_count', 'dropped', 'examined_bytes'] as const),
        ...(['stop', 'budget', 'fault', 'next_scan_offset'] as const),
      ]) {
        expect(reply[name], `${name} of ${filter_text}`).toEqual(page[name]);
      }
      stops.set(reply.stop, (stops.get(reply.stop) ?? 0) + 1);
      expectFound(reply, filter_text, partition, from, maxRecords);
    }
    for (const stop of ['end_of_visible', 'budget', 'fault', 'corrupt', 'problem']) {
      expect(stops.get(stop) ?? 0, stop).toBeGreaterThan(10);
    }
  });

  function expectFound(
    reply: PreviewReply,
    filter: string,
    partition: Partition,
    from: number,
    maxRecords: number,
  ): void {
    const evaluator = oracleOf(filter);
    const visible = walk(partition, from).visible.filter(({ offset }) => offset >= from);
    const judged = judge(evaluator, visible).slice(0, reply.examined + (reply.stop === 'fault' ? 1 : 0));
    const examined = judged.slice(0, reply.examined).map(({ record }) => ({
      offset: record.offset,
      record: storedRecord(record.headers, record.payload),
    }));
    expect(reply.funnel, filter).toEqual(recountFunnel(evaluator, examined, LIMITS));
    const order = [['matched'], ['unevaluated'], ['dropped', 'stop'], ['rejected']];
    const ordered = order.flatMap((classes) => judged.filter(({ becomes }) => classes.includes(becomes)));
    expect(
      reply.records.map(({ offset, verdict, fault, payload_text: text, timestamp }) => ({
        offset,
        verdict,
        fault: fault ?? 'none',
        text,
        timestamp,
      })),
    ).toEqual(
      ordered.slice(0, maxRecords).map(({ record, becomes, reason }) => ({
        offset: record.offset,
        verdict: becomes === 'matched' ? 'selected' : becomes === 'rejected' ? 'rejected' : 'fault',
        fault: reason,
        text: record.payload.toString('utf8'),
        timestamp: record.timestamp,
      })),
    );
  }
});

describe('a diff of a random range', () => {
  it('parts the examined records as two scans do', () => {
    const random = new Seeded(SEED + 1);
    let compared = 0;
    for (let i = 0; i < 200; i += 1) {
      const partition = randomPartition(random);
      const texts = [randomFilter(random, ['pass', 'drop']), randomFilter(random, ['pass', 'drop'])] as const;
      const { from: _from, ...range } = randomRange(random, partition);
      const runs = randomRuns(random);
      const scans = texts.map((filter_text) =>
        scan(
          runs.runners!,
          { ...range.scan, ...range.range, filters: [{ id: 'f', filter_text }], reply: 'offsets' },
          { encoding: 'json' },
        ),
      );
      const entries = { a: { id: 'old', filter_text: texts[0] }, b: { filter_text: texts[1] } };
      const seen = tryDiff({ ...entries, ...range.range, ...range.preview }, runs);
      const [first, second] = scans as [(typeof scans)[number], (typeof scans)[number]];
      if ('problem' in first || 'problem' in second) {
        expect(seen).toMatchObject({ problem: { code: 'source_corrupt' } });
        continue;
      }
      if ('problem' in seen) throw new Error(JSON.stringify(seen.problem));
      const reply = seen.answer;
      expectSchema(DiffReplySchema, reply);
      const page = first.pages[0]!;
      for (const name of ['examined', 'examined_bytes', 'stop', 'budget', 'fault', 'next_scan_offset'] as const) {
        expect(reply[name]).toEqual(page[name]);
      }
      const [a, b] = [first, second].map(({ pages }) => pages[0]!.offsets!) as [number[], number[]];
      for (const [part, offsets] of [
        ['only_a', a.filter((offset) => !b.includes(offset))],
        ['only_b', b.filter((offset) => !a.includes(offset))],
        ['both', a.filter((offset) => b.includes(offset))],
      ] as const) {
        expect(reply[part]).toMatchObject({ count: offsets.length, examples: offsets.slice(0, 10) });
      }
      const { only_a: onlyA, only_b: onlyB, both, neither } = reply;
      const parts = [onlyA, onlyB, both, neither];
      expect(parts.reduce((sum, { count }) => sum + count, 0)).toBe(reply.examined);
      expect(parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(reply.examined_bytes);
      if (onlyA.count > 0 && onlyB.count > 0) compared += 1;
    }
    expect(compared).toBeGreaterThan(10);
  });
});

/** Lines of ndjson as one inline segment. */
function lines(...records: readonly string[]): object[] {
  return [{ format: 'ndjson', bytes: Buffer.from(records.map((record) => `${record}\n`).join('')) }];
}

function filterOf(expr: object, more: object = {}): { filter_text: string } {
  return { filter_text: JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json', ...more }) };
}

describe('fault policies', () => {
  const segments = lines('{"a":1}', '{"a":', '{"b":1}', '{"a":2}');

  it('stop: the preview ends before the record, which is shown among the faults and counted nowhere', () => {
    const reply = preview({ ...filterOf({ present: 'a' }), segments });
    expect(reply).toMatchObject({ examined: 1, matched: 1, stop: 'fault', next_scan_offset: 1 });
    expect(reply.fault).toEqual({ offset: 1, reason: 'malformed' });
    expect(reply.records.map(({ offset, verdict, fault }) => [offset, verdict, fault])).toEqual([
      [0, 'selected', undefined],
      [1, 'fault', 'malformed'],
    ]);
    expect(reply.funnel).toMatchObject({ unjudged: [], root: { match: 1, unjudged: 0 } });
  });

  it.each([
    ['pass', { unevaluated_count: 1, dropped: 0 }],
    ['drop', { unevaluated_count: 0, dropped: 1 }],
  ])('%s: goes on, and shows the record after the selected and before the rejected', (fault_policy, counts) => {
    const reply = preview({ ...filterOf({ present: 'a' }, { fault_policy }), segments });
    expect(reply).toMatchObject({ examined: 4, matched: 2, rejected: 1, stop: 'end_of_visible', ...counts });
    expect(reply.records.map(({ offset }) => offset)).toEqual([0, 3, 1, 2]);
    expect(reply.funnel.unjudged).toEqual([{ reason: 'malformed', records: 1, examples: [1] }]);
  });

  it('a diff ends where either entry stops, and says which', () => {
    const stop = filterOf({ present: 'a' });
    const drop = filterOf({ present: 'a' }, { fault_policy: 'drop' });
    expect(diff({ a: stop, b: drop, segments })).toMatchObject({ examined: 1, stop: 'fault', stopped_by: 'a' });
    expect(diff({ a: drop, b: stop, segments })).toMatchObject({ examined: 1, stop: 'fault', stopped_by: 'b' });
    expect(diff({ a: stop, b: stop, segments })).toMatchObject({ stopped_by: 'both', next_scan_offset: 1 });
    const whole = diff({ a: drop, b: filterOf({ present: 'a' }, { fault_policy: 'pass' }), segments });
    expect(whole).toMatchObject({ examined: 4, stop: 'end_of_visible', both: { count: 2 }, only_b: { examples: [1] } });
    expect(whole.stopped_by).toBeUndefined();
  });
});

describe('a record of the reply', () => {
  it('has at most 4,096 bytes of its payload, never half a character, and what is not UTF-8 shows', () => {
    const long = Buffer.concat([Buffer.from(`"${'x'.repeat(PREVIEW_TEXT_BYTES - 2)}`), Buffer.from('éé"')]);
    const record = (payload: Uint8Array, offset: number) => ({
      offset,
      payload,
      id: 1n,
      timestamp: 2n ** 60n + 1n,
      originTimestamp: 0n,
    });
    const exact = Buffer.from(`"${'y'.repeat(PREVIEW_TEXT_BYTES - 2)}"`);
    const bytes = encodeIggySegment([record(long, 0), record(exact, 1), record(Uint8Array.of(0x22, 0xff, 0xc3), 2)]);
    const more = { fault_policy: 'pass' };
    const reply = preview({ ...filterOf({ present: 'a' }, more), segments: [{ format: 'iggy', bytes }] });
    expect(reply.records.map(({ offset, payload_truncated: cut }) => [offset, cut])).toEqual([
      [2, false],
      [0, true],
      [1, false],
    ]);
    expect(reply.records[0]!.payload_text).toBe('"\ufffd\ufffd');
    expect(reply.records[1]!.payload_text).toBe(`"${'x'.repeat(PREVIEW_TEXT_BYTES - 2)}`);
    expect(reply.records[2]!.payload_text).toBe(exact.toString());
    expect(reply.records[0]!.timestamp).toBe(2n ** 60n + 1n);
  });

  it('explains itself when asked, with the truth of every node', () => {
    const asked = { ...filterOf({ all: [{ present: 'a' }, { present: 'b' }] }), segments: lines('{"b":1}') };
    expect(preview(asked).records[0]!.explanation).toBeUndefined();
    expect(preview({ ...asked, explain: true }).records[0]!.explanation).toEqual({
      verdict: 'rejected',
      root: {
        label: 'all',
        truth: 'no_match',
        children: [
          { label: 'a is present', truth: 'no_match' },
          { label: 'b is present', truth: 'match' },
        ],
      },
    });
  });
});

describe('slices', () => {
  const segments = lines(...Array.from({ length: 50 }, (_, i) => `{"a":${i}}`));
  const bounds = { ...WIDE_BOUNDS, recordsMax: 10 };

  it('end at their bounds, and what was found goes along', () => {
    const ended = tryPreview({ ...filterOf({ present: 'a' }), segments }, { bounds });
    expect(ended).toMatchObject({ slices: 6, answer: { examined: 50, matched: 50 } });
  });

  it('end at their time too, looked at before every record', () => {
    const runners = [newRunner({ clock: new SteppingClock(1) })];
    const ended = tryPreview(
      { ...filterOf({ present: 'a' }), segments },
      { runners, bounds: { ...WIDE_BOUNDS, timeMaxMs: 4 } },
    );
    expect(ended).toMatchObject({ answer: { examined: 50, stop: 'end_of_visible' } });
    expect('slices' in ended && ended.slices).toBeGreaterThan(10);
  });

  it('decode a payload once, however often it is looked at', () => {
    let decoded = 0;
    const decode = decodingOnce((payload, limits) => {
      decoded += 1;
      return decodeJson(payload, limits);
    });
    const [first, second] = [Buffer.from('{"a":1}'), Buffer.from('{"a":1}')];
    for (const payload of [first, first, second, second, first]) expect(decode(payload, LIMITS).ok).toBe(true);
    expect(decoded).toBe(3);
  });

  it('a cancelled preview answers with what it found', () => {
    const reply = preview(
      { ...filterOf({ present: 'a' }), segments },
      { bounds, cancelBefore: (slice) => slice === 2 },
    );
    expect(reply).toMatchObject({
      examined: 20,
      stop: 'cancelled',
      next_scan_offset: 20,
      funnel: { root: { match: 20 } },
    });
  });

  it('past its deadline it answers with what it found', () => {
    const clock = new SteppingClock(300);
    const runners = [newRunner({ clock, recordsBetweenLooks: 1 })];
    const reply = preview({ ...filterOf({ present: 'a' }), segments }, { runners });
    expect(reply.stop).toBe('deadline');
    expect(reply.examined).toBeLessThan(50);
    expect(reply.funnel.root.match).toBe(reply.examined);
  });
});

describe('planning', () => {
  const plan = (more: object): unknown =>
    planPreview(
      checked(PreviewRequestSchema, { ...filterOf({ present: 'a' }), segments: [], ...more }) as PreviewRequest,
      INPUT,
    );

  it('takes the defaults of the contract, and lowers to the configured caps', () => {
    expect(plan({})).toMatchObject({
      maxRecords: 20,
      explain: false,
      scan: { spec: { budgets: { max_examined: 1_000 }, filters: [{ start: { at: 'offset', offset: 0 } }] } },
    });
    const caps = { ...CAPS, max_examined: 10, max_examined_bytes: 20, deadline_ms: 30 };
    const asked = checked(PreviewRequestSchema, { ...filterOf({ present: 'a' }), segments: [] }) as PreviewRequest;
    const { budgets } = planPreview(asked, { ...INPUT, caps }).scan.spec;
    expect(budgets).toMatchObject({ max_examined: 10, max_examined_bytes: 20, deadline_ms: 30 });
  });

  it.each<[string, object, object]>([
    ['more records to examine', { max_examined: PREVIEW_EXAMINED_MAX + 1 }, { field: '/max_examined', limit: 10_000 }],
    ['none to examine', { max_examined: 0 }, { field: '/max_examined', limit: 1 }],
    ['more records to return', { max_records: 101 }, { field: '/max_records', limit: 100, given: 101 }],
    ['a start of the entry', { start: 'first' }, { field: '/start' }],
    ['a saved filter', { revision: 3 }, { field: '/revision', code: 'unsupported' }],
    ['a schema without a source', { schemas: [{ id: 1 }] }, { field: '/schemas/0' }],
    [
      'a schema of bytes that are none',
      { schemas: [{ id: 1, source: { kind: 'protobuf', descriptor_set: '§', message_type: 'a.B' } }] },
      { field: '/schemas/0/source/descriptor_set' },
    ],
    ['a second filter', { filter: '{}' }, { field: '' }],
    ['an unknown member', { from: 1 }, { field: '/from' }],
    ['an offset beyond 2^53', { from_offset: '9007199254740992' }, { field: '/from_offset' }],
    [
      'a source name that is too long',
      { source: { stream: 'é'.repeat(200), topic: 't' } },
      { field: '/source/stream' },
    ],
  ])('refuses %s', (_name, more, problem) => {
    expect(problemFrom(() => plan(more))).toMatchObject({ code: 'invalid_request', ...problem });
  });

  it('points at the entry of a diff that is at fault', () => {
    const good = filterOf({ present: 'a' });
    const ended = tryDiff({ a: good, b: filterOf({ presence: 'a' }), segments: lines('{}') });
    expect(ended).toMatchObject({ problem: { code: 'invalid_request', field: '/b/filter_text' } });
    const schemaless = filterOf({ present: 'a' }, { codec: 'avro', schema_refs: [7] });
    expect(tryDiff({ a: good, b: schemaless, segments: lines('{}') })).toMatchObject({
      problem: { code: 'invalid_request', field: '/b/filter_text', filter_field: '/schema_refs/0' },
    });
    const digest = { ...good, expect_digest: '0'.repeat(64) };
    expect(tryDiff({ a: digest, b: good, segments: lines('{}') })).toMatchObject({
      problem: { code: 'conflict', field: '/a/expect_digest' },
    });
  });
});
