/**
 * Schemas and payloads that other libraries wrote: the descriptor set and the text of one file compile alike, the decoder
 * reads what was meant, and the walker what the decoder reads.
 */
import { create, createFileRegistry, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import protobuf from 'protobufjs';
import descriptor, { type IDescriptorProto } from 'protobufjs/ext/descriptor.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { orbitInCodec } from '../../../bench/datasets/orbit-codecs.js';
import { ORBIT_MESSAGE, ORBIT_PROTO, orbitDescriptorSet } from '../../../bench/datasets/orbit-schemas.js';
import { orbitDataset } from '../../../bench/datasets/orbit.js';
import { decodeJson } from '../../../src/codec/json/decode.js';
import { protobufDecoder } from '../../../src/codec/protobuf/decode.js';
import { compileProtoText } from '../../../src/codec/protobuf/proto-text.js';
import { compileProtobuf, type ProtobufSchema } from '../../../src/codec/protobuf/schema.js';
import type { Value } from '../../../src/codec/value.js';
import { NO_REASON } from '../../../src/core/verdict.js';
import { pathsWithin } from '../../support/payload-corpus.js';
import {
  EVERY_KIND,
  EVERY_KIND_MESSAGE,
  type KindMessage,
  meaningOf,
  randomKindMessage,
} from '../../support/random-protobuf-messages.js';
import { ProtobufTrial } from '../../support/random-protobuf-trial.js';
import { Seeded } from '../../support/seeded.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const MESSAGES = 150;
const PATHS_MAX = 12;

const root = protobuf.parse(EVERY_KIND, { keepCase: true }).root;
const peer = root.lookupType(EVERY_KIND_MESSAGE);

/** The set as the library writes it, but names of types from the root, and entries of maps named as compilers name them. */
function descriptorSet(): Uint8Array {
  root.resolveAll();
  const set = root.toDescriptor('proto3');
  for (const file of set.file) for (const message of file.messageType ?? []) qualify(message);
  return descriptor.FileDescriptorSet.encode(set).finish();
}

function qualify(message: IDescriptorProto): void {
  const entries = (message.nestedType ?? []).map(({ name }) => name);
  for (const field of message.field ?? []) {
    if (entries.includes(field.typeName)) field.typeName = `.every.${message.name}.${field.typeName}Entry`;
    else if (field.typeName) field.typeName = `.every.${field.typeName.split('.').at(-1)}`;
  }
  for (const entry of message.nestedType ?? []) {
    qualify(entry);
    entry.name = `${entry.name}Entry`;
  }
}

let set: Uint8Array;
let schema: ProtobufSchema;
let kind: DescMessage;

beforeAll(() => {
  set = descriptorSet();
  schema = compileProtobuf(set, EVERY_KIND_MESSAGE);
  kind = createFileRegistry(fromBinary(FileDescriptorSetSchema, set)).getMessage(EVERY_KIND_MESSAGE)!;
});

function check(payload: Uint8Array, of: ProtobufSchema, meant: Value): void {
  const decoded = protobufDecoder(of)(payload, LIMITS);
  expect(decoded).toEqual({ ok: true, value: meant });
  expect(new ProtobufTrial([of], pathsWithin(meant, PATHS_MAX), LIMITS).check(payload)).toBe(NO_REASON);
}

/** As the first library takes a message: 64-bit integers as text. */
function forProtobufjs(given: unknown): unknown {
  if (typeof given === 'bigint') return String(given);
  if (given instanceof Uint8Array || typeof given !== 'object' || given === null) return given;
  if (Array.isArray(given)) return given.map(forProtobufjs);
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, forProtobufjs(value)]));
}

/** As the second one takes it: the member of a oneof under the oneof's name. */
function forBufbuild(message: KindMessage): Record<string, unknown> {
  const init: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(message)) {
    const converted = convert(field, value);
    if (['word', 'number', 'other'].includes(field)) init['choice'] = { case: field, value: converted };
    else init[field] = converted;
  }
  return init;
}

function convert(field: string, value: unknown): unknown {
  if (field === 'nested' || field === 'other') return forBufbuild(value as KindMessage);
  if (field === 'many') return (value as KindMessage[]).map(forBufbuild);
  if (field !== 'kinds') return value;
  return Object.fromEntries(
    Object.entries(value as object).map(([key, one]) => [key, forBufbuild(one as KindMessage)]),
  );
}

describe('one file', () => {
  it('compiles to the same schema from its text and from its descriptor set', () => {
    expect(compileProtoText(EVERY_KIND, EVERY_KIND_MESSAGE)).toEqual(schema);
    expect(compileProtoText(ORBIT_PROTO, ORBIT_MESSAGE)).toEqual(compileProtobuf(orbitDescriptorSet(), ORBIT_MESSAGE));
  });
});

describe('messages of every kind of field', () => {
  it('are read as protobufjs wrote them', () => {
    const random = new Seeded(61);
    for (let round = 0; round < MESSAGES; round++) {
      const message = randomKindMessage(random);
      const payload = peer.encode(peer.fromObject(forProtobufjs(message) as Record<string, unknown>)).finish();
      check(payload, schema, meaningOf(message));
    }
  });

  it('are read as @bufbuild/protobuf wrote them', () => {
    const random = new Seeded(62);
    for (let round = 0; round < MESSAGES; round++) {
      const message = randomKindMessage(random);
      check(toBinary(kind, create(kind, forBufbuild(message) as never)), schema, meaningOf(message));
    }
  });

  it('merge where two payloads stand behind one another, as both libraries have it', () => {
    const random = new Seeded(63);
    for (let round = 0; round < MESSAGES; round++) {
      const parts = [0, 1].map(() => toBinary(kind, create(kind, forBufbuild(randomKindMessage(random, 2)) as never)));
      const payload = Buffer.concat(parts);
      const merged = toBinary(kind, fromBinary(kind, payload));
      const decode = protobufDecoder(schema);
      expect(decode(payload, LIMITS)).toEqual(decode(merged, LIMITS));
      const decoded = decode(payload, LIMITS);
      if (decoded.ok) check(payload, schema, decoded.value);
    }
  });
});

describe('orbit', () => {
  it('says in Protobuf what it says in JSON, null as what is not set', () => {
    const orbit = compileProtobuf(orbitDescriptorSet(), ORBIT_MESSAGE);
    const [inJson, inProtobuf] = [orbitDataset({ seed: 1 }), orbitInCodec('protobuf')];
    const trial = new ProtobufTrial(
      [orbit],
      [['after', 'mode'], ['before', 'mode'], ['changed'], ['op'], ['source', 'txid'], ['table']],
      LIMITS,
    );
    for (let index = 0; index < 200; index++) {
      const { payload } = inProtobuf.record(index);
      const decoded = protobufDecoder(orbit)(payload, LIMITS);
      const meant = decodeJson(inJson.record(index).payload, LIMITS);
      if (!decoded.ok || !meant.ok) throw new Error(`record ${index} was not read`);
      expect(alike(decoded.value)).toEqual(alike(meant.value));
      expect(trial.check(payload)).toBe(NO_REASON);
    }
  });
});

/** Without nulls, and numbers without a kind: a double field holds a whole number of the JSON text as a double. */
function alike(value: Value): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(alike);
  if (!(value instanceof Map)) return value;
  return new Map([...value].filter(([, inner]) => inner !== null).map(([key, inner]) => [key, alike(inner)]));
}
