/**
 * Planning the writer schemas of a request (contract: scan-protocol §1 `schemas`): shapes that a kind of schema has,
 * bytes and their bounds. Pure; they are compiled in a worker, which also knows those of the registry.
 */
import type { SchemaSource } from '../codec/schema-source.js';
import { refuse } from '../core/error-codes.js';
import { MESSAGE_TYPE_BYTES_MAX, SCHEMA_BYTES_MAX, SCHEMAS_BYTES_MAX } from '../core/limits.js';
import type { SchemaInput } from '../wire/scan-request.js';
import type { SchemaSpec } from './task.js';

/** The schemas at `/schemas`, or a refusal with its pointer. */
export function planSchemas(inputs: readonly SchemaInput[] = []): readonly SchemaSpec[] {
  const ids = new Set<number>();
  let bytes = 0;
  return inputs.map(({ id, source: input }, index) => {
    const field = `/schemas/${index}`;
    if (ids.has(id)) refuse('invalid_request', 'A schema id is given twice.', { field: `${field}/id`, given: id });
    ids.add(id);
    const { source, length } = planSource(input, `${field}/source`);
    bytes += length;
    if (bytes > SCHEMAS_BYTES_MAX) {
      refuse('too_large', `The schemas of a request have at most ${SCHEMAS_BYTES_MAX} bytes together.`, {
        field: '/schemas',
        limit: SCHEMAS_BYTES_MAX,
        given: bytes,
      });
    }
    return { id, source, bytes: length };
  });
}

type SourceInput = SchemaInput['source'];

/** Members that each kind has. */
const MEMBERS = { avro: ['schema'], protobuf: ['descriptor_set', 'message_type'] } as const;

function planSource(input: SourceInput, field: string): { readonly source: SchemaSource; readonly length: number } {
  const { kind, schema, descriptor_set: descriptorSet, message_type: messageType } = input;
  const wanted: readonly string[] = MEMBERS[kind];
  for (const name of ['schema', 'descriptor_set', 'message_type'] as const) {
    if (input[name] === undefined && wanted.includes(name)) {
      refuse('invalid_request', `A source of kind ${kind} needs ${wanted.join(' and ')}.`, {
        field: `${field}/${name}`,
      });
    }
    if (input[name] !== undefined && !wanted.includes(name)) {
      refuse('invalid_request', `A source of kind ${kind} has no ${name}.`, { field: `${field}/${name}` });
    }
  }
  if (kind === 'avro') {
    const length = Buffer.byteLength(schema!);
    checkLength(length, `${field}/schema`);
    return { source: { kind, schema: schema! }, length };
  }
  const given = Buffer.byteLength(messageType!);
  if (given > MESSAGE_TYPE_BYTES_MAX) {
    refuse('invalid_request', `The name of a message has at most ${MESSAGE_TYPE_BYTES_MAX} bytes.`, {
      field: `${field}/message_type`,
      limit: MESSAGE_TYPE_BYTES_MAX,
      given,
    });
  }
  const bytes = bytesOf(descriptorSet!, `${field}/descriptor_set`);
  return { source: { kind, descriptorSet: bytes, messageType: messageType! }, length: bytes.byteLength };
}

/** The bytes in memory of their own: what refers to a part of a body keeps, and carries to a worker, all of it. */
function bytesOf(input: NonNullable<SourceInput['descriptor_set']>, field: string): Uint8Array {
  if (typeof input === 'string') {
    if (input.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(input)) {
      refuse('invalid_request', 'The bytes of a descriptor set are not base64.', { field });
    }
    checkLength((input.length / 4) * 3 - (input.endsWith('==') ? 2 : input.endsWith('=') ? 1 : 0), field);
    return new Uint8Array(Buffer.from(input, 'base64'));
  }
  if (input instanceof Uint8Array) {
    checkLength(input.byteLength, field);
    return new Uint8Array(input);
  }
  if (!Array.isArray(input)) {
    return refuse('invalid_request', 'A descriptor set is base64 text or a list of byte numbers, in MessagePack bin.', {
      field,
    });
  }
  checkLength(input.length, field);
  const bytes = new Uint8Array(input.length);
  for (let at = 0; at < input.length; at += 1) {
    const byte: unknown = input[at];
    if (typeof byte !== 'number' || byte < 0 || byte > 255 || !Number.isInteger(byte)) {
      refuse('invalid_request', 'A byte is a number of 0…255.', { field: `${field}/${at}` });
    }
    bytes[at] = byte;
  }
  return bytes;
}

function checkLength(given: number, field: string): void {
  if (given > SCHEMA_BYTES_MAX) {
    refuse('invalid_request', `A schema has at most ${SCHEMA_BYTES_MAX} bytes.`, {
      field,
      limit: SCHEMA_BYTES_MAX,
      given,
    });
  }
}
