/**
 * One bounded resource shared by shards: who may have some now, who waits, who is refused (contract: scan-protocol §4).
 *
 * Scan slots, inline bytes and turns on a worker are each one gate. Pure counters: no timers, no promises; instants come
 * in and whoever waits is told through its callback.
 *
 * Invariants:
 * - A refused or withdrawn request leaves every counter as it was: all or nothing.
 * - A hold gives back what it took exactly once, through `Hold.release`, whatever state it is in.
 * - Waiters are served in rotation over their shards, and by deadline inside a shard. The shard that was served last goes
 *   behind whoever waits at its next turn, so that no shard is served twice while another waits. A shard whose own cap
 *   is reached is passed over; a waiter that is merely too big for what is free right now is not, or it would never be
 *   served.
 * - A shard without holders and waiters leaves no trace, so names cannot fill memory.
 */
import { DrainRate } from './drain-rate.js';

/** Bounds of a gate, in its own unit (scans, bytes, turns). */
export interface GateCaps {
  /** Units in use at once over all shards. */
  readonly units: number;
  /** Holders at once per shard. */
  readonly holdersPerShard: number;
  /** Waiters per shard beyond `holdersPerShard`; a shard with more in the house than both is full. */
  readonly queuePerShard: number;
  /** Waiters over all shards. */
  readonly queue: number;
}

/**
 * Why a request was refused; also the label of `admission_refused_total`. No gate says `event_loop`: it is the reason of
 * load shedding (`loop-delay.ts`).
 */
export const REFUSAL_REASONS = ['shard_full', 'queue_full', 'queue_deadline', 'draining', 'event_loop'] as const;

export interface GateRefusal {
  readonly reason: (typeof REFUSAL_REASONS)[number];
  /** For `Retry-After`, from the measured drain rate: 1…60. */
  readonly retryAfterS: number;
}

export interface GateRequest {
  readonly shard: string;
  /** 1 … the gate's `units`; asking for more would wait for ever, so the caller refuses it before. */
  readonly units: number;
  readonly nowMs: number;
  /** Instant at which waiting ends in a refusal. */
  readonly deadlineAtMs: number;
}

/** Told once, later, when a request had to wait: `null` is "granted". */
export type Settle = (refusal: GateRefusal | null) => void;

/** What a request got. `held`: go on. `waiting`: `settle` will be called unless the hold is released before. */
export type GateDecision =
  | { readonly state: 'held' | 'waiting'; readonly hold: Hold }
  | { readonly state: 'refused'; readonly refusal: GateRefusal };

/** The one handle on what was taken or is waited for. */
export interface Hold {
  /**
   * Gives the units back, or withdraws from the queue. Returns false, and does nothing, from the second call on and
   * after a refusal.
   */
  release(nowMs: number): boolean;
}

interface Entry {
  readonly shard: string;
  readonly units: number;
  readonly deadlineAtMs: number;
  readonly settle: Settle;
  state: 'waiting' | 'held' | 'gone';
}

interface ShardState {
  holders: number;
  /** By deadline, earliest first; equal deadlines in order of arrival. */
  readonly waiting: Entry[];
}

export class FairGate {
  private readonly caps: GateCaps;
  private readonly drainRate = new DrainRate();
  private readonly shards = new Map<string, ShardState>();
  /** Shards with waiters, next to be served first. */
  private readonly rotation: string[] = [];
  /** The shard that was granted something last; it stands behind shards that begin to wait before its next turn. */
  private lastServed: string | undefined;
  private usedUnits = 0;
  private waitingCount = 0;
  private isDraining = false;
  private readonly onWaiting: (waiting: number) => void;

  /** `onWaiting` is told how many wait, whenever that has changed. */
  constructor(caps: GateCaps, onWaiting: (waiting: number) => void = ignore) {
    this.caps = caps;
    this.onWaiting = onWaiting;
  }

  /** Units in use. */
  get used(): number {
    return this.usedUnits;
  }

  /** Waiters over all shards. */
  get waiting(): number {
    return this.waitingCount;
  }

  /** Holders of one shard. */
  holdersOf(shard: string): number {
    return this.shards.get(shard)?.holders ?? 0;
  }

  /** Asks for units. `settle` is called only if the decision is `waiting`, never from inside this call. */
  take(request: GateRequest, settle: Settle): GateDecision {
    const { shard, units, nowMs, deadlineAtMs } = request;
    if (this.isDraining) return this.refused('draining', 0, nowMs);
    const state = this.shards.get(shard) ?? { holders: 0, waiting: [] };
    if (state.holders + state.waiting.length >= this.caps.holdersPerShard + this.caps.queuePerShard) {
      return this.refused('shard_full', state.waiting.length, nowMs);
    }
    const entry: Entry = { shard, units, deadlineAtMs, settle, state: 'waiting' };
    const hold: Hold = { release: (atMs) => this.release(entry, atMs) };
    if (this.canServe(state, units) && !this.isSomeoneAhead()) {
      this.shards.set(shard, state);
      this.grant(entry, state);
      return { state: 'held', hold };
    }
    if (this.waitingCount >= this.caps.queue) return this.refused('queue_full', this.waitingCount, nowMs);
    if (deadlineAtMs <= nowMs) return this.refused('queue_deadline', this.waitingCount, nowMs);
    this.shards.set(shard, state);
    this.enqueue(entry, state);
    return { state: 'waiting', hold };
  }

