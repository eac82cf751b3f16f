/**
 * Everything between a request and the workers (house §2): slots, inline bytes, turns, cancellation, draining.
 *
 * HTTP and the command line both run scans through this. Invariants: a slot is released exactly once, by whoever holds
 * the `ScanSlot`, on every path; draining cancels what runs and refuses what comes, so that `drain` resolves within a
 * slice and the time its receivers need; nothing here looks into a record, a filter or a page.
 */
import { setMaxListeners } from 'node:events';
import type { Admission } from '../admission/admission.js';
import type { FairGate, Hold } from '../admission/fair-gate.js';
import { type LoopDelayGuard, SHED_RETRY_AFTER_S } from '../admission/loop-delay.js';
import type { Clock } from '../core/clock.js';
import { copyBytes } from '../core/copy-bytes.js';
import { refuse } from '../core/error-codes.js';
import { DEADLINE_MS_DEFAULT, SHARED_BODY_SEGMENTS_SHARE_MIN } from '../core/limits.js';
import type { Metrics } from '../metrics/metrics.js';
import type { ScanPool } from '../pool/scan-pool.js';
import { planTest, planValidate } from '../scan/plan-filter.js';
import { planDiff, planPreview } from '../scan/plan-preview.js';
import { planScan, type ScanPlan } from '../scan/plan.js';
import type {
  Budgets,
  DiffFound,
  InlineBytes,
  PreviewFound,
  ReplyEncoding,
  SliceBounds,
  TestTask,
  ValidateTask,
} from '../scan/task.js';
import type { TestReply, TestRequest, ValidateReply, ValidateRequest } from '../wire/filter-request.js';
import type { DiffReply, DiffRequest, PreviewReply, PreviewRequest } from '../wire/preview.js';
import type { ScanRequest } from '../wire/scan-request.js';
import { schemaCompileMs } from './compile-time.js';
import { type GateAsk, passGate, refuseAtGate } from './gate-wait.js';
import { runScan, type PlannedScan, type ScanMeans, type ScanOutcome, type ScanSignals } from './scan-run.js';
import type { ScanSink } from './sink.js';
import { runWatch, type WatchTaskOf } from './watch-run.js';

export interface RunnerOptions {
  readonly pool: Pick<ScanPool, 'run'>;
  readonly admission: Admission;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly bounds: SliceBounds;
  /** Caps of the request's budgets. */
  readonly caps: Budgets;
  readonly inlineBytesMax: number;
  /** Says when the event loop is overloaded; without one nothing is shed. */
  readonly loopDelay?: LoopDelayGuard;
}

/** A scan's place in the house, from its headers to its last frame. */
export interface ScanSlot {
  readonly shard: string;
  readonly arrivedAtMs: number;
  /** Gives the slot back; from the second call on it does nothing. */
  release(): void;
}

export interface ScanOrder {
  readonly slot: ScanSlot;
  /** Checked against its schema. */
  readonly request: ScanRequest;
  readonly requestId: string;
  readonly encoding: ReplyEncoding;
  /** Frames instead of a single page. */
  readonly framed: boolean;
  /** Where true, no page of the frames leaves before it is full. */
  readonly wantsWholePages?: boolean;
}

/** Who asks for a preview or a diff, and since when. */
export interface Asker {
  readonly shard: string;
  readonly arrivedAtMs: number;
  readonly requestId: string;
}

/**
 * A planned scan whose inline bytes are in shared memory. Nothing in it refers to the request's body any more, unless that
 * is in shared memory itself and hardly more than those bytes.
 */
export interface PreparedScan {
  readonly planned: PlannedScan;
  readonly inlineHold: Hold | undefined;
}

export class Runner {
  private readonly options: RunnerOptions;
  /** Scans at work, each with what makes it close its pages. */
  private readonly running = new Map<AbortController, Promise<unknown>>();
  private readonly stopping = new AbortController();
  private scans = 0;

