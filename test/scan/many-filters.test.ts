/**
 * Several filters in one pass: each gets exactly the pages that it would get alone, whatever the others do. The planner
 * does not let several through yet, but everything below it is made for them.
 */
import { expect, test } from 'vitest';
import type { FilterEntrySpec, ScanSpec } from '../../src/scan/task.js';
import type { ScanPlan } from '../../src/scan/plan.js';
import type { Page } from '../../src/wire/page.js';
import { newRunner, planOf, runPlan, type ScanResult } from '../support/scan-harness.js';
import { PARTITION_ID, randomPartition } from '../support/scan-model.js';
import { filterText, requestOf, segmentOf } from '../support/scan-requests.js';
import { Seeded } from '../support/seeded.js';

const SCANS = 150;

function filterOf(random: Seeded): string {
  const value = { kind: 'int', value: random.below(4) };
  const expr = random.pick<object>([
    { pred: { field: 'n', op: 'gte', value } },
    { text: { field: 's', kind: 'prefix', pattern: 'a' } },
    { header: { key: 'h', op: 'eq', value } },
  ]);
  return filterText({
    expr,
    fault_policy: random.pick(['stop', 'pass', 'drop']),
    mismatch_policy: random.pick(['reject', 'pass']),
  });
}

function run(
  plan: ScanPlan,
  filters: readonly FilterEntrySpec[],
  recordsMax: number,
): ScanResult | { problem: object } {
  const spec: ScanSpec = { ...plan.spec, filters };
  const bounds = { recordsMax, bytesMax: 1 << 20, timeMaxMs: 1000 };
  return runPlan([newRunner()], { ...plan, spec }, { bounds });
}

/** What depends on the filter alone: the end of the data is known to the pass, so another filter may have shown it. */
function own({ frontier: _frontier, torn_bytes: _torn, request_id: _id, ...page }: Page): object {
  return page;
}

test('a filter gets the pages that it gets alone', () => {
  const random = new Seeded(7);
  let compared = 0;
  for (let scans = 0; scans < SCANS; scans += 1) {
    const partition = randomPartition(random);
    const plan = planOf(
      {
        v: 1,
        source: { stream: 's', topic: 't' },
        partition_id: PARTITION_ID,
        segments: partition.segments,
        filters: [{ id: 'f', filter: filterText() }],
        count: 1 + random.below(4),
        max_examined: 1 + random.below(30),
        pages: 1 + random.below(3),
      },
      // Whole pages: where slices end, and with it what leaves early, differs between the two.
      { framed: true, wantsWholePages: true },
    );
    const filters = Array.from({ length: 2 + random.below(3) }, (_, i): FilterEntrySpec => ({
      ...plan.spec.filters[0]!,
      id: `f${i}`,
      text: filterOf(random),
      start: random.pick([
        { at: 'first', pointer: '' },
        { at: 'last', pointer: '' },
        { at: 'offset', offset: random.below(30), pointer: '' },
      ] as const),
    }));
    const together = run(plan, filters, 1 + random.below(20));
    if ('problem' in together || together.damage !== undefined || partition.damage !== undefined) continue;
    filters.forEach((filter, i) => {
      const alone = run(plan, [filter], 4096);
      if ('problem' in alone) throw new Error(JSON.stringify(alone.problem));
      const pages = together.pages.filter(({ id }) => id === filter.id);
      expect(pages.map(own)).toEqual(alone.pages.map(own));
      expect(together.filters[i]!.totals).toEqual(alone.filters[0]!.totals);
      compared += pages.length;
    });
  }
  expect(compared).toBeGreaterThan(SCANS);
});

test('damage gives a page to every filter that examined a record, and none to the others', () => {
  const bytes = segmentOf(['{"n":1}', '{"n":1}']).subarray(0, -1);
  const plan = planOf(requestOf([bytes], { count: 1, pages: 9 }), { framed: true });
  const entry = plan.spec.filters[0]!;
  const filters: FilterEntrySpec[] = [
    { ...entry, id: 'reads' },
    { ...entry, id: 'waits', start: { at: 'offset', offset: 1, pointer: '' } },
  ];
  const both = run(plan, filters, 4096);
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
  const alone = run(plan, filters.slice(1), 4096);
  expect('problem' in alone && alone.problem).toMatchObject({ code: 'source_corrupt', offset_before: 0 });
});
