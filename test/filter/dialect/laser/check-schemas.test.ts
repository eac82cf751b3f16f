/**
 * A filter against the writer schemas that it refers to: what is refused, what is only warned of, and where the fault
 * stands. The schemas are written down as what stands at each path.
 */
import { describe, expect, it } from 'vitest';
import type { PathShape, ShapeType } from '../../../../src/codec/schema-shape.js';
import type { Problem } from '../../../../src/core/error-codes.js';
import type { Path } from '../../../../src/core/path.js';
import { compileLaser } from '../../../../src/filter/dialect/laser/compile.js';
import type { KnownSchema } from '../../../../src/filter/known-schemas.js';
import { cachedRegexEngine } from '../../../support/regex-engine.js';

type Fields = { readonly [key: string]: Fields | readonly ShapeType[] | '*' };

/** A closed record; `*` is open below. */
function schemaOf(fields: Fields, family: KnownSchema['family'] = 'avro'): KnownSchema {
  return {
    family,
    describe(path: Path): PathShape {
      let at: Fields[string] = fields;
      for (const [step, key] of path.entries()) {
        if (at === '*') return { kind: 'open' };
        if (Array.isArray(at)) return { kind: 'closed-missing', step, candidates: [] };
        const next: Fields[string] | undefined = (at as Fields)[key];
        if (next === undefined) return { kind: 'closed-missing', step, candidates: Object.keys(at) };
        at = next;
      }
      if (at === '*') return { kind: 'open' };
      return { kind: 'value', types: new Set<ShapeType>(Array.isArray(at) ? at : ['object']) };
    },
  };
}

const TREE = schemaOf({
  mode: ['string'],
  count: ['null', 'integer'],
  list: ['array'],
  after: { mode: ['string'], mass: ['double'] },
  tags: '*',
});
const OTHER = schemaOf({ mode: ['integer'], ring: ['integer'] });
const PROTO = schemaOf({ mode: ['bool'] }, 'protobuf');

const SCHEMAS = new Map([
  [7, TREE],
  [8, OTHER],
  [9, PROTO],
]);

function compiled(expr: unknown, more: { refs?: number[]; codec?: string; mayLack?: boolean; quiet?: boolean } = {}) {
  const { refs = [7], codec = 'avro', mayLack = false, quiet = false } = more;
  const text = JSON.stringify({ v: 1, evaluator_version: 1, expr, codec, schema_refs: refs });
  const schemas = { find: (id: number) => SCHEMAS.get(id), mayLack };
  const options = { strict: true, regex: cachedRegexEngine, seeksMistakes: !quiet, schemas };
  return { text, warnings: compileLaser(text, options).warnings };
}

function warned(...[expr, more]: Parameters<typeof compiled>): string[] {
  return compiled(expr, more).warnings.map(({ pointer, reason }) => `${reason} ${pointer}`);
}

function refused(...[expr, more]: Parameters<typeof compiled>): Problem {
  try {
    compiled(expr, more);
  } catch (thrown) {
    return (thrown as { problem: Problem }).problem;
  }
  throw new Error('nothing was refused');
}

function pred(field: string, op: string, kind: string, value?: unknown): object {
  return { pred: { field, op, value: { kind, ...(value === undefined ? {} : { value }) } } };
}

