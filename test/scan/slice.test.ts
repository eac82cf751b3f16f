/** What a scan answers, one fact of scan-protocol §1 at a time. */
import { describe, expect, test } from 'vitest';
import { encodeIggySegment, encodePolledBody } from '../../src/segment/iggy-writer.js';
import type { Page } from '../../src/wire/page.js';
import { newRunner, scan, scanned, SteppingClock, WIDE_BOUNDS } from '../support/scan-harness.js';
import { filterText, recordsOf, requestOf, segmentOf } from '../support/scan-requests.js';

const runner = newRunner();
const YES = '{"n":1}';
const NO = '{"n":2}';
const BROKEN = '{"n":';
const FRAME = 64 + YES.length;

function pagesOf(request: object): Page[] {
  return scanned([runner], request).pages;
}

function pageOf(request: object): Page {
  const pages = pagesOf(request);
  expect(pages).toHaveLength(1);
  return pages[0]!;
}

function problemOf(request: object) {
  const result = scan([runner], request);
  if ('problem' in result) return result.problem;
  throw new Error('the scan went through');
}

function offsetsOf(page: Page): number[] {
  return (page.records as { offsets: number[] }).offsets;
}

function withPolicy(policy: string, more: object = {}): object {
  return { filters: [{ id: 'f', filter: filterText({ fault_policy: policy }) }], ...more };
}

describe('a broken record at every place of a page', () => {
  const SIZE = 6;
  for (let at = 0; at < SIZE; at += 1) {
    const segment = segmentOf(Array.from({ length: SIZE }, (_, i) => (i === at ? BROKEN : i % 2 === 0 ? YES : NO)));
    const matches = Array.from({ length: SIZE }, (_, i) => i).filter((i) => i !== at && i % 2 === 0);

    test(`stops before it at ${at} and again when asked again`, () => {
      const page = pageOf(requestOf([segment], withPolicy('stop')));
      expect(page).toMatchObject({ stop: 'fault', fault: { offset: at, reason: 'malformed' }, next_scan_offset: at });
      expect(page.examined).toBe(at);
      expect(page.safe_ack_offset).toBe(at === 0 ? undefined : at - 1);
      expect(offsetsOf(page)).toEqual(matches.filter((offset) => offset < at));
      const again = pageOf(requestOf([segment], withPolicy('stop', { start: { continue: page.continuation } })));
      expect(again).toMatchObject({ stop: 'fault', fault: { offset: at }, next_scan_offset: at, examined: 0 });
    });

    test(`delivers it unevaluated at ${at} under pass`, () => {
      const page = pageOf(requestOf([segment], withPolicy('pass')));
      expect(page).toMatchObject({
        stop: 'end_of_visible',
        examined: SIZE,
        unevaluated_count: 1,
        unevaluated: [{ offset: at, reason: 'malformed' }],
        evaluation_limits: { max_payload_bytes: 1024 * 1024, max_depth: 64, regex_subject_bytes_max: 64 * 1024 },
      });
      expect(offsetsOf(page)).toEqual([...matches, at].toSorted((a, b) => a - b));
    });

    test(`drops and counts it at ${at} under drop`, () => {
      const page = pageOf(requestOf([segment], withPolicy('drop')));
      expect(page).toMatchObject({ stop: 'end_of_visible', examined: SIZE, dropped: 1, unevaluated: [] });
      expect(page).not.toHaveProperty('evaluation_limits');
      expect(offsetsOf(page)).toEqual(matches);
    });
  }
});

