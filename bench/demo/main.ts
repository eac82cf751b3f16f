/**
 * The main job on real data, end to end: write two logs, start the service on a free loopback port, read them as
 * eight consumer groups over HTTP, and check every group's offsets against the independent evaluator.
 *
 * Exits 0 when all agree, 1 when one differs or anything fails. Options: `--orbit N` and `--webhooks N` records.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Dataset } from '../datasets/dataset.js';
import { ORBIT_GROUPS } from '../datasets/orbit-filters.js';
import { orbitDataset } from '../datasets/orbit.js';
import { WEBHOOK_GROUPS } from '../datasets/webhook-groups.js';
import { webhooksDataset } from '../datasets/webhooks.js';
import { writeSegmentFile } from '../datasets/write.js';
import { oracleOffsets } from '../oracle-offsets.js';
import { startService } from '../service-process.js';
import { readGroup } from './read-group.js';
import { renderReport, type CheckedGroup } from './report.js';

interface Log {
  readonly dataset: Dataset;
  readonly count: number;
  readonly groups: readonly { readonly name: string; readonly filter: unknown }[];
}

const { values: options } = parseArgs({
  options: {
    orbit: { type: 'string', default: '50000' },
    webhooks: { type: 'string', default: '3290' },
  },
});

const logs: readonly Log[] = [
  { dataset: webhooksDataset(), count: Number(options.webhooks), groups: WEBHOOK_GROUPS },
  { dataset: orbitDataset(), count: Number(options.orbit), groups: ORBIT_GROUPS },
];

const folder = mkdtempSync(join(tmpdir(), 'winnow-demo-'));
try {
  process.exitCode = (await demo(folder)) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}

async function demo(storeRoot: string): Promise<boolean> {
  for (const { dataset, count } of logs) {
    const bytes = writeSegmentFile(dataset, 'iggy', count, join(storeRoot, `${dataset.name}.log`));
    console.log(
      `wrote ${dataset.name}: ${count.toLocaleString('en')} records, ${(bytes / 1024 / 1024).toFixed(1)} MiB`,
    );
  }
  const service = await startService({ WINNOW_STORES_DATA: storeRoot });
  const checked: CheckedGroup[] = [];
  try {
    console.log(`service at ${service.address}; eight groups read their log over HTTP`);
    for (const { dataset, count, groups } of logs) {
      const jobs = groups.map((group) => ({ ...group, topic: dataset.name, path: `${dataset.name}.log` }));
      for (const job of jobs) {
        const result = await readGroup(service.address, job);
        const expected = oracleOffsets(dataset, count, job.filter);
        const agrees =
          expected.length === result.offsets.length && expected.every((offset, at) => offset === result.offsets[at]);
        checked.push({ ...result, log: dataset.name, agrees: agrees && result.examined === count });
      }
    }
  } finally {
    await service.stop();
  }
  console.log(`\n${renderReport(checked)}\n`);
  const differing = checked.filter((group) => !group.agrees).map((group) => group.name);
  console.log(
    differing.length === 0
      ? 'Every group received exactly the records that the independent evaluator selects.'
      : `These groups differ from the independent evaluator: ${differing.join(', ')}`,
  );
  return differing.length === 0;
}
