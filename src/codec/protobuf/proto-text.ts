/**
 * Compiles the text of one `.proto` file (proto2, proto3, editions) to the same schema that its descriptor set gives.
 *
 * The library parses; names are linked and checked as in descriptor sets. A file stands alone but for the well-known types
 * of google/protobuf, which need not be given. What the parser refuses and why is its own: among others, a message that
 * is declared within more than 32 others, as compilers do.
 */
import {
  file_google_protobuf_any,
  file_google_protobuf_api,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_source_context,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_type,
  file_google_protobuf_wrappers,
} from '@bufbuild/protobuf/wkt';
import protobuf from 'protobufjs';
import { refuse } from '../../core/error-codes.js';
import { SCHEMA_BYTES_MAX } from '../../core/limits.js';
import {
  type DeclaredEnum,
  type DeclaredField,
  type DeclaredFile,
  type DeclaredMessage,
  FIELD_TYPES,
  type FieldType,
  type Presence,
} from './declaration.js';
import { declaredFile } from './descriptor-set.js';
import { linkSchema, type ProtobufSchema } from './schema.js';
import { shown } from './shown.js';

/** What refusals call the file. */
const FILE_NAME = 'text.proto';

const WELL_KNOWN_FILES = new Map(
  [
    file_google_protobuf_any,
    file_google_protobuf_api,
    file_google_protobuf_descriptor,
    file_google_protobuf_duration,
    file_google_protobuf_empty,
    file_google_protobuf_field_mask,
    file_google_protobuf_source_context,
    file_google_protobuf_struct,
    file_google_protobuf_timestamp,
    file_google_protobuf_type,
    file_google_protobuf_wrappers,
  ].map(({ proto }) => [proto.name, proto]),
);

/**
 * Reads the text of a `.proto` file that declares the message of that full name (a leading dot is accepted). Throws a
 * `Refusal` `invalid_request` with the line of what cannot be parsed or imported, or the message and field that cannot
 * be linked.
 */
export function compileProtoText(text: string, messageType: string): ProtobufSchema {
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > SCHEMA_BYTES_MAX) {
    const detail = `A .proto file has at most ${SCHEMA_BYTES_MAX} bytes; this one has ${bytes}.`;
    refuse('invalid_request', detail, { limit: SCHEMA_BYTES_MAX, given: bytes });
  }
  refuseUnreadableNames(text);
  const { root, package: packageName = '', imports = [], weakImports = [] } = parse(text);
  const allImports = [...imports, ...(weakImports ?? [])];
  for (const name of allImports) {
    if (WELL_KNOWN_FILES.has(name)) continue;
    const detail = `Line ${importLine(text, name)} imports ${shown(name)}; a single file can only import the well-known types of google/protobuf.`;
    refuse('invalid_request', detail, { given: shown(name) });
  }
  const scope = packageName === '' ? root : root.lookup(packageName);
  const objects = scope instanceof protobuf.Namespace ? scope.nestedArray : [];
  const file: DeclaredFile = {
    name: FILE_NAME,
    package: packageName,
    imports: allImports,
    messages: messagesAmong(objects).map((type) => declaredMessage(type, featuresOf(type, editionFeatures(type)))),
    enums: enumsAmong(objects),
  };
  return linkSchema([file, ...wellKnownFiles(allImports)], messageType);
}

function parse(text: string): protobuf.IParserResult {
  try {
    return protobuf.parse(text, new protobuf.Root(), { keepCase: true });
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    return refuse('invalid_request', `The .proto text cannot be parsed: ${shownMessage(thrown.message)}.`);
  }
}

/** The parser repeats what it stumbled over, at any length, and then says the line. */
function shownMessage(message: string): string {
  return message.length > MESSAGE_CHARACTERS_MAX
    ? `${message.slice(0, MESSAGE_CHARACTERS_MAX / 2)}…${message.slice(-MESSAGE_CHARACTERS_MAX / 2)}`
    : message;
}

const MESSAGE_CHARACTERS_MAX = 160;

/** What the parser leaves out without a word. A field that is left out would not be checked in payloads. */
const UNREADABLE_NAME = '__proto__';

function refuseUnreadableNames(text: string): void {
  const code = text.replaceAll(COMMENT_OR_STRING, (match) => match.replaceAll(/[^\n]/g, ' '));
  const found = /\b__proto__\b/.exec(code);
  if (found === null) return;
  const detail = `Line ${lineAt(code, found.index)} has the name ${UNREADABLE_NAME}, which cannot be read from .proto text; a descriptor set can hold it.`;
  refuse('invalid_request', detail, { given: UNREADABLE_NAME });
}

/** The files of these names and all that they import in turn, each once. */
function wellKnownFiles(names: readonly string[]): DeclaredFile[] {
  const wanted = new Set(names);
  const files: DeclaredFile[] = [];
  // Grows while it is gone over.
  for (const name of wanted) {
    const file = declaredFile(WELL_KNOWN_FILES.get(name)!);
    files.push(file);
    for (const further of file.imports) wanted.add(further);
  }
  return files;
}

/** Comments and strings: where a word of a text is no name and no statement. */
const COMMENT_OR_STRING = /\/\/[^\n]*|\/\*[^]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;

