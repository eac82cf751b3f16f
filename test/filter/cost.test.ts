/** Cost classes and scores: what each class means, and in which order the score puts filters. */
import { describe, expect, it } from 'vitest';
import { filterCost, type FilterCost } from '../../src/filter/cost.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { readsPayload, type Predicate } from '../../src/filter/ir.js';
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
    ['indexed', true, equals(1, 'long')],
    ['indexed', true, equals(true, 'boolean')],
    ['indexed', true, { all: [{ present: 'b' }, equals('x')] }],
    ['indexed', true, { all: [header, { present: 'b' }] }],
    ['decode', false, { any: [equals('x'), text('suffix')] }],
    ['decode', false, { any: [equals('x'), { present: 'b' }] }],
    ['decode', false, { not: equals('x') }],
    ['decode', false, equals(1, 'double')],
    ['decode', false, { pred: { field: 'a', op: 'eq', value: { kind: 'null' } } }],
    ['decode', false, { all: [{ all: [{ present: 'b' }, equals('x')] }, { present: 'c' }] }],
    ['decode', false, text('glob')],
    ['heavy', false, text('regex')],
    ['heavy', false, text('contains', { case_insensitive: true })],
    ['heavy', true, { all: [equals('x'), text('regex')] }],
    ['heavy', false, { all: [text('regex'), equals('x')] }],
    ['heavy', true, { all: [text('regex'), header] }],
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

  it('grows with what is added behind, and puts any payload filter above one header', () => {
    const seeded = new Seeded(6);
    let grown = 0;
    for (let round = 0; round < 300; round += 1) {
      const [first, more] = [seeded, seeded].map(
        (source) => compileLaser(randomFilter(source), { strict: true, regex: cachedRegexEngine }).lowered.root,
      ) as [Predicate, Predicate];
      // A header test added to payload tests would run in front of them, and spare them.
      if (readsPayload(first) && !readsPayload(more)) continue;
      grown += 1;
      for (const node of ['any', 'all'] as const) {
        expect(filterCost({ node, children: [first, more] }).score).toBeGreaterThan(filterCost(first).score);
      }
    }
    expect(grown).toBeGreaterThan(100);
    expect(costOf({ present: 'a' }).score).toBeGreaterThan(costOf(header).score);
  });

  it.each([
    ['a header in front spares the payload', { all: [header, equals('x')] }, equals('x')],
    ['wherever it is written', { all: [equals('x'), header] }, equals('x')],
    ['a cheap test in front of a regex spares it', { all: [equals('x'), text('regex')] }, text('regex')],
    [
      'a path is looked for once',
      { all: [equals('x'), equals('y')] },
      { all: [equals('x'), equals('y', 'string', 'b')] },
    ],
    ['a path of one step is found sooner', equals('x'), equals('x', 'string', 'a.b.c')],
    ['an anchored regex does not search', text('regex', { pattern: '^x' }), text('regex')],
    ['a glob with a beginning does not search', text('glob', { pattern: 'x*' }), text('glob', { pattern: '*x' })],
    ['a search in a header is short', { header_text: { field: 'k', kind: 'regex', pattern: 'x' } }, text('regex')],
    ['lowering costs', text('contains'), text('contains', { case_insensitive: true })],
    ['presence is cheaper than comparing', { present: 'a' }, equals(1, 'double')],
  ])('is lower where %s', (_, cheaper, dearer) => {
    expect(costOf(cheaper).score).toBeLessThan(costOf(dearer).score);
  });

  it('has the unit that it states: about 1,000 for one payload, of which a header filter costs a fraction', () => {
    expect(costOf(equals('x')).score).toBeGreaterThanOrEqual(1000);
    expect(costOf(equals('x')).score).toBeLessThan(1200);
    expect(costOf(header).score).toBeLessThan(200);
  });
});
