/** Load shedding: what counts as an overloaded event loop, and for how long. */
import { expect, it } from 'vitest';
import { LOOP_DELAY_WINDOW_MS, LoopDelayGuard, type LoopDelays } from '../../src/admission/loop-delay.js';

const PERIOD_MS = 20;

/** Delays in milliseconds beyond the period, as a test says. */
class Delays implements LoopDelays {
  gathered: number[] = [];
  get count(): number {
    return this.gathered.length;
  }
  percentile(percentile: number): number {
    const sorted = [...this.gathered].sort((a, b) => a - b);
    const delayMs = sorted[Math.ceil((percentile / 100) * sorted.length) - 1]!;
    return (delayMs + PERIOD_MS) * 1e6;
  }
  reset(): void {
    this.gathered = [];
  }
}

it('a loop most of whose turns are late is overloaded, one that was late once is not', () => {
  const delays = new Delays();
  const guard = new LoopDelayGuard(delays, PERIOD_MS, 100);
  delays.gathered = [5_000, 1, 1];
  expect(guard.isOverloaded(0)).toBe(false);
  delays.gathered = [101, 101, 1];
  expect(guard.isOverloaded(LOOP_DELAY_WINDOW_MS)).toBe(true);
  delays.gathered = [100, 100, 100];
  expect(guard.isOverloaded(2 * LOOP_DELAY_WINDOW_MS)).toBe(false);
});

it('the judgement holds for a window, and is made anew from the delays of that window alone', () => {
  const delays = new Delays();
  const guard = new LoopDelayGuard(delays, PERIOD_MS, 100);
  delays.gathered = [200];
  expect(guard.isOverloaded(0)).toBe(true);
  expect(delays.count).toBe(0);
  delays.gathered = [0, 0];
  expect(guard.isOverloaded(LOOP_DELAY_WINDOW_MS - 1)).toBe(true);
  expect(guard.isOverloaded(LOOP_DELAY_WINDOW_MS)).toBe(false);
});

it('a window without a measured delay, and a bound of 0, never shed', () => {
  const delays = new Delays();
  expect(new LoopDelayGuard(delays, PERIOD_MS, 100).isOverloaded(0)).toBe(false);
  delays.gathered = [1e6];
  expect(new LoopDelayGuard(delays, PERIOD_MS, 0).isOverloaded(0)).toBe(false);
});
