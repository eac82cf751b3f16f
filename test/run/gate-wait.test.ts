/** Waiting at a gate with real timers: granted, refused at the deadline, given up; and what a refusal turns into. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FairGate } from '../../src/admission/fair-gate.js';
import { problemOf } from '../../src/core/error-codes.js';
import { passGate, refuseAtGate } from '../../src/run/gate-wait.js';

afterEach(() => {
  vi.useRealTimers();
});

const CLOCK = { nowMs: () => performance.now() };

function gate(): FairGate {
  return new FairGate({ units: 1, holdersPerShard: 10, queuePerShard: 0, queue: 10 });
}

function ask(deadlineAtMs = Infinity) {
  return { shard: 'a', units: 1, deadlineAtMs };
}

const NEVER = new AbortController().signal;

it('the first is let through at once, the second when the first is done', async () => {
  const one = gate();
  const first = await passGate(one, ask(), CLOCK, NEVER);
  const second = passGate(one, ask(), CLOCK, NEVER);
  if (first === null || !('hold' in first)) throw new Error('expected a hold');
  first.hold.release(CLOCK.nowMs());
  expect(await second).toHaveProperty('hold');
});

it('waiting ends in a refusal at the deadline and leaves no timer behind', async () => {
  vi.useFakeTimers();
  const clock = { nowMs: () => Date.now() };
  const one = gate();
  await passGate(one, ask(), clock, NEVER);
  const refused = passGate(one, ask(clock.nowMs() + 20), clock, NEVER);
  await vi.advanceTimersByTimeAsync(19);
  expect([one.waiting, vi.getTimerCount()]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await refused).toMatchObject({ refusal: { reason: 'queue_deadline' } });
  expect([one.waiting, vi.getTimerCount()]).toEqual([0, 0]);
});

it('who goes away while waiting leaves no trace', async () => {
  const one = gate();
  await passGate(one, ask(), CLOCK, NEVER);
  const leaving = new AbortController();
  const waiting = passGate(one, ask(CLOCK.nowMs() + 60_000), CLOCK, leaving.signal);
  expect(one.waiting).toBe(1);
  leaving.abort();
  expect(await waiting).toBeNull();
  expect(one.waiting).toBe(0);
  expect(await passGate(one, ask(), CLOCK, AbortSignal.abort())).toBeNull();
});

function problem(reason: Parameters<typeof refuseAtGate>[0]['reason']) {
  try {
    return refuseAtGate({ reason, retryAfterS: 7 });
  } catch (thrown) {
    return problemOf(thrown);
  }
}

describe('a refusal', () => {
  it.each(['shard_full', 'queue_full', 'queue_deadline'] as const)(
    '%s is capacity_exhausted and says when to come again',
    (reason) => {
      expect(problem(reason)).toMatchObject({ code: 'capacity_exhausted', retry_after_s: 7 });
    },
  );

  it('while draining is unavailable', () => {
    expect(problem('draining')).toMatchObject({ code: 'unavailable', retry_after_s: 7 });
  });
});
