/**
 * The loop of one scan without threads: which frames in which order, when it waits, and what it does when a slice does
 * not answer. Slices are answered by the test.
 */
import { describe, expect, it } from 'vitest';
import { problemOf, type Problem } from '../../src/core/error-codes.js';
import { CONTROL_CANCEL } from '../../src/scan/task.js';
import { page, slice, stage, type Answer } from '../support/scan-stage.js';

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
    expect(scan.tasks[1]!.state!.changes[0]!.continuation).toBe('after-1');
    expect(scan.tasks[1]!.spec).toBe(scan.tasks[0]!.spec);
  });

  it('progress is reported whenever its time is over, also beside pages', async () => {
    const scan = stage((at, self) => {
      self.nowMs += at === 2 ? 400 : 700;
      return slice(at, { done: at === 6, pages: at === 3 ? [page('filled')] : [] });
    });
    await scan.run();
    // At 0.7 s begin; at 1.1 s nothing is due, at 1.8 s a page and progress, at 2.5 s nothing, at 3.2 s progress.
    expect(scan.receiver.kinds()).toEqual(['begin', 'page', 'progress', 'progress', 'end']);
    expect(scan.receiver.frames[2]).toEqual({
      frame: 'progress',
      records_scanned: 30,
      bytes_scanned: 300,
      filters: [{ id: 'f', matched: 1, next_scan_offset: 3 }],
    });
  });

  it('progress leaves out a filter that stands where the frame before said', async () => {
    const scan = stage((at, self) => {
      self.nowMs += 1_000;
      return slice(Math.min(at, 2), { done: at === 4 });
    });
    await scan.run();
    expect(scan.receiver.frames.filter(({ frame }) => frame === 'progress')).toMatchObject([
      { records_scanned: 20, filters: [{ id: 'f', next_scan_offset: 2 }] },
      { records_scanned: 30, filters: [] },
    ]);
  });

  it('progress goes on while a slice runs', async () => {
    const scan = stage(
      async (at, self) => {
        if (at === 2) await self.receiver.got('progress', 3);
        return slice(at, { done: at === 2 });
      },
      { progressMs: 1, clock: performance },
    );
    expect(await scan.run()).toBe('ok');
    expect(scan.receiver.kinds().slice(0, 4)).toEqual(['begin', 'progress', 'progress', 'progress']);
    expect(scan.receiver.kinds().at(-1)).toBe('end');
  });

  it('progress goes on while the scan waits for its turn, and none is sent to a receiver that takes nothing', async () => {
    const scan = stage((at) => slice(at, { done: at === 2 }), { progressMs: 1, clock: performance });
    scan.receiver.afterBegin = () => scan.occupyTurn();
    const ran = scan.run();
    await scan.receiver.got('progress', 2);
    scan.receiver.isStuck = true;
    const sent = scan.receiver.frames.length;
    await scan.looksForProgress(3);
    expect(scan.receiver.frames).toHaveLength(sent);
    scan.freeTurn();
    scan.receiver.isStuck = false;
    expect(await ran).toBe('ok');
  });

  it('damage ends frames with an error frame, and a single page without one', async () => {
    const damage: Problem = { code: 'source_corrupt', detail: 'damaged', segment: 0, position: 7 };
    const reply = (): Answer => slice(1, { done: true, damage, pages: [page('corrupt')] });
    const framed = stage(reply);
    expect(await framed.run()).toBe('source_corrupt');
    expect(framed.receiver.kinds()).toEqual(['begin', 'page', 'error']);
    const single = stage(reply, { framed: false });
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
    const scan = stage((at) => (at < 3 ? slice(at) : { problem: LOST }), { framed: false });
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
      { deadlineAtMs: 50 },
    );
    expect(await scan.run()).toBe('ok');
    expect(scan.tasks).toHaveLength(2);
  });
});
