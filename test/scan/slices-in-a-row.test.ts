/**
 * Slices that run as one while nobody waits for the worker (scan-protocol §4): where they end all the same, and that it
 * shows in nothing else.
 */
import { describe, expect, test } from 'vitest';
import { request } from '../support/number-scans.js';
import { newRunner, type ScanOptions, type ScanResult, scanned, SteppingClock } from '../support/scan-harness.js';

/** Slices of two records. */
function pairs(more: Partial<ScanOptions> = {}): ScanOptions {
  return { bounds: { recordsMax: 2, bytesMax: 2 ** 26, timeMaxMs: 10 }, ...more };
}

function recordsOfSlices({ counters }: ScanResult): number[] {
  return counters.map(({ recordsScanned }) => recordsScanned);
}

const alone = { isAwaited: () => false, recordsBetweenLooks: 1 };
const NINE = [2, 2, 2, 2, 2, 2, 2, 2, 2];

describe('slices that nobody waits behind', () => {
  test('run as one, and answer what they would have answered one by one', () => {
    const numbers = [2, 1, 2, 2, 1, 2, 1, 2, 2];
    const options = pairs({ framed: true, wantsWholePages: true });
    const together = scanned([newRunner(alone)], request(numbers), options);
    const singly = scanned([newRunner()], request(numbers), options);
    expect([together.slices, singly.slices]).toEqual([1, 5]);
    expect(together.pages).toEqual(singly.pages);
    expect(together.filters).toEqual(singly.filters);
    expect(together.counters[0]).toMatchObject({ recordsScanned: 9, matched: 3, rejected: 6 });
  });

  test('do so by their bytes too', () => {
    const bounds = { recordsMax: 100, bytesMax: 1, timeMaxMs: 10 };
    expect(recordsOfSlices(scanned([newRunner(alone)], request(NINE), { bounds }))).toEqual([9]);
    expect(recordsOfSlices(scanned([newRunner()], request(NINE), { bounds }))).toHaveLength(10);
  });

  test('end with the slice during which somebody came to wait', () => {
    let looks = 0;
    const isAwaited = () => (looks += 1) > 2;
    const result = scanned([newRunner({ ...alone, isAwaited })], request(NINE), pairs());
    expect(recordsOfSlices(result)).toEqual([6, 2, 1]);
  });

  test('end when the time of one slice is used up', () => {
    const clock = new SteppingClock(1);
    const result = scanned([newRunner({ ...alone, clock })], request(NINE), {
      ...pairs({ bounds: { recordsMax: 1, bytesMax: 2 ** 26, timeMaxMs: 4 } }),
    });
    expect(result.slices).toBeGreaterThan(1);
    expect(recordsOfSlices(result)[0]).toBeLessThan(5);
  });

  test('end with a slice that filled a page, so that it leaves', () => {
    const numbers = [2, 1, 1, 1, 1, 2, 2, 2, 2];
    const result = scanned([newRunner(alone)], request(numbers, { count: 2, pages: 9 }), pairs({ framed: true }));
    expect(result.pages.map(({ stop }) => stop)).toEqual(['flushed', 'filled', 'end_of_visible']);
    // The first match ends the first slice; the page of the next two is full after four records.
    expect(recordsOfSlices(result)).toEqual([2, 2, 5]);
  });

  test('go on past a first match where the reader asked for whole pages', () => {
    const options = pairs({ framed: true, wantsWholePages: true });
    expect(recordsOfSlices(scanned([newRunner(alone)], request([1, ...NINE]), options))).toEqual([10]);
  });

  test('close their pages at a cancellation', () => {
    const result = scanned([newRunner(alone)], request(NINE), pairs({ cancelBefore: () => true }));
    expect(result.filters[0]).toMatchObject({ stop: 'cancelled' });
  });
});
