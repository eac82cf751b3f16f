/**
 * The exchanges with a service that its figures and profiles are about.
 */
import { type FilterDocument, selectivityFilter } from '../datasets/orbit-filters.js';
import { orbitDataset } from '../datasets/orbit.js';
import { segmentBytes } from '../datasets/write.js';
import { decodeMsgpack } from '../../src/wire/msgpack.js';
import { type ReplyFrame, type ScanClient, scanBody } from './scan-client.js';
import { LOG } from './services.js';

const INLINE_BYTES = 16 << 20;
const PAGE_RECORDS = 1000;

/** The stored log as a segment of a request. */
export const STORED_SEGMENTS = [{ format: 'iggy', store: 'data', path: LOG, sealed: true }];

/** The stored log as a group reads it at 5 %. */
export const STORED_JOB = { filter: selectivityFilter(5), topic: 'orbit', path: LOG };

/** A request that brings `scale` times 16 MiB of records along and wants the offsets of 5 % of them. */
export function inlineBody(scale: number): {
  readonly body: Uint8Array;
  readonly bytes: number;
  readonly records: number;
} {
  const dataset = orbitDataset();
  const bytesEach = segmentBytes(dataset, 'iggy', 100).length / 100;
  const records = Math.max(20, Math.floor((INLINE_BYTES * scale) / bytesEach));
  const segment = segmentBytes(dataset, 'iggy', records);
  const body = scanBody({
    segments: [{ format: 'iggy', bytes: segment }],
    filters: [filterEntry(selectivityFilter(5))],
    reply: 'offsets',
  });
  return { body, bytes: segment.length, records };
}

/** Pages of a thousand records, one request each, from one continuation to the next over the log again and again. */
export class PageReader {
  private readonly client: ScanClient;
  private readonly filters = [filterEntry(selectivityFilter(100))];
  private start: unknown = 'first';

  constructor(client: ScanClient) {
    this.client = client;
  }

  /** Milliseconds of the exchange; null where it was the end of the log, whose page is shorter. */
  async next(): Promise<number | null> {
    const { filters, start } = this;
    const body = scanBody({ segments: STORED_SEGMENTS, filters, start, count: PAGE_RECORDS, pages: 1 });
    const from = performance.now();
    const bytes = await this.client.post(body, 'application/msgpack');
    const took = performance.now() - from;
    const page = decodeMsgpack(bytes) as ReplyFrame;
    const isFull = page.matched === PAGE_RECORDS;
    this.start = isFull ? { continue: page.continuation } : 'first';
    return isFull ? took : null;
  }
}

export function filterEntry(filter: FilterDocument, id = 'filter'): { id: string; filter_text: string } {
  return { id, filter_text: JSON.stringify(filter) };
}
