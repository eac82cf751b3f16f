/**
 * Compiles Protobuf schemas: links the declarations of files by name, and checks what reading payloads relies on
 * (contract: laser-filter §5).
 *
 * A name is looked for as compilers do: from the root with a leading dot, else from the innermost scope outwards. Every
 * message of a set has to be sound; groups are refused where the root message leads to them, because no payload with one
 * could be read.
 */
import { refuse } from '../../core/error-codes.js';
import { MESSAGE_TYPE_BYTES_MAX, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX } from '../../core/limits.js';
import type { DeclaredEnum, DeclaredField, DeclaredFile, DeclaredMessage, FieldType } from './declaration.js';
import { readDescriptorSet } from './descriptor-set.js';
import type { ProtobufField, ProtobufMessage, ProtobufSchema } from './message.js';
import { shown } from './shown.js';

export type { ProtobufSchema } from './message.js';

const FIELD_NUMBER_MAX = 2 ** 29 - 1;

/**
 * Reads an encoded FileDescriptorSet that holds the message of that full name (a leading dot is accepted) and everything
 * it needs. Throws a `Refusal` `invalid_request` that names file, message and field of the fault.
 */
export function compileProtobuf(descriptorSet: Uint8Array, messageType: string): ProtobufSchema {
  if (descriptorSet.length > SCHEMA_BYTES_MAX) {
    const detail = `A descriptor set has at most ${SCHEMA_BYTES_MAX} bytes; this one has ${descriptorSet.length}.`;
    refuse('invalid_request', detail, { limit: SCHEMA_BYTES_MAX, given: descriptorSet.length });
  }
  return linkSchema(readDescriptorSet(descriptorSet), messageType);
}

/** Links files that import each other into the schema of one message; refuses as `compileProtobuf` does. */
export function linkSchema(files: readonly DeclaredFile[], messageType: string): ProtobufSchema {
  return { family: 'protobuf', root: new Linker(files).link(messageType.replace(/^\./, '')) };
}

interface LinkedMessage extends ProtobufMessage {
  readonly fields: ProtobufField[];
  readonly byNumber: Map<number, ProtobufField>;
}

/** A message or an enum under its full name. */
type Named =
  | {
      readonly kind: 'message';
      readonly declared: DeclaredMessage;
      readonly file: string;
      readonly linked: LinkedMessage;
    }
  | { readonly kind: 'enum'; readonly declared: DeclaredEnum; readonly file: string };

type NamedMessage = Named & { readonly kind: 'message' };

class Linker {
  private readonly named = new Map<string, Named>();
  /** By message that has one: what a refusal says of its group. */
  private readonly groups = new Map<ProtobufMessage, string>();

  constructor(files: readonly DeclaredFile[]) {
    const names = new Set<string>();
    for (const file of files) {
      if (names.has(file.name)) refuse('invalid_request', `The schema has two files ${shown(file.name)}.`);
      names.add(file.name);
    }
    for (const file of files) {
      const packageLevels = file.package.split('.').length;
      if (packageLevels > SCHEMA_DEPTH_MAX) {
        const detail = `The package of file ${shown(file.name)} has more than ${SCHEMA_DEPTH_MAX} parts.`;
        refuse('invalid_request', detail, { limit: SCHEMA_DEPTH_MAX, given: packageLevels });
      }
      for (const name of file.imports) {
        if (names.has(name)) continue;
        const detail = `File ${shown(file.name)} imports ${shown(name)}, which the schema does not hold.`;
        refuse('invalid_request', detail, { given: shown(name) });
      }
      this.declare(file.package, file.messages, file.enums, file.name);
    }
    for (const named of this.named.values()) if (named.kind === 'message') this.linkMessage(named);
  }

  link(messageType: string): ProtobufMessage {
    const root = this.named.get(messageType);
    if (root?.kind !== 'message') {
      return refuse('invalid_request', `The schema declares no message ${shown(messageType)}.`, {
        given: shown(messageType),
      });
    }
    if (root.linked.isMapEntry) {
      refuse('invalid_request', `Message ${shown(messageType)} is the entry of a map, not a message of its own.`, {
        given: shown(messageType),
      });
    }
    this.refuseGroups(root.linked);
    return root.linked;
  }

  private declare(
    scope: string,
    messages: readonly DeclaredMessage[],
    enums: readonly DeclaredEnum[],
    file: string,
  ): void {
    for (const declared of messages) {
      const name = this.fullName(scope, declared.name, file);
      const linked = {
        name,
        fields: [],
        byNumber: new Map(),
        isMapEntry: declared.isMapEntry,
        oneofCount: declared.oneofCount,
      };
      this.named.set(name, { kind: 'message', declared, file, linked });
      this.declare(name, declared.messages, declared.enums, file);
    }
    for (const declared of enums) {
      this.named.set(this.fullName(scope, declared.name, file), { kind: 'enum', declared, file });
    }
  }

  private fullName(scope: string, name: string, file: string): string {
    const full = scope === '' ? name : `${scope}.${name}`;
    if (name === '') refuse('invalid_request', `A type of file ${shown(file)} has no name.`);
    const bytes = Buffer.byteLength(full, 'utf8');
    if (bytes > MESSAGE_TYPE_BYTES_MAX) {
      const detail = `Type ${shown(full)} of file ${shown(file)} has a longer name than ${MESSAGE_TYPE_BYTES_MAX} bytes.`;
      refuse('invalid_request', detail, { limit: MESSAGE_TYPE_BYTES_MAX, given: bytes });
    }
    if (this.named.has(full)) {
      refuse('invalid_request', `Type ${shown(full)} of file ${shown(file)} is declared twice.`, {
        given: shown(full),
      });
    }
    return full;
  }

