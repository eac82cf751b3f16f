/** The writer schemas of a worker: what a request sees, what is kept, and where a refusal points. */
import { describe, expect, it } from 'vitest';
import { type IdentifiedSchema, schemaBytes, schemaHash, type SchemaSource } from '../../src/codec/schema-source.js';
import { problemOf, type Problem } from '../../src/core/error-codes.js';
import { SCHEMAS_CACHED_BYTES_MAX } from '../../src/core/limits.js';
import { SchemaShelf } from '../../src/scan/schema-shelf.js';
import type { SchemaSpec } from '../../src/scan/task.js';

function avro(schema: string): SchemaSource {
  return { kind: 'avro', schema };
}

function registered(id: number, source: SchemaSource): IdentifiedSchema {
  return { id, hash: schemaHash(source), source };
}

function brought(id: number, source: SchemaSource): SchemaSpec {
  return { id, source, bytes: schemaBytes(source).byteLength };
}

function problemFrom(run: () => unknown): Problem {
  try {
    run();
  } catch (thrown) {
    return problemOf(thrown);
  }
  throw new Error('nothing was refused');
}

const INT = avro('"int"');
const LONG = avro('"long"');

describe('the schemas that a request sees', () => {
  it('are its own and those of the registry', () => {
    const seen = new SchemaShelf([registered(7, INT)]).seenBy([brought(8, LONG)]);
    expect(seen.find(7)!.describe([])).toEqual({ kind: 'value', types: new Set(['integer']) });
    expect(seen.find(8)).toMatchObject({ family: 'avro', hash: schemaHash(LONG) });
    expect(seen.find(9)).toBeUndefined();
  });

  it('are compiled once, whoever brings them', () => {
    const shelf = new SchemaShelf([registered(7, INT)]);
    const [first, second] = [shelf.seenBy([brought(1, LONG)]), shelf.seenBy([brought(2, LONG)])];
    expect(second.find(2)).toBe(first.find(1));
    expect(second.find(7)).toBe(first.find(7));
    expect(shelf.seenBy([brought(7, INT)]).find(7)).toBe(first.find(7));
  });

  it('of requests that bring the same are told by the same key', () => {
    const shelf = new SchemaShelf([]);
    const keyOf = (id: number, source: SchemaSource): string => shelf.seenBy([brought(id, source)]).key;
    expect(keyOf(1, INT)).toBe(keyOf(1, INT));
    expect(new Set([keyOf(1, INT), keyOf(2, INT), keyOf(1, LONG), shelf.seenBy([]).key]).size).toBe(4);
  });

  it('are kept within a bound on their bytes', () => {
    const shelf = new SchemaShelf([]);
    const first = shelf.seenBy([brought(1, INT)]).find(1);
    const padded = avro(`"int"${' '.repeat(SCHEMAS_CACHED_BYTES_MAX)}`);
    expect(problemFrom(() => shelf.seenBy([brought(2, padded)]))).toMatchObject({
      field: '/schemas/0/source/schema',
    });
    expect(shelf.seenBy([brought(1, INT)]).find(1)).toBe(first);
  });

  it('of the registry are compiled when they are asked for, and a check says what is wrong with one', () => {
    const shelf = new SchemaShelf([registered(7, avro('"inty"')), registered(8, INT)]);
    expect(shelf.seenBy([]).find(8)).toBeDefined();
    expect(problemFrom(() => shelf.check(7))).toMatchObject({ code: 'invalid_request' });
    expect(() => shelf.check(8)).not.toThrow();
    expect(problemFrom(() => shelf.check(9))).toMatchObject({ code: 'not_found' });
  });
});

describe('a schema of a request', () => {
  it('must not differ from the registered one', () => {
    const shelf = new SchemaShelf([registered(7, INT)]);
    const specs = [brought(6, LONG), brought(7, LONG)];
    expect(problemFrom(() => shelf.seenBy(specs))).toMatchObject({
      code: 'conflict',
      field: '/schemas/1/id',
      given: 7,
    });
  });

  it('that does not compile is refused at its member, with the place inside', () => {
    const text = '{"type":"record","name":"R","fields":[{"name":"a","type":"inty"}]}';
    const problem = problemFrom(() => new SchemaShelf([]).seenBy([brought(7, avro(text))]));
    expect(problem).toMatchObject({
      code: 'invalid_request',
      field: '/schemas/0/source/schema',
      position: text.indexOf('"inty"'),
    });
    expect(problem.detail.split('\n')[0]).toContain('/fields/0/type');
  });
});
