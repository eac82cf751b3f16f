/**
 * End-to-end cases: the built service as a process of its own, stored segments read by its workers, replies over HTTP
 * on loopback.
 */
import { selectivityFilter } from '../datasets/orbit-filters.js';
import { orbitDataset } from '../datasets/orbit.js';
import { segmentBytes } from '../datasets/write.js';
import { framesSide } from '../frames.js';
import { type Case, Checksum, type Engine, once, type Side } from '../harness.js';
import { ENGINES } from '../programs.js';
import type { ServiceProcess } from '../service-process.js';
import { framesToEnd, scanBody, ScanClient } from './scan-client.js';
import { LOG, type Services } from './services.js';

/** Scans that run at once in the scaling case: two for each worker of the larger service. */
const SCANS_AT_ONCE = 4;
const FILTER = selectivityFilter(5);

/** What the service has to keep of the loop's speed, and gain from a second worker. The bars are the kernel's. */
const BARS: Record<Engine, { readonly overHttp?: number; readonly twoWorkers?: number }> = {
  kernel: { overHttp: 0.75, twoWorkers: 1.8 },
  walker: {},
};

export function scanCases(services: Services): Case[] {
  const { records } = services;
  const segment = once(() => segmentBytes(orbitDataset(), 'iggy', records));
  return ENGINES.flatMap((engine): Case[] => {
    const { overHttp, twoWorkers } = BARS[engine];
    return [
      {
        name: 'stored segment over HTTP at 5 %, against the scan loop in process',
        engine,
        size: () => ({ records, bytes: services.logBytes }),
        ratio: 'speedup',
        ...(overHttp === undefined ? {} : { bar: overHttp }),
        sides: async () => [
          httpSide('HTTP, one worker', await services.with(engine, 1), 1),
          framesSide(engine, 'in process', segment(), FILTER),
        ],
      },
      {
        name: `${SCANS_AT_ONCE} stored segments over HTTP, two workers against one`,
        engine,
        size: () => ({ records: records * SCANS_AT_ONCE, bytes: services.logBytes * SCANS_AT_ONCE }),
        ratio: 'speedup',
        ...(twoWorkers === undefined ? {} : { bar: twoWorkers }),
        sides: async () => [
          httpSide('two workers', await services.with(engine, 2), SCANS_AT_ONCE),
          httpSide('one worker', await services.with(engine, 1), SCANS_AT_ONCE),
        ],
      },
    ];
  });
}

/**
 * `scans` scans read the log at once, each to its end. It is timed until the last byte of the last reply; what came is
 * decoded after that, because the client shares the processors with the service. The checksum is of one reply, all must
 * agree.
 */
function httpSide(name: string, service: ServiceProcess, scans: number): Side {
  const clients = Array.from({ length: scans }, () => new ScanClient(service.address));
  const body = scanBody({
    segments: [{ format: 'iggy', store: 'data', path: LOG, sealed: true }],
    filters: [{ id: 'bench', filter: FILTER }],
  });
  return {
    name,
    async run() {
      const replies = await Promise.all(clients.map((client) => client.postForFrames(body)));
      return () => {
        const sums = replies.map(checksumOf);
        if (sums.some((sum) => sum !== sums[0])) throw new Error('scans of one log selected different records');
        return sums[0]!;
      };
    },
  };
}

function checksumOf(reply: Buffer): number {
  const checksum = new Checksum();
  for (const { records } of framesToEnd(reply)) {
    for (const offset of records?.offsets ?? []) checksum.add(offset);
  }
  return checksum.value;
}
