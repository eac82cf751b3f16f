/**
 * The worker threads: one task at a time each, killed when a task is stuck, replaced when one is lost (house §2, §6).
 *
 * Invariants: whatever happens to a worker, `run` answers with a value or a problem, never with a rejection; a task is
 * given to a worker only once that worker is ready, so the time of a task never includes the start of a thread; a
 * replaced worker is counted once. Fairness is not decided here: admission hands out the turns, and there are never
 * more turns than workers.
 */
import { Piscina } from 'piscina';
import type { Problem } from '../core/error-codes.js';
import { WORKER_HEAP_MIB_MAX } from '../core/limits.js';
import type { WorkerReply, WorkerSetup, WorkerTask } from '../scan/task.js';
import type { ThreadSetup } from './thread.js';

/** The workers' entry point, beside the compiled tree of this file. */
export const WORKER_URL = new URL('../../workers/scan-worker.js', import.meta.url);

/** What the library loads into each thread: it loads the entry point and moves the buffers of replies. */
export const THREAD_URL = new URL('thread.js', import.meta.url);

/** Why a worker was replaced: it died by itself, its memory was exhausted, or its task ran too long. */
export const RESTART_REASONS = ['crashed', 'out_of_memory', 'killed'] as const;
export type RestartReason = (typeof RESTART_REASONS)[number];

/** The runtime's code of a thread that ended for lack of memory (thread.ts gives it too). */
const OUT_OF_MEMORY_CODE = 'ERR_WORKER_OUT_OF_MEMORY';

export interface PoolOptions {
  /** Threads, at least 1. */
  readonly workers: number;
  readonly setup: WorkerSetup;
  /** A task that runs longer than this many milliseconds is stopped with its worker (scan-protocol §4). */
  readonly killAfterMs: number;
  /** Told after a worker was lost; its successor is on its way. */
  readonly onRestart: (reason: RestartReason) => void;
  /** Told of faults outside any task, for the log. */
  readonly onFault: (fault: Error) => void;
  /** Default {@link WORKER_URL}. */
  readonly workerUrl?: URL;
  /** Default {@link THREAD_URL}. */
  readonly threadUrl?: URL;
}

export class ScanPool {
  private readonly threads: Piscina;
  private readonly options: PoolOptions;
  /** Tasks that wait for a worker to become ready, in order. */
  private readonly waiting: (() => void)[] = [];
  private ready = 0;
  private running = 0;
  private isKilling = false;
  /** Workers lost for lack of memory whose loss has not been reported yet. */
  private outOfMemory = 0;
  private isClosing = false;

