/**
 * Planning `preview` and `diff` (contract: scan-protocol §2): a range and its filter as a scan of one filter that
 * delivers nothing and counts, so that how far it looks is what a scan of the same range says. Pure.
 *
 * The bounds of §2 are the schema's: a larger number is refused. Below them the configured caps lower, as in a scan.
 */
import { refuse } from '../core/error-codes.js';
import {
  DEADLINE_MS_DEFAULT,
  MAX_EXAMINED_BYTES_DEFAULT,
  OFFSET_MAX,
  PREVIEW_EXAMINED_DEFAULT,
  PREVIEW_RECORDS_DEFAULT,
} from '../core/limits.js';
import type { DiffRequest, PreviewEntry, PreviewRequest } from '../wire/preview.js';
import { planFilterText } from './plan-filter.js';
import { planSchemas } from './plan-schemas.js';
import { offsetOf, planSegments, planSource, type ScanPlan } from './plan.js';
import type { Budgets, FilterTextSpec } from './task.js';

/** What a plan is made from, beside the checked request. */
export interface RangeInput {
  readonly requestId: string;
  /** Instant of arrival on the process clock, in milliseconds. */
  readonly arrivedAtMs: number;
  /** The configured caps. */
  readonly caps: Budgets;
}

export interface PreviewPlan {
  readonly scan: ScanPlan;
  readonly maxRecords: number;
  readonly explain: boolean;
}

export interface DiffPlan {
  /** Its one filter is the entry `a`. */
  readonly scan: ScanPlan;
  readonly other: FilterTextSpec;
}

/** Plans a preview, or throws a `Refusal` whose `field` points into the request. */
export function planPreview(request: PreviewRequest, input: RangeInput): PreviewPlan {
  return {
    scan: planRange(request, planEntry(request, ''), input),
    maxRecords: request.max_records ?? PREVIEW_RECORDS_DEFAULT,
    explain: request.explain ?? false,
  };
}

/** Plans a diff, or throws a `Refusal` whose `field` points into the request. */
export function planDiff(request: DiffRequest, input: RangeInput): DiffPlan {
  const a = planEntry(request.a, '/a');
  return { other: planEntry(request.b, '/b'), scan: planRange(request, a, input) };
}

type RangeRequest = Omit<DiffRequest, 'a' | 'b'>;

function planRange(
  request: RangeRequest,
  filter: FilterTextSpec,
  { requestId, arrivedAtMs, caps }: RangeInput,
): ScanPlan {
  const { segments, inline } = planSegments(request.segments);
  const budgets = {
    // Records are counted, never delivered: no page fills before the range ends.
    count: OFFSET_MAX,
    max_reply_bytes: OFFSET_MAX,
    pages: 1,
    progress_ms: OFFSET_MAX,
    max_examined: Math.min(request.max_examined ?? PREVIEW_EXAMINED_DEFAULT, caps.max_examined),
    max_examined_bytes: Math.min(MAX_EXAMINED_BYTES_DEFAULT, caps.max_examined_bytes),
    deadline_ms: Math.min(DEADLINE_MS_DEFAULT, caps.deadline_ms),
  };
  const offset = request.from_offset === undefined ? 0 : offsetOf(request.from_offset, '/from_offset');
  return {
    spec: {
      requestId,
      ...planSource(request.source ?? { stream: 'preview', topic: 'preview' }),
      partitionId: request.partition_id ?? 0,
      segments,
      filters: [{ id: 'preview', ...filter, start: { at: 'offset', offset, pointer: '/from_offset' } }],
      schemas: planSchemas(request.schemas),
      reply: 'count',
      encoding: 'json',
      framed: false,
      flushes: false,
      diagnostic: false,
      budgets,
    },
    inline,
    deadlineAtMs: arrivedAtMs + budgets.deadline_ms,
  };
}

/** The filter of an entry; its `id` says nothing here, its `start` would contradict the range. */
function planEntry(entry: PreviewEntry, field: string): FilterTextSpec {
  for (const name of ['revision', 'group'] as const) {
    if (entry[name] !== undefined) {
      refuse('unsupported', 'Durable filters are not available in this version.', { field: `${field}/${name}` });
    }
  }
  if (entry.start !== undefined) {
    refuse('invalid_request', 'Here from_offset says where to start.', { field: `${field}/start` });
  }
  return planFilterText(entry, field);
}
