/**
 * The frames of a streamed reply but pages (contract: scan-protocol §1 "Reply"): `begin`, `progress`, `end`, `error`.
 *
 * A stream has exactly one `end` or `error` frame, last; one without was cut and says nothing about the end of the data.
 */
import Type from 'typebox';
import { PolicySchema } from './filter-request.js';
import { STOP_NAMES } from '../core/stop-names.js';
import { BudgetsSchema, PageFaultSchema } from './page.js';
import { Uint53, words } from './primitives.js';
import { ProblemSchema } from './problem.js';

export const BeginFrameSchema = Type.Object(
  {
    frame: Type.Literal('begin'),
    request_id: Type.String(),
    budgets: BudgetsSchema,
    filters: Type.Array(Type.Object({ id: Type.String(), policy: PolicySchema })),
  },
  { $id: 'BeginFrame' },
);
export type BeginFrame = Type.Static<typeof BeginFrameSchema>;

export const ProgressFrameSchema = Type.Object(
  {
    frame: Type.Literal('progress'),
    records_scanned: Uint53,
    bytes_scanned: Uint53,
    filters: Type.Array(Type.Object({ id: Type.String(), matched: Uint53, next_scan_offset: Type.Optional(Uint53) })),
  },
  { $id: 'ProgressFrame' },
);
export type ProgressFrame = Type.Static<typeof ProgressFrameSchema>;

export const TotalsSchema = Type.Object({
  pages: Uint53,
  examined: Uint53,
  matched: Uint53,
  rejected: Uint53,
  unevaluated_count: Uint53,
  dropped: Uint53,
  examined_bytes: Uint53,
});

export const EndFrameSchema = Type.Object(
  {
    frame: Type.Literal('end'),
    filters: Type.Array(
      Type.Object({
        id: Type.String(),
        stop: words(STOP_NAMES, 'Why the filter left the pass.'),
        budget: Type.Optional(words(['examined', 'examined_bytes', 'pages'], 'With stop budget.')),
        filled_by: Type.Optional(words(['count', 'reply_bytes'], 'What filled the last page.')),
        fault: Type.Optional(PageFaultSchema),
        frontier: Type.Optional(Uint53),
        totals: TotalsSchema,
        next_scan_offset: Type.Optional(Uint53),
        safe_ack_offset: Type.Optional(Uint53),
        continuation: Type.String(),
      }),
    ),
  },
  { $id: 'EndFrame' },
);
export type EndFrame = Type.Static<typeof EndFrameSchema>;

export const ErrorFrameSchema = Type.Object(
  {
    frame: Type.Literal('error'),
    problem: ProblemSchema,
    filters: Type.Array(
      Type.Object({
        id: Type.String(),
        next_scan_offset: Type.Optional(Uint53),
        safe_ack_offset: Type.Optional(Uint53),
        continuation: Type.String(),
      }),
    ),
  },
  { $id: 'ErrorFrame' },
);
export type ErrorFrame = Type.Static<typeof ErrorFrameSchema>;
