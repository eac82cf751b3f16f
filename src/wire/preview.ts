/**
 * The bodies and replies of `POST /v1/filters/preview` and `POST /v1/filters/diff` (contract: scan-protocol §2).
 *
 * The members of the previewed entry stand in the body itself, as for `validate` and `test`; a diff has two entries, `a`
 * and `b`. Where the contract says what a range is, both say it alike: `segments`, `from_offset`, `max_examined`.
 * Beyond the contract's list a body may name `partition_id` (an `iggy_polled` body carries one to be compared with).
 */
import Type from 'typebox';
import {
  OFFSET_MAX,
  PREVIEW_EXAMINED_MAX,
  PREVIEW_RECORDS_MAX,
  PREVIEW_TEXT_BYTES,
  SEGMENTS_PER_SCAN_MAX,
} from '../core/limits.js';
import { ExplanationSchema, PolicySchema } from './filter-request.js';
import { STOP_NAMES } from '../core/stop-names.js';
import { PageFaultSchema } from './page.js';
import { CLOSED, Uint53, Uint64Input, words } from './primitives.js';
import { FILTER_MEMBERS, SchemasSchema, SegmentSchema, SourceSchema, StartSchema } from './scan-request.js';

/** A filter entry (§1). What it is called is of no use here, where it starts says the range. */
const ENTRY_MEMBERS = {
  id: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: '1…128 bytes; may be left out here.' })),
  ...FILTER_MEMBERS,
  revision: Type.Optional(Type.Unknown({ description: 'Needs the catalog.' })),
  group: Type.Optional(Type.Unknown({ description: 'Needs the catalog.' })),
  start: Type.Optional(StartSchema),
} as const;

const RANGE_MEMBERS = {
  source: Type.Optional(SourceSchema),
  partition_id: Type.Optional(Type.Integer({ minimum: 0, maximum: 0xffffffff, description: 'Default 0.' })),
  segments: Type.Array(SegmentSchema, { maxItems: SEGMENTS_PER_SCAN_MAX }),
  schemas: Type.Optional(SchemasSchema),
  from_offset: Type.Optional(Uint64Input),
  max_examined: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PREVIEW_EXAMINED_MAX, description: 'Most records examined, default 1,000.' }),
  ),
} as const;

export const PreviewRequestSchema = Type.Object(
  {
    ...ENTRY_MEMBERS,
    ...RANGE_MEMBERS,
    max_records: Type.Optional(
      Type.Integer({ minimum: 0, maximum: PREVIEW_RECORDS_MAX, description: 'Most records returned, default 20.' }),
    ),
    explain: Type.Optional(Type.Boolean({ description: 'Explain every returned record; default false.' })),
  },
  { ...CLOSED, $id: 'PreviewRequest' },
);
export type PreviewRequest = Type.Static<typeof PreviewRequestSchema>;

const EntrySchema = Type.Object(ENTRY_MEMBERS, CLOSED);
export type PreviewEntry = Type.Static<typeof EntrySchema>;

export const DiffRequestSchema = Type.Object(
  { a: EntrySchema, b: EntrySchema, ...RANGE_MEMBERS },
  { ...CLOSED, $id: 'DiffRequest' },
);
export type DiffRequest = Type.Static<typeof DiffRequestSchema>;

const Examples = Type.Array(Type.Integer({ minimum: 0, maximum: OFFSET_MAX }), {
  description: 'Offsets of the first of them, at most 10.',
});

/** How far it looked, and why not further: as the page of a scan of the same range says it. */
const PROGRESS_MEMBERS = {
  budgets: Type.Object(
    { max_examined: Uint53, max_examined_bytes: Uint53, deadline_ms: Uint53 },
    { description: 'The effective budgets, lowered to the configured caps.' },
  ),
  examined: Uint53,
  examined_bytes: Uint53,
  stop: words(STOP_NAMES, 'Why it ends.'),
  budget: Type.Optional(words(['examined', 'examined_bytes'], 'With stop budget.')),
  fault: Type.Optional(PageFaultSchema),
  next_scan_offset: Type.Optional(Uint53),
} as const;

/**
 * A node of the funnel, mirroring the expression. At every node `match + no_match + unknown + unjudged + not_reached`
 * is the number of records examined; `mismatch` is a part of `unknown`.
 */
