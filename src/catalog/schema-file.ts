/**
 * The names of files in the registry of writer schemas: `ID[.NAME].avsc`, `ID.MESSAGE.TYPE.desc` (a FileDescriptorSet)
 * and `ID.MESSAGE.TYPE.proto`. One id has one name pattern, so that nothing is read by guess; pure text work.
 */
import type { SchemaSource } from '../codec/schema-source.js';
import { refuse } from '../core/error-codes.js';
import { SCHEMA_ID_MAX } from '../core/header-value.js';

/** What the name of a file says. */
export type SchemaFileName = { readonly id: number } & (
  | { readonly kind: 'avro'; readonly name?: string }
  | { readonly kind: 'protobuf' | 'proto_text'; readonly messageType: string }
);

/** By the ending of a file: what it holds. */
const KINDS: Readonly<Record<string, SchemaSource['kind']>> = {
  avsc: 'avro',
  desc: 'protobuf',
  proto: 'proto_text',
};

const FORMS = 'ID.avsc, ID.NAME.avsc, ID.MESSAGE.TYPE.desc or ID.MESSAGE.TYPE.proto';
const NAME_PATTERN = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;
const MESSAGE_PATTERN = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** True for a name that may stand behind the id of an Avro schema. */
export function isSchemaName(text: string): boolean {
  return NAME_PATTERN.test(text);
}

/** Reads the name of a file. Refuses `invalid_request` what is no name of a schema. */
export function readSchemaFileName(file: string): SchemaFileName {
  const parts = /^(0|[1-9][0-9]{0,9})(?:\.(.+))?\.([a-z]+)$/.exec(file);
  const kind = KINDS[parts?.[3] ?? ''];
  if (parts === null || kind === undefined)
    refuse('invalid_request', `${file} is no schema: files are named ${FORMS}.`);
  const id = Number(parts[1]);
  if (id > SCHEMA_ID_MAX) {
    refuse('invalid_request', `${file}: an id is at most ${SCHEMA_ID_MAX}.`, { limit: SCHEMA_ID_MAX, given: id });
  }
  const inner = parts[2];
  if (kind === 'avro') {
    if (inner !== undefined && !isSchemaName(inner)) {
      refuse('invalid_request', `${file}: a name has letters, digits, "_", "-" and single dots.`);
    }
    return { id, kind, ...(inner === undefined ? {} : { name: inner }) };
  }
  if (inner === undefined || !MESSAGE_PATTERN.test(inner)) {
    refuse('invalid_request', `${file}: the full name of a message stands between the id and the ending.`);
  }
  return { id, kind, messageType: inner };
}

/** The file of a schema. Refuses `invalid_request` a message that has no such name. */
export function schemaFileName(id: number, source: SchemaSource, name?: string): string {
  if (source.kind === 'avro') return name === undefined ? `${id}.avsc` : `${id}.${name}.avsc`;
  const messageType = source.messageType.replace(/^\./, '');
  if (!MESSAGE_PATTERN.test(messageType)) {
    refuse('invalid_request', `${JSON.stringify(messageType.slice(0, 64))} is not the full name of a message.`);
  }
  return `${id}.${messageType}.${source.kind === 'protobuf' ? 'desc' : 'proto'}`;
}

/** What a file outside the registry holds, by its ending; undefined where that says nothing. */
export function kindOfFile(file: string): SchemaSource['kind'] | undefined {
  return KINDS[/\.([a-z]+)$/.exec(file)?.[1] ?? ''];
}
