/**
 * The loop of one scan without threads: which frames in which order, when it waits, and what it does when a slice does
 * not answer. Slices are answered by the test.
 */
import { describe, expect, it } from 'vitest';
import { createAdmission } from '../../src/admission/admission.js';
import { problemOf, type Problem } from '../../src/core/error-codes.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { runScan, type PlannedScan } from '../../src/run/scan-run.js';
import type { ScanSink } from '../../src/run/sink.js';
import {
  CONTROL_CANCEL,
  type FilterProgress,
  type SliceReply,
  type SliceTask,
  type WorkerReply,
} from '../../src/scan/task.js';

type Answer = WorkerReply<SliceReply>;

/** Remembers every frame, decoded, and is drained when told. */
class Receiver implements ScanSink {
  readonly frames: Record<string, unknown>[] = [];
  isStuck = false;
  begin = (frame: Uint8Array): void => this.take(frame);
  page = (frame: Uint8Array): void => this.take(frame);
  progress = (frame: Uint8Array): void => this.take(frame);
  end = (frame: Uint8Array): void => this.take(frame);
  error = (frame: Uint8Array): void => this.take(frame);
  drained(): Promise<void> {
    return this.isStuck ? new Promise(() => undefined) : Promise.resolve();
  }
  kinds(): unknown[] {
    return this.frames.map((frame) => frame['frame']);
  }
  private take(frame: Uint8Array): void {
    this.frames.push(JSON.parse(new TextDecoder().decode(frame)) as Record<string, unknown>);
  }
}

function progress(examined: number, stop?: FilterProgress['stop']): FilterProgress {
  return {
    id: 'f',
    ...(stop === undefined ? {} : { stop }),
    totals: { pages: 0, examined, matched: 1, rejected: 0, unevaluated_count: 0, dropped: 0, examined_bytes: 0 },
    next_scan_offset: examined,
    continuation: `after-${examined}`,
  };
}

