/** Warnings: for each reason what warns and at which pointer, and what looks alike and does not. */
import { describe, expect, it } from 'vitest';
import { compileLaser } from '../../../../src/filter/dialect/laser/compile.js';
import { WARNING_REASONS, type WarningReason } from '../../../../src/filter/warning-reasons.js';
import { ORBIT_GROUPS, SELECTIVITY_PERCENTS, selectivityFilter } from '../../../../bench/datasets/orbit-filters.js';
import { WEBHOOK_GROUPS } from '../../../../bench/datasets/webhook-groups.js';
import { cachedRegexEngine } from '../../../support/regex-engine.js';
import { randomFilter } from '../../../support/random-filter.js';
import { Seeded } from '../../../support/seeded.js';

const s = (value: string) => ({ kind: 'string', value });
const n = (value: number) => ({ kind: 'int', value });
const d = (value: number) => ({ kind: 'double', value });
const b = (value: boolean) => ({ kind: 'boolean', value });
const nil = { kind: 'null' };
const list = (...value: object[]) => ({ kind: 'list', value });
const pred = (field: string, op: string, value: object) => ({ pred: { field, op, value } });
const eq = (field: string, value: object) => pred(field, 'eq', value);
const header = (key: string, op: string, value: object) => ({ header: { key, op, value } });
const text = (field: string, kind: string, pattern: string, more: object = {}) => ({
  text: { field, kind, pattern, ...more },
});
const number = (field: string, op: string, value: object) => ({
  pred_as: { pred: { field, op, value }, coerce: { kind: 'number' } },
});
const instant = (field: string, op: string, value: object, format = 'rfc3339') => ({
  pred_as: { pred: { field, op, value }, coerce: { kind: 'timestamp', format } },
});
const all = (...children: object[]) => ({ all: children });
const any = (...children: object[]) => ({ any: children });
const not = (child: object) => ({ not: child });
const folded = { case_insensitive: true };
/** Something beside which nothing warns. */
const other = eq('other', s('x'));

interface Found {
  readonly pointer: string;
  readonly reason: WarningReason;
  readonly hint: string;
}

function warningsOf(expr: object, more: object = {}): readonly Found[] {
  const document = { v: 1, evaluator_version: 1, expr, codec: 'json', ...more };
  return compileLaser(JSON.stringify(document), { strict: false, regex: cachedRegexEngine, seeksMistakes: true })
    .warnings;
}

const found = (warnings: readonly Found[]): string[] => warnings.map(({ reason, pointer }) => `${reason} ${pointer}`);

