/** Avro schemas: names and namespaces as the specification has them, and refusals that say where the fault stands. */
import { describe, expect, it } from 'vitest';
import { type AvroSchema, compileAvro } from '../../../src/codec/avro/schema.js';
import { problemOf, type Problem } from '../../../src/core/error-codes.js';
import { SCHEMA_BYTES_MAX } from '../../../src/core/limits.js';

function compile(schema: unknown): AvroSchema {
  return compileAvro(JSON.stringify(schema));
}

function refusalOf(text: string): Problem {
  try {
    compileAvro(text);
  } catch (thrown) {
    return problemOf(thrown);
  }
  throw new Error(`accepted: ${text}`);
}

const field = (type: unknown, name = 'f') => ({ type: 'record', name: 'R', fields: [{ name, type }] });
const fixed = (name: string, more: object = {}) => ({ type: 'fixed', name, size: 1, ...more });

describe('a schema', () => {
  it.each(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'])(
    'may be %s by its name alone',
    (kind) => {
      expect(compile(kind)).toEqual({ family: 'avro', root: { kind } });
      expect(compile({ type: kind })).toEqual({ family: 'avro', root: { kind } });
      expect(compile({ type: { type: kind } })).toEqual({ family: 'avro', root: { kind } });
    },
  );

  it('says of its types what the bytes depend on, and nothing else', () => {
    const schema = compile({
      type: 'record',
      name: 'Nest',
      namespace: 'aviary',
      aliases: ['Old', 5],
      doc: 'a nest',
      fields: [
        { name: 'day', type: { type: 'int', logicalType: 'date' }, default: 'no int', order: 'sideways' },
        { name: 'stage', type: { type: 'enum', name: 'Stage', symbols: ['EGG', 'CHICK'], default: 'NONE' } },
        { name: 'sum', type: { type: 'fixed', name: 'Sum', size: 16, logicalType: 'decimal' } },
        { name: 'tally', type: { type: 'map', values: ['null', 'long'] } },
      ],
    });
    expect(schema.root).toEqual({
      kind: 'record',
      name: 'aviary.Nest',
      fields: [
        { name: 'day', type: { kind: 'int' } },
        { name: 'stage', type: { kind: 'enum', name: 'aviary.Stage', symbols: ['EGG', 'CHICK'] } },
        { name: 'sum', type: { kind: 'fixed', name: 'aviary.Sum', size: 16 } },
        {
          name: 'tally',
          type: { kind: 'map', values: { kind: 'union', branches: [{ kind: 'null' }, { kind: 'long' }] } },
        },
      ],
    });
  });

  it('may hold a record inside itself', () => {
    const { root } = compile(field(['null', 'R']));
    expect(root.kind === 'record' && root.fields[0]!.type).toMatchObject({ kind: 'union', branches: [{}, root] });
  });

  it('may hold empty records, enums, unions and fixed runs', () => {
    for (const root of [
      { type: 'record', name: 'R', fields: [] },
      { type: 'enum', name: 'E', symbols: [] },
      [],
      fixed('F', { size: 0 }),
    ]) {
      expect(() => compile(root)).not.toThrow();
    }
  });

  it('nests 64 levels and no deeper', () => {
    const nested = (levels: number) => '{"type":"array","items":'.repeat(levels) + '"int"' + '}'.repeat(levels);
    expect(() => compileAvro(nested(64))).not.toThrow();
    expect(refusalOf(nested(65))).toMatchObject({
      code: 'invalid_request',
      limit: 64,
      given: 65,
      field: '/items'.repeat(65),
    });
    expect(refusalOf('{"type":'.repeat(70) + '"int"' + '}'.repeat(70))).toMatchObject({ limit: 64 });
    const records = (levels: number): unknown =>
      levels === 0 ? 'int' : { type: 'record', name: `R${levels}`, fields: [{ name: 'f', type: records(levels - 1) }] };
    expect(() => compile(records(64))).not.toThrow();
    expect(refusalOf(JSON.stringify(records(65)))).toMatchObject({ limit: 64, field: '/fields/0/type'.repeat(65) });
  });

  it('has at most a MiB', () => {
    const padded = (bytes: number) => `"int"${' '.repeat(bytes - 5)}`;
    expect(() => compileAvro(padded(SCHEMA_BYTES_MAX))).not.toThrow();
    expect(refusalOf(padded(SCHEMA_BYTES_MAX + 1))).toMatchObject({
      code: 'invalid_request',
      limit: SCHEMA_BYTES_MAX,
      given: SCHEMA_BYTES_MAX + 1,
    });
  });
});

