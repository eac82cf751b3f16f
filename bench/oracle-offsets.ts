/**
 * The selection of a dataset by the slow, obvious evaluator: what demos and benchmarks check their engines against.
 */
import { SELECTED, verdictOf } from '../src/core/verdict.js';
import { DEPTH_MAX, PAYLOAD_BYTES_MAX } from '../src/core/limits.js';
import { oracleOf, storedRecord } from '../test/support/oracle.js';
import type { Dataset } from './datasets/dataset.js';

/** Indexes (= offsets) of the first `count` records that the filter document selects. */
export function oracleOffsets(dataset: Dataset, count: number, filter: unknown): number[] {
  const oracle = oracleOf(JSON.stringify(filter));
  const limits = { maxPayloadBytes: PAYLOAD_BYTES_MAX, maxDepth: DEPTH_MAX };
  const offsets: number[] = [];
  for (let index = 0; index < count; index++) {
    const { headers, payload } = dataset.record(index);
    if (verdictOf(oracle.evaluate(storedRecord(headers, payload), limits)) === SELECTED) offsets.push(index);
  }
  return offsets;
}
