/**
 * End-to-end cases: the built service as a process of its own, stored segments read by its workers, replies over HTTP
 * on loopback.
 *
 * Invariant: the services and the folder made here are gone after `close`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selectivityFilter } from '../datasets/orbit-filters.js';
import { orbitDataset } from '../datasets/orbit.js';
import { segmentBytes, writeSegmentFile } from '../datasets/write.js';
import { readGroup } from '../demo/read-group.js';
import { framesSide } from '../frames.js';
import { type Case, Checksum, type Side } from '../harness.js';
import { programOf } from '../payloads.js';
import { type ServiceProcess, startService } from '../service-process.js';

export interface MacroCases {
  readonly cases: readonly Case[];
  close(): Promise<void>;
}

/** Scans that run at once in the scaling case: two for each worker of the larger service. */
const SCANS_AT_ONCE = 4;
const FILTER = selectivityFilter(5);
const LOG = 'orbit.log';

/** `scale` 1 is the real size: 100,000 records, 75 MiB. */
export async function macroCases(scale: number): Promise<MacroCases> {
  const count = Math.max(50, Math.round(100_000 * scale));
  const folder = mkdtempSync(join(tmpdir(), 'winnow-bench-'));
  const services: ServiceProcess[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(services.map((service) => service.stop()));
    rmSync(folder, { recursive: true });
  };
  try {
    const bytes = writeSegmentFile(orbitDataset(), 'iggy', count, join(folder, LOG));
    for (const workers of ['1', '2']) {
      services.push(await startService({ WINNOW_STORES_DATA: folder, WINNOW_POOL_WORKERS: workers }));
    }
    const [one, two] = services as [ServiceProcess, ServiceProcess];
    const segment = segmentBytes(orbitDataset(), 'iggy', count);
    const cases: Case[] = [
      {
        name: 'stored segment over HTTP at 5 %, against the scan loop in process',
        records: count,
        bytes,
        ratio: 'speedup',
        bar: 0.75,
        sides: [overHttp('HTTP, one worker', one, 1), framesSide('in process', segment, programOf(FILTER))],
      },
      {
        name: `${SCANS_AT_ONCE} stored segments over HTTP, two workers against one`,
        records: count * SCANS_AT_ONCE,
        bytes: bytes * SCANS_AT_ONCE,
        ratio: 'speedup',
        bar: 1.8,
        sides: [overHttp('two workers', two, SCANS_AT_ONCE), overHttp('one worker', one, SCANS_AT_ONCE)],
      },
    ];
    return { cases, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** `scans` groups read the log at once, each to its end; the checksum is of one of them, all must agree. */
function overHttp(name: string, service: ServiceProcess, scans: number): Side {
  return {
    name,
    async run() {
      const jobs = Array.from({ length: scans }, (_, index) => ({
        name: `group-${index}`,
        filter: FILTER,
        topic: 'orbit',
        path: LOG,
      }));
      const results = await Promise.all(jobs.map((job) => readGroup(service.address, job)));
      const sums = results.map(({ offsets }) => {
        const checksum = new Checksum();
        for (const offset of offsets) checksum.add(offset);
        return checksum.value;
      });
      if (sums.some((sum) => sum !== sums[0])) throw new Error('scans of one log selected different records');
      return sums[0]!;
    },
  };
}