describe('budgets', () => {
  test('stand in the reply as they are in effect', () => {
    const page = pageOf(requestOf([segmentOf([YES])], { count: 5000, max_examined: 7 }));
    expect(page.budgets).toMatchObject({ count: 1000, max_examined: 7, pages: 1 });
    expect(page.request_id).toMatch(/^request-/);
  });

  test('smaller than a record still let the first record of a response be examined', () => {
    const page = pageOf(requestOf([segmentOf([NO, NO])], { max_examined_bytes: 1 }));
    expect(page).toMatchObject({ stop: 'budget', budget: 'examined_bytes', examined: 1, next_scan_offset: 1 });
  });

  test('that run out exactly at the last visible record are the end of the visible records', () => {
    expect(pageOf(requestOf([segmentOf([NO, NO])], { max_examined: 2 })).stop).toBe('end_of_visible');
  });

  test('a page that fills at the last visible record is followed by an empty one', () => {
    const [first, second] = pagesOf(requestOf([segmentOf([NO, YES])], { count: 1, pages: 2 }));
    expect(first).toMatchObject({ stop: 'filled', filled_by: 'count', next_scan_offset: 2 });
    expect(second).toMatchObject({ stop: 'end_of_visible', examined: 0, frontier: 1 });
    expect(second).not.toHaveProperty('next_scan_offset');
    expect(second).not.toHaveProperty('safe_ack_offset');
  });

  test('a record that no longer fits goes to the next page', () => {
    const pages = pagesOf(requestOf([segmentOf([YES, YES, YES])], { max_reply_bytes: 2 * FRAME, pages: 2 }));
    expect(pages.map(offsetsOf)).toEqual([[0, 1], [2]]);
    expect(pages[0]).toMatchObject({ stop: 'filled', filled_by: 'reply_bytes', examined: 2, next_scan_offset: 2 });
  });

  test('the last page of a response ends the filter with budget pages', () => {
    const { filters } = scanned([runner], requestOf([segmentOf([YES, YES])], { count: 1 }));
    expect(filters[0]).toMatchObject({ stop: 'budget', budget: 'pages', filled_by: 'count', totals: { pages: 1 } });
  });

  test.each([
    ['records', FRAME, 'end_of_visible'],
    ['records', FRAME - 1, 'oversized_record'],
    ['headers', 64, 'end_of_visible'],
    ['headers', 63, 'oversized_record'],
    ['offsets', 8, 'end_of_visible'],
    ['offsets', 7, 'oversized_record'],
    ['count', 1, 'end_of_visible'],
  ])('reply %s within %i bytes: %s', (reply, bytes, stop) => {
    expect(pageOf(requestOf([segmentOf([YES])], { reply, max_reply_bytes: bytes })).stop).toBe(stop);
  });

  test('an oversized record says its size, and the next offset passes it', () => {
    const request = requestOf([segmentOf([YES, YES])], { max_reply_bytes: 8 });
    expect(pageOf(request)).toMatchObject({
      stop: 'oversized_record',
      fault: { offset: 0, reason: 'oversized_record', bytes: FRAME },
      next_scan_offset: 0,
      examined: 0,
    });
    expect(pageOf({ ...request, start: { offset: 1 }, max_reply_bytes: 1000 }).matched).toBe(1);
  });
});

describe('the deadline and cancelling', () => {
  test('a deadline that passed before anything was examined leaves an empty page that goes on at the start', () => {
    const late = newRunner({ clock: new SteppingClock(50) });
    const { pages } = scanned([late], requestOf([segmentOf([YES])], { start: { timestamp: 0 }, deadline_ms: 1 }));
    expect(pages[0]).toMatchObject({ stop: 'deadline', examined: 0 });
    const next = requestOf([segmentOf([YES])], { start: { continue: pages[0]!.continuation } });
    expect(pageOf(next)).toMatchObject({ stop: 'end_of_visible', matched: 1 });
  });

  test('a cancelled scan ends its page within one slice, with what it has', () => {
    const options = { bounds: { ...WIDE_BOUNDS, recordsMax: 2 }, cancelBefore: (slice: number) => slice === 1 };
    const { pages, slices } = scanned([runner], requestOf([segmentOf([YES, NO, YES, YES])]), options);
    expect(pages[0]).toMatchObject({ stop: 'cancelled', examined: 2, matched: 1, next_scan_offset: 2 });
    expect(slices).toBe(2);
  });

  test('a slice goes on to its first record whatever its bounds', () => {
    const options = { bounds: { recordsMax: 1, bytesMax: 1, timeMaxMs: 0 } };
    const { pages, slices } = scanned([runner], requestOf([segmentOf([YES, NO])]), options);
    expect(pages[0]).toMatchObject({ stop: 'end_of_visible', examined: 2 });
    expect(slices).toBeLessThanOrEqual(3);
  });

  test('an open page goes from worker to worker with its records', () => {
    const runners = [newRunner(), newRunner(), newRunner()];
    const options = { bounds: { ...WIDE_BOUNDS, recordsMax: 1 }, pickRunner: (slice: number) => slice % 3 };
    const { pages } = scanned(runners, requestOf([segmentOf([YES, YES, NO, YES, YES])]), options);
    expect(offsetsOf(pages[0]!)).toEqual([0, 1, 3, 4]);
  });
});

function atTimestamp(timestamp: bigint): object {
  return { start: { timestamp: String(timestamp) } };
}

