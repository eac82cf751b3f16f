/**
 * A schema of the registry as it is listed (contract: `GET /v1/schemas`): what it is, never its text.
 */
import type { SchemaList } from '../wire/schema-list.js';
import type { RegisteredSchema } from './schema-folder.js';

/** The entry of one schema. */
export function listedSchema({ id, source, name, hash, bytes }: RegisteredSchema): SchemaList['schemas'][number] {
  return {
    id,
    kind: source.kind,
    ...(name === undefined ? {} : { name }),
    ...(source.kind === 'avro' ? {} : { message_type: source.messageType }),
    hash,
    bytes,
  };
}
