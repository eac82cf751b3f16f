/** The Protobuf walker on payloads of random schemas: it says what the decoder says, whatever it read before. */
import { describe, expect, it } from 'vitest';
import { MALFORMED, NO_REASON, TOO_DEEP } from '../../src/core/verdict.js';
import { FUZZ_SUITE, fuzzScale, fuzzSeed } from '../support/fuzz-mode.js';
import { runProtobufTrials } from '../support/random-protobuf-trial.js';

const SCHEMAS = fuzzScale(500, 40_000);
const SEED = fuzzSeed(71);

describe('payloads of random schemas', FUZZ_SUITE, () => {
  it(`give the same reason and slots, seed ${SEED}`, () => {
    const seen = runProtobufTrials(SEED, SCHEMAS);
    for (const reason of [NO_REASON, MALFORMED, TOO_DEEP] as const) expect(seen.get(reason)).toBeGreaterThan(SCHEMAS);
  });
});