/** By reason: expressions that warn, with the pointer below `/expr`. */
const WARNS: Partial<Record<WarningReason, readonly (readonly [pointer: string, expr: object])[]>> = {
  never_true: [
    ['/all/1', all(eq('a', s('x')), eq('a', s('y')))],
    ['/all/2', all(eq('a', s('x')), other, eq('a', s('y')))],
    ['/all/1', all(eq('a', s('x')), pred('a', 'ne', s('x')))],
    ['/all/1', all(pred('a', 'in', list(s('x'), s('y'))), pred('a', 'in', list(s('z'), s('w'))))],
    ['/all/1', all(pred('a', 'gt', n(5)), pred('a', 'lt', n(3)))],
    ['/all/1', all(pred('a', 'lt', n(3)), pred('a', 'gte', d(3)))],
    ['/all/1', all(pred('a', 'gt', s('b')), pred('a', 'lte', s('b')))],
    ['/all/1', all(eq('a', n(5)), pred('a', 'gt', n(5)))],
    ['/all/1', all(eq('a', b(true)), pred('a', 'ne', b(true)))],
    ['/all/1', all(pred('a', 'ne', b(true)), pred('a', 'ne', b(false)))],
    ['/all/1', all({ absent: 'a' }, eq('a', s('x')))],
    ['/all/1', all({ present: 'a' }, { absent: 'a' })],
    ['/all/1', all(eq('a', nil), eq('a', s('x')))],
    ['/all/1', all(eq('a', nil), pred('a', 'ne', nil))],
    ['/all/1', all(eq('a', b(true)), eq('a', s('true')))],
    ['/all/1', all({ absent: 'a' }, { present: 'a.b' })],
    ['/all/1', all(eq('a', s('x')), eq('a.b', s('x')))],
    ['/all/1', all(text('a', 'prefix', 'x'), text('a', 'prefix', 'y'))],
    ['/all/1', all(text('a', 'suffix', 'x'), text('a', 'suffix', 'y'))],
    ['/all/1', all(pred('a', 'prefix', s('ab')), text('a', 'prefix', 'b'))],
    ['/all/1', all(eq('a', s('abc')), text('a', 'glob', 'x*'))],
    ['/all/1', all(text('a', 'equals', 'abc'), text('a', 'regex', '^x+'))],
    ['/all/1', all(number('a', 'gte', s('10.5')), number('a', 'lt', s('10.50')))],
    ['/all/1', all(number('a', 'eq', s('1.0')), number('a', 'ne', s('1')))],
    ['/all/1', all(instant('a', 'gt', s('2031-01-02T00:00:00Z')), instant('a', 'lt', s('2031-01-01T00:00:00Z')))],
    ['/all/1', all(header('k', 'eq', n(1)), header('k', 'eq', n(2)))],
    ['/all/1/any/0', all(eq('a', s('x')), any(eq('a', s('y')), other))],
    ['/all/0/any/0', all(any(eq('a', s('y')), other), eq('a', s('x')))],
    ['/all/1', all(eq('a', s('x')), not(eq('a', s('x'))))],
  ],
  always_true: [
    ['/any/1', any({ present: 'a' }, { absent: 'a' })],
    ['/any/2', any({ absent: 'a' }, other, { present: 'a' })],
    ['/any/1', any(eq('a', nil), pred('a', 'ne', nil))],
    ['/any/1', any({ present: 'a' }, not({ present: 'a' }))],
    ['/any/1', any({ present: 'a' }, eq('a', nil))],
  ],
  number_against_text: [
    ['/pred/value', pred('a', 'gte', s('10'))],
    ['/pred/value', pred('a', 'lt', s('-1.5'))],
    ['/pred/value', pred('a', 'contains', s('404'))],
    ['/pred/value', pred('a', 'prefix', s('12'))],
    ['/header/value', header('k', 'gt', s('2'))],
    ['/header/value', header('agdx.ct', 'eq', s('json'))],
    ['/header/value/value/1', header('agdx.sid', 'in', list(n(1), s('2')))],
    ['/header_text/pattern', { header_text: { field: 'agdx.ct', kind: 'equals', pattern: '1' } }],
    ['/all/1', all(pred('a', 'gt', n(5)), text('a', 'contains', 'x'))],
    ['/all/1', all(eq('a', s('x')), eq('a', n(1)))],
  ],
  header_key_case: [
    ['/header/key', header('AGDX.ct', 'eq', n(1))],
    ['/header/key', header('agdx.SID', 'eq', n(1))],
    ['/all/1/header/key', all(header('event.type', 'eq', s('x')), header('Event.Type', 'ne', s('y')))],
    [
      '/all/1/header_text/field',
      all(header('unit', 'ne', s('x')), { header_text: { field: 'UNIT', kind: 'prefix', pattern: 'y' } }),
    ],
  ],
  not_over_missing: [
    ['', not(eq('a', s('x')))],
    ['', not(text('a', 'contains', 'x'))],
    ['', not(number('a', 'lt', n(3)))],
    ['', not(header('k', 'eq', s('x')))],
    ['', not(any(eq('a', s('x')), eq('b', s('x'))))],
    ['', not(all({ present: 'b' }, eq('a', s('x'))))],
    ['/all/1', all(eq('b', s('x')), not(eq('a', s('x'))))],
    ['/any/1', any({ absent: 'b' }, not(eq('a', s('x'))))],
  ],
  duplicate_child: [
    ['/any/1', any(eq('a', s('x')), eq('a', s('x')))],
    ['/all/2', all({ present: 'a' }, other, { present: 'a' })],
    ['/all/1', all(any(other, { present: 'b' }), any(other, { present: 'b' }))],
  ],
  redundant_group: [
    ['', all(other)],
    ['', any(other)],
    ['/all/1', all({ present: 'b' }, all(other, { present: 'c' }))],
    ['/any/0', any(any(other, { present: 'c' }), { present: 'b' })],
    ['', not(not({ present: 'a' }))],
  ],
  in_single_item: [['/pred/value', pred('a', 'in', list(s('x')))]],
  in_repeated_item: [
    ['/pred/value/value/2', pred('a', 'in', list(s('x'), s('y'), s('x')))],
    ['/pred/value/value/1', pred('a', 'in', list(n(5), d(5)))],
    ['/pred_as/pred/value/value/1', number('a', 'in', list(n(5), n(5)))],
  ],
  matches_any_text: [
    ['/text/pattern', text('a', 'contains', '')],
    ['/text/pattern', text('a', 'prefix', '', folded)],
    ['/text/pattern', text('a', 'glob', '**')],
  ],
  glob_without_wildcards: [
    ['/text/pattern', text('a', 'glob', 'abc')],
    ['/text/pattern', text('a', 'glob', 'a\\*c')],
  ],
  regex_literal: [],
  regex_leading_any: [],
  heavy: [
    ['', text('a', 'regex', '^x+')],
    ['', text('a', 'contains', 'x', folded)],
    ['/all/1', all(eq('a', s('x')), text('b', 'regex', 'x+'))],
  ],
};

