/** What compiling says: places of faults, unknown and repeated members, versions, lowering, summaries. */
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../../src/core/error-codes.js';
import { MATCH, NO_MATCH, UNKNOWN } from '../../../../src/core/truth.js';
import type { CompiledFilter } from '../../../../src/filter/compiled-filter.js';
import { compileLaser } from '../../../../src/filter/dialect/laser/compile.js';
import { doubleText } from '../../../../src/filter/dialect/laser/canonical.js';
import { problemFrom } from '../../../support/refused.js';
import { cachedRegexEngine } from '../../../support/regex-engine.js';

function compile(text: string, strict = false): CompiledFilter {
  return compileLaser(text, { strict, regex: cachedRegexEngine });
}

function refused(text: string, strict = false): Problem {
  return problemFrom(() => compile(text, strict));
}

function document(expr: string, more = ''): string {
  return `{"v":1,"evaluator_version":1,"expr":${expr},"codec":"json"${more}}`;
}

function pred(op: string, literal: string): string {
  return document(`{"pred":{"field":"a","op":"${op}","value":${literal}}}`);
}

describe('faults', () => {
  it('point at the value, in bytes of the text', () => {
    const text = document('{"all":[{"present":"é"},{"pred":{"field":"é","op":"like","value":{"kind":"null"}}}]}');
    const problem = refused(text);
    expect(problem).toMatchObject({ code: 'invalid_request', field: '/expr/all/1/pred/op', given: 'like' });
    expect(Buffer.from(text).subarray(problem.position).toString()).toMatch(/^"like"/);
    expect(problem.detail.split('\n').at(-1)).toMatch(/^ *\^$/);
  });

  it.each([
    ['{"present":"a..b"}', '/expr/present', '.b"}'],
    ['{"present":"é\\u00e9..b"}', '/expr/present', '.b"}'],
    ['{"present":"\\ud83d\\udea2]"}', '/expr/present', ']"}'],
    ['{"text":{"field":"a","kind":"glob","pattern":"é\\u002a\\\\"}}', '/expr/text/pattern', '\\\\"'],
    ['{"text":{"field":"a","kind":"regex","pattern":"é\\n(?=x)"}}', '/expr/text/pattern', '(?=x)'],
    ['{"text":{"field":"a","kind":"regex","pattern":"ab(c"}}', '/expr/text/pattern', '(c"'],
    ['{"text":{"field":"a","kind":"regex","pattern":"\\u00e9x{7,4}"}}', '/expr/text/pattern', '{7,4}'],
  ])('inside the string of %s point at the character', (expr, field, rest) => {
    const text = document(expr);
    const problem = refused(text);
    expect(problem.field).toBe(field);
    expect(Buffer.from(text).subarray(problem.position).toString().startsWith(rest)).toBe(true);
  });

  it('name a missing member by where it would stand', () => {
    expect(refused('{}').field).toBe('/v');
    expect(refused(document('{"pred":{"field":"a","op":"eq"}}')).field).toBe('/expr/pred/value');
    expect(refused(pred('eq', '{"kind":"string"}')).field).toBe('/expr/pred/value/value');
  });

  it('cut what they quote of the user', () => {
    const problem = refused(pred('x'.repeat(100_000), '{"kind":"null"}'));
    expect(problem.detail.length).toBeLessThan(500);
    expect(String(problem.given)).toHaveLength(61);
  });
});

describe('versions', () => {
  it.each(['0', '2', '-1', '99999999999999999999', `1${'0'.repeat(50)}`])('an integer v of %s is version skew', (v) => {
    const text = document('{"future":1}').replace('"v":1', `"v":${v}`);
    expect(refused(text)).toMatchObject({ code: 'version_skew', field: '/v', limit: 1 });
  });

  it('evaluator_version 2 is version skew', () => {
    const text = document('{"present":"a"}').replace('version":1', 'version":2');
    expect(refused(text)).toMatchObject({ code: 'version_skew', field: '/evaluator_version', limit: 1, given: '2' });
  });

  it.each(['1.0', '1e0', '-0', '"1"', 'null', 'true', '[1]'])('v of %s is no integer', (v) => {
    const text = document('{"present":"a"}').replace('"v":1', `"v":${v}`);
    expect(refused(text)).toMatchObject({ code: 'invalid_request', field: '/v' });
  });
});

