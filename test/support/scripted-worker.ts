/**
 * A worker for tests of what happens around slices: it scans nothing, but answers them as a script says, with the shapes
 * and the cancel flag of the real one. The script is the topic of the request:
 *
 * - `single`: one page, done.
 * - `endless`: slices without a page until cancelled or past the deadline, then one page that says so.
 * - `chatty`: a page of 64 KiB a slice, until cancelled or past the deadline.
 * - `long`: as `chatty`, but done after `LONG_SLICES` slices.
 * - `dies`, `hangs`, `throws`, `hoards`, `exhausts`: as `chatty`, but the third slice takes the worker with it, never
 *   ends, throws, fills the worker's heap, or asks for more memory than there is.
 */
import {
  CONTROL_CANCEL,
  type ScanSpec,
  type SliceReply,
  type WorkerReply,
  type WorkerTask,
} from '../../src/scan/task.js';
import { decodeMsgpack } from '../../src/wire/msgpack.js';
import { examinedBefore, sliceState } from './slice-state.js';

/** Slices, and pages, of a `long` scan. */
export const LONG_SLICES = 10;

/** Slices that this worker ran; a page says the number of its own. */
let slices = 0;

const PAGE_PADDING = 'x'.repeat(65_536);

export default async function answer(task: WorkerTask): Promise<WorkerReply<unknown>> {
  if (task.kind === 'preview') loseWorker((decodeMsgpack(new Uint8Array(task.slice.spec)) as ScanSpec).topic);
  if (task.kind !== 'slice') return { problem: { code: 'unsupported', detail: 'not in this script' } };
  const spec = decodeMsgpack(new Uint8Array(task.spec)) as ScanSpec;
  const before = examinedBefore(task.state);
  if (before === 2) {
    if (spec.topic === 'dies') process.exit(3);
    if (spec.topic === 'throws') throw new Error('on purpose');
    while (spec.topic === 'hangs');
    if (spec.topic === 'exhausts') return { ok: new ArrayBuffer(Number.MAX_SAFE_INTEGER) };
    const hoard: number[][] = [];
    while (spec.topic === 'hoards') hoard.push(Array.from({ length: 1_000_000 }, () => 0));
  }
  slices += 1;
  if (spec.topic === 'slow') await new Promise((resolve) => setTimeout(resolve, 20));
  return { ok: slice(spec, before, stopOf(task.control, task.deadlineAtMs)) };
}

/** A preview follows only the scripts that lose its worker, with its first slice. */
function loseWorker(topic: string): void {
  if (topic === 'dies') process.exit(3);
  if (topic === 'hangs') for (;;);
}

function stopOf(control: SharedArrayBuffer, deadlineAtMs: number): 'cancelled' | 'deadline' | undefined {
  if (Atomics.load(new Int32Array(control), CONTROL_CANCEL) === 1) return 'cancelled';
  return performance.timeOrigin + performance.now() >= deadlineAtMs ? 'deadline' : undefined;
}

function slice(spec: ScanSpec, before: number, stop: 'cancelled' | 'deadline' | undefined): SliceReply {
  const examined = before + 1;
  const isSingle = spec.topic === 'single' || spec.topic === 'probe';
  const isLast = isSingle || (spec.topic === 'long' && examined === LONG_SLICES);
  const hasPage = stop !== undefined || spec.topic !== 'endless';
  const pageStop = stop ?? (isLast ? 'end_of_visible' : 'filled');
  const page = {
    ...(spec.framed ? { frame: 'page' } : { request_id: spec.requestId, budgets: spec.budgets }),
    stop: pageStop,
    next_scan_offset: examined,
    slice_of_worker: slices,
    padding: isSingle ? '' : PAGE_PADDING,
  };
  const done = stop !== undefined || isLast;
  return {
    begin: [{ id: 'f', policy: { dialect: 'laser', digest: 'd' } }],
    pages: hasPage ? [{ filter: 0, bytes: new TextEncoder().encode(`${JSON.stringify(page)}\n`), stop: pageStop }] : [],
    state: sliceState(examined, 0, {
      ...(done ? { stop: pageStop } : {}),
      next_scan_offset: examined,
      safe_ack_offset: examined - 1,
      continuation: `after-${examined}`,
    }),
    done,
    counters: {
      recordsScanned: 1,
      bytesScanned: 1,
      examined: { json: 1 },
      matched: 0,
      rejected: 1,
      unevaluated: 0,
      dropped: 0,
      bytesExamined: 1,
      bytesReturned: 0,
      skippedByIndex: 0,
      faults: {},
      stagesMs: { read: 0, decode: 0, evaluate: 0, encode: 0 },
      compileMs: 0,
      filterCacheHits: before === 0 ? 0 : 1,
      filterCacheMisses: before === 0 ? 1 : 0,
      sliceMs: 1,
    },
  };
}
