/** The registry of writer schemas on disk: what is read, what refuses and by which file, and that ids are for ever. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addSchema, readSchemaFolder } from '../../src/catalog/schema-folder.js';
import { schemaHash, type SchemaSource } from '../../src/codec/schema-source.js';
import { problemOf, type Problem, refuse } from '../../src/core/error-codes.js';
import { SCHEMA_BYTES_MAX, SCHEMA_REGISTRY_BYTES_MAX } from '../../src/core/limits.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winnow-schemas-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(file: string, content: string | Uint8Array = '"int"'): void {
  writeFileSync(join(folder, file), content);
}

function refusal(): Problem {
  try {
    readSchemaFolder(folder);
  } catch (thrown) {
    return problemOf(thrown);
  }
  throw new Error('nothing was refused');
}

const AVRO: SchemaSource = { kind: 'avro', schema: '"int"' };

async function isGood(): Promise<void> {}

async function refusedAdding(...args: Parameters<typeof addSchema>): Promise<Problem> {
  return addSchema(...args).then(
    () => {
      throw new Error('nothing was refused');
    },
    (thrown: unknown) => problemOf(thrown),
  );
}

describe('a registry that is read', () => {
  it('has the schemas of its files in the order of their ids', () => {
    put('12.shop.Order.desc', Uint8Array.of(1, 2));
    put('7.orders.avsc');
    put('8.avsc', '"long"');
    put('9.Order.proto', 'message Order {}');
    expect(readSchemaFolder(folder)).toEqual([
      { id: 7, file: '7.orders.avsc', name: 'orders', hash: schemaHash(AVRO), source: AVRO, bytes: 5 },
      expect.objectContaining({ id: 8, source: { kind: 'avro', schema: '"long"' } }),
      expect.objectContaining({
        id: 9,
        source: { kind: 'proto_text', text: 'message Order {}', messageType: 'Order' },
        bytes: 16,
      }),
      expect.objectContaining({
        id: 12,
        source: { kind: 'protobuf', descriptorSet: Uint8Array.of(1, 2), messageType: 'shop.Order' },
      }),
    ]);
  });

  it('may be empty, and has every id of 32 bits', () => {
    expect(readSchemaFolder(folder)).toEqual([]);
    put('0.avsc');
    put('4294967295.avsc');
    expect(readSchemaFolder(folder).map(({ id }) => id)).toEqual([0, 0xffff_ffff]);
  });

  it.each([
    'README.md',
    'orders.avsc',
    '07.avsc',
    '-1.avsc',
    '4294967296.avsc',
    '7.avsc.bak',
    '7..avsc',
    '7.desc',
    '8.a b.proto',
    '8.1Order.desc',
    '.7.avsc',
  ])('refuses a file called %s by its name', (file) => {
    put(file);
    const problem = refusal();
    expect(problem.code).toBe('invalid_request');
    expect(problem.detail).toContain(file);
  });

  it('refuses links and folders by their names', () => {
    put('7.avsc');
    symlinkSync(join(folder, '7.avsc'), join(folder, '8.avsc'));
    expect(refusal()).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining('8.avsc') });
    rmSync(join(folder, '8.avsc'));
    mkdirSync(join(folder, '9.avsc'));
    expect(refusal()).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining('9.avsc') });
  });

  it('refuses an id that two files have', () => {
    put('7.avsc');
    put('7.Order.desc');
    expect(refusal()).toMatchObject({ code: 'conflict', detail: expect.stringContaining('7.avsc') });
  });

  it('refuses text that is not UTF-8, and what passes a bound', () => {
    put('7.avsc', Uint8Array.of(0xff));
    expect(refusal().detail).toContain('7.avsc is not UTF-8');
    put('7.avsc', '');
    truncateSync(join(folder, '7.avsc'), SCHEMA_BYTES_MAX + 1);
    expect(refusal()).toMatchObject({ code: 'too_large', limit: SCHEMA_BYTES_MAX, given: SCHEMA_BYTES_MAX + 1 });
    for (let id = 0; id <= SCHEMA_REGISTRY_BYTES_MAX / SCHEMA_BYTES_MAX; id += 1) {
      put(`${id}.avsc`, '');
      truncateSync(join(folder, `${id}.avsc`), SCHEMA_BYTES_MAX);
    }
    expect(refusal()).toMatchObject({ code: 'too_large', limit: SCHEMA_REGISTRY_BYTES_MAX });
  });

  it('refuses a folder that is not there', () => {
    const gone = join(folder, 'gone');
    try {
      readSchemaFolder(gone);
      throw new Error('nothing was refused');
    } catch (thrown) {
      expect(problemOf(thrown)).toMatchObject({ code: 'not_found', detail: expect.stringContaining(gone) });
    }
  });

  it('refuses a file that differs from its record, and a record that is none', () => {
    put('7.avsc');
    put('ids.json', JSON.stringify({ 7: schemaHash(AVRO) }));
    expect(readSchemaFolder(folder)).toHaveLength(1);
    put('7.avsc', '"long"');
    expect(refusal()).toMatchObject({ code: 'conflict', detail: expect.stringContaining('7.avsc') });
    for (const text of ['[]', '{', '{"7":1}', '{"x":""}', `{"7":"${schemaHash(AVRO)}","7":"${schemaHash(AVRO)}"}`]) {
      put('ids.json', text);
      expect(refusal()).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining('ids.json') });
    }
  });
});

describe('adding a schema', () => {
  it('writes its bytes and records its hash', async () => {
    expect(await addSchema(folder, 7, AVRO, 'orders', isGood)).toEqual({ file: '7.orders.avsc', isNew: true });
    const proto: SchemaSource = { kind: 'protobuf', descriptorSet: Uint8Array.of(1), messageType: '.shop.Order' };
    expect(await addSchema(folder, 8, proto, undefined, isGood)).toMatchObject({ file: '8.shop.Order.desc' });
    const ids = JSON.parse(readFileSync(join(folder, 'ids.json'), 'utf8')) as object;
    expect(ids).toEqual({ 7: schemaHash(AVRO), 8: schemaHash(proto) });
    expect(readSchemaFolder(folder).map(({ id, hash }) => ({ [id]: hash }))).toEqual([
      { 7: schemaHash(AVRO) },
      { 8: schemaHash(proto) },
    ]);
  });

  it('is done already where the same schema stands under the id', async () => {
    await addSchema(folder, 7, AVRO, undefined, isGood);
    expect(await addSchema(folder, 7, AVRO, 'orders', isGood)).toEqual({ file: '7.avsc', isNew: false });
  });

  it('records a file that was put there by hand', async () => {
    put('7.avsc');
    await addSchema(folder, 7, AVRO, undefined, isGood);
    put('7.avsc', '"long"');
    expect(refusal().code).toBe('conflict');
  });

  it('refuses an id that stands, or once stood, for another schema', async () => {
    await addSchema(folder, 7, AVRO, undefined, isGood);
    const other: SchemaSource = { kind: 'avro', schema: '"long"' };
    expect(await refusedAdding(folder, 7, other, undefined, isGood)).toMatchObject({ code: 'conflict' });
    rmSync(join(folder, '7.avsc'));
    expect(await refusedAdding(folder, 7, other, undefined, isGood)).toMatchObject({ code: 'conflict' });
    expect(await addSchema(folder, 7, AVRO, undefined, isGood)).toMatchObject({ isNew: true });
  });

  it('leaves nothing behind where the schema is refused', async () => {
    const bad = async (): Promise<void> => refuse('invalid_request', 'no schema');
    expect(await refusedAdding(folder, 7, AVRO, undefined, bad)).toMatchObject({ detail: 'no schema' });
    expect(readSchemaFolder(folder)).toEqual([]);
    expect(await addSchema(folder, 7, AVRO, undefined, isGood)).toMatchObject({ isNew: true });
  });

  it('gives way to another that is at work', async () => {
    let problem: Problem | undefined;
    await addSchema(folder, 7, AVRO, undefined, async () => {
      problem = await refusedAdding(folder, 8, AVRO, undefined, isGood);
    });
    expect(problem).toMatchObject({ code: 'conflict', detail: expect.stringContaining('ids.json.tmp') });
    expect(readSchemaFolder(folder).map(({ id }) => id)).toEqual([7]);
  });

  it('refuses a message that has no such name', async () => {
    const proto: SchemaSource = { kind: 'proto_text', text: '', messageType: '../Order' };
    expect(await refusedAdding(folder, 8, proto, undefined, isGood)).toMatchObject({ code: 'invalid_request' });
  });
});
