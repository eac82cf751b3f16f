/**
 * Load shedding, the second line behind slots and queues (contract: scan-protocol §4, §6): when the event loop itself is
 * late, new scans are refused, so that those at work go on.
 *
 * Pure: the measured delays and the instants come in. The median over a window decides, because one long turn of the
 * loop (a large body that is parsed) is over when it is noticed; a loop most of whose turns are late is overloaded.
 */

/** How long delays are gathered before they are judged again: a few dozen turns of a healthy loop. */
export const LOOP_DELAY_WINDOW_MS = 500;

/** `Retry-After` of a shed request in seconds: the smallest it can carry, and longer than a window. */
export const SHED_RETRY_AFTER_S = 1;

/** Delays gathered since the last `reset`, in nanoseconds; each includes the period at which they are taken. */
export interface LoopDelays {
  readonly count: number;
  percentile(percentile: number): number;
  reset(): void;
}

export class LoopDelayGuard {
  private readonly delays: LoopDelays;
  private readonly periodMs: number;
  private readonly delayMaxMs: number;
  private judgedAtMs = Number.NEGATIVE_INFINITY;
  private isLate = false;

  /** `periodMs`: how often a delay is taken. `delayMaxMs` 0: never overloaded. */
  constructor(delays: LoopDelays, periodMs: number, delayMaxMs: number) {
    this.delays = delays;
    this.periodMs = periodMs;
    this.delayMaxMs = delayMaxMs;
  }

  /** True while the median delay of the last window was over the bound. */
  isOverloaded(nowMs: number): boolean {
    if (this.delayMaxMs === 0) return false;
    if (nowMs - this.judgedAtMs < LOOP_DELAY_WINDOW_MS) return this.isLate;
    this.judgedAtMs = nowMs;
    const isMeasured = this.delays.count > 0;
    this.isLate = isMeasured && this.delays.percentile(50) / 1e6 - this.periodMs > this.delayMaxMs;
    this.delays.reset();
    return this.isLate;
  }
}
