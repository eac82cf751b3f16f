/**
 * The reply of `GET /v1/schemas`: the writer schemas that the service holds, without their text.
 */
import Type from 'typebox';
import { SCHEMA_ID_MAX } from '../core/header-value.js';
import { Uint53, words } from './primitives.js';

export const SchemaListSchema = Type.Object(
  {
    schemas: Type.Array(
      Type.Object({
        id: Type.Integer({ minimum: 0, maximum: SCHEMA_ID_MAX, description: 'What records carry in agdx.sid.' }),
        kind: words(['avro', 'protobuf', 'proto_text'], 'An Avro schema, a descriptor set, or .proto text.'),
        name: Type.Optional(Type.String({ description: 'What people call an Avro schema.' })),
        message_type: Type.Optional(Type.String({ description: 'The full name of a Protobuf message.' })),
        hash: Type.String({
          pattern: '^[0-9a-f]{64}$',
          description: 'SHA-256 over kind, message and bytes: equal for equal schemas.',
        }),
        bytes: Uint53,
      }),
      { description: 'In the order of ids.' },
    ),
  },
  { $id: 'SchemaList' },
);
export type SchemaList = Type.Static<typeof SchemaListSchema>;
