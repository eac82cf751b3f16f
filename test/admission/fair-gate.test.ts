/** The gate behind every admission decision: caps, fairness, deadlines, and that everything is released exactly once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAdmission } from '../../src/admission/admission.js';
import { ADMISSION_QUEUE_MAX } from '../../src/core/limits.js';
import { FairGate } from '../../src/admission/fair-gate.js';
import type { GateCaps, GateDecision, GateRefusal, Hold } from '../../src/admission/fair-gate.js';

const WIDE: GateCaps = { units: 100, holdersPerShard: 16, queuePerShard: 0, queue: 10 };

function neverSettled(): void {
  throw new Error('settled although it did not wait');
}

function ask(gate: FairGate, shard: string, deadlineAtMs = 1_000, units = 1, nowMs = 0): GateDecision {
  return gate.take({ shard, units, nowMs, deadlineAtMs }, neverSettled);
}

function held(decision: GateDecision): Hold {
  if (decision.state !== 'held') throw new Error(`expected a hold, got ${decision.state}`);
  return decision.hold;
}

function refusal(decision: GateDecision): GateRefusal {
  if (decision.state !== 'refused') throw new Error(`expected a refusal, got ${decision.state}`);
  return decision.refusal;
}

/** Takes and notes in `log` when the wait ends. */
function queue(gate: FairGate, log: string[], name: string, shard: string, deadlineAtMs = 1_000, units = 1): Hold {
  const decision = gate.take({ shard, units, nowMs: 0, deadlineAtMs }, (outcome) =>
    log.push(outcome === null ? name : `${name}:${outcome.reason}`),
  );
  if (decision.state === 'refused') throw new Error(decision.refusal.reason);
  return decision.hold;
}

describe('the cap of a shard', () => {
  it('the seventeenth scan of a shard is refused at once while another shard is served', () => {
    const gate = new FairGate(WIDE);
    for (let index = 0; index < 16; index += 1) held(ask(gate, 'a'));
    expect(refusal(ask(gate, 'a')).reason).toBe('shard_full');
    held(ask(gate, 'b'));
    expect(gate.holdersOf('a')).toBe(16);
  });

  it('a refused request leaves every counter unchanged', () => {
    const gate = new FairGate({ ...WIDE, holdersPerShard: 1 });
    held(ask(gate, 'a'));
    ask(gate, 'a');
    expect([gate.used, gate.waiting, gate.holdersOf('a')]).toEqual([1, 0, 1]);
  });

  it('with a queue a full shard waits up to it, and is refused past it', () => {
    const gate = new FairGate({ ...WIDE, holdersPerShard: 1, queuePerShard: 2 });
    const log: string[] = [];
    const first = held(ask(gate, 'a'));
    queue(gate, log, 'second', 'a');
    queue(gate, log, 'third', 'a');
    expect(refusal(ask(gate, 'a')).reason).toBe('shard_full');
    first.release(1);
    expect(log).toEqual(['second']);
  });

  it('a shard that waits for its own slot does not hold up another shard', () => {
    const gate = new FairGate({ ...WIDE, holdersPerShard: 1, queuePerShard: 1 });
    held(ask(gate, 'a'));
    queue(gate, [], 'waits', 'a');
    held(ask(gate, 'b'));
  });
});

