/** The Avro walker: slots of wanted paths rule by rule, and against the obvious decoder on random schemas and data. */
import { describe, expect, it } from 'vitest';
import { compileAvro } from '../../../src/codec/avro/schema.js';
import { MALFORMED, NO_REASON, TOO_DEEP, TOO_LARGE } from '../../../src/core/verdict.js';
import { randomAvroDatum, randomAvroSchema } from '../../support/random-avro.js';
import { AvroTrial, randomAvroPaths } from '../../support/random-avro-trial.js';
import { Seeded } from '../../support/seeded.js';

const LIMITS = [
  { maxPayloadBytes: 1 << 20, maxDepth: 64 },
  { maxPayloadBytes: 60, maxDepth: 3 },
  { maxPayloadBytes: 20, maxDepth: 5 },
  { maxPayloadBytes: 400, maxDepth: 0 },
];

describe('against the decoder', () => {
  it('random data of random schemas give the same values and damaged ones the same reason', () => {
    const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 1));
    const seen = new Map<number, number>();
    for (let round = 0; round < 1500; round++) {
      const text = JSON.stringify(randomAvroSchema(random));
      const schema = compileAvro(text);
      const trial = new AvroTrial([schema], randomAvroPaths(random), random.pick(LIMITS));
      for (let turn = 0; turn < 10; turn++) {
        const bytes = Uint8Array.from(randomAvroDatum(random, schema.root));
        if (bytes.length > 0 && random.chance(0.4))
          bytes[random.below(bytes.length)] = random.pick([0, 1, 2, 0x80, 0xff]);
        try {
          const reason = trial.check(bytes);
          seen.set(reason, (seen.get(reason) ?? 0) + 1);
        } catch (thrown) {
          const hex = Buffer.from(bytes).toString('hex');
          throw new Error(`${(thrown as Error).message}, round ${round}: ${text} ${hex}`, { cause: thrown });
        }
      }
    }
    for (const reason of [NO_REASON, MALFORMED, TOO_LARGE, TOO_DEEP]) expect(seen.get(reason)).toBeGreaterThan(500);
  });
});
