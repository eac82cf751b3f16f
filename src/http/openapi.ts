/**
 * What `/openapi.json` says (contract: scan-protocol, preamble): generated from the schemas that validate requests and
 * describe replies, with examples that run as they stand.
 */
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { CapabilitiesSchema } from '../wire/capabilities.js';
import {
  TestReplySchema,
  TestRequestSchema,
  ValidateReplySchema,
  ValidateRequestSchema,
} from '../wire/filter-request.js';
import { BeginFrameSchema, EndFrameSchema, ErrorFrameSchema, ProgressFrameSchema } from '../wire/frames.js';
import { PageFrameSchema, PageSchema } from '../wire/page.js';
import { DiffReplySchema, DiffRequestSchema, PreviewReplySchema, PreviewRequestSchema } from '../wire/preview.js';
import { ProblemSchema } from '../wire/problem.js';
import { SchemaListSchema } from '../wire/schema-list.js';
import { ScanRequestSchema } from '../wire/scan-request.js';
import { CAPABILITIES_EXAMPLE, type OperationReply, SCHEMAS_EXAMPLE } from './operation-replies.js';
import type { Access } from './access.js';
import { JSON_TYPE, MSGPACK_FRAMES_TYPE, MSGPACK_TYPE, NDJSON_TYPE, PROBLEM_TYPE } from './accept.js';

/** Selects the first record of the example's segment and rejects the second. */
const EXAMPLE_FILTER = {
  v: 1,
  evaluator_version: 1,
  expr: { pred: { field: 'table', op: 'eq', value: { kind: 'string', value: 'satellites' } } },
  codec: 'json',
};

const DELETED_FILTER = {
  ...EXAMPLE_FILTER,
  expr: { pred: { field: 'op', op: 'in', value: { kind: 'list', value: [{ kind: 'string', value: 'd' }] } } },
};

const SCAN_EXAMPLE = {
  v: 1,
  source: { stream: 'orbit', topic: 'changes' },
  partition_id: 0,
  segments: [
    {
      format: 'ndjson',
      bytes: Buffer.from('{"table":"satellites","op":"u"}\n{"table":"stations","op":"d"}\n').toString('base64'),
    },
  ],
  filters: [{ id: 'satellites', filter: EXAMPLE_FILTER }],
  count: 10,
};

/** Reads on where a page of one record ended, and answers with offsets: in frames, because there are several pages. */
const SCAN_FRAMES_EXAMPLE = { ...SCAN_EXAMPLE, start: { offset: 0 }, count: 1, pages: 5, reply: 'offsets' };

/** Two filters in one pass: frames again, because each has pages of its own. */
const SCAN_FILTERS_EXAMPLE = {
  ...SCAN_EXAMPLE,
  filters: [...SCAN_EXAMPLE.filters, { id: 'deleted', filter: DELETED_FILTER, start: { offset: 1 } }],
};

const VALIDATE_TEXT_EXAMPLE = { filter_text: JSON.stringify(EXAMPLE_FILTER), strict: true };

/** Judges a header; the payload is not looked at. */
const TEST_HEADER_EXAMPLE = {
  filter: {
    v: 1,
    evaluator_version: 1,
    expr: { header: { key: 'severity', op: 'gte', value: { kind: 'int', value: 2 } } },
    codec: 'headers_only',
  },
  record: { headers: [{ key: 'severity', value: { kind: 'uint', value: 3 } }] },
};

const TEST_EXAMPLE = { filter: EXAMPLE_FILTER, record: { payload_text: '{"table":"satellites","op":"u"}' } };

/** A payload in Avro, with the schema that wrote it. */
const TEST_SCHEMA_EXAMPLE = {
  filter: { ...EXAMPLE_FILTER, codec: 'avro', schema_refs: [7] },
  schemas: [
    {
      id: 7,
      source: { kind: 'avro', schema: '{"type":"record","name":"Change","fields":[{"name":"table","type":"string"}]}' },
    },
  ],
  record: {
    payload: Buffer.from('\u0014satellites').toString('base64'),
    headers: [{ key: 'agdx.sid', value: { kind: 'uint', value: 7 } }],
  },
};

