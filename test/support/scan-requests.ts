/**
 * Small requests for tests of single facts: records from texts, one filter, everything else at its default.
 */
import { encodeIggySegment, type IggyRecord } from '../../src/segment/iggy-writer.js';

/** Records with these payloads at offsets 0, 1, …; `more` adds to each. */
export function recordsOf(
  payloads: readonly string[],
  more: (offset: number) => Partial<IggyRecord> = () => ({}),
): IggyRecord[] {
  return payloads.map((text, offset) => ({ offset, payload: Buffer.from(text), ...more(offset) }));
}

/** One `iggy` segment of {@link recordsOf}. */
export function segmentOf(payloads: readonly string[], more?: (offset: number) => Partial<IggyRecord>): Uint8Array {
  return encodeIggySegment(recordsOf(payloads, more));
}

/** The text of a `laser` filter over JSON; matches `{"n":1}` unless told otherwise. */
export function filterText(more: object = {}): string {
  const expr = { pred: { field: 'n', op: 'eq', value: { kind: 'int', value: 1 } } };
  return JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json', ...more });
}

/** A request over inline `iggy` segments. */
export function requestOf(segments: readonly (Uint8Array | object)[], more: object = {}) {
  return {
    v: 1,
    source: { stream: 's', topic: 't', generation: 'g' },
    partition_id: 0,
    segments: segments.map((one) => (one instanceof Uint8Array ? { format: 'iggy', bytes: one } : one)),
    filters: [{ id: 'f', filter: filterText() }],
    ...more,
  };
}