describe('a name', () => {
  const pair = (name: string, namespace: string | undefined, second: unknown) => ({
    type: 'record',
    name,
    ...(namespace === undefined ? {} : { namespace }),
    fields: [
      { name: 'first', type: fixed('F') },
      { name: 'second', type: second },
    ],
  });

  it('stands in the namespace around it, and is found there short or in full', () => {
    for (const second of ['F', 'a.b.F', { type: 'F' }]) expect(() => compile(pair('R', 'a.b', second))).not.toThrow();
    for (const second of ['F', 'a.b.F']) expect(() => compile(pair('a.b.R', undefined, second))).not.toThrow();
    // The namespace of a name that has dots is its own.
    expect(() => compile(pair('a.b.R', 'c', 'a.b.F'))).not.toThrow();
    expect(refusalOf(JSON.stringify(pair('a.b.R', 'c', 'c.F')))).toMatchObject({ given: 'c.F' });
  });

  it('of its own namespace hands it on, and an empty namespace is none', () => {
    const inner = { type: 'record', name: 'I', namespace: 'x', fields: [{ name: 'f', type: fixed('F') }] };
    const outer = (second: unknown) => ({
      type: 'record',
      name: 'a.R',
      fields: [
        { name: 'first', type: inner },
        { name: 'second', type: second },
      ],
    });
    expect(() => compile(outer('x.F'))).not.toThrow();
    expect(refusalOf(JSON.stringify(outer('F')))).toMatchObject({ field: '/fields/1/type', given: 'F' });
    const rootless = { type: 'record', name: 'a.R', fields: [{ name: 'f', type: fixed('F', { namespace: '' }) }] };
    expect(compile(rootless).root).toMatchObject({ fields: [{ type: { name: 'F' } }] });
  });

  it('may be used twice in different namespaces', () => {
    expect(() => compile(pair('R', 'a', fixed('F', { namespace: 'b' })))).not.toThrow();
  });
});

describe('a union', () => {
  it('holds each named type once and each other type once', () => {
    expect(() =>
      compile(['null', fixed('A'), fixed('B'), { type: 'map', values: 'int' }, { type: 'array', items: 'int' }]),
    ).not.toThrow();
  });
});