/** Regexes and lowered texts are heavy besides, so these name everything. */
const WARNS_AMONG_OTHERS: readonly (readonly [expected: string, expr: object])[] = [
  ['regex_literal /expr/text/pattern', text('a', 'regex', 'abc')],
  ['regex_literal /expr/text/pattern', text('a', 'regex', '^a\\.c$')],
  ['regex_literal /expr/text/pattern', text('a', 'regex', '衛星')],
  ['regex_leading_any /expr/text/pattern', text('a', 'regex', '.*x+')],
  ['matches_any_text /expr/text/pattern', text('a', 'regex', '.*')],
  ['glob_never_its_own_text /expr/text/pattern', text('a', 'glob', 'ΟΔΟΣ*', folded)],
  ['glob_never_its_own_text /expr/text/pattern', text('a', 'glob', '*ΟΔΟΣ', folded)],
  ['heavy_first /expr/all/0', all(text('a', 'regex', 'x+'), other)],
  ['heavy_first /expr/all/1', all({ present: 'b' }, text('a', 'equals', 'x', folded), other)],
];

/** What looks alike and warns of nothing at all. */
const SILENT: readonly object[] = [
  all(eq('a', s('x')), eq('b', s('y'))),
  all(pred('a', 'gte', n(3)), pred('a', 'lte', n(3))),
  all(pred('a', 'gt', n(3)), pred('a', 'lt', n(4))),
  all(pred('a', 'gt', n(3)), pred('a', 'ne', n(5))),
  all(pred('a', 'contains', s('x')), pred('a', 'contains', s('y'))),
  all(pred('a', 'in', list(s('x'), s('y'))), pred('a', 'ne', s('x'))),
  all({ present: 'a' }, eq('a', s('x'))),
  all({ present: 'a' }, eq('a.b', s('x'))),
  all(pred('a', 'ne', nil), eq('a', s('x'))),
  all(text('a', 'prefix', 'ab'), text('a', 'prefix', 'abc')),
  all(text('a', 'prefix', 'ab'), text('a', 'suffix', 'yz')),
  all(eq('a', n(5)), number('a', 'gt', s('4.5'))),
  all(eq('a', d(5)), instant('a', 'gt', n(4), 'epoch_seconds')),
  all(instant('a', 'gt', n(5), 'epoch_seconds'), instant('a', 'lt', n(5), 'epoch_millis')),
  all(pred('a', 'ne', s('x')), pred('a', 'ne', s('y'))),
  any(eq('a', s('x')), eq('a', s('y'))),
  any(eq('a', n(1)), eq('a', s('1'))),
  any({ present: 'a' }, { absent: 'b' }),
  any(pred('a', 'lt', n(3)), pred('a', 'gte', n(3))),
  any(all(eq('k', s('x')), eq('a', n(1))), all(eq('k', s('y')), text('a', 'equals', '1'))),
  eq('a', s('10')),
  pred('a', 'gte', s('2031-01-01')),
  pred('a', 'prefix', s('v1')),
  pred('a', 'contains', n(404)),
  pred('a', 'in', list(s('1'), n(1))),
  pred('a', 'in', list(n(5), d(5.5))),
  all(header('event.type', 'eq', s('x')), header('event_type', 'eq', s('x')), other),
  all(header('agdx.ct', 'eq', n(1)), other),
  not({ present: 'a' }),
  not(eq('a', nil)),
  all({ present: 'a' }, not(eq('a', s('x')))),
  all(text('a', 'prefix', 'x'), not(eq('a', s('xy')))),
  any({ absent: 'a' }, not(eq('a', s('x')))),
  not(all({ present: 'a' }, eq('a', s('x')))),
  not(any({ absent: 'a' }, eq('a', s('x')))),
  all(any(other, { present: 'b' }), any(other, { present: 'c' })),
  text('a', 'glob', 'a*'),
  text('a', 'glob', '?'),
  text('a', 'equals', ''),
  text('a', 'contains', 'abc'),
];

