/** The CBOR walker against the obvious decoder: the same verdict on every payload, the same values in the slots. */
import { describe, expect, it } from 'vitest';
import { decodeCbor } from '../../../src/codec/cbor/decode.js';
import { CborWalker } from '../../../src/codec/cbor/walker.js';
import { MALFORMED, NO_REASON, TOO_DEEP, TOO_LARGE } from '../../../src/core/verdict.js';
import { ANY_CBOR, breakCbor, encodeCbor, randomCborValue } from '../../support/random-cbor.js';
import { Seeded } from '../../support/seeded.js';
import { compareWithDecoder, RANDOM_PATHS } from '../../support/walker-comparison.js';

describe('against the decoder', () => {
  it('random payloads give the same values and damaged ones the same reason', () => {
    const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 1));
    const limits = { maxPayloadBytes: 3000, maxDepth: 3 };
    const walker = new CborWalker(RANDOM_PATHS, limits);
    const seen = new Map<number, number>();
    for (let round = 0; round < 20_000; round++) {
      let bytes = encodeCbor(randomCborValue(random, ANY_CBOR), random);
      if (random.chance(0.5)) bytes = breakCbor(random, bytes);
      const reason = compareWithDecoder(walker, RANDOM_PATHS, bytes, limits, decodeCbor);
      seen.set(reason, (seen.get(reason) ?? 0) + 1);
    }
    for (const reason of [NO_REASON, MALFORMED, TOO_LARGE, TOO_DEEP]) expect(seen.get(reason)).toBeGreaterThan(200);
  });
});