describe('a refusal', () => {
  it.each([
    ['a number', '5', '', 'number'],
    ['an unknown type', '"text"', '', 'text'],
    ['a name before its definition', JSON.stringify(['F', fixed('F')]), '/0', 'F'],
    [
      'a name of no namespace inside one',
      JSON.stringify([fixed('F'), { ...field('F'), namespace: 'a' }]),
      '/1/fields/0/type',
      'F',
    ],
    ['no type', '{"name":"R"}', '', undefined],
    ['no name', '{"type":"fixed","size":1}', '', undefined],
    ['a type of another kind', '{"type":null}', '/type', 'null'],
    ['a name that is no text', '{"type":"fixed","name":1,"size":1}', '/name', 'number'],
    ['a name with a dash', JSON.stringify(fixed('a-b')), '/name', 'a-b'],
    ['a name that begins with a digit', JSON.stringify(fixed('1a')), '/name', '1a'],
    ['a name with an empty part', JSON.stringify(fixed('a..b')), '/name', 'a..b'],
    ['an empty name', JSON.stringify(fixed('')), '/name', ''],
    ['a name that is a primitive', JSON.stringify(fixed('a.int')), '/name', 'a.int'],
    ['a namespace that is none', JSON.stringify(fixed('F', { namespace: 'a.' })), '/namespace', 'a.'],
    ['a namespace that is no text', JSON.stringify(fixed('F', { namespace: null })), '/namespace', 'null'],
    ['a name defined twice', JSON.stringify(field([fixed('F'), fixed('F')])), '/fields/0/type/1/name', 'F'],
    ['a record named like the one around it', JSON.stringify(field(field('int'))), '/fields/0/type/name', 'R'],
    ['no fields', '{"type":"record","name":"R"}', '', undefined],
    ['fields that are no array', '{"type":"record","name":"R","fields":{}}', '/fields', 'object'],
    ['a field that is no object', '{"type":"record","name":"R","fields":["int"]}', '/fields/0', 'string'],
    ['a field without a name', '{"type":"record","name":"R","fields":[{"type":"int"}]}', '/fields/0', undefined],
    ['a field without a type', '{"type":"record","name":"R","fields":[{"name":"f"}]}', '/fields/0', undefined],
    ['a field with a dotted name', JSON.stringify(field('int', 'a.b')), '/fields/0/name', 'a.b'],
    [
      'a field given twice',
      '{"type":"record","name":"R","fields":[{"name":"f","type":"int"},{"name":"f","type":"int"}]}',
      '/fields/1/name',
      'f',
    ],
    ['no symbols', '{"type":"enum","name":"E"}', '', undefined],
    ['a symbol that is no text', '{"type":"enum","name":"E","symbols":["A",1]}', '/symbols/1', 'number'],
    ['a symbol with a space', '{"type":"enum","name":"E","symbols":["A B"]}', '/symbols/0', 'A B'],
    ['a symbol given twice', '{"type":"enum","name":"E","symbols":["A","B","A"]}', '/symbols/2', 'A'],
    ['no size', '{"type":"fixed","name":"F"}', '', undefined],
    ['a size below zero', JSON.stringify(fixed('F', { size: -1 })), '/size', '-1'],
    ['a size with a fraction', '{"type":"fixed","name":"F","size":1.0}', '/size', '1.0'],
    ['a size as text', JSON.stringify(fixed('F', { size: '4' })), '/size', '"4"'],
    [
      'a size beyond all numbers',
      `{"type":"fixed","name":"F","size":1${'0'.repeat(400)}}`,
      '/size',
      `1${'0'.repeat(63)}…`,
    ],
    ['no items', '{"type":"array"}', '', undefined],
    ['no values', '{"type":"map"}', '', undefined],
    ['a union in a union', '["null",["int"]]', '/1', 'union'],
    ['a wrapped union in a union', '["null",{"type":["int"]}]', '/1', 'union'],
    ['a type twice in a union', '["int","null","int"]', '/2', 'int'],
    ['two logical types of one type in a union', '["int",{"type":"int","logicalType":"date"}]', '/1', 'int'],
    ['two arrays in a union', '[{"type":"array","items":"int"},{"type":"array","items":"long"}]', '/1', 'array'],
    ['a record twice in a union', JSON.stringify([field('int'), 'R']), '/1', 'R'],
    ['an attribute given twice', '{"type":"int","type":"int"}', '/type', undefined],
  ])('of %s names the place and what stands there', (_, text, pointer, given) => {
    const problem = refusalOf(text);
    expect(problem.code).toBe('invalid_request');
    expect(problem.field).toBe(pointer);
    expect(problem.given).toBe(given);
    expect(problem.position).toBeTypeOf('number');
    expect(problem.detail).toContain(`"${pointer}"`);
  });

  it('of text that is not JSON gives the byte', () => {
    expect(refusalOf('{"type":"é",}')).toMatchObject({ code: 'invalid_request', position: 13 });
    expect(refusalOf('')).toMatchObject({ code: 'invalid_request', position: 0 });
  });
});
