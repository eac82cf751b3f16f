/**
 * The pool with a worker that throws, dies, exits, hangs and hoards memory: every task is answered, every lost worker
 * is replaced, and nothing is rejected into the void. The worker is the compiled one, as in the service.
 */
import { afterEach, expect, it } from 'vitest';
import { ScanPool } from '../../src/pool/scan-pool.js';
import type { PoolOptions } from '../../src/pool/scan-pool.js';
import type { OpenPageState, ScanCursorState, SliceTask, TestTask, WorkerReply } from '../../src/scan/task.js';
import { workerModules } from '../support/kernel.js';

const WORKER = new URL('../../dist/test/support/misbehaving-worker.js', import.meta.url);
const THREAD = new URL('../../dist/src/pool/thread.js', import.meta.url);
const open: ScanPool[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.close()));
});

function order(record: string): TestTask {
  const filter = { dialect: 'laser', text: '', pointer: '/filter', asText: false, strict: false } as const;
  return { kind: 'test', filter, schemas: [], record };
}

const SETUP = { stores: { data: '/x' }, continuationKeys: [new Uint8Array(16)], modules: workerModules };

interface Seen {
  readonly restarts: string[];
  readonly faults: string[];
}

async function start(more: Partial<PoolOptions> = {}): Promise<{ pool: ScanPool } & Seen> {
  const restarts: string[] = [];
  const faults: string[] = [];
  const pool = await ScanPool.start(
    {
      workers: 1,
      setup: SETUP,
      killAfterMs: 30_000,
      onRestart: (reason) => restarts.push(reason),
      onFault: (fault) => faults.push(fault.message),
      workerUrl: WORKER,
      threadUrl: THREAD,
      ...more,
    },
    order('answer'),
  );
  open.push(pool);
  return { pool, restarts, faults };
}

/** The thread that answers, which shows that the pool still works and whether the thread is a new one. */
async function answering(pool: ScanPool): Promise<number> {
  const reply = await pool.run<{ threadId: number }>(order('answer'));
  if ('problem' in reply) throw new Error(reply.problem.detail);
  return reply.ok.threadId;
}

function problemOfReply(reply: WorkerReply<unknown>): { code: string; retryable?: boolean; detail: string } {
  if ('ok' in reply) throw new Error('expected a problem');
  return reply.problem;
}

it('a worker gets its setup, and a refusal arrives as the problem it is', async () => {
  const { pool, restarts } = await start();
  expect(await pool.run(order('setup'))).toMatchObject({
    ok: { stores: { data: '/x' }, continuationKeys: [new Uint8Array(16)] },
  });
  expect(problemOfReply(await pool.run(order('refuse')))).toEqual({
    code: 'invalid_request',
    detail: 'refused on purpose',
  });
  expect(restarts).toEqual([]);
});

it('a task that throws is a problem and costs no worker', async () => {
  const { pool, restarts, faults } = await start();
  const before = await answering(pool);
  const problem = problemOfReply(await pool.run(order('throw')));
  expect(problem).toMatchObject({ code: 'backend', retryable: true });
  expect(problem.detail).not.toContain('inside the task');
  expect(faults).toEqual(['thrown inside the task']);
  expect(await answering(pool)).toBe(before);
  expect(restarts).toEqual([]);
});

it.each([
  ['die', 'crashed'],
  ['exit', 'crashed'],
  ['hoard', 'out_of_memory'],
  ['exhaust', 'out_of_memory'],
])('a worker lost to %s is a retryable problem, and is replaced as %s', async (how, reason) => {
  const { pool, restarts } = await start();
  const before = await answering(pool);
  expect(problemOfReply(await pool.run(order(how)))).toMatchObject({ code: 'backend', retryable: true });
  expect(await answering(pool)).not.toBe(before);
  expect(restarts).toEqual([reason]);
});

it('a stuck task is killed with its worker, names the limit, and the next task is served', async () => {
  const { pool, restarts } = await start({ killAfterMs: 200 });
  const before = await answering(pool);
  const problem = problemOfReply(await pool.run(order('hang')));
  expect(problem).toMatchObject({ code: 'backend', retryable: true, limit: 200 });
  expect(await answering(pool)).not.toBe(before);
  expect(restarts).toEqual(['killed']);
});