describe('starts', () => {
  const stamped = encodeIggySegment(
    [5, 3, 9, 4].map((timestamp, offset) => ({
      offset: offset * 2,
      payload: Buffer.from(YES),
      timestamp: BigInt(timestamp) << 40n,
    })),
  );

  test('first, an offset in a gap, and past the end', () => {
    expect(offsetsOf(pageOf(requestOf([stamped])))).toEqual([0, 2, 4, 6]);
    expect(offsetsOf(pageOf(requestOf([stamped], { start: { offset: 3 } })))).toEqual([4, 6]);
    const past = pageOf(requestOf([stamped], { start: { offset: 7 } }));
    expect(past).toMatchObject({ stop: 'end_of_visible', examined: 0, frontier: 6 });
  });

  test('a timestamp starts at the first record in offset order, then everything follows', () => {
    expect(offsetsOf(pageOf(requestOf([stamped], atTimestamp(6n << 40n))))).toEqual([4, 6]);
    expect(offsetsOf(pageOf(requestOf([stamped], atTimestamp((5n << 40n) + 1n))))).toEqual([4, 6]);
    expect(offsetsOf(pageOf(requestOf([stamped], atTimestamp(5n << 40n))))).toEqual([0, 2, 4, 6]);
    expect(pageOf(requestOf([stamped], atTimestamp(10n << 40n))).examined).toBe(0);
  });

  test('last is the last visible record only, over empty and unsealed segments', () => {
    const torn = { format: 'iggy', bytes: stamped.subarray(0, 30), sealed: false };
    const page = pageOf(requestOf([stamped, torn], { start: 'last' }));
    expect(offsetsOf(page)).toEqual([6]);
    expect(page).toMatchObject({ examined: 1, frontier: 6, torn_bytes: 30 });
    expect(pageOf(requestOf([], { start: 'last' }))).toMatchObject({ examined: 0, stop: 'end_of_visible' });
  });

  test('last is read once more where it stands, not from the first record on', () => {
    const { counters } = scanned([runner], requestOf([stamped], { start: 'last' }));
    expect(counters.map(({ recordsScanned }) => recordsScanned)).toEqual([4 + 1]);
  });

  test('a fault on the last record is where a continuation goes on, also when more has been written', () => {
    const [first, both] = [segmentOf([BROKEN]), segmentOf([BROKEN, YES])];
    const page = pageOf(requestOf([first], { start: 'last' }));
    expect(page).toMatchObject({ stop: 'fault', next_scan_offset: 0 });
    expect(pageOf(requestOf([both], { start: { continue: page.continuation } }))).toMatchObject({
      stop: 'fault',
      fault: { offset: 0 },
    });
  });

  test('last is found however small the slices are', () => {
    const options = { bounds: { ...WIDE_BOUNDS, recordsMax: 1 } };
    const { pages } = scanned([runner], requestOf([stamped, segmentAt(9)], { start: 'last' }), options);
    expect(offsetsOf(pages[0]!)).toEqual([9]);
  });
});

function segmentAt(offset: number): Uint8Array {
  return encodeIggySegment([{ offset, payload: Buffer.from(YES) }]);
}

describe('what is visible', () => {
  test('frames above last_offset are not, and the highest one given is known', () => {
    const segments = [{ format: 'iggy', bytes: segmentOf([YES, YES, YES]), last_offset: 1 }, segmentAt(5)];
    const page = pageOf(requestOf(segments, { max_examined: 1 }));
    expect(page.frontier).toBe(1);
    expect(offsetsOf(pageOf(requestOf(segments)))).toEqual([0, 1, 5]);
  });

  test('a segment wholly below the start is not opened', () => {
    const broken = { format: 'iggy', bytes: Buffer.from('no frame at all'), last_offset: 4 };
    expect(problemOf(requestOf([broken, segmentAt(5)], { start: { offset: 4 } })).code).toBe('source_corrupt');
    expect(offsetsOf(pageOf(requestOf([broken, segmentAt(5)], { start: { offset: 5 } })))).toEqual([5]);
  });

  test('the prefix of a polled body is known', () => {
    const bytes = encodePolledBody(0, 77, recordsOf([YES, NO]));
    const page = pageOf(requestOf([{ format: 'iggy_polled', bytes }], { max_examined: 1 }));
    expect(page).toMatchObject({ frontier: 77, stop: 'budget' });
    expect((page.records as { format: string }).format).toBe('iggy');
  });

  test('nothing is known of the end before the scan gets there', () => {
    expect(pageOf(requestOf([segmentOf([NO, NO])], { max_examined: 1 }))).not.toHaveProperty('frontier');
  });

  test('diagnostic pages carry no safe_ack_offset', () => {
    const { pages, filters } = scanned([runner], requestOf([segmentOf([YES])], { diagnostic: true }));
    expect(pages[0]).not.toHaveProperty('safe_ack_offset');
    expect(filters[0]).not.toHaveProperty('safe_ack_offset');
    expect(pages[0]).toHaveProperty('next_scan_offset', 1);
  });
});

