/**
 * Figures of the built service with one worker, over HTTP on loopback: what its main thread takes of the processor, how
 * many records a second of its processor time looks at, how fast inline segments are answered, how long a page of a
 * thousand records takes, and how much memory it came to need.
 */
import { ORBIT_GROUPS } from '../datasets/orbit-filters.js';
import { readGroup } from '../demo/read-group.js';
import { type Figure, figure } from '../figures.js';
import { type Engine, spreadOf } from '../harness.js';
import { type ProcessUsage, usageOf } from '../process-usage.js';
import type { ServiceProcess } from '../service-process.js';
import { filterEntry, inlineBody, PageReader, STORED_JOB, STORED_SEGMENTS } from './loads.js';
import { ScanClient, scanBody } from './scan-client.js';
import type { Services } from './services.js';

/** Bars of the kernel; the walker's figures are reported only. */
const MAIN_THREAD_PERCENT_MAX = 15;
const INLINE_MB_PER_SECOND_MIN = 250;

/** `scale` 1 is the real size. `rounds` are those of the figures that have a spread. */
export async function serviceFigures(
  engine: Engine,
  services: Services,
  scale: number,
  rounds: number,
): Promise<Figure[]> {
  const service = await services.with(engine, 1);
  const client = new ScanClient(service.address);
  try {
    return [
      await mainThreadShare(engine, service, rounds),
      ...(await fourGroups(engine, services, service, client, rounds)),
      ...(await pageLatency(engine, client, Math.max(4, Math.round(2000 * scale)))),
      peakMemory(engine, service, 'service, peak resident memory after scans of a stored log'),
      ...(await inlineBodies(engine, service, client, scale, rounds)),
      peakMemory(engine, service, 'service, peak resident memory after inline bodies of 16 MiB'),
    ];
  } finally {
    client.close();
  }
}

/** Processor time of the main thread as a share of the whole process, while a stored log is scanned at 5 %. */
async function mainThreadShare(engine: Engine, service: ServiceProcess, rounds: number): Promise<Figure> {
  const job = { ...STORED_JOB, name: 'share' };
  const shares: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const before = usage(service);
    await readGroup(service.address, job);
    const after = usage(service);
    const share = (after.mainThreadMs - before.mainThreadMs) / (after.allThreadsMs - before.allThreadsMs);
    // The first round warms the service up.
    if (round > 0) shares.push(100 * share);
  }
  return figure(
    'stored segment over HTTP at 5 %, share of the main thread in the processor time of the service',
    engine,
    '%',
    spreadOf(shares),
    bar(engine, 'at most', MAIN_THREAD_PERCENT_MAX),
  );
}

/** Records that one second of the whole server's processor time looks at, and what it spares the reader. */
async function fourGroups(
  engine: Engine,
  services: Services,
  service: ServiceProcess,
  client: ScanClient,
  rounds: number,
): Promise<Figure[]> {
  const body = scanBody({
    segments: STORED_SEGMENTS,
    filters: ORBIT_GROUPS.map(({ name, filter }) => filterEntry(filter, name)),
  });
  await client.scanToEnd(body);
  const rates: number[] = [];
  const avoided: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = usage(service);
    const bytesBefore = bytesCounted(await client.metrics());
    await client.scanToEnd(body);
    const seconds = (usage(service).allThreadsMs - before.allThreadsMs) / 1000;
    const bytes = bytesCounted(await client.metrics());
    rates.push(services.records / seconds);
    avoided.push((bytes.avoided - bytesBefore.avoided) / (bytes.scanned - bytesBefore.scanned));
  }
  return [
    figure(
      'orbit, four groups over HTTP, records looked at in a second of server processor time',
      engine,
      'records',
      spreadOf(rates),
    ),
    figure('orbit, four groups over HTTP, bytes avoided for each byte read', engine, 'bytes', spreadOf(avoided)),
  ];
}

function bytesCounted(metrics: string): { avoided: number; scanned: number } {
  const counter = (name: string): number => Number(new RegExp(`^winnow_${name} (\\S+)$`, 'm').exec(metrics)![1]);
  return { avoided: counter('bytes_avoided_total'), scanned: counter('bytes_scanned_total') };
}

/** Bodies of 16 MiB, one at a time: segment bytes for each second of server processor time, and of the clock. */
async function inlineBodies(
  engine: Engine,
  service: ServiceProcess,
  client: ScanClient,
  scale: number,
  rounds: number,
): Promise<Figure[]> {
  const { body, bytes, records } = inlineBody(scale);
  const requests = scale < 1 ? 1 : 8;
  const perCpuSecond: number[] = [];
  const perSecond: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const before = usage(service);
    const from = performance.now();
    for (let index = 0; index < requests; index++) {
      const frames = await client.scanToEnd(body);
      const examined = frames.reduce((sum, frame) => sum + (frame.examined ?? 0), 0);
      if (examined < records) throw new Error(`an inline scan examined ${examined} of ${records} records`);
    }
    const megabytes = (bytes * requests) / 1e6;
    const seconds = (performance.now() - from) / 1000;
    const cpuSeconds = (usage(service).allThreadsMs - before.allThreadsMs) / 1000;
    if (round === 0) continue;
    perCpuSecond.push(megabytes / cpuSeconds);
    perSecond.push(megabytes / seconds);
  }
  return [
    figure(
      'inline 16 MiB bodies at 5 %, segment bytes in a second of server processor time',
      engine,
      'MB',
      spreadOf(perCpuSecond),
      bar(engine, 'at least', INLINE_MB_PER_SECOND_MIN),
    ),
    figure('inline 16 MiB bodies at 5 %, one at a time, request to reply', engine, 'MB/s', spreadOf(perSecond)),
  ];
}

/** How long pages of a thousand records take, one request after the other. */
async function pageLatency(engine: Engine, client: ScanClient, requests: number): Promise<Figure[]> {
  const pages = new PageReader(client);
  for (let warmups = Math.ceil(requests / 100); warmups > 0; warmups--) await pages.next();
  const times: number[] = [];
  for (let index = 0; index < requests; index++) {
    const took = await pages.next();
    if (took !== null) times.push(took);
  }
  if (times.length === 0) return [];
  times.sort((a, b) => a - b);
  return (
    [
      ['p50', 0.5],
      ['p99', 0.99],
      ['p99.9', 0.999],
    ] as const
  ).map(([name, share]) =>
    figure(
      `a page of 1,000 records over HTTP, ${name} of ${times.length} requests`,
      engine,
      'ms',
      one(times[Math.min(times.length - 1, Math.floor(times.length * share))]!),
    ),
  );
}

function peakMemory(engine: Engine, service: ServiceProcess, name: string): Figure {
  return figure(name, engine, 'MiB', one(usage(service).peakRssBytes / (1 << 20)));
}

function usage({ pid }: ServiceProcess): ProcessUsage {
  return usageOf(pid)!;
}

function bar(engine: Engine, kind: 'at least' | 'at most', value: number): Figure['bar'] {
  return engine === 'kernel' ? { kind, value } : null;
}

function one(value: number) {
  return { median: value, min: value, max: value };
}
