/**
 * The loop of one scan: slice, frames, and between slices everything that must not hold a worker (contract:
 * scan-protocol §1, §4).
 *
 * Invariants:
 * - Nothing is sent before the first slice has answered, so its refusals can be statuses; a single page is sent whole.
 * - Between two slices the scan waits for its turn, which shards take in rotation, and for its receiver.
 * - From the first frame on a timer sees to progress frames, so that waiting and long slices do not silence a stream;
 *   a receiver that takes nothing is sent none.
 * - A receiver that is gone ends the scan after the slice at work; a cancelled scan runs one more slice, in which the
 *   worker closes the pages with `cancelled`.
 * - When a worker is lost, the last frame carries the progress of the last slice that answered.
 */
import type { FairGate } from '../admission/fair-gate.js';
import type { Clock } from '../core/clock.js';
import { Refusal, type ErrorCode, type Problem } from '../core/error-codes.js';
import type { Metrics } from '../metrics/metrics.js';
import type { ScanPool } from '../pool/scan-pool.js';
import { ScanProgress } from '../scan/progress.js';
import {
  CONTROL_CANCEL,
  CONTROL_CELLS,
  type InlineBytes,
  type ScanSpec,
  type ScanState,
  type SliceBounds,
  type SliceReply,
} from '../scan/task.js';
import { encodeMsgpack } from '../wire/msgpack.js';
import { compileMsOf } from './compile-time.js';
import { beginFrame, encodeFrame, endFrame, errorFrame, ProgressReport } from './frames.js';
import { passGate } from './gate-wait.js';
import type { ScanSink } from './sink.js';

/** A planned scan. */
export interface PlannedScan {
  readonly spec: ScanSpec;
  /** Unique in the process. */
  readonly scanKey: string;
  readonly inline: readonly InlineBytes[];
  readonly deadlineAtMs: number;
  readonly bounds: SliceBounds;
  readonly shard: string;
}

/** What a scan runs on. */
export interface ScanMeans {
  readonly pool: Pick<ScanPool, 'run'>;
  readonly turns: FairGate;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** How a scan is stopped from outside. */
export interface ScanSignals {
  /** The receiver has gone: the scan ends with the slice at work. */
  readonly gone: AbortSignal;
  /** The scan has to close its pages with `cancelled`, now; aborts also when the receiver has gone. */
  readonly stop: AbortSignal;
}

/** How a reply ended: complete, with an error frame, or without a receiver. */
export type ScanOutcome = 'ok' | ErrorCode | 'client_gone';

/** Runs a scan. Throws a `Refusal` while nothing was sent. */
export async function runScan(
  scan: PlannedScan,
  means: ScanMeans,
  sink: ScanSink,
  signals: ScanSignals,
): Promise<ScanOutcome> {
  const control = new SharedArrayBuffer(CONTROL_CELLS * Int32Array.BYTES_PER_ELEMENT);
  const cancel = (): void => {
    Atomics.store(new Int32Array(control), CONTROL_CANCEL, 1);
  };
  signals.stop.addEventListener('abort', cancel, { once: true });
  if (signals.stop.aborted) cancel();
  try {
    return await new ScanRun(scan, means, sink, signals, control).toTheEnd();
  } finally {
    signals.stop.removeEventListener('abort', cancel);
  }
}

class ScanRun {
  private readonly scan: PlannedScan;
  private readonly means: ScanMeans;
  private readonly sink: ScanSink;
  private readonly signals: ScanSignals;
  private readonly control: SharedArrayBuffer;
  private readonly spec: SharedArrayBuffer;
  private readonly dialects: readonly string[];
  private readonly compileMs: number;
  private readonly passed = { records: 0, bytes: 0 };
  private readonly progress = new ProgressReport();
  /** What the slices that answered say of the filters. */
  private readonly filters: ScanProgress;
  /** When the stream began or was last sent a progress frame. */
  private progressAtMs = 0;
  /** Set from the first frame of a stream to its last. */
  private progressTimer: NodeJS.Timeout | undefined;

  constructor(scan: PlannedScan, means: ScanMeans, sink: ScanSink, signals: ScanSignals, control: SharedArrayBuffer) {
    this.scan = scan;
    this.means = means;
    this.sink = sink;
    this.signals = signals;
    this.control = control;
    const spec = encodeMsgpack(scan.spec);
    this.spec = new SharedArrayBuffer(spec.byteLength);
    new Uint8Array(this.spec).set(spec);
    this.compileMs = compileMsOf(scan.spec);
    this.dialects = scan.spec.filters.map(({ dialect }) => dialect);
    this.filters = new ScanProgress(scan.spec.filters.map(({ id }) => id));
  }

  async toTheEnd(): Promise<ScanOutcome> {
    try {
      return await this.slices();
    } finally {
      clearTimeout(this.progressTimer);
    }
  }