/** Of heavy filters, so that nothing but `heavy` is found. */
const ONLY_HEAVY: readonly object[] = [
  text('a', 'regex', 'a.c'),
  text('a', 'regex', '^.*x'),
  text('a', 'regex', 'a\\d'),
  text('a', 'regex', '^$'),
  text('a', 'glob', 'abc*', folded),
  text('a', 'glob', 'οδοσ*', folded),
  all(other, text('a', 'regex', 'x+')),
  all(text('b', 'regex', 'y+'), text('a', 'regex', 'x+')),
];

describe('a warning', () => {
  it.each(Object.entries(WARNS).flatMap(([reason, cases]) => cases.map(([at, expr]) => ({ reason, at, expr }))))(
    '$reason points at $at: $expr',
    ({ reason, at, expr }) => {
      const readsPayload = /"(?:pred|present|absent|text)":/.test(JSON.stringify(expr));
      const warnings = warningsOf(expr, readsPayload ? {} : { codec: 'headers_only' });
      const wanted = `${reason} /expr${at}`;
      expect(found(warnings)).toContain(wanted);
      // Nothing else but what follows from it.
      const beside = found(warnings).filter((one) => one !== wanted);
      expect(beside.filter((one) => !one.startsWith('heavy ') && !one.startsWith('not_over_missing '))).toEqual([]);
    },
  );

  it.each(WARNS_AMONG_OTHERS)('%s among others: %j', (expected, expr) => {
    expect(found(warningsOf(expr))).toContain(expected);
  });

  it.each(SILENT.map((expr) => [expr]))('is not given for %j', (expr) => {
    expect(warningsOf(expr)).toEqual([]);
  });

  it.each(ONLY_HEAVY.map((expr) => [expr]))('is only that it is heavy for %j', (expr) => {
    expect(new Set(warningsOf(expr).map(({ reason }) => reason))).toEqual(new Set(['heavy']));
  });

  it('says where a filter reads only headers under a codec for payloads', () => {
    const expr = header('k', 'eq', s('x'));
    expect(found(warningsOf(expr))).toEqual(['headers_only_possible /codec']);
    expect(warningsOf(expr, { codec: 'headers_only' })).toEqual([]);
    expect(warningsOf(all(expr, other))).toEqual([]);
  });

  it('does not say heavy of a regex over a header alone, which reads no payload', () => {
    const expr = { header_text: { field: 'k', kind: 'regex', pattern: '^x+' } };
    expect(warningsOf(expr, { codec: 'headers_only' })).toEqual([]);
  });

  it('names the other part in its hint, and cuts what it quotes', () => {
    expect(warningsOf(all(eq('a', s('x')), eq('a', s('y'))))[0]!.hint).toContain('/expr/all/0');
    const [{ hint }] = warningsOf(text('a', 'regex', 'x'.repeat(900))).filter(
      ({ reason }) => reason === 'regex_literal',
    ) as [Found];
    expect(hint.length).toBeLessThan(200);
  });

  it('stands after those about unknown members and is no refusal under strict', () => {
    const expr = all(other);
    expect(found(warningsOf(expr, { comment: 1 }))).toEqual(['unknown_member /comment', 'redundant_group /expr']);
    const document = JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json' });
    const strict = compileLaser(document, { strict: true, regex: cachedRegexEngine, seeksMistakes: true });
    expect(found(strict.warnings)).toEqual(['redundant_group /expr']);
  });

  it('is not given for the filters that the benchmarks and the demo run, but for what makes one heavy', () => {
    const filters = [...ORBIT_GROUPS, ...WEBHOOK_GROUPS].map(({ filter }) => filter);
    const warned = [...filters, ...SELECTIVITY_PERCENTS.map(selectivityFilter)].flatMap((filter) =>
      found(
        compileLaser(JSON.stringify(filter), { strict: true, regex: cachedRegexEngine, seeksMistakes: true }).warnings,
      ),
    );
    expect(warned).toEqual(['heavy /expr/all/1']);
  });
});

