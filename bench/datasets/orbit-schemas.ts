/**
 * The writer schemas of `orbit`: one Avro record and one Protobuf message, written as a team would that moves the JSON
 * records over. Null stays null in Avro (a union) and is an unset field in Protobuf; decimal strings stay strings; `op`
 * is an Avro enum; transaction ids are exact 64-bit integers.
 *
 * Invariant: field names are those of the JSON records, so one path means the same in every codec.
 */
import avsc from 'avsc';
import protobuf from 'protobufjs';
import descriptor, { type IDescriptorProto } from 'protobufjs/ext/descriptor.js';
import type { SchemaSource } from '../../src/codec/schema-source.js';
import { once } from '../harness.js';

/** What `agdx.sid` of the records names. */
export const ORBIT_SCHEMA_IDS = { avro: 41, protobuf: 42 } as const;

/** The message of {@link ORBIT_PROTO}. */
export const ORBIT_MESSAGE = 'orbit.Change';

const record = (name: string, ...fields: readonly (readonly [name: string, type: unknown])[]) => ({
  type: 'record',
  name,
  fields: fields.map(([field, type]) => ({ name: field, type })),
});

const STRINGS = { type: 'array', items: 'string' };

const STATE = record(
  'State',
  ['id', 'int'],
  ['mode', 'string'],
  ['fuel', 'double'],
  ['battery', record('Battery', ['charge', 'double'], ['temp_c', 'double'])],
  ['orbit', record('Elements', ['alt_km', 'double'], ['inc', 'double'])],
  ['stations', STRINGS],
);

const SOURCE = record(
  'Source',
  ['region', 'string'],
  ['unit', 'string'],
  ['slot', 'int'],
  ['txid', 'long'],
  ['replayed', ['null', 'boolean']],
);

/** The Avro schema, as its JSON text. */
export const ORBIT_AVRO = JSON.stringify(
  record(
    'orbit.Change',
    ['table', 'string'],
    ['op', { type: 'enum', name: 'Operation', symbols: ['c', 'u', 'd'] }],
    ['changed', STRINGS],
    ['before', STATE],
    ['after', 'State'],
    ['source', SOURCE],
    ['cargo', ['null', record('Cargo', ['kind', 'string'], ['mass_kg', 'string'])]],
    ['remark', 'string'],
  ),
);

/** The Protobuf schema, as the text of its file. */
export const ORBIT_PROTO = `syntax = "proto3";
package orbit;

message Change {
  string table = 1;
  string op = 2;
  repeated string changed = 3;
  State before = 4;
  State after = 5;
  Source source = 6;
  Cargo cargo = 7;
  string remark = 8;
}

message State {
  int32 id = 1;
  string mode = 2;
  double fuel = 3;
  Battery battery = 4;
  Elements orbit = 5;
  repeated string stations = 6;
}

message Battery {
  double charge = 1;
  double temp_c = 2;
}

message Elements {
  double alt_km = 1;
  double inc = 2;
}

message Source {
  string region = 1;
  string unit = 2;
  int32 slot = 3;
  int64 txid = 4;
  optional bool replayed = 5;
}

message Cargo {
  string kind = 1;
  string mass_kg = 2;
}
`;

const protoRoot = once(() => protobuf.parse(ORBIT_PROTO, { keepCase: true }).root);

/** The message as `protobufjs` reads and writes it; 64-bit integers are `Long`s, which is its default. */
export const orbitMessage = once(() => protoRoot().lookupType(ORBIT_MESSAGE));

/** {@link ORBIT_PROTO} as an encoded FileDescriptorSet. */
export const orbitDescriptorSet = once((): Uint8Array => {
  const set = protoRoot().toDescriptor('proto3');
  for (const file of set.file) file.messageType?.forEach((message) => qualify(message, `.${file.package}.`));
  return descriptor.FileDescriptorSet.encode(set).finish();
});

/** Both schemas under their ids; each source is made when it is asked for. */
export const ORBIT_SCHEMAS: readonly { readonly id: number; source(): SchemaSource }[] = [
  { id: ORBIT_SCHEMA_IDS.avro, source: () => ({ kind: 'avro', schema: ORBIT_AVRO }) },
  {
    id: ORBIT_SCHEMA_IDS.protobuf,
    source: () => ({ kind: 'protobuf', descriptorSet: orbitDescriptorSet(), messageType: ORBIT_MESSAGE }),
  },
];

/** The library writes names of types as short as it may; descriptors want them from the root. All stand in `scope`. */
function qualify(message: IDescriptorProto, scope: string): void {
  for (const field of message.field ?? []) {
    if (field.typeName !== undefined && field.typeName !== '')
      field.typeName = scope + field.typeName.split('.').at(-1);
  }
}

/** A long of `avsc` as a bigint: by default it refuses those beyond 2^53. */
export function bigintLong(): avsc.Type {
  return avsc.types.LongType['__with']({
    fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
    toBuffer(value: bigint) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(value);
      return bytes;
    },
    fromJSON: BigInt,
    toJSON: Number,
    isValid: (value: unknown) => typeof value === 'bigint',
    compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
  });
}

/** The record as `avsc` reads and writes it. */
export const orbitRecord = once(() =>
  avsc.Type.forSchema(JSON.parse(ORBIT_AVRO) as avsc.Schema, { registry: { long: bigintLong() } }),
);
