/**
 * Pages that leave a stream before they are full (scan-protocol §1 `flushed`), and unbounded pages: one fact each. Random
 * scans are held to the same rules in `pages.property.test.ts`.
 */
import { describe, expect, test } from 'vitest';
import { OPEN_PAGES_BYTES_MAX } from '../../src/core/limits.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { request } from '../support/number-scans.js';
import { newRunner, planOf, runPlan, type ScanOptions, scanned, type ScanResult } from '../support/scan-harness.js';

const EVERY_RECORD =
  '{"v":1,"evaluator_version":1,"expr":{"header":{"key":"h","op":"eq","value":{"kind":"int","value":1}}},"codec":"headers_only"}';

/** Slices of so many records. */
function slicesOf(recordsMax: number): Pick<ScanOptions, 'framed' | 'bounds'> {
  return { framed: true, bounds: { recordsMax, bytesMax: 2 ** 26, timeMaxMs: 10_000 } };
}

function stops({ pages }: ScanResult): unknown[] {
  return pages.map(({ stop, matched, examined }) => [stop, matched, examined]);
}

describe('the first match of a stream', () => {
  test('leaves at the end of the slice that found it, once, with what else its page holds', () => {
    const result = scanned([newRunner()], request([2, 2, 1, 2, 1, 2, 1, 2]), slicesOf(3));
    expect(stops(result)).toEqual([
      ['flushed', 1, 3],
      ['end_of_visible', 2, 5],
    ]);
    expect(result.pages[0]).toMatchObject({ next_scan_offset: 3, safe_ack_offset: 2 });
    expect(result.filters[0]!.totals).toMatchObject({ pages: 2, matched: 3, examined: 8 });
  });

  test('leaves no page that was filled in that slice, nor the one behind it', () => {
    const result = scanned([newRunner()], request([1, 1, 1, 2, 2, 2], { count: 2, pages: 5 }), slicesOf(3));
    expect(stops(result)).toEqual([
      ['filled', 2, 2],
      ['end_of_visible', 1, 4],
    ]);
  });

  test('is sent by the page that ends the scan, where it was found in the last slice', () => {
    expect(stops(scanned([newRunner()], request([2, 1]), slicesOf(10)))).toEqual([['end_of_visible', 1, 2]]);
  });

  test('stays on its page in a single-page reply, and where whole pages are wanted', () => {
    const numbers = [1, 2, 2, 2];
    for (const options of [{ framed: false }, { wantsWholePages: true }]) {
      const result = scanned([newRunner()], request(numbers), { ...slicesOf(2), ...options });
      expect(stops(result)).toEqual([['end_of_visible', 1, 4]]);
    }
  });

  test('goes on from the continuation of its page without loss or repeat', () => {
    const numbers = [2, 1, 1, 1];
    const first = scanned([newRunner()], request(numbers), slicesOf(2)).pages[0]!;
    expect(first.stop).toBe('flushed');
    const start = { continue: first.continuation };
    const rest = scanned([newRunner()], request(numbers, { start, reply: 'offsets' }), slicesOf(100));
    expect(rest.pages[0]!.offsets).toEqual([2, 3]);
  });

  test('a flushed page does not count toward the pages of the response', () => {
    const result = scanned([newRunner()], request([1, 2, 1, 1, 1, 1], { count: 2, pages: 2 }), slicesOf(2));
    expect(stops(result)).toEqual([
      ['flushed', 1, 2],
      ['filled', 2, 2],
      ['filled', 2, 2],
    ]);
    expect(result.filters[0]).toMatchObject({ stop: 'budget', budget: 'pages', totals: { pages: 3 } });
  });
});

describe('pages: 0', () => {
  test('goes on until a stop other than filled', () => {
    const numbers = Array.from({ length: 30 }, () => 1);
    const result = scanned([newRunner()], request(numbers, { count: 1, pages: 0 }), slicesOf(7));
    expect(result.pages).toHaveLength(31);
    expect(result.filters[0]).toMatchObject({ stop: 'end_of_visible', totals: { pages: 31, matched: 30 } });
  });

  test('ends with the budget of examined records', () => {
    const result = scanned([newRunner()], request([1, 1, 1, 1], { count: 1, pages: 0, max_examined: 3 }), slicesOf(2));
    expect(result.filters[0]).toMatchObject({ stop: 'budget', budget: 'examined', totals: { matched: 3 } });
  });
});

describe('open pages that together reach what a scan may hold', () => {
  test('leave at the end of a slice that ends there, even on one record, and every filter gets every record once', () => {
    const filters = 5;
    const records = 13;
    const payload = new Uint8Array(3 * 2 ** 20).fill(0x20);
    const headers = encodeHeaders([{ key: 'h', value: { kind: 'i32', value: 1 } }]);
    const bytes = encodeIggySegment(Array.from({ length: records }, (_, offset) => ({ offset, payload, headers })));
    const plan = planOf(
      {
        ...request([]),
        segments: [{ format: 'iggy', bytes }],
        filters: [{ id: 'f', filter: EVERY_RECORD }],
        max_reply_bytes: 8 * 2 ** 20,
        pages: 0,
      },
      { framed: true },
    );
    const [entry] = plan.spec.filters;
    const spec = { ...plan.spec, filters: Array.from({ length: filters }, (_, at) => ({ ...entry!, id: `f${at}` })) };
    const result = runPlan(
      [newRunner(), newRunner()],
      { ...plan, spec },
      { ...slicesOf(1_000), pickRunner: (n) => n % 2 },
    );
    if ('problem' in result) throw new Error(result.problem.detail);
    for (const { id } of spec.filters) {
      const own = result.pages.filter((page) => page.id === id);
      const offsets = own.flatMap((page) => (page.records as { offsets: number[] }).offsets);
      expect(offsets).toEqual(Array.from({ length: records }, (_, offset) => offset));
    }
    expect(result.pages.some(({ stop }) => stop === 'flushed')).toBe(true);
    // No slice delivered more than a scan may hold and the record on which it ended.
    for (const { bytesReturned } of result.counters) {
      expect(bytesReturned).toBeLessThan(OPEN_PAGES_BYTES_MAX + 4 * 2 ** 20);
    }
    expect(result.slices).toBeGreaterThan(filters);
    expect(result.counters.reduce((sum, one) => sum + one.matched, 0)).toBe(filters * records);
  });
});
