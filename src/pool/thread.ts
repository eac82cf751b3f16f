/**
 * The pool's side of a worker thread: for as long as the thread lives it takes one task after another from a port of its
 * own, runs each through the workers' entry, and moves the buffers of its reply.
 *
 * To the pool's library all of that is one task that never ends; its own queue costs a multiple of a message (see
 * `lane.ts`). Only the pool knows how to say "transfer this", and the entry knows no pool; so this file stands between
 * them. The entry's URL comes with the thread's setup. A lane counts as ready only once the entry is loaded: the time of
 * a task counts toward its end by force, and the time to load must not.
 */
import { type MessagePort, workerData } from 'node:worker_threads';
import { isMemoryExhausted } from '../core/memory-exhausted.js';
import type { WorkerReply, WorkerSetup, WorkerTask } from '../scan/task.js';
import { replyBuffers } from './carried.js';

/** What the pool hands to a thread: the worker's own setup and where the worker's entry is. */
export interface ThreadSetup extends WorkerSetup {
  readonly entryUrl: string;
}

/** What a thread says on its port: once that it is ready, then what became of each task. */
export type ThreadMessage =
  | { readonly ready: true }
  | { readonly reply: WorkerReply<unknown> }
  /** The entry broke its promise not to throw. Plain data: a thrown class loses its fields on the way. */
  | { readonly thrown: { readonly name: string; readonly message: string; readonly stack: string } };

/** The library's one task. */
export interface ThreadTask {
  readonly port: MessagePort;
}

/** The runtime's code of a thread that ended because its heap was full. */
const OUT_OF_MEMORY_CODE = 'ERR_WORKER_OUT_OF_MEMORY';

type RunTask = (task: WorkerTask) => WorkerReply<unknown> | Promise<WorkerReply<unknown>>;

/** Resolves with what serves a port. Rejects where the entry cannot be loaded: the thread does not start. */
export default loadEntry().then(
  (entry) =>
    ({ port }: ThreadTask) =>
      serve(entry, port),
);

function serve(entry: RunTask, port: MessagePort): Promise<never> {
  port.on('message', (task: WorkerTask) => void answer(entry, port, task));
  say(port, { ready: true });
  return new Promise(() => undefined);
}

/** Runs one task and answers; exhausted memory ends the thread instead, with everything that it holds. */
async function answer(entry: RunTask, port: MessagePort, task: WorkerTask): Promise<void> {
  let reply: WorkerReply<unknown>;
  try {
    reply = await entry(task);
  } catch (thrown) {
    if (isMemoryExhausted(thrown)) endThread();
    else say(port, { thrown: asPlain(thrown) });
    return;
  }
  say(port, { reply }, replyBuffers(reply));
}

function say(port: MessagePort, message: ThreadMessage, buffers: ArrayBuffer[] = []): void {
  port.postMessage(message, buffers);
}

function asPlain(thrown: unknown): { name: string; message: string; stack: string } {
  const { name, message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
  return { name, message, stack: stack ?? '' };
}

/** Ends the thread as the runtime ends one whose heap is full; the task is never answered. */
function endThread(): void {
  setImmediate(() => {
    throw Object.assign(new Error('the memory outside the heap is exhausted'), { code: OUT_OF_MEMORY_CODE });
  });
}

async function loadEntry(): Promise<RunTask> {
  const module = (await import((workerData as ThreadSetup).entryUrl)) as { readonly default: RunTask };
  return module.default;
}