  private linkMessage(message: NamedMessage): void {
    const { fields, byNumber } = message.linked;
    const names = new Set<string>();
    for (const field of message.declared.fields) {
      const place = `Field ${shown(field.name)} of message ${shown(message.linked.name)} in file ${shown(message.file)}`;
      if (!Number.isInteger(field.number) || field.number < 1 || field.number > FIELD_NUMBER_MAX) {
        const detail = `${place} has a number outside 1…${FIELD_NUMBER_MAX}.`;
        refuse('invalid_request', detail, { limit: FIELD_NUMBER_MAX, given: field.number });
      }
      if (byNumber.has(field.number)) {
        refuse('invalid_request', `${place} has the number of another field.`, { given: field.number });
      }
      if (names.has(field.name)) refuse('invalid_request', `${place} is declared twice.`, { given: shown(field.name) });
      names.add(field.name);
      const linked = this.linkField(field, message, place);
      fields.push(linked);
      byNumber.set(field.number, linked);
    }
    if (message.declared.isMapEntry && !isMapEntry(message.linked)) {
      const detail = `Message ${shown(message.linked.name)} in file ${shown(message.file)} is marked as the entry of a map without being one.`;
      refuse('invalid_request', detail);
    }
  }

  private linkField(field: DeclaredField, message: NamedMessage, place: string): ProtobufField {
    const { name, number } = field;
    if (field.type === undefined) return refuse('invalid_request', `${place} has no type.`);
    const target = this.target(field, message, place);
    let type = field.type === 'named' ? (target?.kind ?? 'message') : field.type;
    const holdsEntry = target?.kind === 'message' && target.declared.isMapEntry;
    if (type === 'message' && field.isDelimited && !holdsEntry && !message.declared.isMapEntry) type = 'group';
    if (type === 'group') {
      this.groups.set(message.linked, `${place} is a group, which no payload here may hold.`);
      type = 'message';
    }
    if (holdsEntry && !field.isRepeated) {
      refuse('invalid_request', `${place} holds the entry of a map without being repeated.`, {
        given: shown(field.typeName),
      });
    }
    if (field.oneof >= message.linked.oneofCount || (field.oneof >= 0 && field.isRepeated)) {
      refuse('invalid_request', `${place} stands in a oneof that its message does not have or that it cannot be in.`, {
        given: field.oneof,
      });
    }
    const isImplicit =
      field.isRepeated || message.declared.isMapEntry || (field.presence === 'implicit' && type !== 'message');
    return {
      name,
      number,
      type,
      shape: holdsEntry ? 'map' : field.isRepeated ? 'repeated' : 'singular',
      presence: isImplicit ? 'implicit' : field.presence === 'implicit' ? 'explicit' : field.presence,
      oneof: field.oneof,
      firstNumber: target?.kind === 'enum' ? (target.declared.firstNumber ?? 0) : 0,
      message: target?.kind === 'message' ? target.linked : null,
    };
  }

  /** What the type of a field names, or null where it needs no name. */
  private target(field: DeclaredField, message: NamedMessage, place: string): Named | null {
    const { type, typeName } = field;
    if (type !== 'named' && type !== 'message' && type !== 'group' && type !== 'enum') return null;
    const target = this.find(typeName, message.linked.name);
    if (target === undefined) {
      return refuse('invalid_request', `${place} has a type that the schema does not declare.`, {
        given: shown(typeName),
      });
    }
    const kind = type === 'group' ? 'message' : type;
    if (kind !== 'named' && kind !== target.kind) {
      refuse('invalid_request', `${place} is of type ${kind}, but names one that is none.`, { given: shown(typeName) });
    }
    if (target.kind === 'enum' && target.declared.firstNumber === null) {
      refuse('invalid_request', `${place} is of an enum without values.`, { given: shown(typeName) });
    }
    return target;
  }

  private find(typeName: string, scope: string): Named | undefined {
    if (typeName.startsWith('.')) return this.named.get(typeName.slice(1));
    for (let around = scope; around !== ''; around = around.slice(0, Math.max(around.lastIndexOf('.'), 0))) {
      const found = this.named.get(`${around}.${typeName}`);
      if (found !== undefined) return found;
    }
    return this.named.get(typeName);
  }

  private refuseGroups(root: ProtobufMessage): void {
    const seen = new Set([root]);
    for (const message of seen) {
      const group = this.groups.get(message);
      if (group !== undefined) refuse('invalid_request', group);
      for (const field of message.fields) if (field.message !== null) seen.add(field.message);
    }
  }
}

const KEY_TYPES: ReadonlySet<FieldType> = new Set<FieldType>([
  ...(['int32', 'int64', 'uint32', 'uint64', 'sint32', 'sint64'] as const),
  ...(['fixed32', 'fixed64', 'sfixed32', 'sfixed64', 'bool', 'string'] as const),
]);

function isMapEntry({ fields, byNumber }: ProtobufMessage): boolean {
  const key = byNumber.get(1);
  const value = byNumber.get(2);
  return fields.length === 2 && key?.shape === 'singular' && KEY_TYPES.has(key.type) && value?.shape === 'singular';
}
