/**
 * A worker lost in the middle of a slice, with the real worker around it: the continuation of the error frame goes on
 * where the last page ended, so that a client that follows it gets every record once.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import {
  ask,
  eventually,
  FAULTY_WORKER,
  framesOfText,
  open,
  scanBody,
  script,
  SCRIPTED_WORKER,
  serviceWith,
  stat,
  stopServices,
  type TestService,
} from '../support/http-service.js';

afterEach(stopServices);

const RECORDS = 900;
const PAYLOADS = Array.from({ length: RECORDS }, (_, at) => Buffer.from(at % 3 === 0 ? '{"a":1}' : '{"b":1}'));
const SEGMENT = encodeIggySegment(PAYLOADS.map((payload, offset) => ({ offset, payload })));
const SEGMENTS = [{ format: 'iggy', bytes: Buffer.from(SEGMENT).toString('base64') }];
const MATCHES = Array.from({ length: RECORDS / 3 }, (_, at) => at * 3);

interface LastFrame {
  readonly frame: string;
  readonly problem?: { readonly retryable: boolean; readonly detail: string };
  readonly filters: [{ readonly next_scan_offset: number; readonly safe_ack_offset: number; continuation: string }];
}

/** One request to its last frame; delivered offsets go to `delivered`. */
async function request(service: TestService, topic: string, start: unknown, delivered: number[]): Promise<LastFrame> {
  const body = scanBody({ ...script(topic), segments: SEGMENTS, start, reply: 'offsets', count: 7, pages: 0 });
  const { text } = await ask(service, { body, headers: { accept: 'application/x-ndjson' } });
  const frames = framesOfText(text);
  const pages = frames.filter(({ frame }) => frame === 'page');
  delivered.push(...pages.flatMap((page) => page['offsets'] as number[]));
  const ends = frames.filter(({ frame }) => frame === 'end' || frame === 'error');
  expect(ends).toEqual([frames.at(-1)]);
  const last = frames.at(-1) as unknown as LastFrame;
  // What the last frame says is what the last page said.
  const { next_scan_offset, safe_ack_offset, continuation } = pages.at(-1)!;
  expect(last.filters[0]).toMatchObject({ next_scan_offset, safe_ack_offset, continuation });
  return last;
}

describe.each([
  ['dies', 'crashed'],
  ['hangs', 'killed'],
  ['exhausts', 'out_of_memory'],
])('a worker that %s in the middle of a slice', (topic, reason) => {
  it('costs its scan nothing that its continuation does not bring back, and other scans nothing at all', async () => {
    const service = await serviceWith(
      { WINNOW_SLICE_RECORDS_MAX: '50', WINNOW_SLICE_KILL_AFTER: '500ms', WINNOW_POOL_WORKERS: '1' },
      { workerUrl: FAULTY_WORKER },
    );
    const whole: number[] = [];
    const other = request(service, 'healthy', 'first', whole);
    const delivered: number[] = [];
    let start: unknown = 'first';
    let faults = 0;
    for (;;) {
      const last = await request(service, topic, start, delivered);
      if (last.frame === 'end') break;
      faults += 1;
      expect(last.problem).toMatchObject({ code: 'backend', retryable: true });
      expect(last.problem!.detail).toContain('Filter "f" at offset ');
      start = { continue: last.filters[0].continuation };
    }
    expect(faults).toBeGreaterThan(2);
    expect(delivered).toEqual(MATCHES);
    expect((await other).frame).toBe('end');
    expect(whole).toEqual(MATCHES);
    await eventually(async () => (await stat(service, 'winnow_worker_restarts_total', { reason })) === faults);
    expect(await stat(service, 'winnow_worker_restarts_total')).toBe(faults);
    expect(await stat(service, 'winnow_scans_running')).toBe(0);
  });
});

describe('the turns of shards over HTTP', () => {
  it('between two slices of a narrow scan one wide slice runs at most, of sixteen wide scans', async () => {
    const service = await serviceWith({}, { workerUrl: SCRIPTED_WORKER });
    const wide = Array.from({ length: 16 }, () => open(service, { headers: { 'winnow-shard': 'wide' } }));
    for (const one of wide) one.end(scanBody({ ...script('endless'), deadline_ms: 60_000 }));
    await eventually(async () => (await stat(service, 'winnow_scans_running', { shard: 'wide' })) === 16);
    const narrow = await ask(service, {
      body: scanBody({ ...script('long'), deadline_ms: 60_000 }),
      headers: { accept: 'application/x-ndjson', 'winnow-shard': 'narrow' },
    });
    const turns = framesOfText(narrow.text)
      .filter(({ frame }) => frame === 'page')
      .map((page) => page['slice_of_worker'] as number);
    expect(turns.length).toBeGreaterThan(5);
    const between = turns.slice(1).map((turn, at) => turn - turns[at]! - 1);
    expect(between.filter((count) => count > 1)).toEqual([]);
    for (const one of wide) one.destroy();
    await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
  });
});