describe('the shared queue', () => {
  it('serves shards in rotation however many waiters each has', () => {
    const gate = new FairGate({ ...WIDE, units: 1 });
    const log: string[] = [];
    const holds = [held(ask(gate, 'x'))];
    for (const name of ['a1', 'a2', 'a3']) holds.push(queue(gate, log, name, 'a'));
    for (const name of ['b1', 'c1']) holds.push(queue(gate, log, name, name[0]!));
    for (const name of ['', 'a1', 'b1', 'c1', 'a2']) {
      const at = ['', 'a1', 'a2', 'a3', 'b1', 'c1'].indexOf(name);
      holds[at]!.release(1);
    }
    expect(log).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
  });

  it('a shard that was served last stands behind one that begins to wait after it', () => {
    const gate = new FairGate({ ...WIDE, units: 1 });
    const log: string[] = [];
    const holds = [held(ask(gate, 'wide')), queue(gate, log, 'wide 1', 'wide'), queue(gate, log, 'wide 2', 'wide')];
    holds.push(queue(gate, log, 'narrow', 'narrow'));
    holds[0]!.release(1);
    expect(log).toEqual(['narrow']);
    holds[3]!.release(2);
    // It comes back before the wide shard's turn is over, and again before its next.
    holds.push(queue(gate, log, 'narrow again', 'narrow'));
    holds[1]!.release(3);
    expect(log).toEqual(['narrow', 'wide 1', 'narrow again']);
  });

  it('shards that come new all the time do not keep an old one waiting', () => {
    const gate = new FairGate({ ...WIDE, units: 1 });
    const log: string[] = [];
    const holds = new Map([['', held(ask(gate, 'old'))]]);
    holds.set('old', queue(gate, log, 'old', 'old'));
    for (let count = 0; count < 5; count += 1) {
      for (const one of [`new ${count}.1`, `new ${count}.2`]) holds.set(one, queue(gate, log, one, one));
      holds.get(log.at(-1) ?? '')!.release(1);
    }
    expect(log.indexOf('old')).toBe(2);
  });

  it('serves the earliest deadline of a shard first, equal ones in order of arrival', () => {
    const gate = new FairGate({ ...WIDE, units: 1 });
    const log: string[] = [];
    const first = held(ask(gate, 'x'));
    const holds = [
      queue(gate, log, 'late', 'a', 900),
      queue(gate, log, 'soon', 'a', 100),
      queue(gate, log, 'soon too', 'a', 100),
    ];
    first.release(1);
    holds[1]!.release(2);
    holds[2]!.release(3);
    expect(log).toEqual(['soon', 'soon too', 'late']);
  });

  it('a waiter too big for what is free is not overtaken by smaller newcomers', () => {
    const gate = new FairGate({ ...WIDE, units: 10 });
    const log: string[] = [];
    const small = held(ask(gate, 'x', 1_000, 6));
    queue(gate, log, 'big', 'a', 1_000, 8);
    queue(gate, log, 'small', 'b', 1_000, 1);
    expect(log).toEqual([]);
    small.release(1);
    expect(log).toEqual(['big', 'small']);
  });

  it('past the bound of the queue a request is refused', () => {
    const gate = new FairGate({ ...WIDE, units: 1, queue: 1 });
    held(ask(gate, 'x'));
    queue(gate, [], 'waits', 'a');
    expect(refusal(ask(gate, 'b')).reason).toBe('queue_full');
  });

  it('past its deadline a waiter is refused, and those behind it move up', () => {
    const gate = new FairGate({ ...WIDE, units: 10 });
    const log: string[] = [];
    held(ask(gate, 'x', 1_000, 6));
    queue(gate, log, 'big', 'a', 50, 8);
    queue(gate, log, 'small', 'b', 1_000, 1);
    gate.expire(49);
    expect(log).toEqual([]);
    gate.expire(50);
    expect(log).toEqual(['big:queue_deadline', 'small']);
  });

  it('a deadline that has passed on arrival is refused instead of queued', () => {
    const gate = new FairGate({ ...WIDE, units: 1 });
    held(ask(gate, 'x'));
    expect(refusal(ask(gate, 'a', 10, 1, 10)).reason).toBe('queue_deadline');
  });

  it('draining refuses the waiters and every newcomer, and lets holders finish', () => {
    const gate = new FairGate({ ...WIDE, units: 1 });
    const log: string[] = [];
    const first = held(ask(gate, 'x'));
    queue(gate, log, 'waits', 'a');
    gate.drain(5);
    expect(log).toEqual(['waits:draining']);
    expect(refusal(ask(gate, 'b')).reason).toBe('draining');
    expect(first.release(6)).toBe(true);
    expect(gate.used).toBe(0);
  });
});

describe('release', () => {
  it('counts once: the second release does nothing', () => {
    const gate = new FairGate(WIDE);
    const hold = held(ask(gate, 'a'));
    expect(hold.release(1)).toBe(true);
    expect(hold.release(1)).toBe(false);
    expect(gate.used).toBe(0);
  });

  it('withdraws a waiter, which is then never settled', () => {
    const gate = new FairGate({ ...WIDE, units: 1 });
    const log: string[] = [];
    const first = held(ask(gate, 'x'));
    const waiter = queue(gate, log, 'gone', 'a');
    expect(waiter.release(1)).toBe(true);
    first.release(2);
    expect(log).toEqual([]);
    expect([gate.used, gate.waiting]).toEqual([0, 0]);
  });

  it('of a refused waiter does nothing', () => {
    const gate = new FairGate({ ...WIDE, units: 1 });
    held(ask(gate, 'x'));
    const waiter = queue(gate, [], 'expires', 'a', 5);
    gate.expire(5);
    expect(waiter.release(6)).toBe(false);
    expect(gate.used).toBe(1);
  });
});

describe('Retry-After', () => {
  it('is a second before anything was measured', () => {
    const gate = new FairGate({ ...WIDE, holdersPerShard: 1 });
    held(ask(gate, 'a'));
    expect(refusal(ask(gate, 'a')).retryAfterS).toBe(1);
  });

  it('follows the measured drain rate and the length of the queue', () => {
    const gate = new FairGate({ ...WIDE, units: 1, queue: 3 });
    for (let second = 0; second < 10; second += 1) held(ask(gate, 'a', 1e9, 1, second * 1e3)).release(second * 1e3);
    gate.take({ shard: 'x', units: 1, nowMs: 10_000, deadlineAtMs: 1e9 }, neverSettled);
    for (let index = 0; index < 3; index += 1) queue(gate, [], 'waits', 'a', 1e9);
    // Ten releases in ten seconds, three waiters ahead: the fourth release from now is four seconds away.
    expect(refusal(ask(gate, 'b', 1e9, 1, 10_000)).retryAfterS).toBe(4);
  });

  it('never leaves one second … one minute', () => {
    const gate = new FairGate({ ...WIDE, holdersPerShard: 1 });
    held(ask(gate, 'a')).release(0);
    held(ask(gate, 'a'));
    expect(refusal(ask(gate, 'a', 1e12, 1, 1e9)).retryAfterS).toBe(60);
  });
});

