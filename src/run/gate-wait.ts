/**
 * Waiting at a gate: the timers and promises that the pure gates leave out (contract: scan-protocol §4).
 */
import type { FairGate, GateRefusal, Hold } from '../admission/fair-gate.js';
import type { Clock } from '../core/clock.js';
import { refuse } from '../core/error-codes.js';

/** Longest timer in one go, in ms: the platform fires a longer one at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** What a request asks of a gate. */
export interface GateAsk {
  readonly shard: string;
  readonly units: number;
  /** Instant at which waiting ends in a refusal; infinite for a scan that runs already. */
  readonly deadlineAtMs: number;
}

/**
 * Resolves with the hold once the gate grants it, or with the refusal. When `signal` aborts while waiting, the place in
 * the queue is given up and the promise resolves with `null`.
 */
export function passGate(
  gate: FairGate,
  ask: GateAsk,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly hold: Hold } | { readonly refusal: GateRefusal } | null> {
  if (signal.aborted) return Promise.resolve(null);
  let settle: (outcome: { readonly hold: Hold } | { readonly refusal: GateRefusal } | null) => void;
  const decision = gate.take({ ...ask, nowMs: clock.nowMs() }, (refusal) =>
    settle(refusal === null && decision.state !== 'refused' ? { hold: decision.hold } : { refusal: refusal! }),
  );
  // Most slices find a turn at once: nothing is set up for them.
  if (decision.state === 'refused') return Promise.resolve({ refusal: decision.refusal });
  if (decision.state === 'held') return Promise.resolve({ hold: decision.hold });
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    let isSettled = false;
    settle = (outcome) => {
      isSettled = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(outcome);
    };
    const onAbort = (): void => {
      decision.hold.release(clock.nowMs());
      settle(null);
    };
    // A timer may fire a little before the instant it was set for, so it is set again until the gate lets go.
    const awaitDeadline = (): void => {
      const leftMs = Math.min(Math.max(ask.deadlineAtMs - clock.nowMs(), 1), TIMER_MS_MAX);
      timer = setTimeout(() => {
        gate.expire(clock.nowMs());
        if (!isSettled) awaitDeadline();
      }, leftMs);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (Number.isFinite(ask.deadlineAtMs)) awaitDeadline();
  });
}

/** Turns a gate's refusal into the contract's problem: `capacity_exhausted`, or `unavailable` while draining. */
export function refuseAtGate(refusal: GateRefusal): never {
  const details = {
    shard_full: 'This shard runs as many scans as it may.',
    queue_full: 'The service runs as many scans as it may, and as many wait as may wait.',
    queue_deadline: 'The service was busy until the deadline of this scan.',
    draining: 'The service is shutting down.',
    event_loop: 'The service is overloaded.',
  } as const;
  const code = refusal.reason === 'draining' ? 'unavailable' : 'capacity_exhausted';
  refuse(code, details[refusal.reason], { retry_after_s: refusal.retryAfterS });
}
