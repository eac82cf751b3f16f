/**
 * How far the filters of a scan are, as the main thread knows it: what their pages said so far, and their numbers as of
 * the last slice (contract: scan-protocol §1 "Reply", `progress`, `end` and `error` frames).
 *
 * A slice reports only the filters it changed; the rest is read from the table of numbers, and only when somebody asks,
 * because most slices of a scan with thousands of filters lead to no frame.
 */
import { RunTable } from './run-table.js';
import type { FilterProgress, ScanState } from './task.js';

export class ScanProgress {
  private readonly entries: FilterProgress[];
  /** A copy, because the table itself is handed on to the next slice. */
  private cells = new Float64Array(0);

  /** `ids` are those of the request's filters, in its order. */
  constructor(ids: readonly string[]) {
    this.entries = ids.map((id) => ({ id, totals: NO_TOTALS, continuation: '' }));
  }

  /** Takes in what a slice answered. */
  apply({ changes, table }: Pick<ScanState, 'changes' | 'table'>): void {
    if (this.cells.length === table.length) this.cells.set(table);
    else this.cells = table.slice();
    for (const { filter, ...change } of changes) Object.assign(this.entries[filter]!, change);
  }

  /** All filters as of the last slice that was applied. */
  all(): readonly FilterProgress[] {
    if (this.cells.length === 0) return this.entries;
    const table = new RunTable(this.cells);
    for (const [filter, entry] of this.entries.entries()) {
      entry.totals = table.totals(filter);
      const reached = table.reached(filter);
      if (reached >= 0) entry.reached_offset = reached;
    }
    return this.entries;
  }
}

const NO_TOTALS = {
  pages: 0,
  examined: 0,
  matched: 0,
  rejected: 0,
  unevaluated_count: 0,
  dropped: 0,
  examined_bytes: 0,
} as const;
