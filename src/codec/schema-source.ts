/**
 * Where a writer schema comes from, as text or bytes, before it is compiled (contract: scan-protocol §1 `schemas`), and
 * what makes two of them the same. Plain data: it is planned on the main thread and crosses to the workers.
 */
import { bytesDigest } from '../core/digest.js';

/** `proto_text` only comes from the registry: requests bring descriptor sets. */
export type SchemaSource =
  | { readonly kind: 'avro'; readonly schema: string }
  | { readonly kind: 'protobuf'; readonly descriptorSet: Uint8Array; readonly messageType: string }
  | { readonly kind: 'proto_text'; readonly text: string; readonly messageType: string };

/** A schema under the id that records carry in `agdx.sid` (u32). */
export interface IdentifiedSchema {
  readonly id: number;
  /** {@link schemaHash} of `source`. */
  readonly hash: string;
  readonly source: SchemaSource;
}

/**
 * Identity of a schema: SHA-256 over its kind, the name of its message and its bytes, in lower-case hex. A leading dot of
 * the name, which says nothing, is left out.
 */
export function schemaHash(source: SchemaSource): string {
  const messageType = source.kind === 'avro' ? '' : source.messageType.replace(/^\./, '');
  const texts = [source.kind, messageType].map((text) => Buffer.from(`${text}\0`, 'utf8'));
  return bytesDigest('winnow.writer-schema', [...texts, schemaBytes(source)]);
}

/** The bytes of a schema, as limits count them. */
export function schemaBytes(source: SchemaSource): Uint8Array {
  switch (source.kind) {
    case 'avro':
      return Buffer.from(source.schema, 'utf8');
    case 'protobuf':
      return source.descriptorSet;
    case 'proto_text':
      return Buffer.from(source.text, 'utf8');
  }
}
