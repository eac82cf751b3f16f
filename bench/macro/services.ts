/**
 * The services and the log that the end-to-end measurements share: each is made when the first one asks for it.
 *
 * Invariant: the services and the folder made here are gone after `close`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orbitDataset } from '../datasets/orbit.js';
import { writeSegmentFile } from '../datasets/write.js';
import { type Engine, once } from '../harness.js';
import { type ServiceProcess, startService } from '../service-process.js';

/** Name of the log in the store `data` of every service. */
export const LOG = 'orbit.log';

export class Services {
  /** Records of the log. */
  readonly records: number;
  private readonly nodeArguments: readonly string[];
  private readonly folder = once(() => mkdtempSync(join(tmpdir(), 'winnow-bench-')));
  private readonly written = once(() => {
    return writeSegmentFile(orbitDataset(), 'iggy', this.records, join(this.folder(), LOG));
  });
  private readonly running = new Map<string, Promise<ServiceProcess>>();

  /** `nodeArguments` are for the runtime of the services. */
  constructor(records: number, nodeArguments: readonly string[] = []) {
    this.records = records;
    this.nodeArguments = nodeArguments;
  }

  /** Bytes of the log. */
  get logBytes(): number {
    return this.written();
  }

  /** The service with so many workers of the engine. */
  with(engine: Engine, workers: number): Promise<ServiceProcess> {
    const key = `${engine} ${workers}`;
    let service = this.running.get(key);
    if (service === undefined) {
      this.written();
      const settings = {
        WINNOW_STORES_DATA: this.folder(),
        WINNOW_POOL_WORKERS: String(workers),
        WINNOW_POOL_ENGINE: engine,
      };
      service = startService(settings, this.nodeArguments);
      this.running.set(key, service);
    }
    return service;
  }

  async close(): Promise<void> {
    const stopped = await Promise.allSettled([...this.running.values()].map(async (service) => (await service).stop()));
    rmSync(this.folder(), { recursive: true });
    for (const one of stopped) if (one.status === 'rejected') throw one.reason;
  }
}
