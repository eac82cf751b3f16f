/**
 * How long a narrow scan waits beside sixteen wide ones of another shard, against the same alone; and the worst gap
 * between progress frames of the wide ones meanwhile. The built service with one worker, over HTTP on loopback.
 *
 * A wait here is the whole exchange of a scan of one record: what it takes beside the waiting is the same in both figures.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orbitDataset } from '../datasets/orbit.js';
import { selectivityFilter } from '../datasets/orbit-filters.js';
import { writeSegmentFile } from '../datasets/write.js';
import { type ServiceProcess, startService } from '../service-process.js';

const WIDE_SCANS = 16;
const LOG = 'orbit.log';

/** Milliseconds. */
export interface Fairness {
  readonly scans: number;
  readonly alone: { readonly median: number; readonly p99: number };
  readonly beside: { readonly median: number; readonly p99: number };
  /** Longest time between two progress frames of one wide scan, and from its begin to its first. */
  readonly worstProgressGap: number;
  readonly progressMs: number;
}

/** `scale` 1: 300 narrow scans each way, wide ones over 100,000 records. Nothing is left running or on disk. */
export async function measureFairness(scale: number): Promise<Fairness> {
  const scans = Math.max(10, Math.round(300 * scale));
  // A small log is passed over in a few slices, which have to be long enough for a progress frame.
  const progressMs = scale < 1 ? 1 : 100;
  const folder = mkdtempSync(join(tmpdir(), 'winnow-bench-'));
  writeSegmentFile(orbitDataset(), 'iggy', Math.max(20_000, Math.round(100_000 * scale)), join(folder, LOG));
  let service: ServiceProcess | undefined;
  try {
    service = await startService({ WINNOW_STORES_DATA: folder, WINNOW_POOL_WORKERS: '1' });
    const { address } = service;
    await narrowWaits(address, scans);
    const alone = spread(await narrowWaits(address, scans));
    const stop = new AbortController();
    const wide = Array.from({ length: WIDE_SCANS }, () => new WideScan(address, progressMs, stop.signal));
    const running = wide.map((scan) => scan.run());
    await Promise.all(wide.map((scan) => scan.hasBegun));
    const beside = spread(await narrowWaits(address, scans));
    await Promise.all(wide.map((scan) => scan.hasProgressed));
    stop.abort();
    await Promise.all(running);
    const worstProgressGap = Math.max(...wide.map((scan) => scan.worstGapMs));
    return { scans, alone, beside, worstProgressGap, progressMs };
  } finally {
    await service?.stop();
    rmSync(folder, { recursive: true });
  }
}

/** One paragraph of Markdown. */
export function fairnessText({ scans, alone, beside, worstProgressGap, progressMs }: Fairness): string {
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  return (
    `A narrow scan beside ${WIDE_SCANS} wide ones of another shard, one worker, ${scans} scans: ` +
    `p99 ${ms(beside.p99)} (median ${ms(beside.median)}) against ${ms(alone.p99)} (${ms(alone.median)}) alone; ` +
    `worst gap between progress frames ${ms(worstProgressGap)}, asked for every ${progressMs} ms.`
  );
}

/** Times of narrow scans, one after the other. */
async function narrowWaits(address: string, scans: number): Promise<number[]> {
  const body = JSON.stringify({
    v: 1,
    source: { stream: 'bench', topic: 'narrow' },
    partition_id: 0,
    segments: [{ format: 'ndjson', bytes: Buffer.from('{"a":1}\n').toString('base64') }],
    filters: [{ id: 'narrow', filter: { v: 1, evaluator_version: 1, codec: 'json', expr: { present: 'a' } } }],
  });
  const waits: number[] = [];
  for (let scan = 0; scan < scans; scan++) {
    const from = performance.now();
    const headers = { 'content-type': 'application/json', 'winnow-shard': 'narrow' };
    const reply = await fetch(`${address}/v1/scan`, { method: 'POST', headers, body });
    const page = (await reply.json()) as { matched?: number };
    if (page.matched !== 1) throw new Error(`a narrow scan was answered ${reply.status}`);
    waits.push(performance.now() - from);
  }
  return waits;
}

/** A scan that goes over the whole log again and again until it is stopped. */
class WideScan {
  worstGapMs = 0;
  readonly hasBegun: Promise<void>;
  readonly hasProgressed: Promise<void>;
  private begun = (): void => undefined;
  private progressed = (): void => undefined;
  private readonly address: string;
  private readonly progressMs: number;
  private readonly stop: AbortSignal;
  private progressAtMs = 0;

  constructor(address: string, progressMs: number, stop: AbortSignal) {
    this.address = address;
    this.progressMs = progressMs;
    this.stop = stop;
    this.hasBegun = new Promise((resolve) => (this.begun = resolve));
    this.hasProgressed = new Promise((resolve) => (this.progressed = resolve));
  }

  async run(): Promise<void> {
    while (!this.stop.aborted) {
      try {
        await this.passOver();
      } catch (thrown) {
        if (!this.stop.aborted) throw thrown;
      }
    }
  }

  private async passOver(): Promise<void> {
    const reply = await fetch(`${this.address}/v1/scan`, {
      method: 'POST',
      signal: this.stop,
      headers: { 'content-type': 'application/json', accept: 'application/x-ndjson', 'winnow-shard': 'wide' },
      body: JSON.stringify({
        v: 1,
        source: { stream: 'bench', topic: 'wide' },
        partition_id: 0,
        segments: [{ format: 'iggy', store: 'data', path: LOG, sealed: true }],
        filters: [{ id: 'wide', filter: selectivityFilter(5) }],
        reply: 'count',
        pages: 0,
        progress_ms: this.progressMs,
        max_examined: 1_000_000,
        max_examined_bytes: 1024 * 1024 * 1024,
        deadline_ms: 60_000,
      }),
    });
    if (reply.status !== 200) throw new Error(`a wide scan was answered ${reply.status}`);
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of reply.body!) {
      const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
      rest = lines.pop()!;
      for (const line of lines) this.take((JSON.parse(line) as { frame: string }).frame);
    }
  }

  private take(frame: string): void {
    const nowMs = performance.now();
    if (frame === 'begin') this.begun();
    else if (frame === 'progress') {
      this.worstGapMs = Math.max(this.worstGapMs, nowMs - this.progressAtMs);
      this.progressed();
    } else return;
    this.progressAtMs = nowMs;
  }
}

function spread(values: readonly number[]): { median: number; p99: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return { median: at(0.5), p99: at(0.99) };
}
