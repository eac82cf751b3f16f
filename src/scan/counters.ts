/**
 * Counters of one slice (contract: scan-protocol §6), added to the metrics by the main thread.
 *
 * Conservation: examined = matched + rejected + unevaluated + dropped, bytes examined = bytes returned + bytes avoided
 * (the main thread derives the last). Reasons and codecs are closed sets, so they may become labels.
 */
import type { SliceCounters } from './task.js';

/** All zero. */
export function noCounters(): SliceCounters {
  return {
    recordsScanned: 0,
    bytesScanned: 0,
    examined: {},
    matched: 0,
    rejected: 0,
    unevaluated: 0,
    dropped: 0,
    bytesExamined: 0,
    bytesReturned: 0,
    skippedByIndex: 0,
    faults: {},
    stagesMs: { read: 0, decode: 0, evaluate: 0, encode: 0 },
    compileMs: 0,
    filterCacheHits: 0,
    filterCacheMisses: 0,
    sliceMs: 0,
  };
}

/** Adds `by` to a counter of a set. */
export function addTo(counts: Record<string, number>, name: string, by: number): void {
  counts[name] = (counts[name] ?? 0) + by;
}
