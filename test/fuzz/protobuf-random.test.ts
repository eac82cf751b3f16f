/** The Protobuf walker on payloads of random schemas: it says what the decoder says, whatever it read before. */
import { describe, expect, it } from 'vitest';
import { compileProtobuf } from '../../src/codec/protobuf/schema.js';
import { MALFORMED, NO_REASON, type Reason, TOO_DEEP } from '../../src/core/verdict.js';
import { FUZZ_SUITE, fuzzScale, fuzzSeed } from '../support/fuzz-mode.js';
import {
  fittingProtobufPaths,
  randomDescriptorSet,
  randomPayload,
  randomProtobufPaths,
} from '../support/random-protobuf.js';
import { ProtobufTrial } from '../support/random-protobuf-trial.js';
import { Seeded } from '../support/seeded.js';

const SCHEMAS = fuzzScale(500, 40_000);
const PAYLOADS = 12;
const PAYLOAD_BYTES_MAX = 6000;
const SEED = fuzzSeed(71);

describe('payloads of random schemas', FUZZ_SUITE, () => {
  it(`give the same reason and slots, seed ${SEED}`, () => {
    const seen = new Map<Reason, number>();
    for (let round = 0; round < SCHEMAS; round++) {
      const random = new Seeded(SEED * 1_000_003 + round);
      const makeSchema = () => compileProtobuf(randomDescriptorSet(random, random.pick([0, 0.1, 0.4])), 'r.M0');
      const schemas = random.chance(0.2) ? [makeSchema(), makeSchema()] : [makeSchema()];
      const root = schemas[0]!.root;
      const paths = random.chance(0.2) ? randomProtobufPaths(random) : fittingProtobufPaths(random, root);
      const limits = { maxPayloadBytes: 1 << 20, maxDepth: random.pick([64, 64, 4, 2, 0]) };
      const trial = new ProtobufTrial(schemas, paths, limits);
      const style = {
        chanceLeft: random.pick([0, 0.2, 0.6]),
        chanceFault: random.pick([0, 0, 0.01, 0.1]),
        levelsMax: 2,
      };
      for (let index = 0; index < PAYLOADS; index++) {
        const schema = index % schemas.length;
        const payload = randomPayload(random, schemas[schema]!.root, style);
        if (payload.length > PAYLOAD_BYTES_MAX) continue;
        try {
          const reason = trial.check(payload, schema);
          seen.set(reason, (seen.get(reason) ?? 0) + 1);
        } catch (thrown) {
          throw new Error(`round ${round}: ${(thrown as Error).message}`, { cause: thrown });
        }
      }
    }
    for (const reason of [NO_REASON, MALFORMED, TOO_DEEP] as const) expect(seen.get(reason)).toBeGreaterThan(SCHEMAS);
  });
});