/** The same in Protobuf: `message Change { string table = 1; }`, proto3. */
const TEST_PROTOBUF_EXAMPLE = {
  filter: { ...EXAMPLE_FILTER, codec: 'protobuf', schema_refs: [8] },
  schemas: [
    {
      id: 8,
      source: {
        kind: 'protobuf',
        descriptor_set: 'Ci8KDGNoYW5nZS5wcm90byIXCgZDaGFuZ2USDQoFdGFibGUYASABKAliBnByb3RvMw==',
        message_type: 'Change',
      },
    },
  ],
  record: {
    payload: Buffer.from('\n\nsatellites').toString('base64'),
    headers: [{ key: 'agdx.sid', value: { kind: 'uint', value: 8 } }],
  },
};

const PREVIEW_EXAMPLE = { filter: EXAMPLE_FILTER, segments: SCAN_EXAMPLE.segments, explain: true };

const DIFF_EXAMPLE = {
  a: { filter: EXAMPLE_FILTER },
  b: { filter: { ...EXAMPLE_FILTER, expr: { present: 'table' } } },
  segments: SCAN_EXAMPLE.segments,
};

/** A schema that has a name of its own in the document: its `$id`. */
type NamedSchema = object & { readonly $id?: string; readonly examples?: readonly unknown[] };

/** Every named schema. */
export const SHARED_SCHEMAS: readonly NamedSchema[] = [
  { ...ScanRequestSchema, examples: [SCAN_EXAMPLE, SCAN_FRAMES_EXAMPLE, SCAN_FILTERS_EXAMPLE] },
  PageSchema,
  BeginFrameSchema,
  PageFrameSchema,
  ProgressFrameSchema,
  EndFrameSchema,
  ErrorFrameSchema,
  { ...ValidateRequestSchema, examples: [{ filter: EXAMPLE_FILTER }, VALIDATE_TEXT_EXAMPLE] },
  ValidateReplySchema,
  { ...TestRequestSchema, examples: [TEST_EXAMPLE, TEST_HEADER_EXAMPLE, TEST_SCHEMA_EXAMPLE, TEST_PROTOBUF_EXAMPLE] },
  TestReplySchema,
  { ...PreviewRequestSchema, examples: [PREVIEW_EXAMPLE] },
  PreviewReplySchema,
  { ...DiffRequestSchema, examples: [DIFF_EXAMPLE] },
  DiffReplySchema,
  SchemaListSchema,
  CapabilitiesSchema,
  ProblemSchema,
];

/** Options of the generator. `isGuarded`: callers have to show who they are. */
export function openApiOptions(version: string, isGuarded: boolean): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      ...(isGuarded ? { components: { securitySchemes: { caller: CALLER_SCHEME } } } : {}),
      openapi: '3.1.0',
      info: {
        title: 'Winnow',
        version,
        description: 'Scans partition segments with declarative filters and says exactly how far it looked.',
      },
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json['$id'] ?? `schema-${index}`) },
  };
}

const CALLER_SCHEME = {
  type: 'http',
  scheme: 'bearer',
  description: 'Authorization: Bearer KEY. The scope that a route asks for stands beside it.',
} as const;

/** What a route's schema says of its callers, where they have to show who they are. */
export function securityOf(access: Access): { security: Record<string, string[]>[] } {
  if (access === 'open') return { security: [] };
  return { security: [{ caller: access === 'known' ? [] : [access] }] };
}

const PROBLEMS = {
  '4XX': { description: 'A refusal.', content: { [PROBLEM_TYPE]: { schema: ref(ProblemSchema) } } },
  '5XX': { description: 'A fault or a refusal.', content: { [PROBLEM_TYPE]: { schema: ref(ProblemSchema) } } },
};

