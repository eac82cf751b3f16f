/**
 * Who runs next: between two slices of a shard with sixteen wide scans, whatever another shard has waiting has run. Real
 * scans and the real gates; the worker is the test, which lets one slice end at a time and so sees the order.
 */
import { expect, it } from 'vitest';
import { createAdmission } from '../../src/admission/admission.js';
import { runScan } from '../../src/run/scan-run.js';
import type { WorkerReply } from '../../src/scan/task.js';
import { plannedScan, quietMetrics, Receiver, slice, type Answer } from '../support/scan-stage.js';

const WIDE_SCANS = 16;
const ENDLESS = 1e9;

/** Workers that note whose slice runs, and end it when told. */
class Bench {
  /** Names of the scans in the order in which their slices began. */
  readonly order: string[] = [];
  private readonly admission;
  private readonly metrics = quietMetrics();
  private readonly running: (() => void)[] = [];
  private readonly gone: AbortController[] = [];
  private readonly scans: Promise<unknown>[] = [];

  constructor(workers: number) {
    const caps = { scansPerShard: WIDE_SCANS, scansTotal: 64, queuePerShard: 0, inlineBytesMax: 1, workers };
    this.admission = createAdmission(caps);
  }

  /** Starts a scan of so many slices. */
  start(shard: string, slices: number, name = shard): Promise<unknown> {
    const scan = plannedScan({ framed: true, progressMs: 60_000, deadlineAtMs: ENDLESS, shard });
    let done = 0;
    const run = async <T>(_task: unknown): Promise<WorkerReply<T>> => {
      this.order.push(name);
      await new Promise<void>((resolve) => this.running.push(resolve));
      done += 1;
      return slice(done, { done: done === slices }) as Answer as WorkerReply<T>;
    };
    const means = { pool: { run }, turns: this.admission.turns, metrics: this.metrics, clock: { nowMs: () => 0 } };
    const gone = new AbortController();
    this.gone.push(gone);
    const { signal } = gone;
    const ran = runScan(scan, means, new Receiver(), { gone: signal, stop: signal });
    this.scans.push(ran);
    return ran;
  }

  /** Ends the slice that runs longest, and lets everything happen that follows from it. */
  async step(): Promise<void> {
    this.running.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Ends all scans and checks that no turn is left in use. */
  async end(): Promise<void> {
    for (const gone of this.gone) gone.abort();
    while (this.running.length > 0) await this.step();
    await Promise.all(this.scans);
    expect([this.admission.turns.used, this.admission.turns.waiting]).toEqual([0, 0]);
  }
}

it('a narrow scan that begins to wait during a wide slice runs before the next one', async () => {
  const bench = new Bench(1);
  for (let count = 0; count < WIDE_SCANS; count += 1) void bench.start('wide', ENDLESS);
  for (let count = 0; count < 5; count += 1) await bench.step();
  const before = bench.order.length;
  const narrow = bench.start('narrow', 1);
  await bench.step();
  expect(bench.order.slice(before)).toEqual(['narrow']);
  await bench.step();
  expect(await narrow).toBe('ok');
  await bench.end();
});

it('a narrow scan of several slices takes every other turn', async () => {
  const bench = new Bench(1);
  for (let count = 0; count < WIDE_SCANS; count += 1) void bench.start('wide', ENDLESS);
  for (let count = 0; count < 5; count += 1) await bench.step();
  const before = bench.order.length;
  const narrow = bench.start('narrow', 4);
  for (let count = 0; count < 8; count += 1) await bench.step();
  const turns = ['narrow', 'wide', 'narrow', 'wide', 'narrow', 'wide', 'narrow', 'wide'];
  expect(bench.order.slice(before)).toEqual(turns);
  expect(await narrow).toBe('ok');
  await bench.end();
});

it('with two workers, two of whose slices are wide, the narrow scan gets the first that is free', async () => {
  const bench = new Bench(2);
  for (let count = 0; count < WIDE_SCANS; count += 1) void bench.start('wide', ENDLESS);
  for (let count = 0; count < 4; count += 1) await bench.step();
  const before = bench.order.length;
  const narrow = bench.start('narrow', 2);
  for (let count = 0; count < 4; count += 1) await bench.step();
  expect(bench.order.slice(before)[0]).toBe('narrow');
  expect(bench.order.slice(before).filter((shard) => shard === 'narrow')).toHaveLength(2);
  for (let count = 0; count < 2; count += 1) await bench.step();
  expect(await narrow).toBe('ok');
  await bench.end();
});

it('the wide scans of one shard take their turns in order, none before all others had theirs', async () => {
  const bench = new Bench(1);
  for (let count = 0; count < WIDE_SCANS; count += 1) void bench.start('wide', 3, `scan ${count}`);
  for (let count = 0; count < WIDE_SCANS * 3; count += 1) await bench.step();
  await bench.end();
  const round = Array.from({ length: WIDE_SCANS }, (_, at) => `scan ${at}`);
  expect(bench.order).toEqual([...round, ...round, ...round]);
});
