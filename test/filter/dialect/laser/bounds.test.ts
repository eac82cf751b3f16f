/** Every bound of the language: accepted at it, refused one past it with the limit, what was given and the node. */
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../../src/core/error-codes.js';
import { compileLaser } from '../../../../src/filter/dialect/laser/compile.js';
import { problemFrom } from '../../../support/refused.js';
import { cachedRegexEngine } from '../../../support/regex-engine.js';

const options = { strict: false, regex: cachedRegexEngine };

function document(expr: unknown, more: object = {}): string {
  return JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json', ...more });
}

function accepts(text: string): void {
  expect(compileLaser(text, options).digest).toHaveLength(64);
}

function refused(text: string): Problem {
  return problemFrom(() => compileLaser(text, options));
}

function long(value: number): object {
  return { kind: 'long', value };
}

function longs(count: number): object {
  return { kind: 'list', value: Array.from({ length: count }, (_, index) => long(index)) };
}

function nested(levels: number): unknown {
  return levels === 1 ? { present: 'a' } : { not: nested(levels - 1) };
}

function present(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({ present: `f${index}` }));
}

describe('bounds', () => {
  it('nesting', () => {
    accepts(document(nested(8)));
    expect(refused(document(nested(9)))).toMatchObject({ field: `/expr${'/not'.repeat(8)}`, limit: 8, given: 9 });
    expect(refused(document(nested(100)))).toMatchObject({ limit: 8, given: 9 });
  });

  it('nodes, with the items of lists', () => {
    accepts(document({ all: present(127) }));
    expect(refused(document({ all: present(128) }))).toMatchObject({ field: '/expr/all/127', limit: 128, given: 129 });
    const withList = (leaves: number): unknown => ({
      any: [...present(leaves), { pred: { field: 'a', op: 'in', value: longs(64) } }],
    });
    accepts(document(withList(62)));
    expect(refused(document(withList(63)))).toMatchObject({ field: '/expr/any/63', limit: 128, given: 129 });
    const coerced = (leaves: number): unknown => ({
      any: [
        ...present(leaves),
        { pred_as: { pred: { field: 'a', op: 'in', value: longs(64) }, coerce: { kind: 'number' } } },
      ],
    });
    accepts(document(coerced(62)));
    expect(refused(document(coerced(63)))).toMatchObject({ limit: 128, given: 129 });
  });

  it('items of a list', () => {
    const list = (items: number): unknown => ({ pred: { field: 'a', op: 'in', value: longs(items) } });
    accepts(document(list(1)));
    accepts(document(list(64)));
    expect(refused(document(list(0)))).toMatchObject({ field: '/expr/pred/value', limit: 1, given: 0 });
    expect(refused(document(list(65)))).toMatchObject({ field: '/expr/pred/value', limit: 64, given: 65 });
  });

  it('canonical text, measured on itself and not on what was sent', () => {
    const strings = (rest: number): unknown => ({
      pred: {
        field: 'a',
        op: 'in',
        value: {
          kind: 'list',
          value: [...Array.from({ length: 7 }, () => 1024), rest].map((bytes) => ({
            kind: 'string',
            value: 'x'.repeat(bytes),
          })),
        },
      },
    });
    const fixed = compileLaser(document(strings(0)), options).canonical.length;
    accepts(document(strings(8192 - fixed)));
    accepts(`${document(strings(8192 - fixed))}${' '.repeat(5_000)}`);
    expect(refused(document(strings(8193 - fixed)))).toMatchObject({
      field: '',
      limit: 8192,
      given: 8193,
      position: 0,
    });
  });

  it('bytes of a string literal and of a pattern', () => {
    const literal = (text: string): unknown => ({
      pred: { field: 'a', op: 'eq', value: { kind: 'string', value: text } },
    });
    accepts(document(literal('é'.repeat(512))));
    expect(refused(document(literal(`${'é'.repeat(512)}x`)))).toMatchObject({
      field: '/expr/pred/value/value',
      limit: 1024,
      given: 1025,
    });
    for (const kind of ['equals', 'prefix', 'suffix', 'contains', 'glob', 'regex']) {
      const match = (pattern: string): unknown => ({ header_text: { field: 'k', kind, pattern } });
      accepts(document(match('x'.repeat(1024))));
      expect(refused(document(match('x'.repeat(1025))))).toMatchObject({
        field: '/expr/header_text/pattern',
        limit: 1024,
        given: 1025,
      });
    }
  });

  it('bytes of a header key and of a path, and segments of a path', () => {
    const header = (key: string): unknown => ({ header: { key, op: 'eq', value: long(1) } });
    accepts(document(header('k'.repeat(256))));
    expect(refused(document(header('k'.repeat(257))))).toMatchObject({
      field: '/expr/header/key',
      limit: 256,
      given: 257,
    });
    expect(refused(document(header('')))).toMatchObject({ field: '/expr/header/key', limit: 1, given: 0 });
    accepts(document({ present: 'p'.repeat(256) }));
    expect(refused(document({ present: 'p'.repeat(257) }))).toMatchObject({
      field: '/expr/present',
      limit: 256,
      given: 257,
    });
    accepts(document({ absent: `a${'[0]'.repeat(15)}` }));
    expect(refused(document({ absent: `a${'[0]'.repeat(16)}` }))).toMatchObject({
      field: '/expr/absent',
      limit: 16,
      given: 17,
    });
  });

  it('compiled patterns, globs and regexes together', () => {
    const patterns = (kinds: string[]): unknown => ({
      any: kinds.map((kind) => ({ text: { field: 'a', kind, pattern: 'x' } })),
    });
    accepts(document(patterns(['glob', 'regex', 'glob', 'regex', 'contains'])));
    expect(refused(document(patterns(['glob', 'regex', 'glob', 'regex', 'glob'])))).toMatchObject({
      field: '/expr/any/4/text/pattern',
      limit: 4,
      given: 5,
    });
  });

  it('nesting and program size of a regex', () => {
    const regex = (pattern: string): unknown => ({ text: { field: 'a', kind: 'regex', pattern } });
    accepts(document(regex('(?:'.repeat(64) + 'a' + ')'.repeat(64))));
    expect(refused(document(regex('('.repeat(65) + 'a' + ')'.repeat(65))))).toMatchObject({ limit: 64, given: 65 });
    accepts(document(regex('a{8192}')));
    expect(refused(document(regex('a{8193}')))).toMatchObject({
      field: '/expr/text/pattern',
      limit: 262_144,
      given: 262_176,
    });
  });

  it('range of integers, each kind by its own', () => {
    const literal = (kind: string, digits: string): string =>
      document({ pred: { field: 'a', op: 'eq', value: { kind, value: 0 } } }).replace('"value":0', `"value":${digits}`);
    for (const [kind, least, most] of [
      ['int', -(2n ** 31n), 2n ** 31n - 1n],
      ['long', -(2n ** 63n), 2n ** 63n - 1n],
    ] as const) {
      expect(compileLaser(literal(kind, String(least)), options).canonical).toContain(`:${least}}`);
      expect(compileLaser(literal(kind, String(most)), options).canonical).toContain(`:${most}}`);
      const below = { field: '/expr/pred/value/value', limit: String(least), given: String(least - 1n) };
      expect(refused(literal(kind, String(least - 1n)))).toMatchObject(below);
      expect(refused(literal(kind, String(most + 1n)))).toMatchObject({
        limit: String(most),
        given: String(most + 1n),
      });
      expect(refused(literal(kind, '9'.repeat(5_000))).limit).toBe(String(most));
    }
    accepts(literal('double', '1.7976931348623157e308'));
    expect(refused(literal('double', '1e309'))).toMatchObject({ limit: String(Number.MAX_VALUE), given: '1e309' });
    expect(refused(literal('double', '-1e309')).given).toBe('-1e309');
  });

  it('schema ids', () => {
    const refs = (ids: unknown, codec = 'avro'): string => document({ present: 'a' }, { codec, schema_refs: ids });
    accepts(refs([0, 4294967295]));
    expect(refused(refs([4294967296]))).toMatchObject({
      field: '/schema_refs/0',
      limit: 4294967295,
      given: '4294967296',
    });
    for (const bad of [[-1], [1.5], [1, 1], [2, 1], ['1'], [null], [1, 2, 2]])
      expect(refused(refs(bad)).field).toMatch(/^\/schema_refs\/\d$/);
    for (const codec of ['json', 'cbor', 'headers_only']) {
      const text = document({ header_text: { field: 'k', kind: 'equals', pattern: '' } }, { codec, schema_refs: [1] });
      expect(refused(text).field).toBe('/schema_refs');
    }
    expect(refused(document({ present: 'a' }, { codec: 'protobuf' })).field).toBe('/schema_refs');
  });
});
