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
import { WORKER_HEAP_MIB_MAX, WORKER_YOUNG_MIB_MAX } from '../core/limits.js';
import type { WorkerReply, WorkerSetup, WorkerTask } from '../scan/task.js';
import { Lane } from './lane.js';
import type { ThreadSetup } from './thread.js';

/** The workers' entry point, beside the compiled tree of this file. */
export const WORKER_URL = new URL('../../workers/scan-worker.js', import.meta.url);

/** What the library loads into each thread: it loads the entry point and serves the thread's port. */
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
  /** Every lane whose thread is not known to be gone, ready or not. */
  private readonly lanes = new Set<Lane>();
  /** Ready lanes without a task; the one that worked last is taken first, its caches are warm. */
  private readonly idle: Lane[] = [];
  /** Tasks that wait for a lane, in order; told `null` where the thread that they wait for could not start. */
  private readonly waiting: ((lane: Lane | null) => void)[] = [];
  private ready = 0;
  private running = 0;
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
      // No task is handed to a thread after its first, so there is nothing to wait for.
      atomics: 'disabled',
      resourceLimits: {
        maxOldGenerationSizeMb: WORKER_HEAP_MIB_MAX,
        maxYoungGenerationSizeMb: WORKER_YOUNG_MIB_MAX,
      },
      workerData: threadSetup,
      recordTiming: false,
    });
    this.threads.on('error', (fault: Error) => this.options.onFault(fault));
    // Once the library has started what it means to start in its place.
    this.threads.on('workerDestroy', () => setImmediate(() => this.giveUpSurplus()));
    for (let index = 0; index < options.workers; index += 1) this.startLane();
  }

  /**
   * Spawns the threads and runs `probe` once on each, so that a worker that cannot start is found now. Rejects with
   * the workers' own fault; the pool is then closed.
   */
  static async start(options: PoolOptions, probe: WorkerTask): Promise<ScanPool> {
    const pool = new ScanPool(options);
    try {
      await Promise.all([...pool.lanes].map((lane) => pool.tryOut(lane, probe)));
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
   * lost. `compileMs` is added to the time after which it is stopped. Buffers inside a carried scan state move to the
   * worker: the caller's views of them are empty afterwards.
   */
  async run<T>(task: WorkerTask, compileMs = 0): Promise<WorkerReply<T>> {
    const taken = this.takeLane();
    // Without a detour where a lane is free: what the main thread does before that, the worker waits for.
    const lane = taken instanceof Promise ? await taken : taken;
    if (lane === null) return { problem: this.lost() };
    this.running += 1;
    const timer = setTimeout(() => lane.kill(), this.options.killAfterMs + compileMs);
    const answer = await lane.run(task);
    clearTimeout(timer);
    this.running -= 1;
    if (answer === null) return { problem: lane.isKilled ? this.stuck(compileMs) : this.lost() };
    this.release(lane);
    if ('reply' in answer) return answer.reply as WorkerReply<T>;
    this.options.onFault(answer.thrown);
    return { problem: this.lost() };
  }

  /** Stops the threads. Tasks at work are answered with a problem. Idempotent. */
  async close(): Promise<void> {
    this.isClosing = true;
    for (const tell of this.waiting.splice(0)) tell(null);
    await this.threads.destroy();
    await Promise.all([...this.lanes].map(({ ended }) => ended));
  }

  /**
   * Runs `probe` on a lane once it is ready; no clock runs, and nobody else has a task yet. Rejects where the thread
   * cannot start or the probe fails.
   */
  private async tryOut(lane: Lane, probe: WorkerTask): Promise<void> {
    const fault = await Promise.race([lane.ready, lane.ended]);
    if (fault !== undefined) throw fault;
    const answer = await lane.run(probe);
    if (answer === null) throw await lane.ended;
    if ('thrown' in answer) throw answer.thrown;
    if ('problem' in answer.reply) throw new Error(`a worker's first task failed: ${answer.reply.problem.detail}`);
  }

  /** Takes a ready lane for one task, or `null` where there will be none. */
  private takeLane(): Lane | null | Promise<Lane | null> {
    if (this.isClosing) return null;
    const lane = this.idle.pop();
    if (lane !== undefined) return lane;
    // One that failed to start is not tried again before somebody wants it.
    if (this.lanes.size < this.options.workers) this.startLane();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** A lane has no task: the next in line gets it. */
  private release(lane: Lane): void {
    if (!this.lanes.has(lane)) return;
    const next = this.waiting.shift();
    if (next === undefined) this.idle.push(lane);
    else next(lane);
  }

  private startLane(): void {
    const lane = new Lane(this.threads);
    this.lanes.add(lane);
    void lane.ready.then(() => {
      this.ready += 1;
      this.release(lane);
    });
    void lane.ended.then((fault) => this.onLaneEnd(lane, fault));
  }

  /** Gives up the lanes for which no thread is on its way: the library starts none after one failed to start. */
  private giveUpSurplus(): void {
    if (this.isClosing) return;
    const waiting = [...this.lanes].filter((lane) => !lane.isReady && !lane.isGivenUp);
    const comingCount = Math.max(0, this.threads.threads.length - this.ready);
    for (const lane of waiting.slice(comingCount)) lane.giveUp();
  }

  private onLaneEnd(lane: Lane, fault: Error): void {
    this.lanes.delete(lane);
    const place = this.idle.indexOf(lane);
    if (place >= 0) this.idle.splice(place, 1);
    if (lane.isReady) this.ready -= 1;
    if (this.isClosing) return;
    if (!lane.isKilled && !lane.isGivenUp) this.options.onFault(fault);
    if (lane.isReady) {
      this.startLane();
      this.options.onRestart(restartReason(lane, fault));
    } else {
      this.waiting.shift()?.(null);
      if (this.waiting.length > 0) this.startLane();
    }
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

  private lost(): Problem {
    return { code: 'backend', retryable: true, detail: 'The worker was lost before it could answer.' };
  }
}

function restartReason({ isKilled }: Lane, fault: NodeJS.ErrnoException): RestartReason {
  if (isKilled) return 'killed';
  return fault.code === OUT_OF_MEMORY_CODE ? 'out_of_memory' : 'crashed';
}