describe('a path that no schema of the filter has', () => {
  it.each<[string, object, string]>([
    ['a comparison', pred('moed', 'eq', 'string', 'x'), '/expr/pred/field'],
    ['a presence', { present: 'moed' }, '/expr/present'],
    ['a text match', { text: { field: 'moed', kind: 'glob', pattern: 'x*' } }, '/expr/text/field'],
    [
      'a coercion',
      { pred_as: { ...pred('moed', 'eq', 'int', 1), coerce: { kind: 'number' } } },
      '/expr/pred_as/pred/field',
    ],
    ['a leaf below groups', { all: [{ present: 'mode' }, { not: { present: 'moed' } }] }, '/expr/all/1/not/present'],
  ])('refuses %s with the key that was meant', (_name, expr, field) => {
    const problem = refused(expr);
    expect(problem).toMatchObject({ code: 'invalid_request', field });
    expect(problem.detail).toContain('By schema 7, the payload has no `moed`; did you mean `mode`?');
  });

  it('is refused also where nobody looks for warnings', () => {
    expect(refused({ present: 'moed' }, { quiet: true }).field).toBe('/expr/present');
  });

  it('points at the step inside the path, escapes counted', () => {
    const problem = refused({ present: 'after.moed' });
    const { text } = compiled({ present: 'after.mode' });
    expect(problem.position).toBe(text.indexOf('after.mode') + 'after.'.length);
    expect(problem.detail).toContain('`after` has no `moed`');
  });

  it.each<[string, string]>([
    ['after.x', 'By schema 7, `after` has no `x`; it has `mode`, `mass`.'],
    ['mode.x', 'By schema 7, `mode` has no keys, so it has no `x`.'],
    ['after[0]', 'By schema 7, `after` is no array, so it has no element [0].'],
  ])('says of %s what stands there', (path, detail) => {
    expect(refused({ present: path }).detail).toContain(detail);
  });

  it('may be asked for its absence, which is only worth a warning', () => {
    expect(warned({ absent: 'moed' })).toEqual(['path_not_in_schema /expr/absent']);
    expect(warned(pred('moed', 'eq', 'null'))).toEqual(['path_not_in_schema /expr/pred/field']);
  });

  it('is worth a warning where another schema has it', () => {
    expect(warned({ present: 'ring' }, { refs: [7, 8] })).toEqual(['path_not_in_schema /expr/present']);
    expect(refused({ present: 'none' }, { refs: [7, 8] }).code).toBe('invalid_request');
  });

  it('is judged by the schemas of the codec alone', () => {
    expect(warned(pred('mode', 'eq', 'string', 'x'), { refs: [7, 9] })).toEqual([
      'schema_of_other_codec /schema_refs/1',
    ]);
    expect(warned({ present: 'anything' }, { refs: [9] })).toEqual(['schema_of_other_codec /schema_refs/0']);
  });

  it('is nothing where the schema is open below', () => {
    expect(warned(pred('tags.anything[3]', 'eq', 'int', 1))).toEqual([]);
  });
});

describe('an id that stands for nothing', () => {
  it('refuses the filter at its place', () => {
    expect(refused({ present: 'mode' }, { refs: [7, 77] })).toMatchObject({
      code: 'invalid_request',
      field: '/schema_refs/1',
      given: 77,
    });
  });

  it('is a warning where nothing is read by it, and then no path is impossible', () => {
    const more = { refs: [7, 77], mayLack: true };
    expect(warned({ present: 'moed' }, more)).toEqual([
      'unknown_schema /schema_refs/1',
      'path_not_in_schema /expr/present',
    ]);
    expect(warned(pred('mode', 'eq', 'int', 1), more)).toEqual(['unknown_schema /schema_refs/1']);
  });
});

describe('a type that never stands there', () => {
  it.each<[string, object, string]>([
    ['a number against text', pred('mode', 'eq', 'int', 1), '/expr/pred/value'],
    ['text against a number', pred('after.mass', 'lt', 'string', 'a'), '/expr/pred/value'],
    ['a scalar against an object', pred('after', 'eq', 'string', 'a'), '/expr/pred/value'],
    ['`contains` of a number in text', pred('mode', 'contains', 'int', 1), '/expr/pred/value'],
    ['a text match on a number', { text: { field: 'count', kind: 'suffix', pattern: 'x' } }, '/expr'],
    ['a coercion of an array', { pred_as: { ...pred('list', 'eq', 'int', 1), coerce: { kind: 'number' } } }, '/expr'],
  ])('is a warning: %s', (_name, expr, pointer) => {
    expect(warned(expr)).toEqual([`type_never_compares ${pointer}`]);
  });

  it('is named for each item of a list alone', () => {
    const items = [
      { kind: 'string', value: 'a' },
      { kind: 'int', value: 1 },
    ];
    const expr = { pred: { field: 'mode', op: 'in', value: { kind: 'list', value: items } } };
    expect(warned(expr)).toEqual(['type_never_compares /expr/pred/value/value/1']);
  });

  it.each<[string, object]>([
    ['an integer against a double', pred('after.mass', 'gt', 'int', 1)],
    ['a double against an integer', pred('count', 'gt', 'double', 1.5)],
    ['an element of an array', pred('list', 'contains', 'string', 'a')],
    ['null', pred('mode', 'ne', 'null')],
    ['decimals in text', { pred_as: { ...pred('mode', 'eq', 'int', 1), coerce: { kind: 'number' } } }],
  ])('is not %s', (_name, expr) => {
    expect(warned(expr)).toEqual([]);
  });

  it('is none where one of the schemas has it', () => {
    expect(warned(pred('mode', 'eq', 'int', 1), { refs: [7, 8] })).toEqual([]);
    expect(warned(pred('mode', 'eq', 'boolean', true), { refs: [7, 8] })).toEqual([
      'type_never_compares /expr/pred/value',
    ]);
  });
});
