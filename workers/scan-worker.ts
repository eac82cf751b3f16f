/**
 * The thread entry: one task in, its value or a problem out (house §6). The pool's thread calls the default export.
 *
 * What belongs to a worker lives here: the instance of the kernel, the stores, the window and the caches inside the
 * runner. A worker refuses to start where code may be generated from strings, because everything that users send is
 * compiled here.
 *
 * Page bytes are to be moved, not copied; that is the pool's business (`src/pool/carried.ts`).
 */
import { workerData } from 'node:worker_threads';
import type { Clock } from '../src/core/clock.js';
import { Kernel } from '../src/core/kernel.js';
import { rustRegexEngine } from '../src/filter/rust-regex.js';
import { diffSlice } from '../src/scan/diff.js';
import { testFilter, validateFilter } from '../src/scan/filter-tasks.js';
import { previewSlice } from '../src/scan/preview.js';
import { problemFrom, SliceRunner } from '../src/scan/slice.js';
import { TURNS_AWAITED, type WorkerReply, type WorkerSetup, type WorkerTask } from '../src/scan/task.js';
import { inlineSource } from '../src/source/inline.js';
import { Stores } from '../src/source/store.js';

refuseCodeGeneration();

const setup = workerData as WorkerSetup;
const stores = new Stores(setup.stores);
const clock: Clock = { nowMs: () => performance.timeOrigin + performance.now() };

const turns = setup.turns === undefined ? undefined : new Int32Array(setup.turns);

const runner = new SliceRunner({
  clock,
  regex: rustRegexEngine(setup.modules.regex),
  kernel: setup.modules.kernel === null ? undefined : new Kernel(setup.modules.kernel),
  schemas: setup.schemas ?? [],
  continuationKeys: setup.continuationKeys,
  openSegment({ place }, index, task, before) {
    if ('inline' in place) return inlineSource(task.inline[place.inline]!);
    return stores.open(place.store, place.path, `/segments/${index}`, before ?? undefined);
  },
  ...(turns === undefined ? {} : { isAwaited: () => Atomics.load(turns, TURNS_AWAITED) > 0 }),
  onFault: reportFault,
});

/** Runs one task. A fault of ours is reported and answered as `backend`; only exhausted memory is thrown. */
export default function runTask(task: WorkerTask): WorkerReply<unknown> {
  try {
    switch (task.kind) {
      case 'slice':
        return runner.run(task);
      case 'validate':
        return { ok: validateFilter(runner.compiler, task) };
      case 'test':
        return { ok: testFilter(runner.compiler, task) };
      case 'preview':
        return previewSlice(runner, task);
      case 'diff':
        return diffSlice(runner, task);
      case 'schema':
        runner.compiler.shelf.check(task.id);
        return { ok: null };
    }
  } catch (thrown) {
    return { problem: problemFrom(thrown, { onFault: reportFault }) };
  }
}

/** A line for the operator; stacks hold places in the code, never record or filter content. */
function reportFault(fault: unknown): void {
  const stack = fault instanceof Error ? fault.stack?.split('\n').slice(1).join('\n') : undefined;
  const name = fault instanceof Error ? fault.name : typeof fault;
  process.stderr.write(`${JSON.stringify({ level: 50, msg: 'internal fault in a worker', name, stack })}\n`);
}

/** Proves that strings cannot become code in this thread; throws, and so keeps the worker from starting, if they can. */
function refuseCodeGeneration(): void {
  let generated: unknown;
  try {
    generated = Reflect.construct(Function, ['return true']);
  } catch (thrown) {
    if (thrown instanceof EvalError) return;
    throw thrown;
  }
  throw new Error(`code generation from strings is allowed in a worker (${typeof generated}); refusing to start`);
}