describe('damage', () => {
  const good = segmentOf([YES, NO]);
  const cut = segmentOf([YES, NO]).subarray(0, FRAME + 10);

  test('before anything was examined is a problem with its place', () => {
    expect(problemOf(requestOf([good, cut.subarray(0, 10)], { start: { offset: 2 } }))).toMatchObject({
      code: 'source_corrupt',
      segment: 1,
      position: 0,
      offset_before: 1,
      field: '/segments/1',
    });
    expect(problemOf(requestOf([cut.subarray(0, 10)]))).not.toHaveProperty('offset_before');
  });

  test('after a record was examined is a page that keeps everything earlier', () => {
    const { pages, damage, filters } = scanned([runner], requestOf([cut, segmentAt(9)]));
    expect(pages[0]).toMatchObject({
      stop: 'corrupt',
      fault: { reason: 'source_corrupt', segment: 0, position: FRAME, offset_before: 0 },
      matched: 1,
      next_scan_offset: 1,
    });
    expect(damage).toMatchObject({ code: 'source_corrupt', segment: 0, position: FRAME, offset_before: 0 });
    expect(filters[0]!.stop).toBe('corrupt');
  });

  test('follows a filled page as an empty one', () => {
    const { pages } = scanned([runner], requestOf([cut], { count: 1, pages: 5 }));
    expect(pages.map(({ stop }) => stop)).toEqual(['filled', 'corrupt']);
    expect(pages[1]).toMatchObject({ examined: 0 });
  });

  test('repeats and overlaps across segments are damage', () => {
    const { pages } = scanned([runner], requestOf([good, segmentAt(1)]));
    expect(pages[0]!.fault).toMatchObject({ segment: 1, position: 0, offset_before: 1 });
  });

  test('an unfinished frame is a torn tail only in the last segment, unsealed', () => {
    const torn = { format: 'iggy', bytes: cut, sealed: false };
    expect(pageOf(requestOf([torn]))).toMatchObject({ stop: 'end_of_visible', torn_bytes: 10, matched: 1 });
    expect(pageOf(requestOf([torn, segmentAt(9)])).stop).toBe('corrupt');
    expect(pageOf(requestOf([cut])).stop).toBe('corrupt');
  });
});

function withFilter(entry: object): object {
  return requestOf([segmentOf([YES])], { filters: [{ id: 'f', ...entry }] });
}

describe('a faulty filter', () => {
  const unknownNode = filterText({ expr: { sometimes: [] } });
  test.each([
    [{ filter: unknownNode }, { code: 'invalid_request', field: '/filters/0/filter/expr' }],
    [{ filter_text: unknownNode }, { field: '/filters/0/filter_text', filter_field: '/expr' }],
    [{ filter_text: '{"v":1,' }, { field: '/filters/0/filter_text', position: 7 }],
    [{ filter: filterText({ v: 2 }) }, { code: 'version_skew', field: '/filters/0/filter/v' }],
    [
      { filter: filterText({ codec: 'avro', schema_refs: [0, 9] }) },
      { code: 'invalid_request', field: '/filters/0/filter/schema_refs/0', given: 0 },
    ],
    [
      { filter: filterText({ hello: 1 }), strict: true },
      { code: 'invalid_request', field: '/filters/0/filter/hello' },
    ],
    [
      { filter: filterText(), expect_digest: '0'.repeat(64) },
      { code: 'conflict', field: '/filters/0/expect_digest' },
    ],
  ])('case %# points into the request', (entry, problem) => {
    expect(problemOf(withFilter(entry))).toMatchObject(problem);
  });

  test('an expected digest is met in any case of its letters, also by a program that was kept', () => {
    const { begin } = scanned([runner], requestOf([segmentOf([YES])]));
    const digest = (begin[0]!.policy as { digest: string }).digest;
    expect(scanned([runner], withFilter({ filter: filterText(), expect_digest: digest.toUpperCase() })).begin).toEqual(
      begin,
    );
    expect(problemOf(withFilter({ filter: filterText(), expect_digest: 'a'.repeat(64) })).code).toBe('conflict');
  });
});
