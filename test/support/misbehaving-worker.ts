/**
 * A worker for the pool's tests that does what a task's `record` tells it: answer, throw, die, hang, run out of
 * memory inside and outside its heap. Given cells for turns, it starts only as often as their first one says.
 */
import { threadId, workerData } from 'node:worker_threads';
import type { ScanState, WorkerSetup } from '../../src/scan/task.js';

const { turns } = workerData as WorkerSetup;
if (turns !== undefined && Atomics.sub(new Int32Array(turns), 0, 1) <= 0) throw new Error('does not start again');

interface Order {
  readonly kind: string;
  readonly record?: string;
  readonly state?: Pick<ScanState, 'pages'> | null;
}

export default async function obey(order: Order): Promise<unknown> {
  if (order.kind === 'slice') return { ok: { bytes: order.state?.pages.map(({ bytes }) => bytes.byteLength) } };
  switch (order.record) {
    case 'throw':
      throw new Error('thrown inside the task');
    case 'die':
      setImmediate(() => {
        throw new Error('thrown outside any task');
      });
      await new Promise(() => undefined);
      break;
    case 'exit':
      process.exit(3);
      break;
    case 'hang':
      for (;;);
    case 'hoard': {
      const kept: number[][] = [];
      for (;;) kept.push(Array.from({ length: 1_000_000 }, () => 0));
    }
    case 'exhaust':
      return { ok: new ArrayBuffer(Number.MAX_SAFE_INTEGER) };
    case 'refuse':
      return { problem: { code: 'invalid_request', detail: 'refused on purpose' } };
    case 'setup':
      return { ok: workerData };
    default:
      return { ok: { threadId } };
  }
  return undefined;
}
