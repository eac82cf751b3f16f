/** Following continuations: what they are bound to, what may change, and that a hint is no more than a hint. */
import { describe, expect, test } from 'vitest';
import type { SegmentSource } from '../../src/source/segment-source.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import type { Page } from '../../src/wire/page.js';
import { KEYS, newRunner, scan, scanned, type ScanResult } from '../support/scan-harness.js';
import { filterText, requestOf, segmentOf } from '../support/scan-requests.js';

const runner = newRunner();
const YES = '{"n":1}';
const LONG = segmentOf(Array.from({ length: 50 }, () => YES));

function firstPage(request: object): Page {
  return scanned([runner], request).pages[0]!;
}

function problemOf(request: object) {
  const result = scan([runner], request);
  if ('problem' in result) return result.problem;
  throw new Error('the scan went through');
}

function offsetsOf(page: Page): number[] {
  return (page.records as { offsets: number[] }).offsets;
}

/** A continuation after the first ten records. */
const token = firstPage(requestOf([LONG], { count: 10 })).continuation;
const resumed = (more: object = {}, segments: readonly (Uint8Array | object)[] = [LONG]) =>
  requestOf(segments, { start: { continue: token }, count: 3, ...more });

describe('a continuation', () => {
  test('goes on where the page ended, from the top of the request or in an entry', () => {
    expect(offsetsOf(firstPage(resumed()))).toEqual([10, 11, 12]);
    const filters = [{ id: 'g', filter: filterText(), start: { continue: token } }];
    expect(offsetsOf(firstPage(requestOf([LONG], { filters, count: 2, start: 'last' })))).toEqual([10, 11]);
  });

  test('lets budgets, reply, pages and the id of the entry change', () => {
    const page = firstPage(
      resumed({ reply: 'offsets', count: 2, max_examined: 7, pages: 3, filters: [{ id: 'x', filter: filterText() }] }),
    );
    expect(page.offsets).toEqual([10, 11]);
  });

  test.each([
    [
      'a changed character',
      { start: { continue: `A${token.slice(1, -1)}${token.endsWith('A') ? 'B' : 'A'}` } },
      'invalid_request',
    ],
    ['no token at all', { start: { continue: 'x' } }, 'invalid_request'],
    ['another stream', { source: { stream: 'x', topic: 't', generation: 'g' } }, 'invalid_request'],
    ['another topic', { source: { stream: 's', topic: 'x', generation: 'g' } }, 'invalid_request'],
    ['another partition', { partition_id: 1 }, 'invalid_request'],
    ['another filter', { filters: [{ id: 'f', filter: filterText({ fault_policy: 'drop' }) }] }, 'conflict'],
    ['another generation', { source: { stream: 's', topic: 't', generation: 'h' } }, 'source_changed'],
    [
      'another generation and filter',
      { source: { stream: 's', topic: 't' }, filters: [{ id: 'f', filter: filterText({ fault_policy: 'drop' }) }] },
      'conflict',
    ],
  ])('is refused with %s', (_, more, code) => {
    expect(problemOf(resumed(more))).toMatchObject({ code, field: '/start/continue' });
  });

  test('signed by an older key is taken, by an unknown one not', () => {
    const old = newRunner({ continuationKeys: [KEYS[1]!] });
    const byOld = scanned([old], requestOf([LONG], { count: 10 })).pages[0]!.continuation;
    expect(offsetsOf(firstPage(resumed({ start: { continue: byOld } })))).toEqual([10, 11, 12]);
    const stranger = newRunner({ continuationKeys: [Buffer.from('a key of someone else')] });
    const byStranger = scanned([stranger], requestOf([LONG], { count: 10 })).pages[0]!.continuation;
    expect(problemOf(resumed({ start: { continue: byStranger } })).code).toBe('invalid_request');
  });

  test('where nothing was examined carries the start itself', () => {
    const empty = firstPage(requestOf([new Uint8Array(0)], { start: 'last' }));
    expect(empty).toMatchObject({ examined: 0, stop: 'end_of_visible' });
    expect(offsetsOf(firstPage(resumed({ start: { continue: empty.continuation } })))).toEqual([49]);
    const future = firstPage(requestOf([LONG], { start: { offset: 60 } }));
    const later = encodeIggySegment([
      { offset: 59, payload: Buffer.from(YES) },
      { offset: 61, payload: Buffer.from(YES) },
    ]);
    expect(offsetsOf(firstPage(resumed({ start: { continue: future.continuation } }, [LONG, later])))).toEqual([61]);
  });

  test('of a timestamp start is refused for lines, which carry none', () => {
    const waiting = firstPage(requestOf([new Uint8Array(0)], { start: { timestamp: 5 } })).continuation;
    const lines = { format: 'ndjson', bytes: Buffer.from('{"n":1}\n') };
    expect(problemOf(resumed({ start: { continue: waiting } }, [lines])).code).toBe('invalid_request');
  });

  test('goes on at the end of an unsealed segment when more has been written', () => {
    const half = { format: 'iggy', bytes: LONG.subarray(0, LONG.length - 100), sealed: false };
    const end = scanned([runner], requestOf([half], { count: 100 })).pages[0]!;
    expect(end).toMatchObject({ stop: 'end_of_visible', next_scan_offset: 48 });
    expect(offsetsOf(firstPage(resumed({ start: { continue: end.continuation } })))).toEqual([48, 49]);
  });
});