  /** Refuses every waiter whose deadline is `nowMs` or earlier. */
  expire(nowMs: number): void {
    this.refuseWaiting('queue_deadline', nowMs, (entry) => entry.deadlineAtMs <= nowMs);
    // A waiter that left may have been the one that the others were queued behind.
    this.serveWaiting();
  }

  /** Refuses every waiter and everything that asks from now on; holders keep what they have. */
  drain(nowMs: number): void {
    this.isDraining = true;
    this.refuseWaiting('draining', nowMs, () => true);
  }

  private refused(reason: GateRefusal['reason'], ahead: number, nowMs: number): GateDecision {
    return { state: 'refused', refusal: { reason, retryAfterS: this.drainRate.retryAfterS(ahead, nowMs) } };
  }

  private canServe(state: ShardState, units: number): boolean {
    return state.holders < this.caps.holdersPerShard && this.usedUnits + units <= this.caps.units;
  }

  /** True when a waiter of some shard under its own cap waits for units: a newcomer must not overtake it. */
  private isSomeoneAhead(): boolean {
    return this.rotation.some((shard) => this.shards.get(shard)!.holders < this.caps.holdersPerShard);
  }

  private grant(entry: Entry, state: ShardState): void {
    entry.state = 'held';
    this.lastServed = entry.shard;
    state.holders += 1;
    this.usedUnits += entry.units;
  }

  private enqueue(entry: Entry, state: ShardState): void {
    if (state.waiting.length === 0) this.joinRotation(entry.shard);
    const place = state.waiting.findIndex((other) => other.deadlineAtMs > entry.deadlineAtMs);
    state.waiting.splice(place < 0 ? state.waiting.length : place, 0, entry);
    this.waitingCount += 1;
    this.onWaiting(this.waitingCount);
  }

  /** At the end, but before the shard that was served last: it had its turn, however long it waits for the next. */
  private joinRotation(shard: string): void {
    const isServedBefore = this.rotation.length > 0 && this.rotation.at(-1) === this.lastServed;
    this.rotation.splice(this.rotation.length - (isServedBefore ? 1 : 0), 0, shard);
  }

  private release(entry: Entry, nowMs: number): boolean {
    const was = entry.state;
    if (was === 'gone') return false;
    const state = this.shards.get(entry.shard)!;
    entry.state = 'gone';
    if (was === 'held') {
      state.holders -= 1;
      this.usedUnits -= entry.units;
      this.drainRate.note(nowMs);
    } else this.dequeue(entry, state);
    this.forget(entry.shard, state);
    this.serveWaiting();
    return true;
  }

  private dequeue(entry: Entry, state: ShardState): void {
    state.waiting.splice(state.waiting.indexOf(entry), 1);
    this.waitingCount -= 1;
    this.onWaiting(this.waitingCount);
    if (state.waiting.length === 0) this.rotation.splice(this.rotation.indexOf(entry.shard), 1);
  }

  private forget(shard: string, state: ShardState): void {
    if (state.holders === 0 && state.waiting.length === 0) this.shards.delete(shard);
  }

  /** Hands free units to waiters, shard by shard, until the next in turn does not fit. */
  private serveWaiting(): void {
    const granted: Entry[] = [];
    for (let next = this.nextShard(); next !== undefined; next = this.nextShard()) {
      const state = this.shards.get(next)!;
      const entry = state.waiting[0]!;
      if (!this.canServe(state, entry.units)) break;
      this.dequeue(entry, state);
      this.grant(entry, state);
      // Served: the shard goes to the end of the rotation if it still has waiters.
      if (state.waiting.length > 0) {
        this.rotation.splice(this.rotation.indexOf(next), 1);
        this.rotation.push(next);
      }
      granted.push(entry);
    }
    // Callbacks last: they may come back into the gate, which is consistent by now.
    for (const entry of granted) if (entry.state === 'held') entry.settle(null);
  }

  private nextShard(): string | undefined {
    return this.rotation.find((shard) => this.shards.get(shard)!.holders < this.caps.holdersPerShard);
  }

  private refuseWaiting(reason: GateRefusal['reason'], nowMs: number, isRefused: (entry: Entry) => boolean): void {
    const refused = [...this.shards.values()].flatMap((state) => state.waiting.filter(isRefused));
    for (const entry of refused) {
      const state = this.shards.get(entry.shard)!;
      entry.state = 'gone';
      this.dequeue(entry, state);
      this.forget(entry.shard, state);
    }
    const refusal = { reason, retryAfterS: this.drainRate.retryAfterS(this.waitingCount, nowMs) };
    for (const entry of refused) entry.settle(refusal);
  }
}

function ignore(): void {}
