/** Scans over more records than one batch of the kernel holds. */
import { expect, it } from 'vitest';
import { compareEngineScans } from '../support/engine-scans.js';
import { Seeded } from '../support/seeded.js';

const SEED = Number(process.env['WINNOW_TEST_SEED'] ?? 6);

it(`scans of many batches answer over the kernel as over the walkers (seed ${SEED})`, () => {
  expect(() => compareEngineScans(new Seeded(SEED), 20, 700)).not.toThrow();
});