function scannedRecords({ counters }: ScanResult): number {
  return counters.reduce((sum, one) => sum + one.recordsScanned, 0);
}

describe('the hint of a continuation', () => {
  test('spares the way to the record', () => {
    const result = scanned([runner], resumed());
    // The frame classified last is looked at again, the three that fill the page, and no more.
    expect(scannedRecords(result)).toBeLessThanOrEqual(4);
  });

  test('also after a stop at the end, and through a page that examined nothing', () => {
    const end = scanned([runner], requestOf([LONG], { count: 100 })).pages[0]!;
    const again = scanned([runner], resumed({ start: { continue: end.continuation } }));
    expect(scannedRecords(again)).toBeLessThanOrEqual(1);
    const more = scanned([runner], resumed({ start: { continue: again.pages[0]!.continuation } }));
    expect(scannedRecords(more)).toBeLessThanOrEqual(1);
    expect(more.pages[0]).toMatchObject({ stop: 'end_of_visible', examined: 0, frontier: 49 });
  });

  test.each([
    ['the segments are cut differently', [LONG.subarray(0, 71 * 5), LONG.subarray(71 * 5)]],
    ['another segment stands in front', [new Uint8Array(0), LONG]],
    ['the segment begins elsewhere', [LONG.subarray(71 * 7)]],
    ['the place is inside a frame', [Buffer.concat([LONG.subarray(0, 71), LONG.subarray(71 * 3)])]],
  ])('changes nothing where %s', (_, segments) => {
    expect(offsetsOf(firstPage(resumed({}, segments)))).toEqual([10, 11, 12]);
  });

  test('is not used where frames carry no offset', () => {
    const lines = { format: 'ndjson', bytes: Buffer.from(`${YES}\n`.repeat(20)) };
    const page = firstPage(requestOf([lines], { count: 10 }));
    const next = scanned([runner], resumed({ start: { continue: page.continuation } }, [lines]));
    expect(offsetsOf(next.pages[0]!)).toEqual([10, 11, 12]);
  });
});

/** A source that is read in pieces and whose reads can be counted, as a stored segment is. */
function storedSource(bytes: Uint8Array, identity: string, reads: number[]): SegmentSource {
  return {
    length: bytes.length,
    identity,
    resident: null,
    read(position, into, at, length) {
      const part = bytes.subarray(position, position + length);
      into.set(part, at);
      reads.push(part.length);
      return part.length;
    },
    close() {},
  };
}

describe('stored segments', () => {
  const request = requestOf([{ format: 'iggy', store: 'data', path: 'a.log', sealed: true }]);
  const many = segmentOf(
    Array.from({ length: 3000 }, () => '{"n":2,"pad":"............................................"}'),
  );

  test('are opened again as what the first slice saw, and closed every time', () => {
    const before: unknown[] = [];
    let open = 0;
    const stored = newRunner({
      openSegment(_segment, _index, _task, known) {
        before.push(known);
        open += 1;
        return { ...storedSource(LONG, 'x', []), close: () => void (open -= 1) };
      },
    });
    const options = { bounds: { recordsMax: 20, bytesMax: 1 << 20, timeMaxMs: 1000 } };
    expect(offsetsOf(scanned([stored], request, options).pages[0]!)).toHaveLength(50);
    expect(before[0]).toBeNull();
    expect(before.slice(1)).toEqual(before.slice(1).map(() => ({ length: LONG.length, identity: 'x' })));
    expect(open).toBe(0);
  });

  test('are read no further than the budget of bytes is worth', () => {
    const reads: number[] = [];
    const stored = newRunner({ openSegment: () => storedSource(many, 'x', reads) });
    const page = scanned([stored], { ...request, max_examined: 10, count: 5 }).pages[0]!;
    expect(page).toMatchObject({ examined: 10, stop: 'budget' });
    // The first read probes at most 128 of the smallest frames.
    expect(reads.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(128 * 64 + 200);
    reads.length = 0;
    scanned([stored], { ...request, max_examined: 1000 });
    const examinedBytes = (many.length / 3000) * 1000;
    expect(reads.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(examinedBytes * 1.2 + 128 * 64);
  });
});
