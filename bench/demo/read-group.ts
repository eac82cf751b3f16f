/**
 * A consumer group as a broker would run it: asks for pages over HTTP until the end of the log and adds up what came.
 *
 * It believes nothing: every stream must end with an `end` frame, every page must obey the conservation law, and
 * offsets must rise across pages and requests.
 */
import { decodeMsgpackFrames } from '../../src/wire/msgpack.js';

export interface GroupJob {
  readonly name: string;
  readonly filter: unknown;
  readonly topic: string;
  /** File in the store `data`. */
  readonly path: string;
}

export interface GroupResult {
  readonly name: string;
  readonly offsets: readonly number[];
  readonly examined: number;
  readonly examinedBytes: number;
  readonly returnedBytes: number;
  readonly pages: number;
  readonly requests: number;
  readonly elapsedMs: number;
}

interface PageFrame {
  frame: string;
  stop?: string;
  examined: number;
  matched: number;
  rejected: number;
  unevaluated_count: number;
  dropped: number;
  examined_bytes: number;
  records?: { offsets: number[]; bytes: Uint8Array };
  filters?: { stop: string; continuation: string }[];
  problem?: { detail: string };
}

/** Pages in one response: enough that requests do not dominate, few enough that a reply stays small in memory. */
const PAGES_PER_REQUEST = 64;

/** Reads one group to the end of its log. Throws at the first thing that does not add up. */
export async function readGroup(address: string, job: GroupJob): Promise<GroupResult> {
  const offsets: number[] = [];
  const totals = { examined: 0, examinedBytes: 0, returnedBytes: 0, pages: 0, requests: 0 };
  const from = performance.now();
  let start: unknown = 'first';
  for (let stop = ''; stop !== 'end_of_visible';) {
    const frames = await scan(address, job, start);
    totals.requests++;
    for (const frame of frames) {
      if (frame.frame !== 'page') continue;
      take(frame, offsets, totals, job.name);
    }
    const end = frames.at(-1)!.filters![0]!;
    stop = end.stop;
    if (stop !== 'end_of_visible' && stop !== 'filled' && stop !== 'budget') {
      throw new Error(`${job.name}: stopped by ${stop}`);
    }
    start = { continue: end.continuation };
  }
  return { name: job.name, offsets, ...totals, elapsedMs: performance.now() - from };
}

function take(
  page: PageFrame,
  offsets: number[],
  totals: { examined: number; examinedBytes: number; returnedBytes: number; pages: number },
  name: string,
): void {
  if (page.examined !== page.matched + page.rejected + page.unevaluated_count + page.dropped) {
    throw new Error(`${name}: a page examined ${page.examined} records but accounts for others`);
  }
  totals.pages++;
  totals.examined += page.examined;
  totals.examinedBytes += page.examined_bytes;
  totals.returnedBytes += page.records!.bytes.length;
  for (const offset of page.records!.offsets) {
    if (offset <= (offsets.at(-1) ?? -1)) throw new Error(`${name}: offset ${offset} came out of order`);
    offsets.push(offset);
  }
}

async function scan(address: string, job: GroupJob, start: unknown): Promise<PageFrame[]> {
  const response = await fetch(`${address}/v1/scan`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/vnd.winnow.frames+msgpack',
      'winnow-shard': job.name,
    },
    body: JSON.stringify({
      v: 1,
      source: { stream: 'demo', topic: job.topic },
      partition_id: 0,
      segments: [{ format: 'iggy', store: 'data', path: job.path, sealed: true }],
      filters: [{ id: job.name, filter: job.filter }],
      start,
      count: 1000,
      max_reply_bytes: 8 * 1024 * 1024,
      max_examined: 1_000_000,
      max_examined_bytes: 1024 * 1024 * 1024,
      deadline_ms: 60_000,
      pages: PAGES_PER_REQUEST,
    }),
  });
  const body = new Uint8Array(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${job.name}: ${response.status} ${new TextDecoder().decode(body)}`);
  const frames = decodeMsgpackFrames(body) as PageFrame[];
  const last = frames.at(-1);
  if (last?.frame !== 'end')
    throw new Error(`${job.name}: the stream ended with ${last?.problem?.detail ?? 'no end frame'}`);
  return frames;
}
