/**
 * The reply of `GET /v1/capabilities` (contract: scan-protocol §2): what this build evaluates, reads and allows.
 */
import Type from 'typebox';
import { ENGINE_NAMES, type EngineName } from '../core/engine.js';
import { EvaluationLimitsSchema, BudgetsSchema } from './page.js';
import { Uint53 } from './primitives.js';

/** What is built, by the names that requests use. Formats equal the reader table; a test holds them together. */
export const EVALUATOR_VERSION = 1;
export const DIALECTS_BUILT = ['laser'] as const;
export const CODECS_BUILT = ['json', 'cbor', 'avro', 'protobuf', 'headers_only'] as const;
export const FORMATS_BUILT = ['iggy', 'iggy_polled', 'ndjson'] as const;

export const CapabilitiesSchema = Type.Object(
  {
    evaluator_versions: Type.Array(Uint53),
    dialects: Type.Array(Type.String()),
    codecs: Type.Array(Type.String()),
    formats: Type.Array(Type.String()),
    engine: Type.Unsafe<EngineName>({ type: 'string', enum: [...ENGINE_NAMES] }),
    limits: Type.Intersect([
      EvaluationLimitsSchema,
      Type.Object({
        filters_per_scan: Uint53,
        segments_per_scan: Uint53,
        json_body_max: Uint53,
        msgpack_body_max: Uint53,
        inline_bytes_max: Uint53,
        scans_per_shard: Uint53,
        scans_total: Uint53,
      }),
    ]),
    caps: BudgetsSchema,
  },
  { $id: 'Capabilities' },
);
export type Capabilities = Type.Static<typeof CapabilitiesSchema>;
