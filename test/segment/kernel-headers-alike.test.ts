/** The kernel's header walker on batches of blocks that are nearly the same. */
import { expect, it } from 'vitest';
import { alikeBlocks } from '../support/alike-blocks.js';
import { compareBatch, kernelReader } from '../support/header-batch.js';
import { newKernel } from '../support/kernel.js';
import { Seeded } from '../support/seeded.js';

const SEED = Number(process.env['WINNOW_SEED'] ?? 11);

it(`blocks that differ from the one before in one entry are judged by themselves (seed ${SEED})`, () => {
  const random = new Seeded(SEED);
  const kernel = newKernel();
  const reader = kernelReader(kernel);
  let blocks = 0;
  let good = 0;
  for (let round = 0; round < 300; round += 1) {
    const batch = alikeBlocks(random, 1 + random.below(kernel.frames.rows));
    blocks += batch.length;
    good += compareBatch(kernel, reader, batch, random);
  }
  expect(good).toBeGreaterThan(blocks / 20);
  expect(good).toBeLessThan(blocks / 2);
});