export interface FunnelNodeReply {
  readonly label: string;
  readonly match: number;
  readonly no_match: number;
  readonly unknown: number;
  readonly mismatch: number;
  readonly unjudged: number;
  readonly not_reached: number;
  readonly rejected: number;
  readonly examples: readonly number[];
  readonly children?: readonly FunnelNodeReply[];
}

const count = (description: string): object => ({ type: 'integer', minimum: 0, description });

const COUNT_NAMES = ['match', 'no_match', 'unknown', 'mismatch', 'unjudged', 'not_reached', 'rejected'] as const;
const NODE_MEMBERS = ['label', ...COUNT_NAMES, 'examples'];

export const FunnelSchema = Type.Object({
  unjudged: Type.Array(Type.Object({ reason: Type.String(), records: Uint53, examples: Examples }), {
    description: 'Examined records that the filter could not judge, by reason.',
  }),
  root: Type.Unsafe<FunnelNodeReply>({
    type: 'object',
    description: 'A node, counted over the short-circuit evaluation; children are nodes, in written order.',
    required: NODE_MEMBERS,
    properties: {
      label: { type: 'string' },
      match: count('Records for which it held.'),
      no_match: count('Records for which it did not.'),
      unknown: count('Neither.'),
      mismatch: count('Of the unknown: a type below it could not be compared.'),
      unjudged: count('It was reached, and the record could not be judged there.'),
      not_reached: count('Skipped: a sibling had decided, or the record could not be judged before.'),
      rejected: count(
        'Rejected records put down to this node: the first in evaluation order whose value alone settled that the ' +
          'root cannot match. Each rejected record with a truth is put down to one node.',
      ),
      examples: { ...Examples, description: 'Offsets of the first records it rejected, at most 10.' },
      children: { type: 'array', items: { type: 'object' } },
    },
  }),
});

export const PreviewRecordSchema = Type.Object({
  offset: Uint53,
  timestamp: Type.Unsafe<number | bigint>({
    type: ['integer', 'string'],
    description: 'Microseconds: a number within 2^53−1, in JSON decimal text beyond.',
  }),
  verdict: words(['rejected', 'selected', 'fault'], 'What delivery decides.'),
  fault: Type.Optional(Type.String({ description: 'The reason, also of a rejection under a reject policy.' })),
  payload_text: Type.String({
    description: `The first ${PREVIEW_TEXT_BYTES} bytes of the payload; U+FFFD stands for what is not UTF-8.`,
  }),
  payload_truncated: Type.Boolean(),
  explanation: Type.Optional(ExplanationSchema),
});
export type PreviewRecord = Type.Static<typeof PreviewRecordSchema>;

export const PreviewReplySchema = Type.Object(
  {
    policy: PolicySchema,
    ...PROGRESS_MEMBERS,
    matched: Uint53,
    rejected: Uint53,
    unevaluated_count: Uint53,
    dropped: Uint53,
    records: Type.Array(PreviewRecordSchema, {
      description:
        'Selected, then unevaluated, fault and rejected records, each by offset. A record that stopped the preview ' +
        '(fault_policy stop) stands among the faults and is in no count.',
    }),
    funnel: FunnelSchema,
  },
  { $id: 'PreviewReply' },
);
export type PreviewReply = Type.Static<typeof PreviewReplySchema>;

const PartSchema = Type.Object({
  count: Uint53,
  bytes: Type.Integer({ minimum: 0, maximum: OFFSET_MAX, description: 'Stored frame bytes.' }),
  examples: Examples,
});
export type DiffPart = Type.Static<typeof PartSchema>;

export const DiffReplySchema = Type.Object(
  {
    policies: Type.Object({ a: PolicySchema, b: PolicySchema }),
    ...PROGRESS_MEMBERS,
    stopped_by: Type.Optional(
      words(['a', 'b', 'both'], 'With stop fault: whose fault_policy stops at the record. The comparison ends there.'),
    ),
    only_a: PartSchema,
    only_b: PartSchema,
    both: PartSchema,
    neither: PartSchema,
  },
  {
    $id: 'DiffReply',
    description: 'A record is in an entry if the entry delivers it: selected, or unevaluated under a pass policy.',
  },
);
export type DiffReply = Type.Static<typeof DiffReplySchema>;
