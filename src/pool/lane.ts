/**
 * One worker thread as the pool uses it: a port on which a task goes out and its reply comes back, one at a time.
 *
 * The library spawns, replaces and ends threads; to it a lane is one task that never ends, and fails when its thread
 * does. Tasks do not go through the library's own queue: with its bookkeeping, a signal for each task and a second
 * wake-up it took 110 to 150 µs of the main thread for a slice, a message on a port takes 15 (2026-11-30).
 *
 * Invariants: a task is answered exactly once, with `null` where the thread was lost; `ended` resolves when no task is at
 * work any more.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { WorkerReply, WorkerTask } from '../scan/task.js';
import { taskBuffers } from './carried.js';
import type { ThreadMessage, ThreadTask } from './thread.js';

/** What became of a task: its reply, what its entry threw, or `null` where its thread was lost. */
export type Answer = { readonly reply: WorkerReply<unknown> } | { readonly thrown: Error } | null;

export class Lane {
  /** True once the thread has loaded what it runs; `ready` resolves then, or never. */
  isReady = false;
  readonly ready: Promise<void>;
  /** True once the thread was killed by {@link kill}. */
  isKilled = false;
  /** True once nobody waits for its thread any more ({@link giveUp}). */
  isGivenUp = false;
  /** Resolves with the thread's fault when the thread is gone. */
  readonly ended: Promise<Error>;
  private isGone = false;
  private readonly port: MessagePort;
  private readonly killer = new AbortController();
  private announce: () => void = () => undefined;
  private settle: ((answer: Answer) => void) | undefined;

  /** Waits for a thread of `threads` and takes it for itself. */
  constructor(threads: Piscina) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    this.ready = new Promise((resolve) => {
      this.announce = resolve;
    });
    port1.on('message', (message: ThreadMessage) => this.receive(message));
    const task: ThreadTask = { port: port2 };
    this.ended = threads.run(task, { transferList: [port2], signal: this.killer.signal }).then(
      () => this.end(new Error('a thread stopped serving')),
      (thrown: unknown) => this.end(thrown instanceof Error ? thrown : new Error(String(thrown))),
    );
  }

  /** Runs one task. Only on a lane that is ready and has none. */
  run(task: WorkerTask): Promise<Answer> {
    return new Promise((resolve) => {
      if (this.isGone) return resolve(null);
      this.settle = resolve;
      try {
        this.port.postMessage(task, taskBuffers(task));
      } catch (thrown) {
        this.answer({ thrown: thrown as Error });
      }
    });
  }

  /**
   * Ends the thread, whatever it does. It is gone when this returns, and its task is answered soon after. A thread that
   * has answered is left alone: this one may have been too busy to look.
   */
  kill(): void {
    const waiting = receiveMessageOnPort(this.port);
    if (waiting !== undefined) return this.receive(waiting.message as ThreadMessage);
    this.isKilled = true;
    this.killer.abort();
  }

  /** Ends a lane whose thread will not come. */
  giveUp(): void {
    this.isGivenUp = true;
    this.killer.abort();
  }

  private receive(message: ThreadMessage): void {
    if ('ready' in message) {
      this.isReady = true;
      this.announce();
    } else if ('reply' in message) {
      this.answer(message);
    } else {
      const { name, message: text, stack } = message.thrown;
      this.answer({ thrown: Object.assign(new Error(text), { name, stack }) });
    }
  }

  private answer(answer: Answer): void {
    const { settle } = this;
    this.settle = undefined;
    settle?.(answer);
  }

  private end(fault: Error): Error {
    this.isGone = true;
    this.port.close();
    this.answer(null);
    return fault;
  }
}
