/**
 * Inline segments of bodies that are large enough to be read into shared memory: they select what a body that is read
 * piece by piece selects, wherever they stand in the body and whatever stands beside them.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { SHARED_BODY_BYTES_MIN } from '../../src/core/limits.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { encodeMsgpack } from '../../src/wire/msgpack.js';
import { framesOfText, open, replyTo, scanBody, serviceWith, stopServices } from '../support/http-service.js';

const FILTER = { v: 1, evaluator_version: 1, expr: { present: 'a' }, codec: 'json' };

/** Odd, so that pieces and segments start at every alignment. */
const PIECE_BYTES = 10_001;

afterAll(stopServices);

/** Records whose payloads hold the filter's path at even offsets; `first` is even. */
function segmentOf(first: number, count: number, padding: number): Uint8Array {
  return encodeIggySegment(
    Array.from({ length: count }, (_, i) => {
      const payload = Buffer.from(`{"${i % 2 === 0 ? 'a' : 'b'}":"${'x'.repeat(padding)}"}`);
      return { offset: first + i, id: BigInt(i), timestamp: BigInt(1_000 + i), payload };
    }),
  );
}

/** A body of more than SHARED_BODY_BYTES_MIN; `filterBytes` is the length of the filter's text. */
function bodyOf(segments: readonly Uint8Array[], filterBytes: number, filters: number): Uint8Array {
  const bytes = encodeMsgpack({
    ...(JSON.parse(scanBody()) as object),
    segments: segments.map((segment) => ({ format: 'iggy', bytes: segment })),
    filters: Array.from({ length: filters }, (_, i) => {
      return { id: `f${i}`, filter_text: JSON.stringify(FILTER).padEnd(filterBytes) };
    }),
    reply: 'offsets',
    count: 1_000,
    max_examined: 10_000,
  });
  expect(bytes.length).toBeGreaterThan(SHARED_BODY_BYTES_MIN);
  return bytes;
}

/** The offsets that each filter of `body` is answered with, in however many pages, sent with its length or without. */
async function offsetsOf(to: { readonly port: number }, body: Uint8Array, isAnnounced: boolean): Promise<number[][]> {
  const headers = { 'content-type': 'application/msgpack', accept: 'application/x-ndjson' };
  const sent = open(to, { headers: isAnnounced ? { ...headers, 'content-length': String(body.length) } : headers });
  for (let at = 0; at < body.length; at += PIECE_BYTES) sent.write(body.subarray(at, at + PIECE_BYTES));
  sent.end();
  const reply = await replyTo(sent);
  expect(reply.status, reply.text).toBe(200);
  const frames = framesOfText(reply.text);
  expect(frames.at(-1)).toMatchObject({ frame: 'end' });
  const byFilter = new Map<unknown, number[]>();
  for (const page of frames.filter(({ frame }) => frame === 'page')) {
    const offsets = page['offsets'] as number[];
    byFilter.set(page['id'], [...(byFilter.get(page['id']) ?? []), ...offsets]);
  }
  return [...byFilter.values()];
}

function evenBelow(end: number): number[] {
  return Array.from({ length: end / 2 }, (_, i) => i * 2);
}

describe.each(['kernel', 'walker'])('inline segments of a large body, with the %s,', (engine) => {
  const service = () => serviceWith({ WINNOW_POOL_ENGINE: engine });

  it.each([true, false])('are read at any place in it (length announced: %s)', async (isAnnounced) => {
    const segments = [segmentOf(0, 302, 701), segmentOf(302, 2, 3), segmentOf(304, 300, 702)];
    const found = await offsetsOf(await service(), bodyOf(segments, 100, 1), isAnnounced);
    expect(found).toEqual([evenBelow(604)]);
  });

  it('are read where they are a small part of it', async () => {
    const found = await offsetsOf(await service(), bodyOf([segmentOf(0, 200, 3)], 40_000, 8), true);
    expect(found).toEqual(Array.from({ length: 8 }, () => evenBelow(200)));
  });
});
