/** Two leaves that are said never to match together never do: a proof, looked at with the evaluator's own judges. */
import { describe, expect, it } from 'vitest';
import { MATCH } from '../../src/core/truth.js';
import type { Value } from '../../src/codec/value.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { leafJudge, type Subject } from '../../src/filter/evaluate-leaf.js';
import { forEachLeaf, type Leaf } from '../../src/filter/ir.js';
import { exclusionOf, isAlwaysDecided, matchesMissing } from '../../src/filter/leaf-overlap.js';
import { FILTER_TEXTS, randomFilter } from '../support/random-filter.js';
import { cachedRegexEngine } from '../support/regex-engine.js';
import { Seeded } from '../support/seeded.js';

const DOUBLES = [-3, -0, 0, 0.5, 1, 2, 3, 5, 7, 1e3, 1.7e9, 2 ** 53, 2 ** 63, 1e300];
const INTEGERS = [-5n, 0n, 1n, 2n, 3n, 5n, 7n, 1000n, 1_700_000_000n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n];
const SUBJECTS: readonly Subject[] = [
  undefined,
  null,
  true,
  false,
  ...DOUBLES,
  ...INTEGERS,
  ...FILTER_TEXTS,
  [],
  ['a', 5n, 'x'],
  new Map<string, Value>(),
  Uint8Array.of(0xff),
];

function leavesOf(rounds: number, seeded: Seeded): Leaf[] {
  const leaves: Leaf[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { lowered } = compileLaser(randomFilter(seeded), { strict: true, regex: cachedRegexEngine });
    forEachLeaf(lowered.root, (leaf) => leaves.push(leaf));
  }
  return leaves;
}

/** All literals of the two as values too, with their neighbours, so that equalities meet something. */
function subjectsOf(leaves: readonly Leaf[]): Subject[] {
  const values: Subject[] = [...SUBJECTS];
  for (const leaf of leaves) {
    if (leaf.node === 'text') values.push(leaf.pattern);
    if (leaf.node !== 'compare' && leaf.node !== 'coerce') continue;
    for (const literal of leaf.literals) {
      if (literal.kind === 'null') continue;
      values.push(literal.value);
      if (literal.kind === 'integer') values.push(literal.value + 1n, literal.value - 1n, Number(literal.value));
      if (literal.kind === 'string') values.push(`${literal.value}x`, `x${literal.value}`);
    }
  }
  return values;
}

describe('an exclusion', () => {
  it('is never claimed of two leaves that some value matches both', () => {
    const leaves = leavesOf(400, new Seeded(3));
    const seeded = new Seeded(4);
    let claimed = 0;
    let possible = 0;
    for (let round = 0; round < 6000; round += 1) {
      const a = leaves[seeded.below(leaves.length)]!;
      // Beside one another on one field, whatever field each was drawn for.
      const b = { ...leaves[seeded.below(leaves.length)]!, source: a.source };
      const judges = [a, b].map((leaf) => leafJudge(leaf, cachedRegexEngine));
      const both = subjectsOf([a, b]).find((subject) =>
        judges.every((judge) => {
          const judgement = judge(subject);
          return typeof judgement !== 'symbol' && judgement.truth === MATCH;
        }),
      );
      const exclusion = exclusionOf(a, b, cachedRegexEngine);
      expect(exclusionOf(b, a, cachedRegexEngine)).toBe(exclusion);
      if (exclusion === undefined) possible += 1;
      else {
        claimed += 1;
        expect({ a, b, exclusion, both }).toMatchObject({ both: undefined });
      }
    }
    expect(claimed).toBeGreaterThan(1000);
    expect(possible).toBeGreaterThan(500);
  });

  it('says of a leaf whether a missing field matches it and whether it is always decided', () => {
    for (const leaf of leavesOf(200, new Seeded(5))) {
      const judge = leafJudge(leaf, cachedRegexEngine);
      const missing = judge(undefined);
      expect(typeof missing !== 'symbol' && missing.truth === MATCH).toBe(matchesMissing(leaf));
      if (!isAlwaysDecided(leaf)) continue;
      for (const subject of SUBJECTS) {
        const judgement = judge(subject);
        expect(typeof judgement !== 'symbol' && judgement.truth).toSatisfy((truth) => truth === 0 || truth === 1);
      }
    }
  });
});
