/**
 * Scans behind the needle gate: pages, positions, counts and stops of a scan over the kernel, whose gate is on for most
 * of its records, are those of a scan over the walker, which has none (scan-protocol §3).
 */
import { describe, expect, it } from 'vitest';
import type { SliceRunner } from '../../src/scan/slice.js';
import { newKernel } from '../support/kernel.js';
import { newRunner, planOf, runPlan, WIDE_BOUNDS } from '../support/scan-harness.js';
import { filterText, requestOf, segmentOf } from '../support/scan-requests.js';
import { Seeded } from '../support/seeded.js';

const RECORDS = 1_500;
const kernel = newKernel();

const eq = (field: string, value: string) => ({ pred: { field, op: 'eq', value: { kind: 'string', value } } });

/** Records of which few hold the word that is sought, written in several ways, and some cannot be judged. */
function payloads(random: Seeded, faultShare: number): string[] {
  return Array.from({ length: RECORDS }, () => {
    if (random.chance(faultShare)) return random.pick(['{"a":"none"', '{"a":nope}', '', `${'['.repeat(70)}`]);
    if (random.chance(0.05)) {
      return random.pick([
        '{"a":"safe"}',
        '{"a":"\\u0073afe"}',
        '{ "b": 1, "a": "safe" }',
        '{"safe":1}',
        '{"a":["safe"]}',
      ]);
    }
    return `{"n":${random.below(9)},"a":"${'x'.repeat(random.below(90))}"}`;
  });
}

function answer(runner: SliceRunner, segment: Uint8Array, filters: readonly string[]): object {
  const bounds = { ...WIDE_BOUNDS, recordsMax: 400 };
  const entries = filters.map((filter, at) => ({ id: `f${at}`, filter }));
  const result = runPlan([runner], planOf(requestOf([segment], { filters: entries })), { bounds });
  if ('problem' in result) return result;
  return {
    pages: result.pages.map(({ request_id: _id, ...page }) => page),
    filters: result.filters,
    damage: result.damage,
    slices: result.slices,
  };
}

describe('a scan whose gate is on', () => {
  it.each(['stop', 'pass', 'drop'])('tells the same under fault policy %s as one without a gate', (fault_policy) => {
    const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 17));
    const segment = segmentOf(payloads(random, fault_policy === 'stop' ? 0.001 : 0.03));
    const safe = filterText({ expr: eq('a', 'safe'), fault_policy });
    const both = filterText({ expr: { all: [eq('a', 'safe'), { not: eq('b', 'x') }] }, fault_policy });
    const free = filterText({
      expr: { pred: { field: 'n', op: 'eq', value: { kind: 'int', value: 3 } } },
      fault_policy,
    });
    for (const filters of [[safe], [safe, both], [safe, free]]) {
      const gated = answer(newRunner({ kernel }), segment, filters);
      expect(gated).toEqual(answer(newRunner({ kernel: undefined }), segment, filters));
    }
  });
});
