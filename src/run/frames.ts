/**
 * The frames that the main thread writes itself (contract: scan-protocol §1 "Reply"): everything but pages, which arrive
 * from the workers as bytes.
 */
import type { Problem } from '../core/error-codes.js';
import type { FilterPolicy, FilterProgress, ReplyEncoding, ScanSpec } from '../scan/task.js';
import type { BeginFrame, EndFrame, ErrorFrame, ProgressFrame } from '../wire/frames.js';
import { encodeMsgpack } from '../wire/msgpack.js';
import { problemDocument } from '../wire/problem.js';

type Frame = BeginFrame | ProgressFrame | EndFrame | ErrorFrame;

/** One NDJSON line with its end, or one MessagePack object. Frames hold no number beyond 2^53. */
export function encodeFrame(encoding: ReplyEncoding, frame: Frame): Uint8Array {
  return encoding === 'json' ? new TextEncoder().encode(`${JSON.stringify(frame)}\n`) : encodeMsgpack(frame);
}

export function beginFrame(spec: ScanSpec, policies: readonly FilterPolicy[]): BeginFrame {
  return { frame: 'begin', request_id: spec.requestId, budgets: spec.budgets, filters: [...policies] };
}

/** What the pass has done over all slices so far. */
export interface PassTotals {
  readonly records: number;
  readonly bytes: number;
}

/** Writes the progress frames of one scan: each leaves out the filters that stand where the one before said. */
export class ProgressReport {
  /** What was last said of each filter: matches and place. */
  private readonly said: { matched: number; next: number | undefined }[] = [];

  frame(totals: PassTotals, filters: readonly FilterProgress[]): ProgressFrame {
    const changed: ProgressFrame['filters'] = [];
    filters.forEach(({ id, totals: { matched }, reached_offset: next }, at) => {
      const before = this.said[at];
      if (before !== undefined && before.matched === matched && before.next === next) return;
      this.said[at] = { matched, next };
      changed.push({ id, matched, ...(next === undefined ? {} : { next_scan_offset: next }) });
    });
    return { frame: 'progress', records_scanned: totals.records, bytes_scanned: totals.bytes, filters: changed };
  }
}

/** `filters` have all stopped. */
export function endFrame(filters: readonly FilterProgress[]): EndFrame {
  return {
    frame: 'end',
    filters: filters.map(({ stop, budget, filled_by, fault, frontier, ...filter }) => {
      if (stop === undefined) throw new Error(`filter ${filter.id} has not stopped`);
      return {
        id: filter.id,
        stop,
        ...(budget === undefined ? {} : { budget }),
        ...(filled_by === undefined ? {} : { filled_by }),
        ...(fault === undefined ? {} : { fault }),
        ...(frontier === undefined ? {} : { frontier }),
        totals: filter.totals,
        ...offsets(filter),
        continuation: filter.continuation,
      };
    }),
  };
}

/** `filters` as of the last slice that answered: what the receiver may rely on. */
export function errorFrame(problem: Problem, requestId: string, filters: readonly FilterProgress[]): ErrorFrame {
  return {
    frame: 'error',
    problem: problemDocument(problem, requestId),
    filters: filters.map((filter) => ({ id: filter.id, ...offsets(filter), continuation: filter.continuation })),
  };
}

function offsets(filter: Pick<FilterProgress, 'next_scan_offset' | 'safe_ack_offset'>) {
  const { next_scan_offset: next, safe_ack_offset: ack } = filter;
  return {
    ...(next === undefined ? {} : { next_scan_offset: next }),
    ...(ack === undefined ? {} : { safe_ack_offset: ack }),
  };
}