describe('unknown members', () => {
  const text = document(
    '{"pred_as":{"pred":{"field":"a","op":"eq","value":{"kind":"long","value":1,"unit":"m/s"},"hint":0},"coerce":{"kind":"number","format":"rfc3339"},"x":1}}',
    ',"comment":{"v":1,"v":2},"a~b/c":null',
  );

  it('are ignored, not in the digest, and warned about with their pointers', () => {
    const compiled = compile(text);
    expect(compiled.warnings.map(({ pointer, reason }) => `${reason} ${pointer}`)).toEqual([
      'unknown_member /comment',
      'unknown_member /a~0b~1c',
      'unknown_member /expr/pred_as/x',
      'unknown_member /expr/pred_as/pred/hint',
      'unknown_member /expr/pred_as/pred/value/unit',
      'unknown_member /expr/pred_as/coerce/format',
    ]);
    expect(compiled.warnings[3]!.hint).toBe('Known members of `pred`: field, op, value.');
    const plain =
      '{"pred_as":{"pred":{"field":"a","op":"eq","value":{"kind":"long","value":1}},"coerce":{"kind":"number"}}}';
    expect(compiled.digest).toBe(compile(document(plain)).digest);
    expect(compile(document(plain)).warnings).toEqual([]);
  });

  it('are refused under strict', () => {
    expect(refused(text, true)).toMatchObject({ code: 'invalid_request', field: '/comment' });
    expect(refused(document('{"header_text":{"field":"k","kind":"equals","pattern":"","mode":1}}'), true).field).toBe(
      '/expr/header_text/mode',
    );
    expect(refused(pred('eq', '{"kind":"null","value":null}'), true).field).toBe('/expr/pred/value/value');
  });

  it('are listed up to a bound and then counted', () => {
    const many = Array.from({ length: 150 }, (_, index) => `,"m${index}":0`).join('');
    const { warnings } = compile(document('{"present":"a"}', many));
    expect(warnings).toHaveLength(101);
    expect(warnings.at(-1)).toEqual({
      pointer: '',
      reason: 'more_unknown_members',
      hint: '50 more unknown members were ignored.',
    });
  });

  it('are refused in a node, which has exactly one key', () => {
    expect(refused(document('{"present":"a","note":1}'))).toMatchObject({ field: '/expr', limit: 1, given: 2 });
    expect(refused(document('{"between":{}}')).detail).toMatch(/Unknown node `between`/);
  });
});

describe('refused members', () => {
  it.each([
    [document('{"present":"a"}', ',"codec":"json"'), '/codec'],
    [document('{"present":"a"}', ',"note":1,"note":1'), '/note'],
    [document('{"present":"a","present":"a"}'), '/expr'],
    [document('{"pred":{"field":"a","op":"eq","op":"eq","value":{"kind":"null"}}}'), '/expr/pred/op'],
    [pred('eq', '{"kind":"long","kind":"string","value":"x"}'), '/expr/pred/value/kind'],
    [document('{"present":"a"}', ',"fault_policy":null'), '/fault_policy'],
    [document('{"present":"a"}', ',"schema_refs":null'), '/schema_refs'],
    [document('{"present":"a"}', ',"\\ud800":1'), ''],
    [pred('eq', '{"kind":"string","value":"\\ud800"}'), '/expr/pred/value/value'],
    [document('{"present":"\\udc00"}'), '/expr/present'],
    [document('{"text":{"field":"a","kind":"equals","pattern":"\\ud800x"}}'), '/expr/text/pattern'],
    [document('{"header_text":{"field":"\\ud800","kind":"equals","pattern":""}}'), '/expr/header_text/field'],
    [pred('eq', '{"kind":"null","value":0}'), '/expr/pred/value/value'],
    [pred('eq', '{"kind":"int","value":-0}'), '/expr/pred/value/value'],
    [pred('eq', '{"kind":"long","value":1.0}'), '/expr/pred/value/value'],
    [pred('eq', '{"kind":"long","value":1e3}'), '/expr/pred/value/value'],
    [pred('in', '{"kind":"list","value":[{"kind":"null"}]}'), '/expr/pred/value/value/0'],
    [document('{"header":{"key":"k","op":"eq","value":{"kind":"null"}}}'), '/expr/header/value'],
    [document('{"header":{"key":"k","op":"in","value":{"kind":"null"}}}'), '/expr/header/value'],
    [
      document(
        '{"pred_as":{"pred":{"field":"a","op":"contains","value":{"kind":"string","value":"1"}},"coerce":{"kind":"number"}}}',
      ),
      '/expr/pred_as/pred/op',
    ],
    [
      document('{"pred_as":{"pred":{"field":"a","op":"eq","value":{"kind":"null"}},"coerce":{"kind":"number"}}}'),
      '/expr/pred_as/pred/value',
    ],
    [
      document(
        '{"pred_as":{"pred":{"field":"a","op":"eq","value":{"kind":"boolean","value":true}},"coerce":{"kind":"number"}}}',
      ),
      '/expr/pred_as/pred/value',
    ],
    [
      document(
        '{"pred_as":{"pred":{"field":"a","op":"eq","value":{"kind":"long","value":1}},"coerce":{"kind":"timestamp"}}}',
      ),
      '/expr/pred_as/coerce/format',
    ],
  ])('%s at %s', (text, field) => {
    expect(refused(text)).toMatchObject({ code: 'invalid_request', field });
  });
});