  /** Spawns the threads. `start` from outside: a pool is of use only once its workers have answered. */
  private constructor(options: PoolOptions) {
    this.options = options;
    const threadSetup: ThreadSetup = { ...options.setup, entryUrl: (options.workerUrl ?? WORKER_URL).href };
    this.threads = new Piscina({
      filename: (options.threadUrl ?? THREAD_URL).href,
      minThreads: options.workers,
      maxThreads: options.workers,
      idleTimeout: Infinity,
      maxQueue: Infinity,
      concurrentTasksPerWorker: 1,
      // The default parks an idle worker in a wait that its message ports cannot interrupt.
      atomics: 'async',
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MIB_MAX },
      workerData: threadSetup,
      recordTiming: false,
    });
    this.threads.on('workerCreate', () => this.onWorkerReady());
    this.threads.on('workerDestroy', () => this.onWorkerGone());
    this.threads.on('error', (fault: Error) => this.onThreadFault(fault));
  }

  /**
   * Spawns the threads and runs `probe` once on each, so that a worker that cannot start is found now. Rejects with
   * the workers' own fault; the pool is then closed.
   */
  static async start(options: PoolOptions, probe: WorkerTask): Promise<ScanPool> {
    const pool = new ScanPool(options);
    try {
      // Handed out before the first can finish, one lands on every thread; no clock runs while a thread starts.
      await Promise.all(
        Array.from({ length: options.workers }, async () => {
          const reply = (await pool.threads.run(probe)) as WorkerReply<unknown>;
          if ('problem' in reply) throw new Error(`a worker's first task failed: ${reply.problem.detail}`);
        }),
      );
      return pool;
    } catch (thrown) {
      await pool.close();
      throw new Error('the workers could not start', { cause: thrown });
    }
  }

  /** Threads that are ready to work or at work. */
  get workers(): number {
    return this.ready;
  }

  /** Tasks at work. */
  get busy(): number {
    return this.running;
  }

  /**
   * Runs one task on one worker and answers with its reply, or with a retryable `backend` problem when the worker was
   * lost. `compileMs` is added to the time after which it is stopped. Buffers inside a carried scan state move to the worker: the caller's views of them are empty afterwards.
   */
  async run<T>(task: WorkerTask, compileMs = 0): Promise<WorkerReply<T>> {
    while (!this.isClosing && !this.takeWorker()) await new Promise<void>((resolve) => this.waiting.push(resolve));
    // The library would start a thread for a task that comes after its end.
    if (this.isClosing) return { problem: this.lost(undefined) };
    const killer = new AbortController();
    const timer = setTimeout(() => this.kill(killer), this.options.killAfterMs + compileMs);
    try {
      return (await this.threads.run(task, {
        transferList: carried(task),
        signal: killer.signal,
      })) as WorkerReply<T>;
    } catch (thrown) {
      return { problem: killer.signal.aborted ? this.stuck(compileMs) : this.lost(thrown) };
    } finally {
      clearTimeout(timer);
      this.running -= 1;
      this.wakeOne();
    }
  }

  /** Stops the threads. Tasks at work are answered with a problem. Idempotent. */
  async close(): Promise<void> {
    this.isClosing = true;
    for (const wake of this.waiting.splice(0)) wake();
    await this.threads.destroy();
  }

  /** Takes a ready worker for one task, at once, so that two tasks never count on the same one. */
  private takeWorker(): boolean {
    // Fewer threads than wanted and none on its way happens after one failed to start: the library then starts one
    // only for a task at its door.
    const isFree = this.running < this.ready || this.threads.threads.length < this.options.workers;
    if (isFree) this.running += 1;
    return isFree;
  }

  private wakeOne(): void {
    this.waiting.shift()?.();
  }

  private onWorkerReady(): void {
    this.ready += 1;
    this.wakeOne();
  }

  private onWorkerGone(): void {
    this.ready -= 1;
    if (this.isClosing) return;
    if (this.isKilling) return this.options.onRestart('killed');
    // The library says that a worker is gone before it says why.
    setImmediate(() => {
      const isOutOfMemory = this.outOfMemory > 0;
      if (isOutOfMemory) this.outOfMemory -= 1;
      this.options.onRestart(isOutOfMemory ? 'out_of_memory' : 'crashed');
    });
  }

  /** A fault that ended a worker, or one of a worker without a task. */
  private onThreadFault(fault: Error): void {
    if ((fault as NodeJS.ErrnoException).code === OUT_OF_MEMORY_CODE) this.outOfMemory += 1;
    this.options.onFault(fault);
  }

  private kill(killer: AbortController): void {
    this.isKilling = true;
    // The worker is gone when this returns, so the flag marks exactly the one that was killed.
    killer.abort();
    this.isKilling = false;
  }

  private stuck(compileMs: number): Problem {
    const limit = this.options.killAfterMs + compileMs;
    return {
      code: 'backend',
      retryable: true,
      detail: `The work took longer than ${limit} ms and was stopped with its worker.`,
      limit,
    };
  }

  private lost(thrown: unknown): Problem {
    if (thrown instanceof Error && !this.isClosing) this.onThreadFault(thrown);
    return { code: 'backend', retryable: true, detail: 'The worker was lost before it could answer.' };
  }
}

/** The buffers that a slice goes on filling, its table and its open pages: handed over, never copied (house §2). */
function carried(task: WorkerTask): ArrayBuffer[] {
  if (task.kind !== 'slice' || task.state === null) return [];
  const { table, pages } = task.state;
  return [table.buffer, ...pages.map(({ bytes }) => bytes.buffer as ArrayBuffer)];
}
