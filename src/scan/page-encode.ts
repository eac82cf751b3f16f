/**
 * A closed page to complete bytes in the reply's form and encoding (contract: scan-protocol §1 "A page").
 *
 * The result is what goes on the socket: one JSON or MessagePack page object, or a frame with its `frame` member (and
 * line end, in NDJSON). The main thread sends it as it is.
 */
import { DEPTH_MAX, PAYLOAD_BYTES_MAX, REGEX_SUBJECT_BYTES_MAX } from '../core/limits.js';
import { readIggyTimestamp } from '../segment/iggy.js';
import { encodeMsgpack } from '../wire/msgpack.js';
import type { StopName } from '../core/stop-names.js';
import type { PageFault } from '../wire/page.js';
import type { OpenPage } from './page.js';
import { type FrameFormat, integer, recordObject } from './record-object.js';
import type { FilterPolicy, FilterTotals, ScanSpec } from './task.js';

/** What a page says beside its counts and records. */
export interface PageEnding {
  readonly stop: StopName;
  readonly budget?: 'examined' | 'examined_bytes';
  readonly filled_by?: 'count' | 'reply_bytes';
  readonly fault?: PageFault;
  readonly next_scan_offset?: number;
  readonly safe_ack_offset?: number;
  readonly frontier?: number;
  readonly torn_bytes?: number;
  readonly continuation: string;
}

/** Limits of evaluation as pages announce them beside unevaluated records; a scan runs under the defaults. */
const EVALUATION_LIMITS = {
  max_payload_bytes: PAYLOAD_BYTES_MAX,
  max_depth: DEPTH_MAX,
  regex_subject_bytes_max: REGEX_SUBJECT_BYTES_MAX,
} as const;

/** Encodes a page of the filter that `policy` names, with the page's own counts. The result owns its memory and may be transferred. */
export function encodePage(
  spec: ScanSpec,
  policy: FilterPolicy,
  frameFormat: FrameFormat,
  page: OpenPage,
  counts: Omit<FilterTotals, 'pages'>,
  ending: PageEnding,
): Uint8Array {
  const { continuation, ...end } = ending;
  const object = {
    ...(spec.framed ? { frame: 'page' } : { request_id: spec.requestId, budgets: spec.budgets }),
    v: 1,
    id: policy.id,
    partition_id: spec.partitionId,
    generation: spec.generation,
    policy: policy.policy,
    ...counts,
    ...end,
    unevaluated: page.unevaluated,
    ...(page.unevaluated.length > 0 ? { evaluation_limits: EVALUATION_LIMITS } : {}),
    ...deliveredOf(spec, frameFormat, page),
    continuation,
  };
  if (spec.encoding === 'msgpack') return encodeMsgpack(object);
  // A copy of exact size: Node's pooled buffers cannot be transferred.
  return new Uint8Array(Buffer.from(spec.framed ? `${JSON.stringify(object)}\n` : JSON.stringify(object)));
}

function deliveredOf(spec: ScanSpec, format: FrameFormat, page: OpenPage): Record<string, unknown> {
  if (page.form === 'count') return {};
  const at = Array.from({ length: page.recordCount }, (_, i) => i);
  const offsets = at.map((i) => page.offset(i));
  if (page.form === 'offsets') return { offsets };
  if (page.form === 'records' && spec.encoding === 'msgpack') {
    return { records: recordBatch(format, page, offsets) };
  }
  const records = at.map((i) => {
    const hasPayload = page.form === 'records';
    const [start, end] = [page.position(i), page.position(i + 1)];
    return recordObject(format, spec.encoding, offsets[i]!, page.bytes, start, end, hasPayload);
  });
  return { records };
}

/** Stored frames byte for byte, and where each starts. */
function recordBatch(format: FrameFormat, page: OpenPage, offsets: readonly number[]): Record<string, unknown> {
  const timestampAt = (position: number) =>
    format === 'ndjson' ? 0 : integer('msgpack', readIggyTimestamp(page.bytes, position));
  const positions = offsets.map((_, i) => page.position(i));
  return {
    format,
    bytes: page.bytes.subarray(0, page.bytesUsed),
    positions,
    offsets,
    timestamps: positions.map(timestampAt),
  };
}
