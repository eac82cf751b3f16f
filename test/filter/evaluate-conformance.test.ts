/** Every evaluation and explanation case of the corpora in the oracle. */
import { describe, expect, test } from 'vitest';
import { REASON_NAMES, reasonOf, VERDICT_NAMES, verdictOf } from '../../src/core/verdict.js';
import type { Outcome } from '../../src/core/verdict.js';
import { recordCases } from '../support/cases.js';
import { givenRecord, oracleOf, storedRecord } from '../support/oracle.js';

/** As the corpus spells it: no reason is null. */
function shown(outcome: Outcome): { verdict: string; reason: string | null } {
  const reason = reasonOf(outcome);
  return { verdict: VERDICT_NAMES[verdictOf(outcome)], reason: reason === 0 ? null : REASON_NAMES[reason] };
}

describe.each([
  ['laser-eval-json', 489],
  ['laser-eval-headers', 102],
  ['laser-eval-codecs', 234],
] as const)('%s', (file, count) => {
  const cases = recordCases(file);

  test(`runs ${count} cases`, () => {
    expect(cases).toHaveLength(count);
  });

  test.each(cases)('$id: $why', ({ filterText, schemas, headers, headerBlock, payload, limits, verdict, reason }) => {
    const oracle = oracleOf(filterText, schemas);
    expect(shown(oracle.evaluate(givenRecord(headers, payload), limits))).toEqual({ verdict, reason });
    expect(shown(oracle.evaluate(storedRecord(headerBlock, payload), limits))).toEqual({ verdict, reason });
  });
});
