/**
 * Random Protobuf schemas and payloads: messages that hold each other in every way, over a small alphabet of names and
 * map keys, so that paths hit; payloads written field by field in every legal spelling, merged, repeated, interleaved,
 * and now and then in one that is not legal.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  Edition,
  EnumDescriptorProtoSchema,
  FeatureSet_FieldPresence,
  type FieldDescriptorProto,
  FieldDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldOptionsSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  OneofDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';
import type { ProtobufField, ProtobufMessage } from '../../src/codec/protobuf/message.js';
import { comparePaths, type Path } from '../../src/core/path.js';
import { ProtobufBytes, WIRE_TYPES } from './random-protobuf-bytes.js';
import type { Seeded } from './seeded.js';

const NAMES = ['a', 'b', 'c', 'mode', 'k_1', 'é', 'deep', 'z'];
const TEXTS = ['', 'a', 'b', 'mode', 'safe mode', 'é', '🛰 station', 'nine char', 'a\u0000b', '0', 'true'];
const INTEGERS = [
  0n,
  1n,
  2n,
  7n,
  127n,
  128n,
  255n,
  300n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 32n,
  2n ** 32n + 5n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 1n,
  2n ** 64n - 2n,
  2n ** 64n - 2n ** 53n,
  2n ** 64n - 2n ** 53n + 1n,
  2n ** 64n - 2n ** 31n,
  2n ** 54n - 1n,
  2n ** 54n - 2n,
];
const DOUBLES = [0, -0, 1, 0.5, -1.25, 1e300, 5e-324, 3.5e38];

/** Steps of paths: names of fields, keys of maps and indexes. */
const STEPS: readonly (string | number)[] = [
  ...NAMES,
  '',
  '0',
  '1',
  '-1',
  '7',
  '300',
  'true',
  'false',
  'safe mode',
  '18446744073709551615',
  '-9223372036854775808',
  0,
  1,
  2,
  5,
];

/** Paths over the names that random schemas have, in order, each once. */
export function randomProtobufPaths(random: Seeded): Path[] {
  const paths: Path[] = random.chance(0.2) ? [[]] : [];
  for (let count = random.below(14); count > 0; count--) {
    paths.push(Array.from({ length: 1 + random.below(4) }, () => random.pick(STEPS)));
  }
  return inOrder(paths);
}

/** Paths that lead somewhere in messages of one type, in order, each once. */
export function fittingProtobufPaths(random: Seeded, root: ProtobufMessage): Path[] {
  const paths: Path[] = random.chance(0.2) ? [[]] : [];
  for (let count = 1 + random.below(14); count > 0; count--) paths.push(fittingPath(random, root));
  return inOrder(paths);
}

function fittingPath(random: Seeded, root: ProtobufMessage): Path {
  const path: (string | number)[] = [];
  let message: ProtobufMessage | null = root;
  while (
    message !== null &&
    message.fields.length > 0 &&
    path.length < 6 &&
    (path.length === 0 || random.chance(0.8))
  ) {
    const field: ProtobufField = random.pick(message.fields);
    path.push(field.name);
    let { type, message: held } = field;
    if (field.shape === 'map') {
      if (random.chance(0.2)) break;
      path.push(random.pick(STEPS.filter((step) => typeof step === 'string')));
      const value = field.message!.byNumber.get(2)!;
      type = value.type;
      held = value.message;
    } else if (field.shape === 'repeated') {
      if (random.chance(0.4)) break;
      path.push(random.below(4));
    }
    if (type === 'bytes' && random.chance(0.5)) path.push(random.below(3));
    message = held;
  }
  return path;
}

function inOrder(paths: Path[]): Path[] {
  const sorted = paths.sort(comparePaths);
  return sorted.filter((path, index) => index === 0 || comparePaths(sorted[index - 1]!, path) !== 0);
}

const SCALARS = [
  Type.DOUBLE,
  Type.FLOAT,
  Type.INT64,
  Type.UINT64,
  Type.INT32,
  Type.FIXED64,
  Type.FIXED32,
  Type.BOOL,
  Type.STRING,
  Type.BYTES,
  Type.UINT32,
  Type.SFIXED32,
  Type.SFIXED64,
  Type.SINT32,
  Type.SINT64,
];
const KEYS = SCALARS.filter((type) => ![Type.DOUBLE, Type.FLOAT, Type.BYTES].includes(type));
const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 15, 16, 17, 31, 40, 100, 2047, 2048, 20_000, 2 ** 29 - 1];

