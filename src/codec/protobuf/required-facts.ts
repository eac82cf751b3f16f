/**
 * What of a schema decides whether everything required is set: required fields, messages that lead to some, and the
 * oneofs that such messages stand in.
 */
import type { ProtobufField, ProtobufMessage, ProtobufSchema } from './message.js';
import { NONE } from '../path-trie.js';
import { TYPE_CODES } from './capture.js';

export interface FieldFacts {
  /** Places of the fields and oneofs of all messages, from 0 on. */
  readonly id: number;
  readonly oneof: number;
  readonly isRequired: boolean;
  readonly shape: ProtobufField['shape'];
  /** What it holds, in a map the value, if that leads to required fields; else null. */
  readonly message: MessageFacts | null;
  /** Type of a map's keys. */
  readonly keyType: number;
}

export interface MessageFacts {
  /** Required fields of its own. */
  required: number;
  /** By number. */
  readonly fields: Map<number, FieldFacts>;
}

export interface RequiredFacts {
  readonly root: MessageFacts;
  readonly fieldCount: number;
  readonly oneofCount: number;
}

/** Null where nothing that the root leads to is required. */
export function requiredFacts({ root }: ProtobufSchema): RequiredFacts | null {
  const leading = leadingMessages(root);
  if (!leading.has(root)) return null;
  const facts = new Map<ProtobufMessage, MessageFacts>();
  for (const message of leading) facts.set(message, { required: 0, fields: new Map() });
  let fieldCount = 0;
  let oneofCount = 0;
  for (const [message, { fields }] of facts) {
    const oneofs = new Map<number, number>();
    for (const field of message.fields) {
      if (field.oneof >= 0 && facts.has(heldBy(field)!))
        oneofs.set(field.oneof, oneofs.get(field.oneof) ?? oneofCount++);
    }
    for (const field of message.fields) {
      const held = facts.get(heldBy(field)!) ?? null;
      const isRequired = field.presence === 'required';
      const oneof = oneofs.get(field.oneof) ?? NONE;
      if (held === null && !isRequired && oneof === NONE) continue;
      if (isRequired) facts.get(message)!.required++;
      const keyType = field.shape === 'map' ? TYPE_CODES[field.message!.byNumber.get(1)!.type] : NONE;
      fields.set(field.number, { id: fieldCount++, oneof, isRequired, shape: field.shape, message: held, keyType });
    }
  }
  return { root: facts.get(root)!, fieldCount, oneofCount };
}

/** The message that a field holds; of a map, its values. */
function heldBy(field: ProtobufField): ProtobufMessage | null {
  return field.shape === 'map' ? field.message!.byNumber.get(2)!.message : field.message;
}

/** Messages from `root` on that have required fields, or lead to such. */
function leadingMessages(root: ProtobufMessage): Set<ProtobufMessage> {
  const holders = new Map<ProtobufMessage, ProtobufMessage[]>([[root, []]]);
  const leading = new Set<ProtobufMessage>();
  // Both grow while they are gone over.
  for (const message of holders.keys()) {
    for (const field of message.fields) {
      if (field.presence === 'required') leading.add(message);
      const held = heldBy(field);
      if (held === null) continue;
      const known = holders.get(held);
      if (known === undefined) holders.set(held, [message]);
      else known.push(message);
    }
  }
  for (const message of leading) for (const holder of holders.get(message)!) leading.add(holder);
  return leading;
}
