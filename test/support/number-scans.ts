/** Scans over records that hold one number each, of which a filter selects the ones that hold 1. */
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';

const FILTER =
  '{"v":1,"evaluator_version":1,"expr":{"pred":{"field":"n","op":"eq","value":{"kind":"int","value":1}}},"codec":"json"}';

/** A request for one partition with one record a number; `more` are other members of the request. */
export function request(numbers: readonly number[], more: object = {}): object {
  const bytes = encodeIggySegment(
    numbers.map((n, offset) => ({ offset, payload: Buffer.from(`{"n":${n}}`), timestamp: 5n })),
  );
  return {
    v: 1,
    source: { stream: 's', topic: 't' },
    partition_id: 0,
    segments: [{ format: 'iggy', bytes }],
    filters: [{ id: 'f', filter: FILTER }],
    ...more,
  };
}