function slice(examined: number, more: Partial<SliceReply> = {}): Answer {
  const stop = more.done === true ? 'end_of_visible' : undefined;
  return {
    ok: {
      pages: [],
      state: { filters: [progress(examined, stop)], cursor: {} as SliceReply['state']['cursor'], runs: [] },
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

function page(stop: 'filled' | 'end_of_visible' | 'corrupt'): SliceReply['pages'][number] {
  return { filter: 0, stop, bytes: new TextEncoder().encode(`${JSON.stringify({ frame: 'page', stop })}\n`) };
}

interface Stage {
  readonly receiver: Receiver;
  readonly tasks: SliceTask[];
  readonly gone: AbortController;
  readonly stop: AbortController;
  nowMs: number;
  run(): ReturnType<typeof runScan>;
}

/** A scan whose slices `answer` gives, one by one; `before` runs ahead of each. */
function stage(answer: (slice: number, stage: Stage) => Answer, framed = true, deadlineAtMs = 1e9): Stage {
  const admission = createAdmission({
    scansPerShard: 1,
    scansTotal: 1,
    queuePerShard: 0,
    inlineBytesMax: 1,
    workers: 1,
  });
  const scan: PlannedScan = {
    spec: {
      requestId: 'r',
      stream: 's',
      topic: 't',
      generation: '',
      partitionId: 0,
      segments: [],
      filters: [
        {
          id: 'f',
          dialect: 'laser',
          text: '',
          pointer: '',
          asText: false,
          strict: false,
          start: { at: 'first', pointer: '' },
        },
      ],
      reply: 'records',
      encoding: 'json',
      framed,
      diagnostic: false,
      budgets: {
        count: 1,
        max_reply_bytes: 1,
        max_examined: 1,
        max_examined_bytes: 1,
        deadline_ms: 1,
        pages: 1,
        progress_ms: 1_000,
      },
    },
    scanKey: 'k',
    inline: [],
    deadlineAtMs,
    bounds: { recordsMax: 1, bytesMax: 1, timeMaxMs: 1 },
    shard: 'default',
  };
  const self: Stage = {
    receiver: new Receiver(),
    tasks: [],
    gone: new AbortController(),
    stop: new AbortController(),
    nowMs: 0,
    run: () =>
      runScan(
        scan,
        {
          pool: {
            run: async <T>(task: unknown) => {
              self.tasks.push(task as SliceTask);
              return answer(self.tasks.length, self) as WorkerReply<T>;
            },
          },
          turns: admission.turns,
          metrics: new Metrics('0', 1, () => ({ queueDepth: 0, workersBusy: 0, workersIdle: 0 })),
          clock: { nowMs: () => self.nowMs },
        },
        self.receiver,
        { gone: self.gone.signal, stop: self.stop.signal },
      ),
  };
  return self;
}

const LOST: Problem = { code: 'backend', retryable: true, detail: 'lost.' };

describe('frames', () => {
  it('begin comes with the first slice, end with the last', async () => {
    const scan = stage((at) => (at < 3 ? slice(at, { pages: [page('filled')] }) : slice(at, { done: true })));
    expect(await scan.run()).toBe('ok');
    expect(scan.receiver.kinds()).toEqual(['begin', 'page', 'page', 'end']);
    expect(scan.receiver.frames.at(-1)).toMatchObject({
      filters: [{ id: 'f', stop: 'end_of_visible', continuation: 'after-3' }],
    });
  });

  it('a slice carries the state of the one before, and all carry the same spec', async () => {
    const scan = stage((at) => slice(at, { done: at === 2 }));
    await scan.run();
    expect(scan.tasks[0]!.state).toBeNull();
    expect(scan.tasks[1]!.state!.filters[0]!.continuation).toBe('after-1');
    expect(scan.tasks[1]!.spec).toBe(scan.tasks[0]!.spec);
  });

  it('progress is reported once the time without a page is over, and not beside pages', async () => {
    const scan = stage((at, self) => {
      self.nowMs += at === 2 ? 400 : 700;
      return slice(at, { done: at === 5, pages: at === 4 ? [page('filled')] : [] });
    });
    await scan.run();
    // At 0.7 s begin, at 1.1 s and 1.8 s progress is due only in the latter, at 2.5 s a page.
    expect(scan.receiver.kinds()).toEqual(['begin', 'progress', 'page', 'end']);
    expect(scan.receiver.frames[1]).toEqual({
      frame: 'progress',
      records_scanned: 30,
      bytes_scanned: 300,
      filters: [{ id: 'f', matched: 1, next_scan_offset: 3 }],
    });
  });

  it('damage ends frames with an error frame, and a single page without one', async () => {
    const damage: Problem = { code: 'source_corrupt', detail: 'damaged', segment: 0, position: 7 };
    const reply = (): Answer => slice(1, { done: true, damage, pages: [page('corrupt')] });
    const framed = stage(reply);
    expect(await framed.run()).toBe('source_corrupt');
    expect(framed.receiver.kinds()).toEqual(['begin', 'page', 'error']);
    const single = stage(reply, false);
    expect(await single.run()).toBe('ok');
    expect(single.receiver.kinds()).toEqual(['page']);
  });
});

describe('a slice that does not answer', () => {
  it('is a status while nothing was sent, with the filter and where it was', async () => {
    const scan = stage(() => ({ problem: LOST }));
    const problem = problemOf(await scan.run().catch((thrown: unknown) => thrown));
    expect(problem).toMatchObject({ code: 'backend', retryable: true, detail: 'lost. Filter "f" at its start.' });
    expect(scan.receiver.frames).toEqual([]);
  });

  it('is a status for a single page at any time', async () => {
    const scan = stage((at) => (at < 3 ? slice(at) : { problem: LOST }), false);
    const problem = problemOf(await scan.run().catch((thrown: unknown) => thrown));
    expect(problem.detail).toContain('at offset 2');
    expect(scan.receiver.frames).toEqual([]);
  });

  it('is an error frame afterwards, with the progress of the slice before', async () => {
    const scan = stage((at) => (at < 3 ? slice(at) : { problem: LOST }));
    expect(await scan.run()).toBe('backend');
    expect(scan.receiver.frames.at(-1)).toMatchObject({
      frame: 'error',
      problem: { code: 'backend', retryable: true, request_id: 'r' },
      filters: [{ id: 'f', next_scan_offset: 2, continuation: 'after-2' }],
    });
  });

  it("a refused filter keeps the refusal's own words and pointer", async () => {
    const refusal: Problem = { code: 'conflict', detail: 'another digest', field: '/filters/0/expect_digest' };
    const scan = stage(() => ({ problem: refusal }));
    expect(problemOf(await scan.run().catch((thrown: unknown) => thrown))).toEqual(refusal);
  });
});

describe('stopping', () => {
  it('a receiver that is gone ends the scan with the slice at work', async () => {
    const scan = stage((at, self) => {
      if (at === 2) self.gone.abort();
      return slice(at);
    });
    expect(await scan.run()).toBe('client_gone');
    expect(scan.tasks).toHaveLength(2);
  });

  it('a stopped scan sets the flag that its worker looks at, and runs until the worker has closed its pages', async () => {
    const scan = stage((at, self) => {
      if (at === 2) self.stop.abort();
      const isCancelled = Atomics.load(new Int32Array(self.tasks[at - 1]!.control), CONTROL_CANCEL) === 1;
      return slice(at, { done: at === 3 && isCancelled });
    });
    expect(await scan.run()).toBe('ok');
    expect(scan.tasks).toHaveLength(3);
  });

  it('a scan that was stopped before it began still answers with its pages', async () => {
    const scan = stage((_at, self) => {
      expect(Atomics.load(new Int32Array(self.tasks[0]!.control), CONTROL_CANCEL)).toBe(1);
      return slice(1, { done: true });
    });
    scan.stop.abort();
    expect(await scan.run()).toBe('ok');
  });

  it('a receiver that takes nothing keeps no slice running, and at the deadline a last one closes the pages', async () => {
    const scan = stage(
      (at, self) => {
        self.receiver.isStuck = true;
        return slice(at, { done: at === 2 });
      },
      true,
      50,
    );
    expect(await scan.run()).toBe('ok');
    expect(scan.tasks).toHaveLength(2);
  });
});