/** The line, from 1, of the statement that imports `name`. */
function importLine(text: string, name: string): number {
  const code = text.replaceAll(COMMENT_OR_STRING, (match) =>
    match.startsWith('/') ? match.replaceAll(/[^\n]/g, ' ') : match,
  );
  for (const { index, 0: statement, 1: quoted } of code.matchAll(/\bimport\b[^"';]*(["'][^;]*)/g)) {
    if (quoted!.includes(name)) return lineAt(code, index + statement.length - quoted!.length);
  }
  return 1;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/** What of the features of editions changes how payloads are read, as options spell it. */
interface Features {
  readonly presence: string;
  readonly encoding: string;
}

const EDITIONS: ReadonlyMap<string, Features> = new Map([
  ['proto2', { presence: 'EXPLICIT', encoding: 'LENGTH_PREFIXED' }],
  ['proto3', { presence: 'IMPLICIT', encoding: 'LENGTH_PREFIXED' }],
  ...['2023', '2024', '2026'].map(
    (edition) => [edition, { presence: 'EXPLICIT', encoding: 'LENGTH_PREFIXED' }] as const,
  ),
]);

const PRESENCES: Readonly<Record<string, Presence>> = {
  EXPLICIT: 'explicit',
  IMPLICIT: 'implicit',
  LEGACY_REQUIRED: 'required',
};

/** The parser leaves a file's edition at each of its outermost types, and copies the features of the file to them. */
function editionFeatures(type: protobuf.Type): Features {
  const edition = String((type as unknown as Record<string, unknown>)['_edition']);
  const features = EDITIONS.get(edition);
  if (features !== undefined) return features;
  return refuse('invalid_request', 'The .proto text is of a syntax or an edition that is not known here.', {
    given: shown(edition),
    limit: [...EDITIONS.keys()].join(', '),
  });
}

function featuresOf({ options }: protobuf.ReflectionObject, inherited: Features): Features {
  const own = (options?.['features'] ?? {}) as Readonly<Record<string, unknown>>;
  return {
    presence: String(own['field_presence'] ?? inherited.presence),
    encoding: String(own['message_encoding'] ?? inherited.encoding),
  };
}

function messagesAmong(objects: readonly protobuf.ReflectionObject[]): protobuf.Type[] {
  return objects.filter((object) => object instanceof protobuf.Type);
}

function enumsAmong(objects: readonly protobuf.ReflectionObject[]): DeclaredEnum[] {
  const enums = objects.filter((object) => object instanceof protobuf.Enum);
  return enums.map(({ name, values }) => ({ name, firstNumber: Object.values(values)[0] ?? null }));
}

function declaredMessage(type: protobuf.Type, features: Features): DeclaredMessage {
  // Extensions of this message that the file declares are no fields of its own.
  const fields = type.fieldsArray.filter(({ declaringField }) => declaringField === null);
  const oneofs = type.oneofsArray;
  return {
    name: type.name,
    isMapEntry: false,
    oneofCount: oneofs.length,
    fields: fields.map((field) => declaredField(field, featuresOf(field, features), type)),
    messages: [
      ...messagesAmong(type.nestedArray).map((nested) => declaredMessage(nested, featuresOf(nested, features))),
      ...fields.filter((field) => field instanceof protobuf.MapField).map(mapEntry),
    ],
    enums: enumsAmong(type.nestedArray),
  };
}

function declaredField(field: protobuf.Field, features: Features, parent: protobuf.Type): DeclaredField {
  const isMap = field instanceof protobuf.MapField;
  const group = parent.nested?.[field.type];
  const isGroup = group instanceof protobuf.Type && 'group' in group && group.group === true;
  const isOptional = field.options?.['proto3_optional'] === true;
  const oneof = field.partOf !== null && !isOptional ? parent.oneofsArray.indexOf(field.partOf) : -1;
  const presence = PRESENCES[features.presence] ?? 'explicit';
  return {
    ...single(field.name, field.id, isMap ? entryName(field) : field.type),
    ...(isGroup ? { type: 'group' } : {}),
    isDelimited: features.encoding === 'DELIMITED',
    isRepeated: isMap || field.repeated,
    presence: field.rule === 'required' ? 'required' : oneof >= 0 || isOptional ? 'explicit' : presence,
    oneof,
  };
}

/** The message that descriptors hold for a map: named after its field, beside it. */
function mapEntry(field: protobuf.MapField): DeclaredMessage {
  return {
    name: entryName(field),
    isMapEntry: true,
    oneofCount: 0,
    fields: [single('key', 1, field.keyType), single('value', 2, field.type)],
    messages: [],
    enums: [],
  };
}

function entryName({ name }: protobuf.MapField): string {
  const words = name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Entry`;
}

const SCALARS: ReadonlySet<string> = new Set(
  Object.values(FIELD_TYPES).filter((type) => type !== 'message' && type !== 'enum' && type !== 'group'),
);

/** A field of one value, of a scalar type or one that is named. */
function single(name: string, number: number, type: string): DeclaredField {
  const isScalar = SCALARS.has(type);
  return {
    name,
    number,
    type: isScalar ? (type as FieldType) : 'named',
    typeName: isScalar ? '' : type,
    isDelimited: false,
    isRepeated: false,
    presence: 'explicit',
    oneof: -1,
  };
}
