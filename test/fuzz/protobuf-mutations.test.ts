/**
 * The Protobuf walker on damaged payloads: cut at every byte, and with bytes changed. It says what the decoder says,
 * whatever stands around the payload.
 */
import { describe, expect, it } from 'vitest';
import { compileProtoText } from '../../src/codec/protobuf/proto-text.js';
import { compileProtobuf } from '../../src/codec/protobuf/schema.js';
import { MALFORMED, NO_REASON, type Reason, TOO_DEEP } from '../../src/core/verdict.js';
import { FUZZ_SUITE, fuzzScale, fuzzSeed } from '../support/fuzz-mode.js';
import { fittingProtobufPaths, randomDescriptorSet, randomPayload } from '../support/random-protobuf.js';
import { EVERY_KIND, EVERY_KIND_MESSAGE } from '../support/random-protobuf-messages.js';
import { ProtobufTrial } from '../support/random-protobuf-trial.js';
import { Seeded } from '../support/seeded.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 2 };
const PAYLOADS = fuzzScale(400, 4000);
const CHANGES = fuzzScale(150, 1500);
const PAYLOAD_BYTES_MAX = 250;
const SEED = fuzzSeed(81);

/** Tags, lengths and ends of varints that mean most, and bytes that begin, continue or break a character of UTF-8. */
const TELLING_BYTES = [
  0x00, 0x01, 0x02, 0x07, 0x08, 0x0a, 0x0b, 0x0c, 0x0d, 0x10, 0x12, 0x1a, 0x7f, 0x80, 0x81, 0xc3, 0xed, 0xf0, 0xff,
];

/** Payloads, each with a trial of its schema. */
function trials(random: Seeded): [Uint8Array, ProtobufTrial][] {
  const payloads: [Uint8Array, ProtobufTrial][] = [];
  const every = compileProtoText(EVERY_KIND, EVERY_KIND_MESSAGE);
  const style = { chanceLeft: 0.5, chanceFault: 0, levelsMax: 1 };
  while (payloads.length < PAYLOADS) {
    const schema = random.chance(0.3) ? every : compileProtobuf(randomDescriptorSet(random), 'r.M0');
    const trial = new ProtobufTrial([schema], fittingProtobufPaths(random, schema.root), LIMITS);
    for (let count = 0; count < 5; count++) {
      const payload = randomPayload(random, schema.root, style);
      if (payload.length > 0 && payload.length <= PAYLOAD_BYTES_MAX) payloads.push([payload, trial]);
    }
  }
  return payloads;
}

describe('a damaged payload', FUZZ_SUITE, () => {
  it(`gives the same reason and slots cut at every byte, seed ${SEED}`, () => {
    const seen = new Map<Reason, number>();
    for (const [payload, trial] of trials(new Seeded(SEED))) {
      for (let length = payload.length; length >= 0; length--) {
        const reason = trial.check(payload.subarray(0, length));
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
      }
    }
    for (const reason of [NO_REASON, MALFORMED] as const) expect(seen.get(reason)).toBeGreaterThan(2_000);
    expect(seen.get(TOO_DEEP)).toBeGreaterThan(20);
  });

  it(`gives the same reason and slots with single bytes changed, seed ${SEED}`, () => {
    const random = new Seeded(SEED + 1);
    const seen = new Map<Reason, number>();
    for (const [payload, trial] of trials(random)) {
      const copy = payload.slice();
      for (let change = 0; change < CHANGES; change++) {
        const at = random.below(copy.length);
        const byte = copy[at]!;
        copy[at] = random.chance(0.6) ? random.pick(TELLING_BYTES) : byte ^ (1 << random.below(8));
        const reason = trial.check(copy);
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
        copy[at] = byte;
      }
    }
    for (const reason of [NO_REASON, MALFORMED] as const) expect(seen.get(reason)).toBeGreaterThan(5_000);
  });

  it(`gives the same reason and slots with parts moved, repeated and left out, seed ${SEED}`, () => {
    const random = new Seeded(SEED + 2);
    const seen = new Map<Reason, number>();
    for (const [payload, trial] of trials(random)) {
      let damaged: Uint8Array = payload;
      for (let round = 0; round < CHANGES / 5; round++) {
        if (round % 4 === 0) damaged = payload;
        const [from, to] = [random.below(damaged.length + 1), random.below(damaged.length + 1)].sort((a, b) => a - b);
        const at = random.below(damaged.length + 1);
        const part = damaged.subarray(from, to);
        damaged = random.chance(0.5)
          ? Buffer.concat([damaged.subarray(0, at), part, damaged.subarray(at)])
          : Buffer.concat([damaged.subarray(0, from), damaged.subarray(to)]);
        const reason = trial.check(damaged.subarray(0, 4 * PAYLOAD_BYTES_MAX));
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
      }
    }
    for (const reason of [NO_REASON, MALFORMED] as const) expect(seen.get(reason)).toBeGreaterThan(500);
  });
});
