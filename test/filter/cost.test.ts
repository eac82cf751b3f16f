/** Cost classes and scores: what each class means, and that more work never scores less. */
import { describe, expect, it } from 'vitest';
import { filterCost, type FilterCost } from '../../src/filter/cost.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { randomFilter } from '../support/random-filter.js';
import { cachedRegexEngine } from '../support/regex-engine.js';
import { Seeded } from '../support/seeded.js';

function costOf(expr: unknown): FilterCost {
  const text = JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json' });
  return compileLaser(text, { strict: true, regex: cachedRegexEngine }).summary.cost;
}

const equals = (value: unknown, kind = 'string', field = 'a'): object => ({
  pred: { field, op: 'eq', value: { kind, value } },
});
const header = { header: { key: 'k', op: 'eq', value: { kind: 'string', value: 'x' } } };
const text = (kind: string, more: object = {}): object => ({ text: { field: 'a', kind, pattern: 'x', ...more } });

describe('the cost class', () => {
  it.each([
    ['headers', true, header],
    ['headers', false, { not: header }],
    ['headers', false, { header_text: { field: 'k', kind: 'regex', pattern: 'x' } }],
    ['indexed', true, equals('x')],
    ['indexed', true, { all: [{ present: 'b' }, equals('x')] }],
    ['indexed', true, { any: [equals('x'), text('suffix')] }],
    ['decode', false, { any: [equals('x'), { present: 'b' }] }],
    ['decode', false, { not: equals('x') }],
    ['decode', false, equals(1, 'long')],
    ['decode', false, equals('')],
    ['decode', false, text('glob')],
    ['heavy', false, text('regex')],
    ['heavy', false, text('contains', { case_insensitive: true })],
    ['heavy', true, { all: [text('regex'), equals('x')] }],
  ])('%s, indexable %s: %j', (costClass, indexable, expr) => {
    expect(costOf(expr)).toMatchObject({ class: costClass, indexable });
  });
});

describe('the score', () => {
  it('is a whole number of at least one', () => {
    const seeded = new Seeded(2);
    for (let round = 0; round < 300; round += 1) {
      const compiled = compileLaser(randomFilter(seeded), { strict: true, regex: cachedRegexEngine });
      expect(Number.isInteger(compiled.summary.cost.score)).toBe(true);
      expect(compiled.summary.cost.score).toBeGreaterThanOrEqual(1);
    }
  });

  it('grows with every leaf that is added, and puts any payload filter above one header', () => {
    const seeded = new Seeded(6);
    for (let round = 0; round < 300; round += 1) {
      const { root } = compileLaser(randomFilter(seeded), { strict: true, regex: cachedRegexEngine }).lowered;
      const more = compileLaser(randomFilter(seeded), { strict: true, regex: cachedRegexEngine }).lowered.root;
      expect(filterCost({ node: 'any', children: [root, more] }).score).toBeGreaterThan(filterCost(root).score);
    }
    expect(costOf({ present: 'a' }).score).toBeGreaterThan(costOf(header).score);
  });
});
