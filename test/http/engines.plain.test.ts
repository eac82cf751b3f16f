/**
 * The same questions to a service with the kernel and to one with the portable walkers: every reply is the same to the
 * byte but for the id of its request, whatever the records are and however the segment is stored.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selectivityFilter, ORBIT_GROUPS } from '../../bench/datasets/orbit-filters.js';
import { orbitDataset } from '../../bench/datasets/orbit.js';
import { shapeDataset } from '../../bench/datasets/shapes.js';
import { segmentBytes } from '../../bench/datasets/write.js';
import { WEBHOOK_GROUPS } from '../../bench/datasets/webhook-groups.js';
import { webhooksDataset } from '../../bench/datasets/webhooks.js';
import { ENGINE_NAMES } from '../../src/core/engine.js';
import { ask, scanBody, serviceWith, stat, stopServices, type TestService } from '../support/http-service.js';

const folder = mkdtempSync(join(tmpdir(), 'winnow-engines-'));
const services: TestService[] = [];

/** Records of every shape; the last ones are larger than any page, and some are no JSON. */
const SEGMENTS = {
  'orbit.iggy': segmentBytes(orbitDataset({ malformedPerMille: 10 }), 'iggy', 3000),
  'orbit.ndjson': segmentBytes(orbitDataset({ isSpaced: true, malformedPerMille: 10 }), 'ndjson', 1000),
  'webhooks.iggy': segmentBytes(webhooksDataset(), 'iggy', 150, { hasChecksums: true }),
  'deep.iggy': segmentBytes(shapeDataset('deep'), 'iggy', 20),
  'wide.iggy': segmentBytes(shapeDataset('wide'), 'iggy', 20),
  'long-text.iggy': segmentBytes(shapeDataset('long-text'), 'iggy', 4),
  'escapes.iggy': segmentBytes(shapeDataset('escapes'), 'iggy', 50),
  'numbers.iggy': segmentBytes(shapeDataset('numbers'), 'iggy', 50),
} as const;

const FILTERS = {
  ...Object.fromEntries(ORBIT_GROUPS.map(({ name, filter }) => [name, filter])),
  ...Object.fromEntries(WEBHOOK_GROUPS.map(({ name, filter }) => [name, filter])),
  half: selectivityFilter(50),
  everything: { v: 1, evaluator_version: 1, expr: { not: { present: 'no.such.place' } }, codec: 'json' },
};

beforeAll(async () => {
  for (const [name, bytes] of Object.entries(SEGMENTS)) writeFileSync(join(folder, name), bytes);
  for (const engine of ENGINE_NAMES) {
    services.push(
      await serviceWith({
        WINNOW_POOL_ENGINE: engine,
        WINNOW_STORES_DATA: folder,
        WINNOW_CONTINUATION_KEYS: 'the same key for both',
      }),
    );
  }
});

afterAll(async () => {
  await stopServices();
  rmSync(folder, { recursive: true });
});

/** What both answer; fails where they differ. */
async function answered(body: string): Promise<string> {
  const headers = { accept: 'application/json' };
  const replies = await Promise.all(services.map((service) => ask(service, { headers, body })));
  const [one, other] = replies.map(({ status, text }) => `${status} ${text.replace(/"request_id":"[^"]*"/, '')}`);
  expect(other).toBe(one);
  return one!;
}

describe('the service says which engine it runs', () => {
  it.each(ENGINE_NAMES)('%s: in its log, its capabilities and its metrics', async (engine) => {
    const service = services[ENGINE_NAMES.indexOf(engine)]!;
    expect(service.lines).toContainEqual({ level: 'info', message: 'workers started', workers: 1, engine });
    const { text } = await ask(service, { method: 'GET', path: '/v1/capabilities' });
    expect(JSON.parse(text)).toMatchObject({ engine });
    expect(await stat(service, 'winnow_engine_info', { engine })).toBe(1);
  });
});

describe('both engines', () => {
  it.each(Object.keys(SEGMENTS))('deliver the same records of %s', async (path) => {
    const format = path.split('.')[1]!;
    for (const [id, filter] of Object.entries(FILTERS)) {
      for (const fault_policy of ['pass', 'drop', 'stop']) {
        const text = await answered(
          scanBody({
            segments: [{ format, store: 'data', path }],
            filters: [{ id, filter: { ...filter, fault_policy } }],
            reply: id === 'everything' ? 'records' : 'offsets',
            count: 1000,
          }),
        );
        expect(text).toContain('"examined"');
      }
    }
  });
});
