/** Planning the schemas of a request: the bytes that a kind has, and the pointer of every refusal (scan-protocol §1). */
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/core/error-codes.js';
import { SCHEMA_BYTES_MAX, SCHEMAS_BYTES_MAX } from '../../src/core/limits.js';
import { planSchemas } from '../../src/scan/plan-schemas.js';
import { checked } from '../../src/wire/check.js';
import { SchemasSchema } from '../../src/wire/scan-request.js';

function plan(schemas: unknown) {
  return planSchemas(checked(SchemasSchema, schemas));
}

function refused(schemas: unknown): Problem {
  try {
    plan(schemas);
  } catch (thrown) {
    return (thrown as { problem: Problem }).problem;
  }
  throw new Error('nothing was refused');
}

const AVRO = { kind: 'avro', schema: '"int"' };

function protobuf(descriptorSet: unknown, messageType: unknown = 'a.B'): object {
  return { kind: 'protobuf', descriptor_set: descriptorSet, message_type: messageType };
}

describe('schemas of a request', () => {
  it('are text for Avro', () => {
    expect(plan([{ id: 7, source: AVRO }])).toEqual([{ id: 7, source: { kind: 'avro', schema: '"int"' }, bytes: 5 }]);
    expect(planSchemas(undefined)).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['base64', 'AQL/'],
    ['byte numbers', [1, 2, 255]],
    ['bin', Uint8Array.of(1, 2, 255)],
  ])('are bytes for Protobuf, given as %s', (_name, given) => {
    const [schema] = plan([{ id: 0, source: protobuf(given) }]);
    expect(schema!.source).toMatchObject({ kind: 'protobuf', messageType: 'a.B' });
    expect(schema!.bytes).toBe(3);
    expect([...(schema!.source as { descriptorSet: Uint8Array }).descriptorSet]).toEqual([1, 2, 255]);
  });

  it('have an id of 32 bits each', () => {
    expect(plan([{ id: 0xffff_ffff, source: AVRO }])[0]!.id).toBe(0xffff_ffff);
    expect(refused([{ id: 2 ** 32, source: AVRO }])).toMatchObject({ field: '/0/id' });
    expect(refused([{ id: -1, source: AVRO }])).toMatchObject({ field: '/0/id' });
  });

  it.each<[string, unknown, string]>([
    ['an id given twice', [AVRO, AVRO].map((source) => ({ id: 7, source })), '/schemas/1/id'],
    ['Avro without its text', [{ id: 7, source: { kind: 'avro' } }], '/schemas/0/source/schema'],
    ['Avro with a message', [{ id: 7, source: { ...AVRO, message_type: 'a' } }], '/schemas/0/source/message_type'],
    ['Protobuf with text', [{ id: 7, source: { ...protobuf('AA=='), schema: '' } }], '/schemas/0/source/schema'],
    [
      'Protobuf without its message',
      [{ id: 7, source: { kind: 'protobuf', descriptor_set: 'AA==' } }],
      '/schemas/0/source/message_type',
    ],
    ['what is not base64', [{ id: 7, source: protobuf('A') }], '/schemas/0/source/descriptor_set'],
    ['what is no byte', [{ id: 7, source: protobuf([1, 256]) }], '/schemas/0/source/descriptor_set/1'],
    ['half a byte', [{ id: 7, source: protobuf([0.5]) }], '/schemas/0/source/descriptor_set/0'],
    ['a number for bytes', [{ id: 7, source: protobuf(3) }], '/schemas/0/source/descriptor_set'],
    [
      'a name that is long in bytes',
      [{ id: 7, source: protobuf('AA==', 'é'.repeat(600)) }],
      '/schemas/0/source/message_type',
    ],
  ])('refuse %s', (_name, schemas, field) => {
    expect(refused(schemas)).toMatchObject({ code: 'invalid_request', field });
  });

  it('have at most a MiB each, in whichever form', () => {
    const bytes = new Uint8Array(SCHEMA_BYTES_MAX + 1);
    for (const given of [bytes, Buffer.from(bytes).toString('base64'), [...bytes]]) {
      expect(refused([{ id: 7, source: protobuf(given) }])).toMatchObject({
        field: '/schemas/0/source/descriptor_set',
        limit: SCHEMA_BYTES_MAX,
        given: SCHEMA_BYTES_MAX + 1,
      });
    }
    const text = { kind: 'avro', schema: 'é'.repeat(SCHEMA_BYTES_MAX / 2) };
    expect(plan([{ id: 7, source: text }])).toHaveLength(1);
    const longer = { kind: 'avro', schema: `${text.schema} ` };
    expect(refused([{ id: 7, source: longer }])).toMatchObject({ given: SCHEMA_BYTES_MAX + 1 });
  });

  it('have a bound together', () => {
    const source = { kind: 'avro', schema: ' '.repeat(SCHEMA_BYTES_MAX) };
    const count = SCHEMAS_BYTES_MAX / SCHEMA_BYTES_MAX + 1;
    const schemas = Array.from({ length: count }, (_, id) => ({ id, source }));
    expect(plan(schemas.slice(1))).toHaveLength(count - 1);
    expect(refused(schemas)).toMatchObject({ code: 'too_large', field: '/schemas', limit: SCHEMAS_BYTES_MAX });
  });

  it('of other kinds are named as such', () => {
    expect(refused([{ id: 7, source: { kind: 'thrift', schema: '' } }])).toMatchObject({
      field: '/0/source/kind',
      given: 'thrift',
    });
  });
});
