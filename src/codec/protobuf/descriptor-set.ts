/**
 * Reads a FileDescriptorSet (descriptor.proto) into declarations, its features resolved: proto2 and proto3 are what
 * editions call them, so every syntax comes out the same.
 *
 * Extensions, services, options and reserved ranges say nothing of the fields that a filter can name, and are not looked
 * at. Invariant: recursion is bounded by the levels of a schema.
 */
import { fromBinary, isFieldSet } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  Edition,
  type EnumDescriptorProto,
  FeatureSet_FieldPresence,
  FeatureSet_MessageEncoding,
  type FeatureSet,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { refuse } from '../../core/error-codes.js';
import { SCHEMA_DEPTH_MAX } from '../../core/limits.js';
import {
  type DeclaredEnum,
  type DeclaredField,
  type DeclaredFile,
  type DeclaredMessage,
  FIELD_TYPES,
  type FieldType,
  type Presence,
} from './declaration.js';
import { shown } from './shown.js';

/** What of a feature set changes how payloads are read. */
interface Features {
  readonly presence: FeatureSet_FieldPresence;
  readonly encoding: FeatureSet_MessageEncoding;
}

/** Levels of the set itself around its outermost messages, and below the innermost: fields, options, features, and more. */
const LEVELS_AROUND = 16;

/** The files of a set, in its order. Throws a `Refusal` `invalid_request` for bytes that are no descriptor set. */
export function readDescriptorSet(bytes: Uint8Array): DeclaredFile[] {
  let files: readonly FileDescriptorProto[];
  try {
    const options = { recursionLimit: SCHEMA_DEPTH_MAX + LEVELS_AROUND, readUnknownFields: false };
    files = fromBinary(FileDescriptorSetSchema, bytes, options).file;
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    return refuse(
      'invalid_request',
      `The descriptor set is no encoded google.protobuf.FileDescriptorSet: ${thrown.message}.`,
    );
  }
  return files.map(declaredFile);
}

/** One file of a set. Throws a `Refusal` `invalid_request` for syntaxes and editions that are not known. */
export function declaredFile(file: FileDescriptorProto): DeclaredFile {
  const features = override(fileFeatures(file), file.options?.features);
  return {
    name: file.name,
    package: file.package,
    imports: file.dependency,
    messages: file.messageType.map((message) => declaredMessage(message, features, file, 1)),
    enums: file.enumType.map(declaredEnum),
  };
}

function fileFeatures(file: FileDescriptorProto): Features {
  const encoding = FeatureSet_MessageEncoding.LENGTH_PREFIXED;
  switch (file.syntax) {
    case '':
    case 'proto2':
      return { presence: FeatureSet_FieldPresence.EXPLICIT, encoding };
    case 'proto3':
      return { presence: FeatureSet_FieldPresence.IMPLICIT, encoding };
    case 'editions':
      // What is read here has the same defaults in all editions up to now.
      if (EDITIONS.has(file.edition)) return { presence: FeatureSet_FieldPresence.EXPLICIT, encoding };
      return refuse('invalid_request', `File ${shown(file.name)} is of an edition that is not known here.`, {
        given: Edition[file.edition] ?? file.edition,
        limit: [...EDITIONS].map((edition) => Edition[edition]).join(', '),
      });
    default:
      return refuse('invalid_request', `File ${shown(file.name)} is of a syntax that is not known here.`, {
        given: shown(file.syntax),
        limit: 'proto2, proto3, editions',
      });
  }
}

const EDITIONS: ReadonlySet<Edition> = new Set([Edition.EDITION_2023, Edition.EDITION_2024, Edition.EDITION_2026]);

function override(inherited: Features, own: FeatureSet | undefined): Features {
  if (own === undefined) return inherited;
  return {
    presence: own.fieldPresence || inherited.presence,
    encoding: own.messageEncoding || inherited.encoding,
  };
}

function declaredMessage(
  message: DescriptorProto,
  inherited: Features,
  file: FileDescriptorProto,
  level: number,
): DeclaredMessage {
  if (level > SCHEMA_DEPTH_MAX) {
    refuse('invalid_request', `Messages of file ${shown(file.name)} are declared within one another too deep.`, {
      limit: SCHEMA_DEPTH_MAX,
      given: level,
    });
  }
  const features = override(inherited, message.options?.features);
  return {
    name: message.name,
    isMapEntry: message.options?.mapEntry === true,
    oneofCount: message.oneofDecl.length,
    fields: message.field.map((field) => declaredField(field, features)),
    messages: message.nestedType.map((nested) => declaredMessage(nested, features, file, level + 1)),
    enums: message.enumType.map(declaredEnum),
  };
}

function declaredEnum({ name, value }: EnumDescriptorProto): DeclaredEnum {
  return { name, firstNumber: value[0]?.number ?? null };
}

function declaredField(field: FieldDescriptorProto, inherited: Features): DeclaredField {
  const features = override(inherited, field.options?.features);
  const hasOneof = isFieldSet(field, FieldDescriptorProtoSchema.field.oneofIndex) && !field.proto3Optional;
  return {
    name: field.name,
    number: field.number,
    type: typeOf(field),
    typeName: field.typeName,
    isDelimited: features.encoding === FeatureSet_MessageEncoding.DELIMITED,
    isRepeated: field.label === FieldDescriptorProto_Label.REPEATED,
    presence: presenceOf(field, features, hasOneof),
    // A place below 0 is none either: as a large one it is refused.
    oneof: hasOneof ? field.oneofIndex >>> 0 : -1,
  };
}

function typeOf(field: FieldDescriptorProto): FieldType | 'named' | undefined {
  if (isFieldSet(field, FieldDescriptorProtoSchema.field.type)) return FIELD_TYPES[field.type];
  // A descriptor that no compiler has linked may leave the type open where it has a name.
  return field.typeName === '' ? undefined : 'named';
}

function presenceOf(field: FieldDescriptorProto, features: Features, hasOneof: boolean): Presence {
  if (field.label === FieldDescriptorProto_Label.REQUIRED) return 'required';
  if (hasOneof || field.proto3Optional) return 'explicit';
  if (features.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED) return 'required';
  return features.presence === FeatureSet_FieldPresence.IMPLICIT ? 'implicit' : 'explicit';
}
