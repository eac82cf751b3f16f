/**
 * The body of `POST /v1/scan` (contract: scan-protocol §1 "Request").
 *
 * The schema closes every envelope object: an unknown member is refused with its pointer. Budgets have
 * lower bounds only, because values over a cap are lowered, not refused. Cross-field rules (one filter source
 * per entry, one format per scan, …) are the planner's (`scan/plan.ts`).
 */
import Type from 'typebox';
import { SCHEMA_ID_MAX } from '../core/header-value.js';
import {
  FILTERS_PER_SCAN_MAX,
  MESSAGE_TYPE_BYTES_MAX,
  SCHEMAS_PER_SCAN_MAX,
  SEGMENTS_PER_SCAN_MAX,
} from '../core/limits.js';
import { Budget, Bytes, CLOSED, JsonValue, Uint64Input, words } from './primitives.js';

/** Every dialect that the contract names; those not built yet are refused as `unsupported`. */
export const DIALECT_NAMES = ['laser', 'net', 'iii'] as const;

/** Every segment format that the contract names; `iggy_batch` and `kafka` are refused as `unsupported` for now. */
export const FORMAT_NAMES = ['iggy', 'iggy_batch', 'iggy_polled', 'ndjson', 'kafka'] as const;

export const REPLY_FORMS = ['records', 'headers', 'offsets', 'count'] as const;

/** Where a scan begins; an entry's own `start` overrides the request's. */
export const StartSchema = Type.Union(
  [
    words(['first', 'last'], 'The first visible record, or the last visible record only.'),
    Type.Object({ offset: Uint64Input }, CLOSED),
    Type.Object({ timestamp: Uint64Input }, CLOSED),
    Type.Object({ continue: Type.String({ minLength: 1, maxLength: 1024 }) }, CLOSED),
  ],
  {
    description:
      '"first", "last", {"offset": n}, {"timestamp": microseconds} (the first record in offset order at or after it, ' +
      'then everything after; not for ndjson) or {"continue": token}.',
  },
);

export const SourceSchema = Type.Object(
  {
    stream: Type.String({ minLength: 1, maxLength: 255, description: '1…255 bytes.' }),
    topic: Type.String({ minLength: 1, maxLength: 255, description: '1…255 bytes.' }),
    generation: Type.Optional(
      Type.String({
        maxLength: 128,
        description: "The caller's text for the source's identity (≤ 128 bytes); a purge or recreation must change it.",
      }),
    ),
  },
  CLOSED,
);

export const SegmentSchema = Type.Object(
  {
    format: words(FORMAT_NAMES, 'All segments of a scan have one format.'),
    bytes: Type.Optional(Bytes),
    store: Type.Optional(Type.String({ minLength: 1, description: 'Name of a configured store root.' })),
    path: Type.Optional(
      Type.String({ minLength: 1, description: 'Relative, /-separated; links and .. cannot leave the store.' }),
    ),
    base_offset: Type.Optional(Uint64Input),
    last_offset: Type.Optional(Uint64Input),
    sealed: Type.Optional(Type.Boolean({ description: 'Default true inline, false in a store.' })),
    verify_checksums: Type.Optional(Type.Boolean({ description: 'Default false.' })),
  },
  CLOSED,
);

const Policy = words(['reject', 'pass'], 'Only for dialects whose filters carry no policies of their own.');

/** The members of a filter entry that `validate`, `test` and `scan` share (§2). */
export const FILTER_MEMBERS = {
  dialect: Type.Optional(words(DIALECT_NAMES, 'Default laser.')),
  filter: Type.Optional(JsonValue('The filter document itself; its numbers are read exactly.')),
  filter_text: Type.Optional(
    Type.String({ description: 'The filter as text; positions in a refusal refer to its UTF-8 bytes.' }),
  ),
  expect_digest: Type.Optional(
    Type.String({ pattern: '^[0-9a-fA-F]{64}$', description: 'SHA-256 in hex; another digest is a conflict.' }),
  ),
  strict: Type.Optional(Type.Boolean({ description: 'Refuse unknown members of the filter instead of warning.' })),
  codec: Type.Optional(words(['json', 'cbor', 'avro', 'protobuf', 'headers_only'], 'Only for net and iii.')),
  schema_refs: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0, maximum: 0xffffffff }), { maxItems: SCHEMAS_PER_SCAN_MAX }),
  ),
  fault_policy: Type.Optional(words(['stop', 'pass', 'drop'], 'Only for net and iii.')),
  foreign_policy: Type.Optional(Policy),
  mismatch_policy: Type.Optional(Policy),
  net_compat: Type.Optional(Type.Boolean()),
  document: Type.Optional(Type.String()),
} as const;

