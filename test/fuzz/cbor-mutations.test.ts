/**
 * The CBOR walker on damaged payloads: cut at every byte, with bytes changed, and with parts moved. It says what the
 * decoder says, whatever stands around the payload.
 */
import { describe, expect, it } from 'vitest';
import { orbitDataset } from '../../bench/datasets/orbit.js';
import { decodeJson } from '../../src/codec/json/decode.js';
import type { Value } from '../../src/codec/value.js';
import { MALFORMED, NO_REASON, type Reason, TOO_DEEP } from '../../src/core/verdict.js';
import { AROUND_ITEM, fromHex, WELL_FORMED_ITEMS } from '../support/cbor-bytes.js';
import { FUZZ_SUITE, fuzzScale, fuzzSeed } from '../support/fuzz-mode.js';
import { pathsInOrder, pathsWithin } from '../support/payload-corpus.js';
import { ANY_CBOR, breakCbor, encodeCbor, randomCborValue } from '../support/random-cbor.js';
import { CborTrial } from '../support/random-cbor-trial.js';
import { Seeded } from '../support/seeded.js';
import { RANDOM_PATHS } from '../support/walker-comparison.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 3 };
const PAYLOADS = fuzzScale(400, 4000);
const LONG_PAYLOADS = fuzzScale(20, 200);
const CHANGED_BYTES = fuzzScale(100, 1000);
const SEED = fuzzSeed(51);

/** Heads that mean most, and bytes that begin, continue or break a character of UTF-8. */
const TELLING_BYTES = fromHex(
  '0017181b1f203b405b5f60616278797b7f8081989b9fa0a1a2b8bbbfc0d9e0f4f7f8f9fafbff0a2a4a6a8acaeac3',
);

function orbitValue(index: number): Value {
  const decoded = decodeJson(orbitDataset().record(index).payload, { maxPayloadBytes: 1 << 20, maxDepth: 64 });
  if (!decoded.ok) throw new Error(`record ${index} is no JSON`);
  return decoded.value;
}

/** Payloads, each with the paths that lead somewhere in it. */
function trials(random: Seeded): [Uint8Array, CborTrial][] {
  const shape = { ...ANY_CBOR, wide: 0 };
  const payloads: [Uint8Array, CborTrial][] = [];
  const shared = new CborTrial(RANDOM_PATHS, LIMITS);
  for (const [index, [hex]] of WELL_FORMED_ITEMS.entries()) {
    payloads.push([fromHex(AROUND_ITEM[index % AROUND_ITEM.length]!(hex)), shared]);
  }
  while (payloads.length < PAYLOADS) {
    const payload = encodeCbor(randomCborValue(random, shape), random);
    if (payload.length > 0 && payload.length < 150) payloads.push([payload, shared]);
  }
  for (let index = 0; index < LONG_PAYLOADS; index++) {
    const value = orbitValue(index);
    payloads.push([
      encodeCbor(value, index % 2 === 0 ? random : undefined),
      new CborTrial(pathsInOrder(pathsWithin(value, 6)), LIMITS),
    ]);
  }
  return payloads;
}

describe('a damaged payload', FUZZ_SUITE, () => {
  it(`gives the same reason and slots cut at every byte, seed ${SEED}`, () => {
    const seen = new Map<Reason, number>();
    const payloads = trials(new Seeded(SEED));
    expect(payloads.length).toBeGreaterThan(300);
    for (const [payload, trial] of payloads) {
      expect([NO_REASON, TOO_DEEP, MALFORMED]).toContain(trial.check(payload));
      for (let length = payload.length - 1; length >= 0; length--) {
        const reason = trial.check(payload.subarray(0, length));
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
      }
    }
    // No payload that is cut is one.
    expect(seen.get(NO_REASON) ?? 0).toBe(0);
    expect(seen.get(MALFORMED)).toBeGreaterThan(10_000);
  });

  it(`gives the same reason and slots with bytes changed, seed ${SEED}`, () => {
    const random = new Seeded(SEED + 1);
    const seen = new Map<Reason, number>();
    for (const [payload, trial] of trials(random)) {
      const copy = payload.slice();
      for (let round = 0; round < CHANGED_BYTES * 2; round++) {
        const at = random.below(copy.length);
        const byte = copy[at]!;
        copy[at] = random.chance(0.7)
          ? TELLING_BYTES[random.below(TELLING_BYTES.length)]!
          : byte ^ (1 << random.below(8));
        const reason = trial.check(copy);
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
        copy[at] = byte;
      }
    }
    for (const reason of [NO_REASON, MALFORMED] as const) expect(seen.get(reason)).toBeGreaterThan(2_000);
    expect(seen.get(TOO_DEEP)).toBeGreaterThan(10);
  });

  it(`gives the same reason and slots with parts moved and several damages, seed ${SEED}`, () => {
    const random = new Seeded(SEED + 2);
    const seen = new Map<Reason, number>();
    for (const [payload, trial] of trials(random)) {
      let damaged = payload;
      for (let round = 0; round < CHANGED_BYTES; round++) {
        damaged = round % 4 === 0 ? breakCbor(random, payload) : breakCbor(random, damaged);
        if (damaged.length > 3000) damaged = damaged.subarray(0, 3000);
        const reason = trial.check(damaged);
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
      }
    }
    for (const reason of [NO_REASON, MALFORMED] as const) expect(seen.get(reason)).toBeGreaterThan(500);
  });
});