const SHARD_HEADER = {
  type: 'object',
  properties: {
    'winnow-shard': {
      type: 'string',
      pattern: '^[A-Za-z0-9._/:-]{1,64}$',
      description: "The caller's unit of isolation; default `default`.",
    },
  },
} as const;

const BODY_TYPES = [JSON_TYPE, MSGPACK_TYPE];
const FRAMES = [BeginFrameSchema, PageFrameSchema, ProgressFrameSchema, EndFrameSchema, ErrorFrameSchema];

export const scanRouteSchema = {
  summary: 'Scan one partition',
  description: 'Selects records of the given segments and says how far it looked, as one page or as frames.',
  consumes: BODY_TYPES,
  headers: SHARD_HEADER,
  body: ref(ScanRequestSchema),
  response: {
    200: {
      description: 'One page (one filter, `pages` 1, no frame type accepted), or frames one after the other.',
      content: {
        [JSON_TYPE]: { schema: ref(PageSchema) },
        [MSGPACK_TYPE]: { schema: ref(PageSchema) },
        [NDJSON_TYPE]: { schema: { oneOf: FRAMES.map(ref) } },
        [MSGPACK_FRAMES_TYPE]: { schema: { oneOf: FRAMES.map(ref) } },
      },
    },
    ...PROBLEMS,
  },
};

export const validateRouteSchema = {
  summary: 'Validate a filter',
  consumes: BODY_TYPES,
  headers: SHARD_HEADER,
  body: ref(ValidateRequestSchema),
  response: { 200: objectReply('What the filter is and reads.', ValidateReplySchema), ...PROBLEMS },
};

export const testRouteSchema = {
  summary: 'Test a filter on one record',
  consumes: BODY_TYPES,
  headers: SHARD_HEADER,
  body: ref(TestRequestSchema),
  response: { 200: objectReply('The verdict and why.', TestReplySchema), ...PROBLEMS },
};

export const previewRouteSchema = {
  summary: 'Preview a filter on a range',
  description: 'What the filter does with the records of a range, and at which node of its expression they are lost.',
  consumes: BODY_TYPES,
  headers: SHARD_HEADER,
  body: ref(PreviewRequestSchema),
  response: { 200: objectReply('Counts, records and the funnel.', PreviewReplySchema), ...PROBLEMS },
};

export const diffRouteSchema = {
  summary: 'Compare two filters on a range',
  description: 'Which records only one of two filters delivers, both, and neither.',
  consumes: BODY_TYPES,
  headers: SHARD_HEADER,
  body: ref(DiffRequestSchema),
  response: { 200: objectReply('Counts, bytes and example offsets of the four parts.', DiffReplySchema), ...PROBLEMS },
};

export const schemasRouteSchema = {
  summary: 'The writer schemas that the service holds',
  description: 'Those of the registry; a request may bring others.',
  response: { 200: objectReply('Schemas by id.', SchemaListSchema, SCHEMAS_EXAMPLE), ...PROBLEMS },
};

export const capabilitiesRouteSchema = {
  summary: 'What this build evaluates, reads and allows',
  response: { 200: objectReply('Capabilities.', CapabilitiesSchema, CAPABILITIES_EXAMPLE), ...PROBLEMS },
};

/** The schema of a route of scan-protocol §5. */
export function operationRouteSchema(description: string, { type, schema, example }: OperationReply) {
  const content = { [type]: { schema, example } };
  return { summary: description, response: { 200: { description, content }, ...PROBLEMS } };
}

function objectReply(description: string, schema: NamedSchema, example?: object) {
  const media = { schema: ref(schema), ...(example === undefined ? {} : { example }) };
  return { description, content: { [JSON_TYPE]: media, [MSGPACK_TYPE]: { schema: ref(schema) } } };
}

function ref(schema: NamedSchema): { $ref: string } {
  return { $ref: `${schema.$id!}#` };
}
