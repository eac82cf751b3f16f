/**
 * The funnel: its numbers equal a recount that is made another way, its counts keep their laws, and a rejected record is
 * put down to the node where a person would look first. `WINNOW_SEED` chooses another run.
 */
import { describe, expect, it } from 'vitest';
import { REJECTED, verdictOf } from '../../src/core/verdict.js';
import { EXAMPLE_OFFSETS_MAX } from '../../src/core/limits.js';
import { Funnel, type FunnelNode } from '../../src/filter/funnel.js';
import { nodes, recountFunnel } from '../support/funnel-model.js';
import { givenRecord, oracleOf, storedRecord } from '../support/oracle.js';
import { randomFilter } from '../support/random-filter.js';
import { RANDOM_RECORD_LIMITS, randomRecord } from '../support/random-record.js';
import { Seeded } from '../support/seeded.js';

const SEED = Number(process.env['WINNOW_SEED'] ?? 40_404);
const FILTERS = 120;
const RECORDS = 40;
const LIMITS = { maxPayloadBytes: 1024 * 1024, maxDepth: 64 };

/** The funnel's tree in the shape of the reply and of the recount. */
function spelled({ label, counts, children }: FunnelNode): object {
  const { noMatch, notReached, ...rest } = counts;
  return {
    label,
    ...rest,
    no_match: noMatch,
    not_reached: notReached,
    ...(children === undefined ? {} : { children: children.map(spelled) }),
  };
}

describe('on random filters and records', () => {
  const random = new Seeded(SEED);
  const met = { rejected: 0, mismatch: 0, notReached: 0, unjudged: 0, unknown: 0, inner: 0 };

  it('equals a recount in which every leaf is asked on its own', () => {
    for (let i = 0; i < FILTERS; i += 1) {
      const text = randomFilter(random);
      const evaluator = oracleOf(text);
      let funnel = new Funnel(evaluator, null);
      const records = Array.from({ length: RECORDS }, (_, at) => {
        const { payload, headerBlock } = randomRecord(random);
        return { offset: 3 * at, record: storedRecord(headerBlock, payload) };
      });
      let rejected = 0;
      for (const { offset, record } of records) {
        const outcome = funnel.judge(record, RANDOM_RECORD_LIMITS);
        expect(outcome).toBe(evaluator.evaluate(record, RANDOM_RECORD_LIMITS));
        funnel.count(offset);
        if (verdictOf(outcome) === REJECTED) rejected += 1;
        // Half way it goes on elsewhere, as between two slices.
        if (offset === 60) funnel = new Funnel(oracleOf(text), structuredClone(funnel.state));
      }
      const recount = recountFunnel(evaluator, records, RANDOM_RECORD_LIMITS);
      expect({ unjudged: funnel.state.unjudged, root: spelled(funnel.tree()) }, text).toEqual(recount);

      const counts = nodes(recount.root);
      for (const one of counts) {
        expect(one.match + one.no_match + one.unknown + one.unjudged + one.not_reached).toBe(RECORDS);
        expect(one.mismatch).toBeLessThanOrEqual(one.unknown);
        expect(one.examples).toHaveLength(Math.min(one.rejected, EXAMPLE_OFFSETS_MAX));
        met.rejected += one.rejected;
        met.mismatch += one.mismatch;
        met.notReached += one.not_reached;
        met.unjudged += one.unjudged;
        met.unknown += one.unknown;
        if (one.children !== undefined) met.inner += one.rejected;
      }
      const foreign = recount.unjudged
        .filter(({ reason }) => reason === 'foreign_codec' && evaluator.filter.foreignPolicy === 'reject')
        .reduce((sum, one) => sum + one.records, 0);
      expect(counts.reduce((sum, one) => sum + one.rejected, 0) + foreign).toBe(rejected);
    }
  });

  it('met every kind of count often', () => {
    for (const [name, count] of Object.entries(met)) expect(count, name).toBeGreaterThan(200);
  });
});

describe('the node that a rejected record is put down to', () => {
  const is = (field: string, value: number): object => ({
    pred: { field, op: 'eq', value: { kind: 'int', value } },
  });
  const header = { header: { key: 'h', op: 'eq', value: { kind: 'int', value: 1 } } };

  /** Labels of the nodes that rejected the one record. */
  function rejecters(expr: object, payload: string): string[] {
    const text = JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json' });
    const funnel = new Funnel(oracleOf(text), null);
    funnel.judge(givenRecord([], new TextEncoder().encode(payload)), LIMITS);
    funnel.count(7);
    const flat = (node: FunnelNode): FunnelNode[] => [node, ...(node.children ?? []).flatMap(flat)];
    return flat(funnel.tree())
      .filter(({ counts }) => counts.rejected > 0)
      .map(({ label, counts }) => `${label} @${counts.examples.join()}`);
  }

  it.each<[string, object, string, string]>([
    ['the failing leaf of all', { all: [is('a', 1), is('b', 1)] }, '{"a":1,"b":2}', 'b eq 1 @7'],
    [
      'the first of two in evaluation order, an unknown one too',
      { all: [is('x', 1), is('b', 1)] },
      '{"b":2}',
      'x eq 1 @7',
    ],
    [
      'a header before the payload, wherever it is written',
      { all: [is('a', 2), header] },
      '{"a":1}',
      'header h eq 1 @7',
    ],
    ['any itself where all its arms failed', { any: [is('a', 2), is('a', 3)] }, '{"a":1}', 'any @7'],
    ['the only arm of an any', { any: [is('a', 2)] }, '{"a":1}', 'a eq 2 @7'],
    ['the matching leaf below not', { not: is('a', 1) }, '{"a":1}', 'a eq 1 @7'],
    ['the matching arm of an any below not', { not: { any: [is('a', 2), is('a', 1)] } }, '{"a":1}', 'a eq 1 @7'],
    [
      'an all below not, which took all its children',
      { not: { all: [is('a', 1), is('b', 1)] } },
      '{"a":1,"b":1}',
      'all @7',
    ],
    [
      'the leaf at the bottom',
      { all: [is('a', 1), { not: { not: { all: [is('b', 1)] } } }] },
      '{"a":1,"b":2}',
      'b eq 1 @7',
    ],
  ])('is %s', (_name, expr, payload, expected) => {
    expect(rejecters(expr, payload)).toEqual([expected]);
  });

  it('is none where the record matched, or could not be judged', () => {
    expect(rejecters(is('a', 1), '{"a":1}')).toEqual([]);
    expect(rejecters(is('a', 1), '{"a":')).toEqual([]);
  });
});