export const FilterEntrySchema = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 128, description: '1…128 bytes, unique in the request.' }),
    ...FILTER_MEMBERS,
    revision: Type.Optional(Type.Unknown({ description: 'Needs the catalog.' })),
    group: Type.Optional(Type.Unknown({ description: 'Needs the catalog.' })),
    start: Type.Optional(StartSchema),
  },
  CLOSED,
);

/**
 * Where a writer schema comes from (§1). Which members belong to a kind, and their bytes, are the planner's: a descriptor
 * set of byte numbers has up to a million items, which no schema library should go through.
 */
export const SchemaSourceSchema = Type.Object(
  {
    kind: words(['avro', 'protobuf'], 'avro needs schema, protobuf needs descriptor_set and message_type.'),
    schema: Type.Optional(Type.String({ description: 'The Avro schema, JSON as text; at most 1 MiB.' })),
    descriptor_set: Type.Optional(
      Type.Unsafe<string | Uint8Array | readonly unknown[]>({
        contentEncoding: 'base64',
        description:
          'A FileDescriptorSet with all its imports, at most 1 MiB: base64 text or a list of byte numbers, bin in ' +
          'MessagePack.',
      }),
    ),
    message_type: Type.Optional(
      Type.String({ minLength: 1, maxLength: MESSAGE_TYPE_BYTES_MAX, description: 'The full name of the message.' }),
    ),
  },
  CLOSED,
);

/** Writer schemas of this scan (§1), beside those of the registry. */
export const SchemasSchema = Type.Array(
  Type.Object(
    {
      id: Type.Integer({
        minimum: 0,
        maximum: SCHEMA_ID_MAX,
        description: 'What records carry in agdx.sid; an id that the registry holds with other bytes is a conflict.',
      }),
      source: SchemaSourceSchema,
    },
    CLOSED,
  ),
  {
    maxItems: SCHEMAS_PER_SCAN_MAX,
    description: 'Writer schemas that filters refer to, beside those of the registry.',
  },
);

export const ScanRequestSchema = Type.Object(
  {
    v: Type.Integer({ description: '1' }),
    source: SourceSchema,
    partition_id: Type.Integer({ minimum: 0, maximum: 0xffffffff }),
    segments: Type.Array(SegmentSchema, { maxItems: SEGMENTS_PER_SCAN_MAX }),
    filters: Type.Array(FilterEntrySchema, { minItems: 1, maxItems: FILTERS_PER_SCAN_MAX }),
    schemas: Type.Optional(SchemasSchema),
    start: Type.Optional(StartSchema),
    count: Type.Optional(Budget(1)),
    max_reply_bytes: Type.Optional(Budget(1)),
    max_examined: Type.Optional(Budget(1)),
    max_examined_bytes: Type.Optional(Budget(1)),
    deadline_ms: Type.Optional(Budget(1)),
    pages: Type.Optional(Budget(0)),
    reply: Type.Optional(words(REPLY_FORMS, 'Default records.')),
    progress_ms: Type.Optional(Budget(1)),
    diagnostic: Type.Optional(Type.Boolean({ description: 'Pages carry no safe_ack_offset.' })),
  },
  { ...CLOSED, $id: 'ScanRequest' },
);

export type StartInput = Type.Static<typeof StartSchema>;
export type SegmentInput = Type.Static<typeof SegmentSchema>;
export type SchemaInput = Type.Static<typeof SchemasSchema>[number];
export type FilterEntryInput = Type.Static<typeof FilterEntrySchema>;

/**
 * A checked request body. The body readers keep `filters[].filter` as text: the filter's own JSON, so that no number in
 * it passes through a double and nothing of it is parsed on the main thread.
 */
export type ScanRequest = Type.Static<typeof ScanRequestSchema>;
