/**
 * Pages that a stream sends before they are full (contract: scan-protocol §1 "Stops", `flushed`): decided once, at the
 * end of a slice, so that no record pays for it.
 *
 * A filter's first match leaves with the slice that found it, because somebody may wait for it. Open pages that together
 * hold too much leave too: they ride from slice to slice in memory. Pages of a single-page reply are never flushed.
 */
import { OPEN_PAGES_BYTES_MAX } from '../core/limits.js';
import type { FilterRun } from './filter-run.js';

/** Closes, after a slice that did not end the scan, the open pages that have to leave now. */
export function flushOpenPages(runs: readonly FilterRun[]): void {
  for (const run of runs) if (run.holdsFirstMatch) run.flush();
  if (openReplyBytes(runs) < OPEN_PAGES_BYTES_MAX) return;
  for (const run of runs) if (run.openReplyBytes > 0) run.flush();
}

/** Reply bytes that the open pages of a scan hold together. */
export function openReplyBytes(runs: readonly FilterRun[]): number {
  return runs.reduce((sum, run) => sum + run.openReplyBytes, 0);
}