  constructor(options: RunnerOptions) {
    this.options = options;
    // Every body that is arriving listens to it.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Aborts when draining begins: bodies that are still arriving give up their slot. */
  get stopped(): AbortSignal {
    return this.stopping.signal;
  }

  /**
   * Takes a slot for a scan that arrived at `arrivedAtMs`, before its body is read (scan-protocol §4). Throws
   * `capacity_exhausted` with `retry_after_s` (also while the event loop is overloaded), or `unavailable` while draining;
   * resolves with `null` when `signal`
   * aborted first.
   */
  async admit(shard: string, arrivedAtMs: number, signal: AbortSignal): Promise<ScanSlot | null> {
    const { admission, clock, metrics } = this.options;
    this.shed();
    // The body with the scan's own deadline has not been read, so waiting is bounded by the default one.
    const deadlineAtMs = arrivedAtMs + Math.min(DEADLINE_MS_DEFAULT, this.options.caps.deadline_ms);
    const passed = await passGate(admission.slots, { shard, units: 1, deadlineAtMs }, clock, signal);
    if (passed === null) return null;
    if ('refusal' in passed) {
      metrics.recordRefusal(passed.refusal.reason);
      return refuseAtGate(passed.refusal);
    }
    metrics.recordAdmissionWait(clock.nowMs() - arrivedAtMs);
    const ended = metrics.scanStarted(shard);
    return {
      shard,
      arrivedAtMs,
      release: () => {
        if (passed.hold.release(clock.nowMs())) ended();
      },
    };
  }

  /**
   * Plans a scan and takes its inline bytes. Throws the request's refusal, `too_large` for more inline bytes than the
   * service ever holds, `capacity_exhausted` when they find no room before the scan's deadline. What it returns has to
   * be given to {@link scan}, which releases the bytes.
   */
  async prepare(order: ScanOrder, gone: AbortSignal): Promise<PreparedScan> {
    const { slot } = order;
    const plan = planScan({
      request: order.request,
      requestId: order.requestId,
      arrivedAtMs: slot.arrivedAtMs,
      caps: this.options.caps,
      encoding: order.encoding,
      framed: order.framed,
      wantsWholePages: order.wantsWholePages ?? false,
    });
    return this.place(plan, slot.shard, gone);
  }

  /**
   * Runs one scan to its last frame. Throws a `Refusal` while nothing was sent; afterwards every fault is an error
   * frame and the outcome says so. `gone` aborts when the receiver went away. Does not release the slot.
   */
  async scan({ planned, inlineHold }: PreparedScan, sink: ScanSink, gone: AbortSignal): Promise<ScanOutcome> {
    return this.cancellable(inlineHold, gone, (means, signals) => runScan(planned, means, sink, signals));
  }

  /** `POST /v1/filters/validate` (scan-protocol §2). Throws the filter's refusal. */
  validate(request: ValidateRequest, shard: string, arrivedAtMs: number, signal: AbortSignal): Promise<ValidateReply> {
    return this.task(planValidate(request), shard, arrivedAtMs, signal);
  }

  /** `POST /v1/filters/test` (scan-protocol §2). Throws the filter's or the record's refusal. */
  test(request: TestRequest, shard: string, arrivedAtMs: number, signal: AbortSignal): Promise<TestReply> {
    return this.task(planTest(request), shard, arrivedAtMs, signal);
  }

  /** `POST /v1/filters/preview` (scan-protocol §2). Throws the request's refusal. */
  async preview(request: PreviewRequest, asker: Asker, gone: AbortSignal): Promise<PreviewReply> {
    this.shed();
    const { scan, maxRecords, explain } = planPreview(request, { ...asker, caps: this.options.caps });
    return this.watch<PreviewFound, PreviewReply>(this.place(scan, asker.shard, gone), gone, (slice, found) => {
      return { kind: 'preview', slice, maxRecords, explain, found };
    });
  }

  /** `POST /v1/filters/diff` (scan-protocol §2). Throws the request's refusal. */
  async diff(request: DiffRequest, asker: Asker, gone: AbortSignal): Promise<DiffReply> {
    this.shed();
    const { scan, other } = planDiff(request, { ...asker, caps: this.options.caps });
    return this.watch<DiffFound, DiffReply>(this.place(scan, asker.shard, gone), gone, (slice, found) => {
      return { kind: 'diff', slice, other, found };
    });
  }

  /**
   * Stops everything: waiters are refused, running scans end their page with `cancelled`. Resolves when the last one
   * has written its last frame.
   */
  async drain(): Promise<void> {
    const { admission, clock } = this.options;
    this.stopping.abort();
    admission.slots.drain(clock.nowMs());
    admission.inlineBytes.drain(clock.nowMs());
    for (const stop of this.running.keys()) stop.abort();
    await Promise.allSettled(this.running.values());
  }

  /** Takes a plan's inline bytes, in shared memory. */
  private async place(plan: ScanPlan, shard: string, gone: AbortSignal): Promise<PreparedScan> {
    const bytes = plan.inline.reduce((sum, view) => sum + view.byteLength, 0);
    const inlineHold = await this.holdInline(bytes, shard, plan.deadlineAtMs, gone);
    this.scans += 1;
    const planned = {
      spec: plan.spec,
      scanKey: String(this.scans),
      inline: inSharedMemory(plan.inline, bytes),
      deadlineAtMs: plan.deadlineAtMs,
      bounds: this.options.bounds,
      shard,
    };
    return { planned, inlineHold };
  }

  /** Runs a preview or diff to its answer; it is drained like a scan. Holds no plan: its views are of the body. */
  private async watch<Found, Answer>(
    placed: Promise<PreparedScan>,
    gone: AbortSignal,
    taskOf: WatchTaskOf<Found>,
  ): Promise<Answer> {
    const { planned, inlineHold } = await placed;
    const { admission, clock } = this.options;
    const { shard, deadlineAtMs } = planned;
    return this.cancellable(inlineHold, gone, async (means, signals) => {
      const room = await this.pass(admission.tasks, { shard, units: 1, deadlineAtMs }, gone);
      try {
        return await runWatch<Found, Answer>(planned, means, signals, taskOf);
      } finally {
        room.release(clock.nowMs());
      }
    });
  }

  /** Runs something that draining, or a receiver that is gone, tells to end; then gives its inline bytes back. */
  private async cancellable<T>(
    inlineHold: Hold | undefined,
    gone: AbortSignal,
    start: (means: ScanMeans, signals: ScanSignals) => Promise<T>,
  ): Promise<T> {
    const { admission, clock, pool, metrics } = this.options;
    const stop = new AbortController();
    const onGone = (): void => stop.abort();
    gone.addEventListener('abort', onGone, { once: true });
    if (gone.aborted || this.stopped.aborted) stop.abort();
    const run = start({ pool, turns: admission.turns, metrics, clock }, { gone, stop: stop.signal });
    this.running.set(stop, run);
    try {
      return await run;
    } finally {
      this.running.delete(stop);
      gone.removeEventListener('abort', onGone);
      inlineHold?.release(clock.nowMs());
    }
  }

  /** Refuses what comes new while the event loop is overloaded. */
  private shed(): void {
    const { clock, metrics, loopDelay } = this.options;
    if (loopDelay?.isOverloaded(clock.nowMs()) !== true) return;
    metrics.recordRefusal('event_loop');
    refuseAtGate({ reason: 'event_loop', retryAfterS: SHED_RETRY_AFTER_S });
  }

  private async holdInline(
    bytes: number,
    shard: string,
    deadlineAtMs: number,
    signal: AbortSignal,
  ): Promise<Hold | undefined> {
    const { admission, inlineBytesMax } = this.options;
    if (bytes === 0) return undefined;
    if (bytes > inlineBytesMax) {
      refuse('too_large', 'The inline segments are larger than the service ever holds at once.', {
        field: '/segments',
        limit: inlineBytesMax,
        given: bytes,
      });
    }
    return this.pass(admission.inlineBytes, { shard, units: bytes, deadlineAtMs }, signal);
  }

  private async task<T>(
    task: ValidateTask | TestTask,
    shard: string,
    arrivedAtMs: number,
    signal: AbortSignal,
  ): Promise<T> {
    const { admission, clock, caps } = this.options;
    this.shed();
    const deadlineAtMs = arrivedAtMs + Math.min(DEADLINE_MS_DEFAULT, caps.deadline_ms);
    const ask = { shard, units: 1, deadlineAtMs };
    const place = await this.pass(admission.tasks, ask, signal);
    try {
      const turn = await this.pass(admission.turns, ask, signal);
      try {
        return await this.answer<T>(task);
      } finally {
        turn.release(clock.nowMs());
      }
    } finally {
      place.release(clock.nowMs());
    }
  }

  /** The hold, or the refusal thrown. */
  private async pass(gate: FairGate, ask: GateAsk, signal: AbortSignal): Promise<Hold> {
    const { clock, metrics } = this.options;
    const passed = await passGate(gate, ask, clock, signal);
    // The client is gone, so nobody will read this refusal; it only ends the request.
    if (passed === null) return refuse('unavailable', 'The client went away.');
    if ('hold' in passed) return passed.hold;
    metrics.recordRefusal(passed.refusal.reason);
    return refuseAtGate(passed.refusal);
  }

  private async answer<T>(task: ValidateTask | TestTask): Promise<T> {
    const reply = await this.options.pool.run<T>(task, schemaCompileMs(task.schemas));
    if ('problem' in reply) refuse(reply.problem.code, reply.problem.detail, reply.problem);
    return reply.ok;
  }
}

/**
 * The inline bytes of a plan, `bytes` together, where every worker sees them: in the body itself, if it is in shared
 * memory and hardly more than they, else copied once.
 */
function inSharedMemory(views: readonly Uint8Array[], bytes: number): InlineBytes[] {
  return views.map((view) => {
    const { buffer } = view;
    if (buffer instanceof SharedArrayBuffer && bytes >= buffer.byteLength * SHARED_BODY_SEGMENTS_SHARE_MIN) {
      return new Uint8Array(buffer, view.byteOffset, view.byteLength);
    }
    const memory = new SharedArrayBuffer(view.byteLength);
    copyBytes(view, new Uint8Array(memory), 0);
    return memory;
  });
}
