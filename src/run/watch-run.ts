/**
 * A preview or diff from its first slice to its answer (contract: scan-protocol §2): the slices of a scan without
 * frames. Between slices it waits for its turn like any scan, so that it never holds a worker longer than a slice.
 *
 * A receiver that is gone ends it after the slice at work; a drain ends it with `stop: cancelled` and what it found.
 * Past its deadline the next slice answers with `stop: deadline`.
 */
import { Refusal, refuse } from '../core/error-codes.js';
import {
  CONTROL_CANCEL,
  CONTROL_CELLS,
  type SliceCounters,
  type SliceTask,
  type WatchReply,
  type WatchTask,
} from '../scan/task.js';
import { encodeMsgpack } from '../wire/msgpack.js';
import { compileMsOf } from './compile-time.js';
import { passGate, refuseAtGate } from './gate-wait.js';
import type { PlannedScan, ScanMeans, ScanSignals } from './scan-run.js';

/** Makes the task of one slice; `found` is what the slices before it found, `null` for the first. */
export type WatchTaskOf<Found> = (slice: SliceTask, found: Found | null) => WatchTask;

/** Runs all slices. Throws a `Refusal`: of the request, at the gate, or of a worker that was lost. */
export async function runWatch<Found, Answer>(
  { spec, scanKey, inline, bounds, deadlineAtMs, shard }: PlannedScan,
  { pool, turns, metrics, clock }: ScanMeans,
  signals: ScanSignals,
  taskOf: WatchTaskOf<Found>,
): Promise<Answer> {
  const control = new SharedArrayBuffer(CONTROL_CELLS * Int32Array.BYTES_PER_ELEMENT);
  const cancel = (): void => {
    Atomics.store(new Int32Array(control), CONTROL_CANCEL, 1);
  };
  signals.stop.addEventListener('abort', cancel, { once: true });
  if (signals.stop.aborted) cancel();
  const bytes = encodeMsgpack(spec);
  const shared = new SharedArrayBuffer(bytes.byteLength);
  new Uint8Array(shared).set(bytes);
  const common = { kind: 'slice', scanKey, spec: shared, control, inline, bounds, deadlineAtMs } as const;
  let before: WatchReply<Found, Answer> | null = null;
  try {
    for (;;) {
      // Work that runs is never refused its turn: past the deadline its next slice only answers.
      const ask = { shard, units: 1, deadlineAtMs: before === null ? deadlineAtMs : Infinity };
      const passed = await passGate(turns, ask, clock, signals.gone);
      if (passed === null) return refuse('unavailable', 'The client went away.');
      if ('refusal' in passed) {
        metrics.recordRefusal(passed.refusal.reason);
        return refuseAtGate(passed.refusal);
      }
      try {
        const task = taskOf({ ...common, state: before?.state ?? null }, before?.found ?? null);
        const reply = await pool.run<WatchReply<Found, Answer>>(task, compileMsOf(spec));
        if ('problem' in reply) throw new Refusal(reply.problem);
        before = reply.ok;
      } finally {
        passed.hold.release(clock.nowMs());
      }
      metrics.recordSlice(passOnly(before.counters), [spec.filters[0]!.dialect]);
      if (before.answer !== undefined) return before.answer;
    }
  } finally {
    signals.stop.removeEventListener('abort', cancel);
  }
}

/** Only the physical pass is counted: nothing of a preview is delivered, so nothing is kept from a consumer either. */
function passOnly(counters: SliceCounters): SliceCounters {
  const none = {
    matched: 0,
    rejected: 0,
    unevaluated: 0,
    dropped: 0,
    bytesExamined: 0,
    bytesReturned: 0,
    skippedByIndex: 0,
  };
  return { ...counters, ...none, examined: {}, faults: {} };
}