  private async slices(): Promise<ScanOutcome> {
    let state: ScanState | null = null;
    for (;;) {
      const answer = await this.slice(state);
      if (this.signals.gone.aborted || answer === null) return 'client_gone';
      if ('problem' in answer) return this.fail(answer.problem, state);
      const reply: SliceReply = answer.ok;
      this.filters.apply(reply.state);
      this.count(reply);
      this.send(reply, state === null);
      state = reply.state;
      if (reply.done) return this.finish(reply);
      await this.receiver();
      this.sendProgress();
    }
  }

  /** One slice on its turn, or `null` when the receiver went away while it waited. */
  private async slice(state: ScanState | null): Promise<{ ok: SliceReply } | { problem: Problem } | null> {
    const { clock, pool, turns } = this.means;
    const { inline, bounds, deadlineAtMs, scanKey, shard } = this.scan;
    // A running scan is never refused its turn: past the deadline the slice only closes its pages.
    const ask = { shard, units: 1, deadlineAtMs: Infinity };
    const passed = await passGate(turns, ask, clock, this.signals.gone);
    if (passed === null) return null;
    if ('refusal' in passed) {
      const { retryAfterS } = passed.refusal;
      return { problem: { code: 'capacity_exhausted', detail: 'The workers are busy.', retry_after_s: retryAfterS } };
    }
    try {
      const { spec, control } = this;
      const task = { kind: 'slice', scanKey, spec, control, inline, state, bounds, deadlineAtMs } as const;
      return await pool.run<SliceReply>(task, this.compileMs);
    } finally {
      passed.hold.release(clock.nowMs());
    }
  }

  private count({ counters, pages }: SliceReply): void {
    const { metrics } = this.means;
    metrics.recordSlice(counters, this.dialects);
    for (const page of pages) metrics.recordPage(page.stop);
    this.passed.records += counters.recordsScanned;
    this.passed.bytes += counters.bytesScanned;
  }

  private send(reply: SliceReply, isFirst: boolean): void {
    const { framed, encoding } = this.scan.spec;
    if (framed && isFirst) this.sink.begin(encodeFrame(encoding, beginFrame(this.scan.spec, reply.begin ?? [])));
    for (const page of reply.pages) this.sink.page(page.bytes);
    if (!framed || reply.done || !isFirst) return;
    this.progressAtMs = this.means.clock.nowMs();
    this.awaitProgress();
  }

  /** A progress frame, if none has been sent for `progress_ms` and the receiver takes it. */
  private sendProgress(): void {
    const { encoding, budgets, framed } = this.scan.spec;
    const nowMs = this.means.clock.nowMs();
    if (!framed || nowMs - this.progressAtMs < budgets.progress_ms || !this.sink.isDrained) return;
    this.sink.progress(encodeFrame(encoding, this.progress.frame(this.passed, this.filters.all())));
    this.progressAtMs = nowMs;
  }

  /** Looks for a due progress frame again and again, also while a slice runs or the scan waits. */
  private awaitProgress(): void {
    const dueInMs = this.progressAtMs + this.scan.spec.budgets.progress_ms - this.means.clock.nowMs();
    // Where it is due already the receiver takes nothing, and is looked at again when it does.
    const pauseMs = dueInMs > 0 ? dueInMs : this.scan.spec.budgets.progress_ms;
    this.progressTimer = setTimeout(() => {
      this.sendProgress();
      this.awaitProgress();
    }, pauseMs);
  }

  private finish({ damage }: SliceReply): ScanOutcome {
    const { framed, encoding, requestId } = this.scan.spec;
    // A single page that met damage says so by itself (`stop: corrupt`).
    if (!framed) return 'ok';
    if (damage === undefined) {
      this.sink.end(encodeFrame(encoding, endFrame(this.filters.all())));
      return 'ok';
    }
    this.sink.error(encodeFrame(encoding, errorFrame(damage, requestId, this.filters.all())));
    return damage.code;
  }

  /** A slice that did not answer: a status while nothing was sent, else the error frame. */
  private fail(problem: Problem, state: ScanState | null): ScanOutcome {
    const { framed, encoding, requestId } = this.scan.spec;
    const named = problem.code === 'backend' ? { ...problem, detail: `${problem.detail} ${this.where()}` } : problem;
    if (state === null || !framed) throw new Refusal(named);
    this.sink.error(encodeFrame(encoding, errorFrame(named, requestId, this.filters.all())));
    return named.code;
  }

  /** Which filters were at work, and from which offset on. */
  private where(): string {
    const running = this.filters.all().filter((filter) => filter.stop === undefined);
    const named = running.slice(0, 3).map(({ id, next_scan_offset: next }) => {
      return `${JSON.stringify(id)} ${next === undefined ? 'at its start' : `at offset ${next}`}`;
    });
    return `Filter ${named.join(', ')}${running.length > named.length ? ', …' : ''}.`;
  }

  /** Waits for the receiver, but not past the deadline or a stop: then a last slice closes the pages. */
  private async receiver(): Promise<void> {
    if (this.sink.isDrained) return;
    const leftMs = this.scan.deadlineAtMs - this.means.clock.nowMs();
    if (leftMs <= 0 || this.signals.stop.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.signals.stop.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, leftMs);
      this.signals.stop.addEventListener('abort', done, { once: true });
      void this.sink.drained().then(done);
    });
  }
}
