/**
 * One client of the soak: reads the log to its end again and again, with one filter or many, going on from
 * continuations, and believes nothing that it is told.
 *
 * Every page must obey the conservation law, offsets must rise, and a pass over the log must deliver exactly the number
 * of records that the dataset holds for its filters, however often the client hung up meanwhile.
 */
import { setTimeout as after } from 'node:timers/promises';
import { ORBIT_GROUPS } from '../datasets/orbit-filters.js';

/** How a client behaves: reads at once, reads slowly, hangs up in the middle of replies, or has many filters. */
export const MANNERS = ['steady', 'slow', 'fickle', 'many'] as const;
export type Manner = (typeof MANNERS)[number];

export interface SoakTarget {
  readonly address: string;
  /** Records of the log, a multiple of `ORBIT_BLOCK`. */
  readonly records: number;
  readonly path: string;
  readonly stop: AbortSignal;
}

/** What all clients have done so far. */
export interface SoakCounts {
  requests: number;
  pages: number;
  examined: number;
  matched: number;
  /** Passes over the whole log that delivered exactly what they had to. */
  passes: number;
  hangUps: number;
  /** Requests answered with 429, or 408 where the machine is busy otherwise; they come again. */
  refused: number;
}

interface Frame {
  readonly frame: string;
  readonly id: string;
  readonly stop: string;
  readonly continuation: string;
  readonly examined: number;
  readonly matched: number;
  readonly rejected: number;
  readonly unevaluated_count: number;
  readonly dropped: number;
  readonly offsets?: readonly number[];
  readonly records?: readonly { readonly offset: number }[];
  readonly filters: readonly { readonly id: string; readonly stop: string; readonly continuation: string }[];
  readonly problem?: { readonly detail: string };
}

/** One filter of a client, on its way through the log. */
interface Reading {
  readonly id: string;
  readonly filter: unknown;
  readonly wanted: number;
  start: object | string;
  lastOffset: number;
  matched: number;
  isDone: boolean;
}

/** Clients of one shard: half of what a shard may run, so that one that hung up finds a place again. */
const SCANS_PER_SHARD = 8;
/** Pause of a slow reader after each piece of a reply, in ms. */
const SLOW_PAUSE_MS = 20;
/** Frames after which a fickle client hangs up. */
const FICKLE_FRAMES = 5;
const COPIES_OF_MANY = 4;

export class EndlessScan {
  private readonly target: SoakTarget;
  private readonly counts: SoakCounts;
  private readonly index: number;
  private readonly manner: Manner;
  private readonly reply: 'offsets' | 'records' | 'count';

  constructor(target: SoakTarget, counts: SoakCounts, index: number) {
    this.target = target;
    this.counts = counts;
    this.index = index;
    this.manner = MANNERS[index % MANNERS.length]!;
    this.reply = (['offsets', 'records', 'count'] as const)[Math.floor(index / MANNERS.length) % 3]!;
  }

  /** Runs until the target's signal. Rejects with the first thing that does not add up. */
  async run(): Promise<void> {
    const { stop } = this.target;
    while (!stop.aborted) {
      const readings = this.readings();
      while (!stop.aborted && readings.some(({ isDone }) => !isDone)) {
        try {
          await this.ask(readings.filter(({ isDone }) => !isDone));
        } catch (thrown) {
          if (!stop.aborted) throw thrown;
        }
      }
      if (stop.aborted) return;
      for (const { id, matched, wanted } of readings) {
        if (matched !== wanted) throw new Error(`${id} was delivered ${matched} records of ${wanted}`);
      }
      this.counts.passes += 1;
    }
  }

  private readings(): Reading[] {
    const isMany = this.manner === 'many';
    const groups = isMany
      ? ORBIT_GROUPS.flatMap((group) => Array.from({ length: COPIES_OF_MANY }, () => group))
      : [ORBIT_GROUPS[Math.floor(this.index / MANNERS.length) % ORBIT_GROUPS.length]!];
    return groups.map(({ name, filter, perMille }, copy) => ({
      id: `${name}-${copy}`,
      filter,
      wanted: (perMille * this.target.records) / 1000,
      start: 'first',
      lastOffset: -1,
      matched: 0,
      isDone: false,
    }));
  }

  /** One request, read to its end or until the client hangs up. */
  private async ask(readings: readonly Reading[]): Promise<void> {
    const { address, path, stop } = this.target;
    this.counts.requests += 1;
    const response = await fetch(`${address}/v1/scan`, {
      method: 'POST',
      signal: stop,
      headers: {
        'content-type': 'application/json',
        accept: 'application/x-ndjson',
        'winnow-shard': `shard-${Math.floor(this.index / SCANS_PER_SHARD)}`,
      },
      body: JSON.stringify({
        v: 1,
        source: { stream: 'soak', topic: 'orbit' },
        partition_id: 0,
        segments: [{ format: 'iggy', store: 'data', path, sealed: true }],
        filters: readings.map(({ id, filter, start }) => ({ id, filter, start })),
        reply: this.reply,
        count: 1000,
        pages: 0,
        max_examined: 1_000_000_000,
        max_examined_bytes: 1024 ** 4,
        deadline_ms: 60_000,
      }),
    });
    if (response.status === 429 || response.status === 408) {
      await response.body?.cancel();
      this.counts.refused += 1;
      await after(1000 * Number(response.headers.get('retry-after') ?? 1), undefined, { signal: stop });
      return;
    }
    if (response.status !== 200) throw new Error(`answered ${response.status}: ${await response.text()}`);
    const byId = new Map(readings.map((reading) => [reading.id, reading]));
    let frames = 0;
    let last = '';
    for await (const frame of framesOf(response.body!)) {
      last = frame.frame;
      if (last === 'page') this.takePage(byId.get(frame.id)!, frame);
      if (last === 'end') takeEnd(byId, frame);
      if (last === 'error') throw new Error(`a stream ended with ${frame.problem?.detail}`);
      frames += 1;
      if (this.manner === 'slow') await after(SLOW_PAUSE_MS, undefined, { signal: stop });
      if (this.manner === 'fickle' && frames === FICKLE_FRAMES && last !== 'end') {
        this.counts.hangUps += 1;
        // Leaving the loop closes the connection.
        return;
      }
    }
    if (last !== 'end') throw new Error('a stream was cut');
  }

  private takePage(reading: Reading, page: Frame): void {
    if (page.examined !== page.matched + page.rejected + page.unevaluated_count + page.dropped) {
      throw new Error(`a page of ${reading.id} examined ${page.examined} records but accounts for others`);
    }
    const offsets = page.offsets ?? page.records?.map(({ offset }) => offset) ?? [];
    for (const offset of offsets) {
      if (offset <= reading.lastOffset) throw new Error(`offset ${offset} came to ${reading.id} out of order`);
      reading.lastOffset = offset;
    }
    reading.matched += page.matched;
    reading.start = { continue: page.continuation };
    this.counts.pages += 1;
    this.counts.examined += page.examined;
    this.counts.matched += page.matched;
  }
}

function takeEnd(readings: ReadonlyMap<string, Reading>, { filters }: Frame): void {
  for (const { id, stop, continuation } of filters) {
    const reading = readings.get(id)!;
    if (stop !== 'end_of_visible' && stop !== 'deadline') throw new Error(`${id} was stopped by ${stop}`);
    reading.isDone = stop === 'end_of_visible';
    reading.start = { continue: continuation };
  }
}

async function* framesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line) as Frame;
  }
}
