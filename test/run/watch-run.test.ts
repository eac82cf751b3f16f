/**
 * The loop of a preview or diff without threads: a turn for every slice and none between, what it carries from slice to
 * slice, and that its turn is given back however it ends. Slices are answered by the test.
 */
import { describe, expect, it } from 'vitest';
import { createAdmission } from '../../src/admission/admission.js';
import { Metrics } from '../../src/metrics/metrics.js';
import type { PlannedScan } from '../../src/run/scan-run.js';
import { runWatch } from '../../src/run/watch-run.js';
import { noCounters } from '../../src/scan/counters.js';
import { CONTROL_CANCEL, type PreviewTask, type WatchReply, type WorkerReply } from '../../src/scan/task.js';
import type { Problem } from '../../src/core/error-codes.js';

type Answer = WorkerReply<WatchReply<string, string>>;

const CAPS = { scansPerShard: 1, scansTotal: 1, queuePerShard: 0, inlineBytesMax: 1, workers: 1 };

function house() {
  let nowMs = 1_000;
  const clock = { nowMs: () => (nowMs += 1) };
  const admission = createAdmission(CAPS);
  const metrics = new Metrics('v', 1, () => ({ queueDepth: 0, workersBusy: 0, workersIdle: 1 }));
  return { clock, admission, metrics };
}

function slice(found: string, more: Partial<WatchReply<string, string>> = {}): Answer {
  const counters = { ...noCounters(), recordsScanned: 10, matched: 4, bytesExamined: 70, examined: { json: 10 } };
  return { ok: { state: `after ${found}` as never, found, counters, ...more } };
}

function run(
  { clock, admission, metrics }: ReturnType<typeof house>,
  answers: readonly (() => Answer)[],
  signals = { gone: new AbortController(), stop: new AbortController() },
) {
  const tasks: PreviewTask[] = [];
  const pool = {
    run: async (task: unknown) => {
      tasks.push(task as PreviewTask);
      return answers[tasks.length - 1]!();
    },
  };
  const planned = {
    spec: { filters: [{ dialect: 'laser' }], schemas: [] },
    scanKey: 'key',
    inline: [],
    bounds: { recordsMax: 1, bytesMax: 1, timeMaxMs: 1 },
    deadlineAtMs: 60_000,
    shard: 'one',
  } as unknown as PlannedScan;
  const means = { pool: pool as never, turns: admission.turns, metrics, clock };
  const answer = runWatch<string, string>(
    planned,
    means,
    { gone: signals.gone.signal, stop: signals.stop.signal },
    (one, found) => ({ kind: 'preview', slice: one, found }) as unknown as PreviewTask,
  );
  return { answer, tasks };
}

async function problemOf(answer: Promise<unknown>): Promise<Problem> {
  const thrown = await answer.then(
    () => undefined,
    (fault: unknown) => fault,
  );
  return (thrown as { problem: Problem }).problem;
}

/** True if the one turn there is can be taken at once. */
function isTurnFree({ admission, clock }: ReturnType<typeof house>): boolean {
  const ask = { shard: 'probe', units: 1, deadlineAtMs: Infinity, nowMs: clock.nowMs() };
  const decision = admission.turns.take(ask, () => undefined);
  if (decision.state !== 'refused') decision.hold.release(clock.nowMs());
  return decision.state === 'held';
}

describe('a preview', () => {
  it('carries state and what it found from slice to slice, and ends with the answer', async () => {
    const all = house();
    const { answer, tasks } = run(all, [() => slice('a'), () => slice('b'), () => slice('c', { answer: 'all' })]);
    expect(await answer).toBe('all');
    expect(tasks.map(({ slice: { state }, found }) => [state, found])).toEqual([
      [null, null],
      ['after a', 'a'],
      ['after b', 'b'],
    ]);
    expect(isTurnFree(all)).toBe(true);
  });

  it('takes a turn for each slice: between two of them another shard gets its own', async () => {
    const all = house();
    const order: string[] = [];
    const { answer } = run(all, [
      () => {
        order.push('first slice');
        const ask = { shard: 'two', units: 1, deadlineAtMs: Infinity, nowMs: all.clock.nowMs() };
        const decision = all.admission.turns.take(ask, () => {
          order.push('the other shard');
          queueMicrotask(() => decision.state !== 'refused' && decision.hold.release(all.clock.nowMs()));
        });
        expect(decision.state).toBe('waiting');
        return slice('a');
      },
      () => {
        order.push('second slice');
        return slice('b', { answer: 'all' });
      },
    ]);
    await answer;
    expect(order).toEqual(['first slice', 'the other shard', 'second slice']);
  });

  it('counts the pass, and nothing as examined for a consumer', async () => {
    const all = house();
    await run(all, [() => slice('a'), () => slice('b', { answer: 'all' })]).answer;
    const stats = await all.metrics.snapshot();
    const sum = (name: string): number => stats[name]!.reduce((total, { value = 0 }) => total + value, 0);
    expect(sum('winnow_records_scanned_total')).toBe(20);
    for (const name of ['records_examined_total', 'records_total', 'bytes_examined_total', 'bytes_avoided_total']) {
      expect(sum(`winnow_${name}`), name).toBe(0);
    }
  });

  it('ends with the problem of a slice that did not answer, and gives its turn back', async () => {
    const all = house();
    const problem: Problem = { code: 'backend', detail: 'The worker was lost.', retryable: true };
    expect(await problemOf(run(all, [() => slice('a'), () => ({ problem })]).answer)).toEqual(problem);
    expect(isTurnFree(all)).toBe(true);
  });

  it('ends after the slice at work when the receiver is gone', async () => {
    const all = house();
    const signals = { gone: new AbortController(), stop: new AbortController() };
    const first = (): Answer => {
      signals.gone.abort();
      return slice('a');
    };
    const { answer, tasks } = run(all, [first], signals);
    expect(await problemOf(answer)).toMatchObject({ code: 'unavailable' });
    expect(tasks).toHaveLength(1);
    expect(isTurnFree(all)).toBe(true);
  });

  it('tells the worker to close when it has to stop', async () => {
    const all = house();
    const signals = { gone: new AbortController(), stop: new AbortController() };
    const first = (): Answer => {
      signals.stop.abort();
      return slice('a');
    };
    const { answer, tasks } = run(all, [first, () => slice('b', { answer: 'cancelled' })], signals);
    expect(await answer).toBe('cancelled');
    expect(new Int32Array(tasks[1]!.slice.control)[CONTROL_CANCEL]).toBe(1);
  });
});
