/** The state of a scan with one filter, as tests of what happens around slices make it up. */
import { MATCHED, REJECTED_COUNT, RunTable } from '../../src/scan/run-table.js';
import type { FilterChange, ScanCursorState, ScanState } from '../../src/scan/task.js';

/** The filter has examined records 0…`examined` − 1 of one byte each, of which it rejected all but `matched`. */
export function sliceState(examined: number, matched: number, change: Omit<FilterChange, 'filter'>): ScanState {
  const table = RunTable.startingAt([{ start: { at: 'first' }, hint: undefined }]);
  const rejected = examined - matched;
  if (rejected > 0) table.classify(0, REJECTED_COUNT, rejected, rejected, rejected - 1);
  if (matched > 0) table.classify(0, MATCHED, matched, matched, examined - 1);
  table.closePage(0, examined);
  return { changes: [{ filter: 0, ...change }], cursor: {} as ScanCursorState, table: table.cells, pages: [] };
}

/** Records that the filter has examined before the slice that gets this state. */
export function examinedBefore(state: ScanState | null): number {
  return state === null ? 0 : new RunTable(state.table).examined(0);
}