/** An encoded descriptor set whose root is `r.M0`. `chanceRequired` is that of a proto2 field without a oneof. */
export function randomDescriptorSet(random: Seeded, chanceRequired = 0.1): Uint8Array {
  const syntax = random.pick(['proto2', 'proto3', 'editions'] as const);
  const file = create(FileDescriptorProtoSchema, { name: 'r.proto', package: 'r', syntax });
  if (syntax === 'editions') file.edition = random.pick([Edition.EDITION_2023, Edition.EDITION_2024]);
  const first = syntax === 'proto2' ? random.pick([0, 3, -2]) : 0;
  file.enumType.push(create(EnumDescriptorProtoSchema, { name: 'E', value: [{ name: 'FIRST', number: first }] }));
  const count = 1 + random.below(5);
  for (let index = 0; index < count; index++) addMessage(random, file, index, count, chanceRequired);
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] }));
}

function addMessage(
  random: Seeded,
  file: FileDescriptorProto,
  index: number,
  count: number,
  chanceRequired: number,
): void {
  const message = create(DescriptorProtoSchema, { name: `M${index}` });
  const numbers = [...NUMBERS];
  const oneofs = random.below(3);
  for (let oneof = 0; oneof < oneofs; oneof++) {
    message.oneofDecl.push(create(OneofDescriptorProtoSchema, { name: `o${oneof}` }));
  }
  for (const name of NAMES) {
    if (random.chance(0.3)) continue;
    const among = Math.min(numbers.length, random.chance(0.7) ? 8 : 20);
    const number = numbers.splice(random.below(among), 1)[0]!;
    const field = create(FieldDescriptorProtoSchema, { name, number, label: Label.OPTIONAL });
    message.field.push(field);
    setType(random, field, count);
    if (random.chance(0.2)) {
      field.label = Label.REPEATED;
      field.type = Type.MESSAGE;
      field.typeName = `.r.M${index}.${name}Entry`;
      message.nestedType.push(mapEntry(random, `${name}Entry`, count));
    } else if (random.chance(0.25)) {
      field.label = Label.REPEATED;
    } else if (oneofs > 0 && random.chance(0.4)) {
      field.oneofIndex = random.below(oneofs);
    } else if (file.syntax === 'proto2' && random.chance(chanceRequired)) {
      field.label = Label.REQUIRED;
    } else if (file.syntax === 'editions' && random.chance(0.4)) {
      const presences = [FeatureSet_FieldPresence.IMPLICIT, FeatureSet_FieldPresence.EXPLICIT];
      if (random.chance(chanceRequired)) presences.push(FeatureSet_FieldPresence.LEGACY_REQUIRED);
      field.options = create(FieldOptionsSchema, { features: { fieldPresence: random.pick(presences) } });
    }
  }
  file.messageType.push(message);
}

function mapEntry(random: Seeded, name: string, messages: number): DescriptorProto {
  const key = create(FieldDescriptorProtoSchema, {
    name: 'key',
    number: 1,
    label: Label.OPTIONAL,
    type: random.pick(KEYS),
  });
  const value = create(FieldDescriptorProtoSchema, { name: 'value', number: 2, label: Label.OPTIONAL });
  setType(random, value, messages);
  return create(DescriptorProtoSchema, { name, options: { mapEntry: true }, field: [key, value] });
}

function setType(random: Seeded, field: FieldDescriptorProto, messages: number): void {
  if (random.chance(0.3)) {
    field.type = Type.MESSAGE;
    field.typeName = `.r.M${random.below(messages)}`;
  } else if (random.chance(0.1)) {
    field.type = Type.ENUM;
    field.typeName = '.r.E';
  } else {
    field.type = random.pick(SCALARS);
  }
}

/** How a payload is written. */
export interface PayloadStyle {
  /** Chance that a field is left to what the schema says of fields that are not there, required ones too. */
  readonly chanceLeft: number;
  /** Chance of each field to be written against the rules. */
  readonly chanceFault: number;
  readonly levelsMax: number;
}

/** A payload of a message. Even one without faults may lack what is required, or nest too deep. */
export function randomPayload(random: Seeded, root: ProtobufMessage, style: PayloadStyle): Uint8Array {
  return new Writer(random, style).message(root, 0);
}

class Writer {
  private readonly random: Seeded;
  private readonly style: PayloadStyle;
  private readonly bytes: ProtobufBytes;

  constructor(random: Seeded, style: PayloadStyle) {
    this.random = random;
    this.style = style;
    this.bytes = new ProtobufBytes(random);
  }

  message(type: ProtobufMessage, level: number): Uint8Array {
    const { random, style } = this;
    const parts: Uint8Array[] = [];
    for (const field of type.fields) {
      if (random.chance(field.presence === 'required' ? style.chanceLeft / 4 : style.chanceLeft)) continue;
      const isDeep = level >= style.levelsMax && field.message !== null;
      const times = isDeep ? (random.chance(0.1) ? 1 : 0) : random.pick([1, 1, 1, 2, 3]);
      for (let time = 0; time < times; time++) parts.push(this.field(field, level));
    }
    if (random.chance(0.2)) parts.push(this.unknown());
    // Occurrences of different fields stand in any order.
    if (random.chance(0.5)) parts.sort(() => random.next() - 0.5);
    return this.bytes.joined(parts);
  }

