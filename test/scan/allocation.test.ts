/**
 * A record that no filter delivers allocates nothing on its way through the pass: a slice over fifty thousand of them
 * leaves no more on the heap than its own few objects. One object each would be over 600 KiB.
 */
import { expect, test } from 'vitest';
import type { SliceTask } from '../../src/scan/task.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { encodeMsgpack } from '../../src/wire/msgpack.js';
import { newRunner, planOf } from '../support/scan-harness.js';

const RECORDS = 50_000;
const ROUNDS_MAX = 40;
const GROWTH_MAX = 64 * 1024;
/** What a slice leaves for each filter, whatever number of records it passes. */
const FILTER_GROWTH_MAX = 64;

/**
 * Heap growth of the quietest round, garbage included. Nothing is collected on purpose: a full collection drops what the
 * engine learnt, and learning it again allocates. A round in which the engine collected by itself does not count.
 */
function quietestGrowth(run: () => void): number {
  let least = Infinity;
  for (let round = 0; round < ROUNDS_MAX && least >= GROWTH_MAX; round += 1) {
    const before = process.memoryUsage().heapUsed;
    run();
    const growth = process.memoryUsage().heapUsed - before;
    if (growth >= 0) least = Math.min(least, growth);
  }
  return least;
}

function shared(bytes: Uint8Array): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(bytes.length);
  new Uint8Array(memory).set(bytes);
  return memory;
}

const headers = encodeHeaders([{ key: 'h', value: { kind: 'u32', value: 5 } }]);
const segment = encodeIggySegment(
  Array.from({ length: RECORDS }, (_, offset) => ({
    offset,
    headers,
    payload: Buffer.from(`{"n":${offset},"s":"some text ${offset % 7}","deep":{"list":[1,2.5,null]}}`),
  })),
);

const filterOf = (expr: object) => JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json' });
const numbered = (op: string, value: number) => filterOf({ pred: { field: 'n', op, value: { kind: 'long', value } } });

test.each([
  ['a payload comparison', { pred: { field: 'n', op: 'lt', value: { kind: 'int', value: 0 } } }],
  ['a header', { header: { key: 'h', op: 'eq', value: { kind: 'int', value: 4 } } }],
  ['a text', { text: { field: 's', kind: 'contains', pattern: 'nothing' } }],
  ['a field that is never there', { present: 'deep.map.key' }],
])('records rejected by %s', (_, expr) => expectQuiet([filterOf(expr)]));

test('records rejected by a thousand equalities, without being asked', () => {
  expectQuiet(Array.from({ length: 1000 }, (_, i) => numbered('eq', RECORDS + i)));
});

test('records rejected by sixteen filters that are all asked', () => {
  expectQuiet(Array.from({ length: 16 }, (_, i) => numbered('gt', RECORDS + i)));
});

/** A slice from the second record to the last but one, so that no page opens or closes in it. */
function expectQuiet(filters: readonly string[]): void {
  const { spec, inline } = planOf({
    v: 1,
    source: { stream: 's', topic: 't' },
    partition_id: 0,
    segments: [{ format: 'iggy', bytes: segment }],
    filters: filters.map((filter, i) => ({ id: `f${i}`, filter })),
  });
  const task: SliceTask = {
    kind: 'slice',
    scanKey: 'quiet',
    spec: shared(encodeMsgpack(spec)),
    control: new SharedArrayBuffer(16),
    inline: inline.map(shared),
    state: null,
    bounds: { recordsMax: 1, bytesMax: 2 * segment.length, timeMaxMs: 1e9 },
    deadlineAtMs: 1e9,
  };
  const runner = newRunner({ recordsBetweenLooks: 1 });
  const first = runner.run(task);
  if ('problem' in first) throw new Error(first.problem.detail);
  const bounds = { ...task.bounds, recordsMax: RECORDS - 2 };
  let examined = 0;
  const growth = quietestGrowth(() => {
    const state = { ...first.ok.state, table: first.ok.state.table.slice() };
    const reply = runner.run({ ...task, bounds, state });
    examined = 'ok' in reply ? reply.ok.counters.rejected : 0;
  });
  expect(examined).toBe((RECORDS - 2) * filters.length);
  expect(growth).toBeLessThan(GROWTH_MAX + filters.length * FILTER_GROWTH_MAX);
}
