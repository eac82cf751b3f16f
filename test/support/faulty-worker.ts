/**
 * The real worker, lost in the middle of a slice: a scan whose topic names a fault (`dies`, `hangs`, `exhausts`) meets it
 * once the worker has done the work of its fourth slice and has not answered yet. Every other scan is served.
 */
import runTask from '../../workers/scan-worker.js';
import type { ScanSpec, WorkerReply, WorkerTask } from '../../src/scan/task.js';
import { decodeMsgpack } from '../../src/wire/msgpack.js';

const FAULTY_SLICE = 4;

/** Slices by scan. */
const slices = new Map<string, number>();

export default async function runOrLose(task: WorkerTask): Promise<WorkerReply<unknown>> {
  const reply = runTask(task);
  if (task.kind !== 'slice') return reply;
  const slice = (slices.get(task.scanKey) ?? 0) + 1;
  slices.set(task.scanKey, slice);
  if (slice !== FAULTY_SLICE) return reply;
  switch ((decodeMsgpack(new Uint8Array(task.spec).slice()) as ScanSpec).topic) {
    case 'dies':
      return process.exit(3);
    case 'hangs':
      for (;;);
    case 'exhausts':
      return { ok: new ArrayBuffer(Number.MAX_SAFE_INTEGER) };
    default:
      return reply;
  }
}
