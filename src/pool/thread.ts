/**
 * The pool's side of a worker thread: runs each task through the workers' entry and moves the buffers of its reply.
 *
 * Only the pool knows its library's way to say "transfer this" (64 MiB: 876 ms cloned, 16 ms moved), and the entry knows
 * no pool; so this file stands between them. The entry's URL comes with the thread's setup. The library awaits the default
 * export before it calls a thread ready, so that also a replaced worker meets its first task loaded: the time of a task
 * counts toward its end by force, and the time to load must not.
 */
import { workerData } from 'node:worker_threads';
import { move } from 'piscina';
import { isMemoryExhausted } from '../core/memory-exhausted.js';
import type { SliceReply, WorkerReply, WorkerSetup, WorkerTask } from '../scan/task.js';

/** What the pool hands to a thread: the worker's own setup and where the worker's entry is. */
export interface ThreadSetup extends WorkerSetup {
  readonly entryUrl: string;
}

/** The runtime's code of a thread that ended because its heap was full. */
const OUT_OF_MEMORY_CODE = 'ERR_WORKER_OUT_OF_MEMORY';

type RunTask = (task: WorkerTask) => WorkerReply<unknown> | Promise<WorkerReply<unknown>>;

/** Resolves with what runs the thread's tasks. Rejects where the entry cannot be loaded: the thread does not start. */
export default loadEntry().then((entry) => (task: WorkerTask) => runTask(entry, task));

/**
 * Runs one task. Rejects only where the entry breaks its promise not to throw; exhausted memory ends the thread instead,
 * with everything that it holds.
 */
async function runTask(entry: RunTask, task: WorkerTask): Promise<unknown> {
  let reply: WorkerReply<unknown>;
  try {
    reply = await entry(task);
  } catch (thrown) {
    if (isMemoryExhausted(thrown)) return endThread();
    throw thrown;
  }
  const buffers = replyBuffers(reply);
  if (buffers.length === 0) return reply;
  return move({
    get [Symbol.for('Piscina.transferable')]() {
      return buffers;
    },
    get [Symbol.for('Piscina.valueOf')]() {
      return reply;
    },
  } as unknown as Parameters<typeof move>[0]);
}

/** Ends the thread as the runtime ends one whose heap is full; the task is never answered. */
function endThread(): Promise<never> {
  setImmediate(() => {
    throw Object.assign(new Error('the memory outside the heap is exhausted'), { code: OUT_OF_MEMORY_CODE });
  });
  return new Promise(() => undefined);
}

async function loadEntry(): Promise<RunTask> {
  const module = (await import((workerData as ThreadSetup).entryUrl)) as { readonly default: RunTask };
  return module.default;
}

/** Buffers of the finished and open pages of a slice's reply, and of its table. */
function replyBuffers(reply: WorkerReply<unknown>): ArrayBuffer[] {
  if (!('ok' in reply) || !isSliceReply(reply.ok)) return [];
  const { pages, state } = reply.ok;
  return [...[...pages, ...state.pages].map(({ bytes }) => bytes.buffer as ArrayBuffer), state.table.buffer];
}

function isSliceReply(value: unknown): value is SliceReply {
  return typeof value === 'object' && value !== null && 'pages' in value && 'state' in value;
}