it('a task whose filters take time to compile is given that time on top', async () => {
  const { pool } = await start({ killAfterMs: 100 });
  expect(problemOfReply(await pool.run(order('hang'), 150))).toMatchObject({ retryable: true, limit: 250 });
});

it('a task that answered in time is not killed, however late its answer is looked at', async () => {
  const { pool, restarts } = await start({ killAfterMs: 100 });
  const before = await answering(pool);
  // From here timers come next in the event loop, and messages after them.
  await new Promise(setImmediate);
  const answer = pool.run<{ threadId: number }>(order('answer'));
  const until = performance.now() + 400;
  while (performance.now() < until);
  expect(await answer).toEqual({ ok: { threadId: before } });
  expect(restarts).toEqual([]);
});

it('a task behind a stuck one does not have its time counted while the worker is replaced', async () => {
  const { pool, restarts } = await start({ killAfterMs: 200 });
  const stuck = pool.run(order('hang'));
  const behind = pool.run(order('answer'));
  expect(problemOfReply(await stuck).code).toBe('backend');
  expect(await behind).toHaveProperty('ok');
  expect(restarts).toEqual(['killed']);
  expect(pool.busy).toBe(0);
});

it('open pages move to the worker instead of being copied', async () => {
  const { pool } = await start();
  const bytes = new Uint8Array(1024);
  const places = new Float64Array(32);
  const page: OpenPageState = { filter: 0, bytes, bytesUsed: 0, recordCount: 0, places, unevaluated: [] };
  const table = new Float64Array(26);
  const task: SliceTask = {
    kind: 'slice',
    scanKey: 'k',
    spec: new SharedArrayBuffer(0),
    control: new SharedArrayBuffer(16),
    inline: [],
    state: { changes: [], cursor: {} as ScanCursorState, table, pages: [page] },
    bounds: { recordsMax: 1, bytesMax: 1, timeMaxMs: 1 },
    deadlineAtMs: 0,
  };
  expect(await pool.run(task)).toEqual({ ok: { bytes: [1024] } });
  expect([bytes.byteLength, places.byteLength, table.byteLength]).toEqual([0, 0, 0]);
});

it('workers that cannot start refuse the start with their own fault', async () => {
  await expect(start({ workerUrl: new URL('./absent-worker.js', WORKER) })).rejects.toMatchObject({
    message: 'the workers could not start',
  });
});

it('a lost worker that cannot be replaced fails the tasks that wait for it, each once, and is tried again for the next', async () => {
  const turns = new SharedArrayBuffer(4);
  const starts = new Int32Array(turns);
  starts[0] = 1;
  const { pool, restarts, faults } = await start({ setup: { ...SETUP, turns } });
  const lost = await Promise.all([order('exit'), order('answer'), order('answer')].map((task) => pool.run(task)));
  expect(lost.map(problemOfReply)).toMatchObject(lost.map(() => ({ code: 'backend', retryable: true })));
  expect(faults).toHaveLength(3);
  expect([pool.workers, pool.busy, restarts]).toEqual([0, 0, ['crashed']]);
  starts[0] = 1;
  expect(await pool.run(order('answer'))).toHaveProperty('ok');
  expect(pool.workers).toBe(1);
});

it('tasks beyond the workers wait in order', async () => {
  const { pool } = await start();
  const done: number[] = [];
  const tasks = Array.from({ length: 5 }, async (_, index) => {
    expect(await pool.run(order('answer'))).toHaveProperty('ok');
    done.push(index);
  });
  expect(pool.busy).toBe(1);
  await Promise.all(tasks);
  expect(done).toEqual([0, 1, 2, 3, 4]);
  expect(pool.busy).toBe(0);
});

it('closing answers the task at work with a problem and restarts nothing', async () => {
  const { pool, restarts } = await start();
  const stuck = pool.run(order('hang'));
  await pool.close();
  expect(problemOfReply(await stuck).code).toBe('backend');
  expect(restarts).toEqual([]);
  // A task that comes too late is answered the same way, and starts no thread.
  expect(problemOfReply(await pool.run(order('answer'))).code).toBe('backend');
  expect(pool.workers).toBe(0);
});
