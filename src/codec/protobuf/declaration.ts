/**
 * What a `.proto` file declares, before names are linked: what descriptor sets and `.proto` text have in common.
 *
 * Features are resolved already (proto2, proto3 and editions differ in nothing else that payloads show), names of types
 * are as written: with a leading dot from the root, without one from the scope they stand in.
 */

/** Types of fields, by their numbers in descriptors. A `named` type is a message or an enum: linking tells which. */
export const FIELD_TYPES = {
  1: 'double',
  2: 'float',
  3: 'int64',
  4: 'uint64',
  5: 'int32',
  6: 'fixed64',
  7: 'fixed32',
  8: 'bool',
  9: 'string',
  10: 'group',
  11: 'message',
  12: 'bytes',
  13: 'uint32',
  14: 'enum',
  15: 'sfixed32',
  16: 'sfixed64',
  17: 'sint32',
  18: 'sint64',
} as const;

export type FieldType = (typeof FIELD_TYPES)[keyof typeof FIELD_TYPES];

/** Whether a field that is not set is told from one that has its default, or must be set. */
export type Presence = 'implicit' | 'explicit' | 'required';

export interface DeclaredField {
  readonly name: string;
  readonly number: number;
  /** Undefined where the declaration gives neither a type nor a name. */
  readonly type: FieldType | 'named' | undefined;
  /** Empty where `type` needs no name. */
  readonly typeName: string;
  /** True where a message would be written as a group: a feature of editions, which entries of maps do not heed. */
  readonly isDelimited: boolean;
  readonly isRepeated: boolean;
  /** Of a singular field; message fields are never implicit. */
  readonly presence: Presence;
  /** Place among the oneofs of its message, or −1. A proto3 `optional` stands in none. */
  readonly oneof: number;
}

export interface DeclaredEnum {
  readonly name: string;
  /** Its first value, which is its default; null where it has no value. */
  readonly firstNumber: number | null;
}

export interface DeclaredMessage {
  readonly name: string;
  readonly isMapEntry: boolean;
  readonly oneofCount: number;
  readonly fields: readonly DeclaredField[];
  readonly messages: readonly DeclaredMessage[];
  readonly enums: readonly DeclaredEnum[];
}

export interface DeclaredFile {
  readonly name: string;
  /** Empty for none. */
  readonly package: string;
  /** Names of the files that it needs. */
  readonly imports: readonly string[];
  readonly messages: readonly DeclaredMessage[];
  readonly enums: readonly DeclaredEnum[];
}
