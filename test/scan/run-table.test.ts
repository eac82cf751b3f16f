/** The table of numbers, and what the main thread makes of it. */
import { expect, test } from 'vitest';
import { ScanProgress } from '../../src/scan/progress.js';
import { DROPPED, MATCHED, REJECTED_COUNT, RunTable, UNEVALUATED } from '../../src/scan/run-table.js';

const STARTS = [
  { at: 'first' },
  { at: 'last' },
  { at: 'offset', offset: 2 ** 53 - 2 },
  { at: 'timestamp', timestamp: '18446744073709551615' },
] as const;

test('a continuation carries the start itself until something was classified', () => {
  const table = RunTable.startingAt(STARTS.map((start) => ({ start, hint: undefined })));
  expect(STARTS.map((_, filter) => table.continuationStart(filter))).toEqual(STARTS);
  expect(STARTS.map((_, filter) => [table.wantsFrom(filter), table.seeksLast(filter), table.waits(filter)])).toEqual([
    [0, false, false],
    [0, true, false],
    [2 ** 53 - 2, false, false],
    [0, false, true],
  ]);
  table.startAtLast(1, 77);
  table.classify(1, MATCHED, 1, 10, 77);
  expect(table.continuationStart(1)).toEqual({ at: 'offset', offset: 78 });
});

test('counts of the page go with it, those of the response stay', () => {
  const table = RunTable.startingAt(STARTS.map((start) => ({ start, hint: { segment: 1, position: 9 } })));
  table.classify(0, REJECTED_COUNT, 5, 50, 4);
  table.classify(0, MATCHED, 1, 7, 5);
  table.classify(0, UNEVALUATED, 1, 7, 6);
  table.classify(0, DROPPED, 1, 7, 7);
  const counts = { examined: 8, matched: 1, rejected: 5, unevaluated_count: 1, dropped: 1, examined_bytes: 71 };
  expect(table.pageCounts(0)).toEqual(counts);
  table.closePage(0, 8);
  expect(table.pageCounts(0)).toEqual({
    examined: 0,
    matched: 0,
    rejected: 0,
    unevaluated_count: 0,
    dropped: 0,
    examined_bytes: 0,
  });
  expect(table.totals(0)).toEqual({ pages: 1, ...counts });
  expect(table.totals(1)).toMatchObject({ pages: 0, examined: 0 });
  expect(table.hint(0)).toEqual({ segment: 1, position: 9 });
});

test('a place is reached only once nothing before it waits on an open page', () => {
  const table = RunTable.startingAt([{ start: { at: 'first' }, hint: undefined }]);
  const progress = new ScanProgress(['f']);
  const reached = () => {
    progress.apply({ changes: [], table: table.cells.slice() });
    return progress.all()[0]!.reached_offset;
  };
  expect(reached()).toBeUndefined();
  table.classify(0, REJECTED_COUNT, 3, 30, 2);
  expect(reached()).toBe(3);
  table.closePage(0, 3);
  table.classify(0, MATCHED, 1, 10, 3);
  expect(reached()).toBe(3);
  table.closePage(0, 4);
  expect(reached()).toBe(4);
});

test('progress keeps what earlier slices said, and owns its numbers', () => {
  const table = RunTable.startingAt(STARTS.map((start) => ({ start, hint: undefined })));
  const progress = new ScanProgress(['a', 'b', 'c', 'd']);
  progress.apply({ changes: [{ filter: 1, continuation: 'x', next_scan_offset: 5 }], table: table.cells });
  table.classify(1, MATCHED, 1, 10, 77);
  expect(progress.all()[1]).toMatchObject({ id: 'b', totals: { matched: 0 }, continuation: 'x', next_scan_offset: 5 });
  progress.apply({ changes: [{ filter: 1, stop: 'fault' }], table: table.cells });
  expect(progress.all()[1]).toMatchObject({ totals: { matched: 1 }, stop: 'fault', continuation: 'x' });
});