describe('compiling for a scan', () => {
  it('looks for no mistakes', () => {
    const document = JSON.stringify({ v: 1, evaluator_version: 1, expr: all(other, other), codec: 'json', comment: 1 });
    const { warnings } = compileLaser(document, { strict: false, regex: cachedRegexEngine });
    expect(found(warnings)).toEqual(['unknown_member /comment']);
  });
});

describe('the reasons', () => {
  it('are a closed set, each met by a test above', () => {
    // Those of schemas are met in check-schemas.test.ts.
    const ofSchemas = ['unknown_schema', 'schema_of_other_codec', 'path_not_in_schema', 'type_never_compares'];
    const seen = new Set<string>(['unknown_member', 'more_unknown_members', 'headers_only_possible', ...ofSchemas]);
    for (const [reason, cases] of Object.entries(WARNS)) if (cases.length > 0) seen.add(reason);
    for (const [expected] of WARNS_AMONG_OTHERS) seen.add(expected.split(' ')[0]!);
    expect([...seen].sort()).toEqual(Object.keys(WARNING_REASONS).sort());
  });

  it('and pointers of random filters are known and lead into the document; the number of warnings is bounded', () => {
    const seeded = new Seeded(11);
    for (let round = 0; round < 500; round += 1) {
      const filter = randomFilter(seeded);
      const document: unknown = JSON.parse(filter);
      const { warnings } = compileLaser(filter, { strict: false, regex: cachedRegexEngine, seeksMistakes: true });
      expect(warnings.length).toBeLessThan(400);
      for (const { pointer, reason, hint } of warnings) {
        expect(WARNING_REASONS).toHaveProperty(reason);
        expect(hint).toMatch(/[.]$/);
        let at: unknown = document;
        for (const token of pointer.split('/').slice(1)) at = (at as Record<string, unknown>)[token];
        expect({ pointer, at }).not.toHaveProperty('at', undefined);
      }
    }
  });
});
