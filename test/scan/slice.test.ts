/** Slices from the task to the page: one fact of scan-protocol §1 each. */
import { describe, expect, test } from 'vitest';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { newRunner, scanned } from '../support/scan-harness.js';

const FILTER =
  '{"v":1,"evaluator_version":1,"expr":{"pred":{"field":"n","op":"eq","value":{"kind":"int","value":1}}},"codec":"json"}';

describe('a scan', () => {
  test('delivers the records that its filter selects', () => {
    const bytes = encodeIggySegment(
      ['{"n":1}', '{"n":2}', '{"n":1}'].map((text, offset) => ({ offset, payload: Buffer.from(text), timestamp: 5n })),
    );
    const request = {
      v: 1,
      source: { stream: 's', topic: 't' },
      partition_id: 0,
      segments: [{ format: 'iggy', bytes }],
      filters: [{ id: 'f', filter: FILTER }],
    };
    expect(scanned([newRunner()], request).pages[0]!.matched).toBe(2);
  });
});