describe('under any sequence of requests, releases and expiries', () => {
  type Step = readonly ['take', number, number, number] | readonly ['release', number] | readonly ['expire', number];
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
      fc.tuple(fc.constant('take' as const), fc.nat(3), fc.integer({ min: 1, max: 4 }), fc.nat(100)),
      fc.tuple(fc.constant('release' as const), fc.nat(60)),
      fc.tuple(fc.constant('expire' as const), fc.nat(100)),
    ),
    { maxLength: 80 },
  );

  it('no cap is passed, nobody is settled twice, and in the end nothing is held', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const caps = { units: 7, holdersPerShard: 3, queuePerShard: 2, queue: 5 };
        const gate = new FairGate(caps);
        const holds: Hold[] = [];
        const running = new Map<number, { shard: string; units: number }>();
        const settled = new Set<number>();
        for (const step of sequence) {
          if (step[0] === 'take') {
            const id = holds.length;
            const one = { shard: `s${step[1]}`, units: step[2] };
            const decision = gate.take({ ...one, nowMs: 0, deadlineAtMs: step[3] + 1 }, (outcome) => {
              expect(settled.has(id)).toBe(false);
              settled.add(id);
              if (outcome === null) running.set(id, one);
            });
            if (decision.state !== 'refused') holds.push(decision.hold);
            if (decision.state === 'held') running.set(id, one);
          } else if (step[0] === 'release') {
            const hold = holds[step[1]];
            if (hold !== undefined) {
              running.delete(step[1]);
              hold.release(step[1]);
            }
          } else gate.expire(step[1]);
          const used = [...running.values()].reduce((sum, one) => sum + one.units, 0);
          expect(gate.used).toBe(used);
          expect(used).toBeLessThanOrEqual(caps.units);
          expect(gate.waiting).toBeLessThanOrEqual(caps.queue);
          for (const shard of ['s0', 's1', 's2', 's3']) {
            const holders = [...running.values()].filter((one) => one.shard === shard).length;
            expect(gate.holdersOf(shard)).toBe(holders);
            expect(holders).toBeLessThanOrEqual(caps.holdersPerShard);
          }
        }
        for (const hold of holds) hold.release(1_000);
        expect([gate.used, gate.waiting]).toEqual([0, 0]);
      }),
      { seed: 20261130, numRuns: 500 },
    );
  });
});

describe('the gates of a service', () => {
  it('slots count per shard, inline bytes and turns only in total', () => {
    const caps = { scansPerShard: 1, scansTotal: 2, queuePerShard: 0, inlineBytesMax: 100, workers: 2 };
    const { slots, inlineBytes, turns, tasks } = createAdmission(caps);
    held(ask(slots, 'a'));
    expect(refusal(ask(slots, 'a')).reason).toBe('shard_full');
    held(ask(inlineBytes, 'a', 1_000, 60));
    held(ask(inlineBytes, 'a', 1_000, 40));
    expect(ask(inlineBytes, 'a', 1_000, 1).state).toBe('waiting');
    held(ask(turns, 'a'));
    held(ask(turns, 'a'));
    expect(ask(turns, 'b').state).toBe('waiting');
    // Tasks never fill the queue of turns: every scan that runs finds room in it.
    for (let count = 0; count < ADMISSION_QUEUE_MAX; count += 1) held(ask(tasks, 'a'));
    expect(refusal(ask(tasks, 'b')).reason).toBe('queue_full');
    for (let count = 0; count < ADMISSION_QUEUE_MAX; count += 1) queue(turns, [], 'task', 'a');
    for (let count = 0; count < caps.scansTotal - 1; count += 1) queue(turns, [], 'scan', 'c');
  });
});

it('whoever watches a gate knows how many wait, whichever way they leave', () => {
  const seen: number[] = [];
  const gate = new FairGate({ ...WIDE, units: 1 }, (waiting) => seen.push(waiting));
  const first = held(ask(gate, 'a'));
  expect(seen).toEqual([]);
  queue(gate, [], 'granted', 'b');
  const withdrawn = queue(gate, [], 'withdrawn', 'c');
  queue(gate, [], 'expired', 'd', 5);
  queue(gate, [], 'drained', 'e');
  expect(seen.splice(0)).toEqual([1, 2, 3, 4]);
  first.release(1);
  withdrawn.release(1);
  gate.expire(5);
  gate.drain(6);
  expect(seen).toEqual([3, 2, 1, 0]);
});
