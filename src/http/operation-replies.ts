/**
 * What the routes without a body answer with (scan-protocol §2 `capabilities`, §5), as `/openapi.json` says it. Nothing
 * here validates; the tests hold every live reply, and every example, against its schema.
 */
import type { Capabilities } from '../wire/capabilities.js';
import type { SchemaList } from '../wire/schema-list.js';
import { JSON_TYPE } from './accept.js';

/** What a route answers with, and an example of it. */
export interface OperationReply {
  readonly type: string;
  readonly schema: object;
  readonly example: unknown;
}

/** `GET /v1/capabilities`, with the default configuration. */
export const CAPABILITIES_EXAMPLE: Capabilities = {
  evaluator_versions: [1],
  dialects: ['laser'],
  codecs: ['json', 'cbor', 'avro', 'protobuf', 'headers_only'],
  formats: ['iggy', 'iggy_polled', 'ndjson'],
  engine: 'kernel',
  limits: {
    max_payload_bytes: 1_048_576,
    max_depth: 64,
    regex_subject_bytes_max: 65_536,
    filters_per_scan: 4096,
    segments_per_scan: 1024,
    json_body_max: 8_388_608,
    msgpack_body_max: 68_157_440,
    inline_bytes_max: 268_435_456,
    scans_per_shard: 16,
    scans_total: 64,
  },
  caps: {
    count: 1000,
    max_reply_bytes: 8_388_608,
    max_examined: 1_000_000_000,
    max_examined_bytes: 1_099_511_627_776,
    deadline_ms: 60_000,
    pages: 10_000,
    progress_ms: 60_000,
  },
};

/** `GET /v1/schemas`, of a registry that holds one schema. */
export const SCHEMAS_EXAMPLE: SchemaList = {
  schemas: [
    {
      id: 7,
      kind: 'avro',
      name: 'orders',
      hash: 'b1f05a02bd0e3d0cfc4c2d3f6a3a4f5a3f9c7f1b8e2d4c6a9b0e1f2d3c4b5a69',
      bytes: 211,
    },
  ],
};

const LABELS = { type: 'object', additionalProperties: { type: 'string' } } as const;
const COUNT = { type: 'integer', minimum: 0 } as const;

/** What has not been measured yet is no number, which JSON writes as null. */
const MEASURED = { type: ['number', 'null'] } as const;

/** `GET /livez`, `GET /readyz`. */
export const STATUS_REPLY: OperationReply = {
  type: JSON_TYPE,
  schema: { type: 'object', required: ['status'], properties: { status: { const: 'ok' } } },
  example: { status: 'ok' },
};

/** `GET /metrics`. */
export const METRICS_REPLY: OperationReply = {
  type: 'text/plain',
  schema: { type: 'string' },
  example:
    '# HELP winnow_workers Worker threads\n# TYPE winnow_workers gauge\n' +
    'winnow_workers{state="busy"} 0\nwinnow_workers{state="idle"} 2\n',
};

/** `GET /stats`: a counter or gauge has a value, a histogram its count, sum and cumulative buckets. */
export const STATS_REPLY: OperationReply = {
  type: JSON_TYPE,
  schema: {
    type: 'object',
    description: 'Series by metric name.',
    additionalProperties: {
      type: 'array',
      items: {
        anyOf: [
          { type: 'object', required: ['labels', 'value'], properties: { labels: LABELS, value: MEASURED } },
          {
            type: 'object',
            required: ['labels', 'count', 'sum', 'buckets'],
            properties: {
              labels: LABELS,
              count: COUNT,
              sum: { type: 'number' },
              buckets: { type: 'object', description: 'Counts by upper bound.', additionalProperties: COUNT },
            },
          },
        ],
      },
    },
  },
  example: {
    winnow_workers: [
      { labels: { state: 'busy' }, value: 0 },
      { labels: { state: 'idle' }, value: 2 },
    ],
    winnow_admission_wait_seconds: [{ labels: {}, count: 1, sum: 0.0004, buckets: { '0.0001': 0, '0.0005': 1 } }],
  },
};

/** `GET /openapi.json`. */
export const DOCUMENT_REPLY: OperationReply = {
  type: JSON_TYPE,
  schema: {
    type: 'object',
    required: ['openapi', 'info', 'paths', 'components'],
    properties: {
      openapi: { const: '3.1.0' },
      info: { type: 'object' },
      paths: { type: 'object' },
      components: { type: 'object' },
    },
  },
  example: { openapi: '3.1.0', info: { title: 'Winnow', version: '0.1.0' }, paths: {}, components: { schemas: {} } },
};
