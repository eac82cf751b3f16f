/**
 * A compiled Protobuf schema: messages whose fields are linked to the messages they hold, so a message that contains
 * itself is a cycle.
 *
 * Invariants: numbers and names of fields are different within a message; no field is a group.
 */
import type { FieldType, Presence } from './declaration.js';

export interface ProtobufSchema {
  readonly family: 'protobuf';
  readonly root: ProtobufMessage;
}

export interface ProtobufMessage {
  /** Full name without a leading dot. */
  readonly name: string;
  /** In the order of the declaration. */
  readonly fields: readonly ProtobufField[];
  /** The same by their numbers. */
  readonly byNumber: ReadonlyMap<number, ProtobufField>;
  /** Its `key` has number 1, its `value` number 2. */
  readonly isMapEntry: boolean;
  /** Oneofs that its fields stand in. */
  readonly oneofCount: number;
}

/** How a field's values are put together: one, a list, or the entries of a map. */
export type FieldShape = 'singular' | 'repeated' | 'map';

export interface ProtobufField {
  readonly name: string;
  /** 1…2^29−1. */
  readonly number: number;
  readonly type: Exclude<FieldType, 'group'>;
  readonly shape: FieldShape;
  /** Of a singular field; `implicit` for the others, and for the key and value of a map's entry. */
  readonly presence: Presence;
  /** Place among the oneofs of its message, or −1. */
  readonly oneof: number;
  /** Default of an enum: its first value. 0 for every other type. */
  readonly firstNumber: number;
  /** What a field of type `message` holds; of a map, the entry: `key` with number 1 and `value` with number 2. */
  readonly message: ProtobufMessage | null;
}
