/**
 * Compiled writer schemas of any family: what the service keeps of a schema, and what it asks of it.
 *
 * A source is a user's text or bytes, so it is compiled in workers only. A new family adds its lines here.
 */
import type { Path } from '../core/path.js';
import { describePath as describeAvroPath } from './avro/describe-path.js';
import { type AvroSchema, compileAvro } from './avro/schema.js';
import { compileProtoText } from './protobuf/proto-text.js';
import { describePath as describeProtobufPath } from './protobuf/describe-path.js';
import { compileProtobuf, type ProtobufSchema } from './protobuf/schema.js';
import type { PathShape } from './schema-shape.js';
import type { SchemaSource } from './schema-source.js';

/** A schema that payloads can be read by; its `family` says which. */
export type WriterSchema = AvroSchema | ProtobufSchema;

/**
 * Compiles a source. Throws a `Refusal` `invalid_request` that says where in the source the fault stands, with `limit` and
 * `given` past a bound (laser-filter §5).
 */
export function compileSchema(source: SchemaSource): WriterSchema {
  switch (source.kind) {
    case 'avro':
      return compileAvro(source.schema);
    case 'protobuf':
      return compileProtobuf(source.descriptorSet, source.messageType);
    case 'proto_text':
      return compileProtoText(source.text, source.messageType);
  }
}

/** What can stand at a path in payloads of a schema. */
export function describeSchemaPath(schema: WriterSchema, path: Path): PathShape {
  return schema.family === 'avro' ? describeAvroPath(schema, path) : describeProtobufPath(schema, path);
}