describe('lowering', () => {
  it('makes a null literal decide every value, and everything else unknown', () => {
    const undecidedOf = (text: string): unknown => {
      const { root } = compile(text).lowered;
      return root.node === 'compare' ? root.undecided : undefined;
    };
    expect(undecidedOf(pred('eq', '{"kind":"null"}'))).toEqual({
      missing: MATCH,
      nullValue: MATCH,
      incomparable: NO_MATCH,
      flagsMismatch: false,
    });
    expect(undecidedOf(pred('ne', '{"kind":"null"}'))).toEqual({
      missing: NO_MATCH,
      nullValue: NO_MATCH,
      incomparable: MATCH,
      flagsMismatch: false,
    });
    expect(undecidedOf(pred('ne', '{"kind":"long","value":1}'))).toEqual({
      missing: UNKNOWN,
      nullValue: UNKNOWN,
      incomparable: UNKNOWN,
      flagsMismatch: true,
    });
  });

  it('keeps 64-bit integers exact and drops their width', () => {
    const literalsOf = (text: string): unknown => {
      const { root } = compile(text).lowered;
      return root.node === 'compare' ? root.literals : undefined;
    };
    const wide = { kind: 'integer', value: 9007199254740993n };
    expect(literalsOf(pred('eq', '{"kind":"long","value":9007199254740993}'))).toEqual([wide]);
    expect(literalsOf(pred('eq', '{"kind":"int","value":7}'))).toEqual([{ kind: 'integer', value: 7n }]);
    expect(literalsOf(pred('eq', '{"kind":"double","value":9007199254740993}'))).toEqual([
      { kind: 'double', value: 9007199254740992 },
    ]);
  });
});

describe('a glob', () => {
  const glob = (pattern: string): string => document(`{"text":{"field":"a","kind":"glob","pattern":"${pattern}"}}`);

  it('may end in an escaped backslash, but not in a lone one', () => {
    expect(compile(glob('x\\\\\\\\')).canonical).toContain('"x\\\\\\\\"');
    expect(refused(glob('x\\\\\\\\\\\\')).field).toBe('/expr/text/pattern');
  });
});

describe('the digest', () => {
  it('is the check value of the contract', () => {
    const leaf = (field: string, op: string, value: string): string =>
      `{"pred":{"field":"${field}","op":"${op}","value":{"kind":"string","value":"${value}"}}}`;
    const all = (...children: string[]): string => `{"all":[${children.join(',')}]}`;
    const expr = `{"any":[${[
      all(
        leaf('table', 'eq', 'satellites'),
        leaf('op', 'eq', 'u'),
        leaf('changed', 'contains', 'mode'),
        leaf('after.mode', 'eq', 'safe'),
      ),
      all(leaf('table', 'eq', 'satellites'), leaf('op', 'eq', 'd')),
      all(leaf('event', 'eq', 'satellite.telemetry_changed'), '{"present":"fields.mode"}'),
    ].join(',')}]}`;
    expect(compile(document(expr)).digest).toBe('42edfc6400ea7c7a63249a6b6063f0106c275691ace48bb20886d519e281b2d8');
  });

  it.each([
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [-1.5, '-1.5'],
    [1e15, '1000000000000000.0'],
    [9999999999999998, '9999999999999998.0'],
    [1e16, '1e+16'],
    [-1e16, '-1e+16'],
    [1e21, '1e+21'],
    [1e-5, '0.00001'],
    [9.999e-6, '9.999e-6'],
    [1e-7, '1e-7'],
    [5e-324, '5e-324'],
    [Number.MAX_VALUE, '1.7976931348623157e+308'],
  ])('writes the double %d as %s', (value, text) => {
    expect(doubleText(value)).toBe(text);
  });
});

describe('the summary', () => {
  it('lists paths and header keys once, in written order', () => {
    const { summary } = compile(
      document(
        '{"all":[{"absent":"k\\\\.dot[0]"},{"header":{"key":"h","op":"eq","value":{"kind":"long","value":1}}},{"present":"b"},{"present":"k\\\\.dot[0]"},{"header_text":{"field":"h","kind":"equals","pattern":"x"}}]}',
      ),
    );
    expect(summary).toMatchObject({
      readsPayload: true,
      readsHeaders: true,
      paths: ['k\\.dot[0]', 'b'],
      wantedPaths: [['k.dot', 0], ['b']],
      headerKeys: ['h'],
    });
  });
});
