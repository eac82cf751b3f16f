/**
 * The bodies and replies of `POST /v1/filters/validate` and `POST /v1/filters/test` (contract: scan-protocol §2).
 *
 * Both take the members of a filter entry but `id, start, revision, group`. The record of a test is kept as JSON text
 * by the body readers, so that header integers stay exact; its shape is checked where it is read, in a worker.
 */
import Type from 'typebox';
import { DEPTH_CEILING, PAYLOAD_BYTES_MAX } from '../core/limits.js';
import { CLOSED, JsonValue, words } from './primitives.js';
import { FILTER_MEMBERS, SchemasSchema } from './scan-request.js';

export const ValidateRequestSchema = Type.Object(
  {
    ...FILTER_MEMBERS,
    schemas: Type.Optional(SchemasSchema),
    input_schema: Type.Optional(Type.Unknown({ description: 'Only for iii.' })),
    output_schema: Type.Optional(Type.Unknown({ description: 'Only for iii.' })),
  },
  { ...CLOSED, $id: 'ValidateRequest' },
);

export const TestRequestSchema = Type.Object(
  {
    ...FILTER_MEMBERS,
    schemas: Type.Optional(SchemasSchema),
    record: JsonValue(
      '{payload | payload_text?, headers: [{key, value: {kind, value}}] | header_block?}: payload and header_block ' +
        'are bytes, header values as in JSON records.',
    ),
    limits: Type.Optional(
      Type.Object(
        {
          max_payload_bytes: Type.Optional(Type.Integer({ minimum: 1, maximum: PAYLOAD_BYTES_MAX })),
          max_depth: Type.Optional(Type.Integer({ minimum: 1, maximum: DEPTH_CEILING })),
        },
        CLOSED,
      ),
    ),
  },
  { ...CLOSED, $id: 'TestRequest' },
);

export type ValidateRequest = Type.Static<typeof ValidateRequestSchema>;
export type TestRequest = Type.Static<typeof TestRequestSchema>;

export const PolicySchema = Type.Object({ dialect: Type.String(), digest: Type.String() });

export const ValidateReplySchema = Type.Object(
  {
    digest: Type.String(),
    canonical: Type.String(),
    reads_payload: Type.Boolean(),
    reads_headers: Type.Boolean(),
    paths: Type.Array(Type.String()),
    header_keys: Type.Array(Type.String()),
    cost: Type.Object({
      class: words(
        ['headers', 'indexed', 'decode', 'heavy'],
        'What has to be done for a record; heavy leaves are in warnings.',
      ),
      score: Type.Integer({
        minimum: 1,
        description: 'Expected work per record, in thousandths of validating one JSON payload of 600 bytes.',
      }),
      indexable: Type.Boolean({ description: 'An equality at the top finds the records of this filter among many.' }),
    }),
    warnings: Type.Array(
      Type.Object({
        pointer: Type.String({ description: 'Into the filter document.' }),
        reason: Type.String({ description: 'From a closed set.' }),
        hint: Type.String(),
      }),
    ),
  },
  { $id: 'ValidateReply' },
);
export type ValidateReply = Type.Static<typeof ValidateReplySchema>;

/** A node of the explanation tree, mirroring the expression (laser-filter §6). `truth` is absent where there is none. */
export interface ExplainNode {
  readonly label: string;
  readonly truth?: 'match' | 'no_match' | 'unknown';
  readonly children?: readonly ExplainNode[];
}

/** What delivery decides of one record, and the truth of every node (laser-filter §6). */
export const ExplanationSchema = Type.Object({
  verdict: words(['rejected', 'selected', 'fault'], 'What delivery decides.'),
  fault: Type.Optional(Type.String({ description: 'The reason, also of a rejection under a reject policy.' })),
  root: Type.Unsafe<ExplainNode>({
    type: 'object',
    description: 'A node {label, truth?, children?}; children are nodes.',
    required: ['label'],
    properties: {
      label: { type: 'string' },
      truth: { enum: ['match', 'no_match', 'unknown'] },
      children: { type: 'array', items: { type: 'object' } },
    },
  }),
});
export type ExplanationReply = Type.Static<typeof ExplanationSchema>;

export const TestReplySchema = Type.Object(
  { policy: PolicySchema, explanation: ExplanationSchema },
  { $id: 'TestReply' },
);
export type TestReply = Type.Static<typeof TestReplySchema>;
