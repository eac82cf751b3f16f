/** The header walker without allocation, against the decoder of whole blocks and the corpus. */
import { describe, expect, it } from 'vitest';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { HeaderWalker } from '../../src/segment/header-walker.js';
import { blockCases } from '../support/cases.js';
import {
  compareWithBlockDecoder,
  RANDOM_HEADER_KEYS,
  randomBlock,
  randomEntry,
  seen,
  wanted,
} from '../support/random-headers.js';
import { Seeded } from '../support/seeded.js';

describe('conformance', () => {
  it.each(blockCases().map((one) => [one.id, one] as const))('%s', (_, { block, contentTypeOnly, entries }) => {
    const keys = [...new Set(['agdx.ct', ...(entries ?? []).map(({ key }) => key), 'absent'])];
    const walker = new HeaderWalker(keys);
    const isGood = contentTypeOnly
      ? walker.readOnly(0, block, 0, block.length)
      : walker.readAll(block, 0, block.length);
    expect(isGood).toBe(entries !== undefined);
    if (entries === undefined) return;
    const values = new Map(entries.map(({ key, value }) => [key, value]));
    for (const [slot, key] of keys.entries()) expect(seen(walker, slot, block)).toEqual(wanted(values.get(key)));
  });
});

describe('against the decoder of whole blocks', () => {
  it('random blocks, whole and damaged, are judged alike and hold the same values', () => {
    const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 2));
    const walker = new HeaderWalker(RANDOM_HEADER_KEYS);
    let good = 0;
    const rounds = 20_000;
    for (let round = 0; round < rounds; round++) {
      if (compareWithBlockDecoder(walker, randomBlock(random))) good++;
    }
    expect(good).toBeGreaterThan(rounds / 5);
    expect(rounds - good).toBeGreaterThan(rounds / 5);
  });

  it('every truncation of a block with every kind is judged alike', () => {
    const random = new Seeded(3);
    const walker = new HeaderWalker(RANDOM_HEADER_KEYS);
    const block = encodeHeaders(Array.from({ length: 40 }, () => randomEntry(random)));
    for (let length = 0; length <= block.length; length++) compareWithBlockDecoder(walker, block.slice(0, length));
  });
});
