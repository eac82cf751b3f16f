/** Which texts a payload has to hold for a filter to match it, and which filters need none. */
import { describe, expect, it } from 'vitest';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import type { LoweredFilter } from '../../src/filter/ir.js';
import { needleGateOf } from '../../src/filter/needles.js';
import { cachedRegexEngine } from '../support/regex-engine.js';

const text = (value: string) => ({ kind: 'string', value });
const pred = (op: string, value: unknown, field = 'a') => ({ pred: { field, op, value } });
const eq = (value: string) => pred('eq', text(value));
const list = (...value: unknown[]) => ({ kind: 'list', value });
const match = (kind: string, pattern: string, more = {}) => ({ text: { field: 'a', kind, pattern, ...more } });

function lowered(expr: unknown, more: Record<string, unknown> = {}): LoweredFilter {
  const document = { v: 1, evaluator_version: 1, expr, codec: 'json', ...more };
  return compileLaser(JSON.stringify(document), { strict: false, regex: cachedRegexEngine }).lowered;
}

/** The legs of each filter, needles as text; null where there is no gate. */
function legsOf(...filters: readonly LoweredFilter[]): string[][][] | null {
  const gate = needleGateOf(filters);
  const written = (needle: Uint8Array) => Buffer.from(needle).toString();
  return gate && gate.choices.map((legs) => legs.map((needles) => needles.map(written)));
}

describe('a leg', () => {
  it.each([
    [eq('safe'), ['"safe"']],
    [pred('in', list(text('a'), text('bc'))), ['"a"', '"bc"']],
    [pred('prefix', text('sa')), ['"sa']],
    [pred('contains', text('af')), ['af']],
    [match('equals', 'safe'), ['"safe"']],
    [match('prefix', 'sa'), ['"sa']],
    [match('suffix', 'fe'), ['fe"']],
    [match('contains', 'af'), ['af']],
    [eq('été 🛰'), ['"été 🛰"']],
  ])('%j has the texts that values hold', (expr, needles) => expect(legsOf(lowered(expr))).toEqual([[needles]]));

  it.each([
    ['application/json', '"application'],
    ['a/application', 'application"'],
    ['say "hello"', 'hello'],
    ['C:\\temp', 'temp"'],
    ['one\ntwo2', 'two2"'],
    ['/x', 'x"'],
  ])('on %j leaves out what JSON can write with a short escape', (value, needle) => {
    expect(legsOf(lowered(eq(value)))).toEqual([[[needle]]]);
  });

  it.each(['', '"', '/', '\n\\', '""'])('is none on %j, which says nothing', (value) => {
    expect(legsOf(lowered(eq(value)))).toBeNull();
  });

  it.each([
    pred('eq', { kind: 'int', value: 5 }),
    pred('eq', { kind: 'boolean', value: true }),
    pred('eq', { kind: 'null' }),
    pred('in', list(text('x'), { kind: 'int', value: 5 })),
    pred('in', list(text('x'), text(''))),
    pred('ne', text('x')),
    pred('lt', text('x')),
    { present: 'a' },
    { absent: 'a' },
    match('glob', 'x*'),
    match('regex', 'x'),
    match('equals', 'x', { case_insensitive: true }),
    { header: { key: 'h', op: 'eq', value: text('x') } },
    { not: eq('x') },
    { any: [eq('x'), eq('y')] },
    { all: [{ not: eq('x') }, { any: [eq('y'), eq('z')] }] },
  ])('is none in %j', (expr) => expect(legsOf(lowered({ all: [expr, { present: 'p' }] }))).toBeNull());
});

describe('the gate', () => {
  it('offers every conjunct of a filter, nested ones too', () => {
    const filter = lowered({ all: [eq('x'), pred('ne', text('y')), { all: [eq('z'), match('suffix', 'w')] }] });
    expect(legsOf(filter)).toEqual([[['"x"'], ['"z"'], ['w"']]]);
  });

  it('is none where a filter lets mismatches pass', () => {
    expect(legsOf(lowered(eq('x'), { mismatch_policy: 'pass' }))).toBeNull();
  });

  it('asks every filter that reads the payload, and no other', () => {
    const header = lowered({ header: { key: 'h', op: 'eq', value: text('x') } });
    expect(legsOf(lowered(eq('x')), header)).toEqual([[['"x"']]]);
    expect(legsOf(lowered(eq('x')), lowered({ present: 'a' }))).toBeNull();
    expect(legsOf(header)).toBeNull();
  });
});
