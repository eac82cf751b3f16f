/**
 * A page as the wire carries it (contract: scan-protocol §1 "A page"), in both reply forms and both encodings.
 *
 * These schemas describe; pages are written by `scan/page-encode*` and are checked against them in tests. JSON carries
 * binary as base64 and integers beyond ±(2^53−1) as decimal text; MessagePack carries `bin` and integers.
 */
import Type from 'typebox';
import { STOP_NAMES } from '../core/stop-names.js';
import { PolicySchema } from './filter-request.js';
import { Bytes, Int64Output, Uint53, words } from './primitives.js';

export const BudgetsSchema = Type.Object(
  {
    count: Uint53,
    max_reply_bytes: Uint53,
    max_examined: Uint53,
    max_examined_bytes: Uint53,
    deadline_ms: Uint53,
    pages: Uint53,
    progress_ms: Uint53,
  },
  { description: 'The effective budgets, lowered to the configured caps.' },
);

/** What stopped a page under `fault`, `oversized_record` or `corrupt`; which members stand there depends on the stop. */
export const PageFaultSchema = Type.Object({
  offset: Type.Optional(Uint53),
  reason: Type.String(),
  bytes: Type.Optional(Uint53),
  segment: Type.Optional(Uint53),
  position: Type.Optional(Uint53),
  offset_before: Type.Optional(Uint53),
});
export type PageFault = Type.Static<typeof PageFaultSchema>;

export const EvaluationLimitsSchema = Type.Object({
  max_payload_bytes: Uint53,
  max_depth: Uint53,
  regex_subject_bytes_max: Uint53,
});

export const HeaderValueSchema = Type.Object({
  kind: words(['bool', 'int', 'uint', 'float', 'string', 'raw'], 'raw is base64.'),
  value: Type.Union([Type.Boolean(), Type.Number(), Type.String()], {
    description: 'Integers beyond ±(2^53−1) are decimal text; floats may be "NaN", "Infinity", "-Infinity", "-0.0".',
  }),
});

/** One record as an object: every record of a JSON page, and of `reply: headers` in both encodings. */
export const RecordSchema = Type.Object({
  offset: Uint53,
  id: Type.Optional(Type.String({ description: 'u128 as decimal text.' })),
  timestamp: Int64Output,
  origin_timestamp: Type.Optional(Int64Output),
  headers: Type.Optional(
    Type.Array(
      Type.Object({
        key: Type.String({ description: 'Text for kind 2, else base64.' }),
        key_kind: Type.Integer({ minimum: 1, maximum: 255 }),
        value: HeaderValueSchema,
      }),
    ),
  ),
  header_block: Type.Optional(Bytes),
  payload: Type.Optional(Bytes),
});

/** `records` of a MessagePack page: the stored frames byte for byte. */
export const RecordBatchSchema = Type.Object({
  format: Type.String({ description: '`iggy` also for `iggy_polled`.' }),
  bytes: Bytes,
  positions: Type.Array(Uint53),
  offsets: Type.Array(Uint53),
  timestamps: Type.Array(Int64Output),
});

const PAGE_MEMBERS = {
  v: Type.Literal(1),
  id: Type.String(),
  partition_id: Uint53,
  generation: Type.String(),
  policy: PolicySchema,
  examined: Uint53,
  matched: Uint53,
  rejected: Uint53,
  unevaluated_count: Uint53,
  dropped: Uint53,
  examined_bytes: Uint53,
  next_scan_offset: Type.Optional(Uint53),
  safe_ack_offset: Type.Optional(Uint53),
  frontier: Type.Optional(Uint53),
  stop: words(STOP_NAMES, 'Why the page ends.'),
  budget: Type.Optional(words(['examined', 'examined_bytes'], 'With stop budget.')),
  filled_by: Type.Optional(words(['count', 'reply_bytes'], 'With stop filled.')),
  fault: Type.Optional(PageFaultSchema),
  unevaluated: Type.Array(Type.Object({ offset: Uint53, reason: Type.String() })),
  evaluation_limits: Type.Optional(EvaluationLimitsSchema),
  torn_bytes: Type.Optional(Uint53),
  records: Type.Optional(Type.Union([RecordBatchSchema, Type.Array(RecordSchema)])),
  offsets: Type.Optional(Type.Array(Uint53)),
  continuation: Type.String({ maxLength: 1024 }),
} as const;

/** The body of a single-page reply. */
export const PageSchema = Type.Object(
  { request_id: Type.String(), budgets: BudgetsSchema, ...PAGE_MEMBERS },
  { $id: 'Page' },
);
export type Page = Type.Static<typeof PageSchema>;

export const PageFrameSchema = Type.Object({ frame: Type.Literal('page'), ...PAGE_MEMBERS }, { $id: 'PageFrame' });
export type PageFrame = Type.Static<typeof PageFrameSchema>;
