/**
 * Where each filter of a scan starts (contract: scan-protocol §1 `start`, "Continuation"), and which segments can be
 * left unopened.
 *
 * A continuation is checked here, before anything is read. Its hint is no more than a hint: whoever uses it looks at
 * the frame that stands there.
 */
import { OFFSET_MAX } from '../core/limits.js';
import { type ContinuationHint, type ContinuationStart, readContinuation } from '../wire/continuation.js';
import type { CompiledFilterEntry, CompiledScan } from './compile.js';
import { checkTimestampStart } from './plan.js';
import type { RowStart } from './run-table.js';
import type { SegmentSpec, StartSpec } from './task.js';

/**
 * Where a filter starts. Throws what a continuation refuses (`invalid_request`, `conflict`,
 * `source_changed`), and `invalid_request` for a timestamp where records carry none.
 */
export function startOf(scan: CompiledScan, index: number, keys: readonly Uint8Array[]): RowStart {
  const spec = scan.spec.filters[index]!.start;
  const { start, hint } = resolved(scan.entries[index]!, spec, keys);
  if (start.at === 'timestamp') checkTimestampStart(scan.spec.segments[0]?.format, spec.pointer);
  return { start, hint };
}

function resolved(
  entry: CompiledFilterEntry,
  spec: StartSpec,
  keys: readonly Uint8Array[],
): { start: ContinuationStart; hint?: ContinuationHint } {
  switch (spec.at) {
    case 'continue':
      return readContinuation(keys, spec.token, entry.binding, spec.pointer);
    case 'offset':
      return { start: { at: 'offset', offset: spec.offset } };
    case 'timestamp':
      return { start: { at: 'timestamp', timestamp: spec.timestamp } };
    default:
      return { start: { at: spec.at } };
  }
}

/** True where no record of the segment can be visible to anyone who starts at `lowest` or later. */
export function isBelow(segment: SegmentSpec, lowest: number): boolean {
  return (segment.lastOffset ?? OFFSET_MAX) < lowest;
}

/** The highest `last_offset` that the request gives, −1 if it gives none: it counts as known without reading. */
export function givenFrontier(segments: readonly SegmentSpec[]): number {
  return segments.reduce((highest, { lastOffset }) => Math.max(highest, lastOffset ?? -1), -1);
}
