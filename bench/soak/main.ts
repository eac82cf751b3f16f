/**
 * `npm run soak`: 64 scans at once over a stored segment of 1 GiB for ten minutes, against the built service as a process
 * of its own; its memory must stay under 400 MiB and must not grow.
 *
 * `--seconds N`, `--mib N` (size of the segment), `--scans N`, `--engine NAME`, `--workers N`, `--growth MIB` (allowed),
 * `--json FILE`. Prints one
 * paragraph; exits 1 where the bar is missed, a worker was lost, or a client was told anything that does not add up.
 */
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ORBIT_BLOCK, orbitDataset } from '../datasets/orbit.js';
import { segmentBytes, writeSegmentFile } from '../datasets/write.js';
import { startService } from '../service-process.js';
import { EndlessScan, type SoakCounts } from './endless-scan.js';
import { judged, type Sample, sampleOf, statsOf, total } from './memory.js';

const MIB = 1024 * 1024;
const PEAK_MIB_MAX = 400;
const SAMPLES = 300;
/** Longest time until the last scan has ended after its client went. */
const DRAIN_MS_MAX = 10_000;
const LOG = 'orbit.log';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    mib: { type: 'string', default: '1024' },
    scans: { type: 'string', default: '64' },
    engine: { type: 'string', default: 'auto' },
    workers: { type: 'string', default: '0' },
    /** In MiB, between medians; garbage that waits for its collection makes as much. */
    growth: { type: 'string', default: '24' },
    json: { type: 'string' },
  },
});
const seconds = Number(options.seconds);
const scans = Number(options.scans);
const growthMibMax = Number(options.growth);

const folder = mkdtempSync(join(tmpdir(), 'winnow-soak-'));
try {
  await soak();
} finally {
  rmSync(folder, { recursive: true });
}

async function soak(): Promise<void> {
  const dataset = orbitDataset();
  const blockBytes = segmentBytes(dataset, 'iggy', ORBIT_BLOCK).length;
  const records = ORBIT_BLOCK * Math.ceil((Number(options.mib) * MIB) / blockBytes);
  const bytes = writeSegmentFile(dataset, 'iggy', records, join(folder, LOG));
  const service = await startService({
    WINNOW_STORES_DATA: folder,
    WINNOW_POOL_ENGINE: options.engine,
    WINNOW_POOL_WORKERS: options.workers,
    // Beside other work a slice may wait longer for a processor than it runs; one that is stuck shows all the same.
    WINNOW_SLICE_KILL_AFTER: '30s',
  });
  const { address } = service;
  const samples: Sample[] = [];
  const counts: SoakCounts = { requests: 0, pages: 0, examined: 0, matched: 0, passes: 0, hangUps: 0, refused: 0 };
  const from = performance.now();
  const stop = new AbortController();
  // Each client waits on it, several times.
  setMaxListeners(0, stop.signal);
  try {
    const target = { address, records, path: LOG, stop: stop.signal };
    const clients = Promise.all(
      Array.from({ length: scans }, (_, index) => new EndlessScan(target, counts, index).run()),
    );
    await Promise.race([clients, watch(address, from, samples)]);
    stop.abort();
    await clients;
    const { engine } = (await (await fetch(`${address}/v1/capabilities`)).json()) as { engine: string };
    const rest = await drained(address, from);
    report({ records, bytes, engine, counts, samples, ...rest });
  } finally {
    stop.abort();
    await service.stop();
  }
}

/** Takes samples until the time is over. */
async function watch(address: string, from: number, samples: Sample[]): Promise<void> {
  for (let sample = 1; sample <= SAMPLES; sample += 1) {
    await after(Math.max(0, from + (seconds * 1000 * sample) / SAMPLES - performance.now()));
    samples.push(sampleOf(await statsOf(address), performance.now() - from));
  }
}

/** The service at rest again: nothing of the scans may be left. */
async function drained(address: string, from: number): Promise<{ idle: Sample; restarts: number; scanned: number }> {
  const endAt = performance.now() + DRAIN_MS_MAX;
  for (;;) {
    const stats = await statsOf(address);
    const running = total(stats, 'winnow_scans_running');
    if (running === 0) {
      return {
        idle: sampleOf(stats, performance.now() - from),
        restarts: total(stats, 'winnow_worker_restarts_total'),
        scanned: total(stats, 'winnow_bytes_scanned_total'),
      };
    }
    if (performance.now() > endAt) throw new Error(`${running} scans still run although nobody reads them`);
    await after(50);
  }
}

interface Outcome {
  readonly records: number;
  readonly bytes: number;
  readonly engine: string;
  readonly counts: SoakCounts;
  readonly samples: readonly Sample[];
  readonly idle: Sample;
  readonly restarts: number;
  /** Stored bytes passed over. */
  readonly scanned: number;
}

function report(outcome: Outcome): void {
  const { bytes, engine, counts, samples, idle, restarts, scanned } = outcome;
  const memory = judged(samples);
  const isFlat = memory.peak <= PEAK_MIB_MAX * MIB && memory.growth <= growthMibMax * MIB && restarts === 0;
  const mib = (value: number): string => `${(value / MIB).toFixed(0)} MiB`;
  const figure = (value: number): string => value.toLocaleString('en');
  console.log(
    `${scans} scans at once over a segment of ${mib(bytes)} for ${seconds} s, engine ${engine}: ` +
      `peak ${mib(memory.peak)} resident (at most ${PEAK_MIB_MAX}), median ${mib(memory.second)} in the second quarter, ` +
      `${mib(memory.last)} in the last, grown by ${mib(memory.growth)} (at most ${growthMibMax}), ` +
      `${mib(idle.resident)} at rest; ${mib(scanned)} passed over, ${figure(counts.examined)} pairs examined, ` +
      `${figure(counts.matched)} delivered on ${figure(counts.pages)} pages of ${figure(counts.requests)} requests, ` +
      `${counts.passes} passes complete, ${figure(counts.hangUps)} hang-ups, ${counts.refused} refused, ` +
      `${restarts} workers lost: ${isFlat ? 'flat' : 'NOT FLAT'}.`,
  );
  if (options.json !== undefined) {
    const versions = { node: process.version, processor: cpus()[0]?.model, seconds, scans };
    writeFileSync(options.json, `${JSON.stringify({ ...versions, ...outcome, memory, isFlat }, null, 1)}\n`);
  }
  if (!isFlat) process.exitCode = 1;
}