  private field(field: ProtobufField, level: number): Uint8Array {
    const { random, bytes } = this;
    if (random.chance(this.style.chanceFault)) return this.fault(field);
    if (field.shape === 'repeated' && WIRE_TYPES[field.type] !== 2 && random.chance(0.5)) {
      const elements = Array.from({ length: random.below(5) }, () => this.value(field, level));
      return bytes.joined([bytes.tag(field.number, 2), bytes.sized(bytes.joined(elements))]);
    }
    return bytes.joined([bytes.tag(field.number, WIRE_TYPES[field.type]), this.value(field, level)]);
  }

  /** The value of a field, or of an element, behind its tag. */
  private value(field: ProtobufField, level: number): Uint8Array {
    const { random, bytes } = this;
    switch (field.type) {
      case 'message':
        return bytes.sized(
          field.shape === 'map' ? this.entry(field.message!, level) : this.message(field.message!, level + 1),
        );
      case 'string':
        return bytes.sized(new TextEncoder().encode(random.pick(TEXTS)));
      case 'bytes':
        return bytes.sized(Uint8Array.from({ length: random.below(4) }, () => random.below(256)));
      case 'double':
        return bytes.double(random.pick(DOUBLES));
      case 'float':
        return bytes.float(random.pick(DOUBLES.filter((value) => Number.isFinite(Math.fround(value)))));
      case 'fixed64':
      case 'sfixed64':
        return bytes.fixed64(random.pick(INTEGERS));
      case 'fixed32':
      case 'sfixed32':
        return bytes.fixed32(random.pick(INTEGERS));
      default:
        return bytes.varint(random.pick(INTEGERS));
    }
  }

  private entry(entry: ProtobufMessage, level: number): Uint8Array {
    const { random } = this;
    const parts: Uint8Array[] = [];
    const [key, value] = [entry.byNumber.get(1)!, entry.byNumber.get(2)!];
    for (let times = random.pick([0, 1, 1, 1, 1, 2]); times > 0; times--) parts.push(this.field(key, level + 1));
    const isDeep = level >= this.style.levelsMax && value.message !== null;
    for (let times = isDeep ? 0 : random.pick([0, 1, 1, 1, 1, 2]); times > 0; times--)
      parts.push(this.field(value, level + 1));
    if (random.chance(0.1)) parts.push(this.unknown());
    if (random.chance(0.3)) parts.sort(() => random.next() - 0.5);
    return this.bytes.joined(parts);
  }

  /** A field that no schema declares. */
  private unknown(): Uint8Array {
    const { random, bytes } = this;
    const number = random.pick([9, 14, 300, 5000, 2 ** 28]);
    switch (random.below(4)) {
      case 0:
        return bytes.joined([bytes.tag(number, 0), bytes.varint(random.pick(INTEGERS))]);
      case 1:
        return bytes.joined([bytes.tag(number, 1), bytes.fixed64(2n ** 64n - 1n)]);
      case 2:
        return bytes.joined([bytes.tag(number, 2), bytes.sized(Uint8Array.from([0xff, 0x0b, 0x80]))]);
      default:
        return bytes.joined([bytes.tag(number, 5), bytes.fixed32(2n ** 32n - 1n)]);
    }
  }

  private fault(field: ProtobufField): Uint8Array {
    const { random, bytes } = this;
    const tag = bytes.tag(field.number, WIRE_TYPES[field.type]);
    switch (random.below(8)) {
      case 0:
        return bytes.joined([bytes.tag(field.number, random.pick([0, 1, 2, 3, 4, 5, 6, 7])), bytes.varint(1n)]);
      case 1:
        return Uint8Array.from([0x00, 0x01]);
      case 2:
        return bytes.joined([tag, Uint8Array.from([0x80])]);
      case 3:
        return bytes.joined([
          tag,
          Uint8Array.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, random.below(4)]),
        ]);
      case 4:
        return bytes.joined([tag, bytes.double(random.pick([Number.NaN, Number.POSITIVE_INFINITY]))]);
      case 5:
        return bytes.joined([tag, bytes.sized(Uint8Array.from([0x41, 0xc3, 0x28]))]);
      case 6:
        return bytes.joined([bytes.tag(field.number, 3), bytes.tag(field.number, 4)]);
      default:
        return Uint8Array.from([0x82, 0x80, 0x80, 0x80, random.below(32), 0x01, 0x07]);
    }
  }
}
