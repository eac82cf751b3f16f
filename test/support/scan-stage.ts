/**
 * One scan's loop on a stage without threads: the test answers its slices, a receiver remembers its frames.
 */
import { createAdmission } from '../../src/admission/admission.js';
import type { Hold } from '../../src/admission/fair-gate.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { runScan, type PlannedScan, type ScanMeans } from '../../src/run/scan-run.js';
import type { ScanSink } from '../../src/run/sink.js';
import type { ScanSpec, SliceReply, SliceTask, WorkerReply } from '../../src/scan/task.js';
import { sliceState } from './slice-state.js';

export type Answer = WorkerReply<SliceReply>;

/** Remembers every frame, decoded, and is drained when told. */
export class Receiver implements ScanSink {
  readonly frames: Record<string, unknown>[] = [];
  isStuck = false;
  afterBegin = (): void => undefined;
  /** Told whenever somebody asks whether it takes more. */
  onLook = (): void => undefined;
  private onFrame = (): void => undefined;
  page = (frame: Uint8Array): void => this.take(frame);
  progress = (frame: Uint8Array): void => this.take(frame);
  end = (frame: Uint8Array): void => this.take(frame);
  error = (frame: Uint8Array): void => this.take(frame);
  begin = (frame: Uint8Array): void => {
    this.take(frame);
    this.afterBegin();
  };
  get isDrained(): boolean {
    this.onLook();
    return !this.isStuck;
  }
  drained(): Promise<void> {
    return this.isStuck ? new Promise(() => undefined) : Promise.resolve();
  }
  kinds(): unknown[] {
    return this.frames.map((frame) => frame['frame']);
  }
  /** Resolves once it has so many frames of a kind. */
  got(kind: string, count: number): Promise<void> {
    return new Promise((resolve) => {
      this.onFrame = () => {
        if (this.kinds().filter((one) => one === kind).length >= count) resolve();
      };
      this.onFrame();
    });
  }
  private take(frame: Uint8Array): void {
    this.frames.push(JSON.parse(new TextDecoder().decode(frame)) as Record<string, unknown>);
    this.onFrame();
  }
}

/** What a slice answers that has examined so many records of its scan by now. */
export function slice(examined: number, more: Partial<SliceReply> = {}): Answer {
  const stop = more.done === true ? 'end_of_visible' : undefined;
  return {
    ok: {
      pages: [],
      state: sliceState(examined, 1, {
        ...(stop === undefined ? {} : { stop }),
        next_scan_offset: examined,
        continuation: `after-${examined}`,
      }),
      done: false,
      counters: {
        recordsScanned: 10,
        bytesScanned: 100,
        examined: { json: 1 },
        matched: 1,
        rejected: 0,
        unevaluated: 0,
        dropped: 0,
        bytesExamined: 100,
        bytesReturned: 100,
        skippedByIndex: 0,
        faults: {},
        stagesMs: { read: 0, decode: 0, evaluate: 0, encode: 0 },
        compileMs: 0,
        filterCacheHits: 0,
        filterCacheMisses: 0,
        sliceMs: 1,
      },
      ...more,
    },
  };
}

/** A finished page that says nothing but its stop. */
export function page(stop: 'filled' | 'end_of_visible' | 'corrupt'): SliceReply['pages'][number] {
  return { filter: 0, stop, bytes: new TextEncoder().encode(`${JSON.stringify({ frame: 'page', stop })}\n`) };
}

const FILTER: ScanSpec['filters'][number] = {
  id: 'f',
  dialect: 'laser',
  text: '',
  pointer: '',
  asText: false,
  strict: false,
  start: { at: 'first', pointer: '' },
};

/** A planned scan of one filter over nothing: its slices are the test's. */
export function plannedScan(more: {
  framed: boolean;
  progressMs: number;
  deadlineAtMs: number;
  shard: string;
}): PlannedScan {
  return {
    spec: {
      requestId: 'r',
      stream: 's',
      topic: 't',
      generation: '',
      partitionId: 0,
      segments: [],
      filters: [FILTER],
      schemas: [],
      reply: 'records',
      encoding: 'json',
      framed: more.framed,
      flushes: more.framed,
      diagnostic: false,
      budgets: {
        count: 1,
        max_reply_bytes: 1,
        max_examined: 1,
        max_examined_bytes: 1,
        deadline_ms: 1,
        pages: 1,
        progress_ms: more.progressMs,
      },
    },
    scanKey: 'k',
    inline: [],
    deadlineAtMs: more.deadlineAtMs,
    bounds: { recordsMax: 1, bytesMax: 1, timeMaxMs: 1 },
    shard: more.shard,
  };
}

/** Metrics that nobody reads. */
export function quietMetrics(): Metrics {
  return new Metrics('0', 1, () => ({ queueDepth: 0, workersBusy: 0, workersIdle: 0 }));
}

export interface Stage {
  readonly receiver: Receiver;
  readonly tasks: SliceTask[];
  readonly gone: AbortController;
  readonly stop: AbortController;
  /** The clock's time, unless the stage was given another clock. */
  nowMs: number;
  run(): ReturnType<typeof runScan>;
  /** Takes the only turn away from the scan; `freeTurn` gives it back. */
  occupyTurn(): void;
  freeTurn(): void;
  /** Resolves once the receiver was asked so many times whether it takes more. */
  looksForProgress(count: number): Promise<void>;
}

/** A scan whose slices `answer` gives, one by one. */
export function stage(
  answer: (slice: number, stage: Stage) => Answer | Promise<Answer>,
  more: { framed?: boolean; deadlineAtMs?: number; progressMs?: number; clock?: { now(): number } } = {},
): Stage {
  const caps = { scansPerShard: 1, scansTotal: 1, queuePerShard: 0, inlineBytesMax: 1, workers: 1 };
  const { turns } = createAdmission(caps);
  const scan = plannedScan({ framed: true, progressMs: 1_000, deadlineAtMs: 1e9, shard: 'default', ...more });
  let occupied: Hold | undefined;
  const self: Stage = {
    receiver: new Receiver(),
    tasks: [],
    gone: new AbortController(),
    stop: new AbortController(),
    nowMs: 0,
    run: () => runScan(scan, means, self.receiver, { gone: self.gone.signal, stop: self.stop.signal }),
    occupyTurn() {
      const decision = turns.take({ shard: 'x', units: 1, nowMs: 0, deadlineAtMs: Infinity }, () => undefined);
      if (decision.state !== 'refused') occupied = decision.hold;
    },
    freeTurn: () => void occupied?.release(0),
    looksForProgress: (count) =>
      new Promise((resolve) => {
        let left = count;
        self.receiver.onLook = () => {
          left -= 1;
          if (left === 0) resolve();
        };
      }),
  };
  const means: ScanMeans = {
    pool: {
      run: async <T>(task: unknown) => {
        self.tasks.push(task as SliceTask);
        return (await answer(self.tasks.length, self)) as WorkerReply<T>;
      },
    },
    turns,
    metrics: quietMetrics(),
    clock: { nowMs: () => more.clock?.now() ?? self.nowMs },
  };
  return self;
}
