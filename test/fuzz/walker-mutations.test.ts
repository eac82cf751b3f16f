/**
 * Every engine on damaged payloads: cut at every byte, and with every byte changed. All engines agree on each of them,
 * and with the decoder on each of the corpora's cuts and on a part of the rest, or on all of it in the long mode.
 */
import { describe, expect, it } from 'vitest';
import { decodeJson } from '../../src/codec/json/decode.js';
import { MALFORMED, NO_REASON, TOO_DEEP } from '../../src/core/verdict.js';
import { FUZZ_SUITE, fuzzScale, fuzzSeed, isLongFuzz } from '../support/fuzz-mode.js';
import { corpusPayloads, datasetPayloads, pathsWithin, shortPayloads } from '../support/payload-corpus.js';
import { Seeded } from '../support/seeded.js';
import { RANDOM_PATHS } from '../support/walker-comparison.js';
import { WalkerTrial } from '../support/walker-trial.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const CUT_WHOLLY_BYTES_MAX = 4096;
const SAMPLED_CUTS = 500;
const CHANGED_PAYLOADS = 500;
const CHANGED_BYTES_MAX = 256;
const CHANGED_WHOLLY_BYTES_MAX = 64;
const SEED = fuzzSeed(41);

/** Bytes that mean something to JSON or begin, continue or break a character of UTF-8. */
const TELLING_BYTES: ReadonlySet<number> = new Set(
  [...'\u0000\t\u001f "\\/+-.,:019eEu[]{}tfn\u007f\u0080\u00bf\u00c0\u00c3\u00e0\u00ed\u00f0\u00f4\u00f5\u00ff'].map(
    (character) => character.charCodeAt(0),
  ),
);

/** A trial of what `payload` holds, or of what random documents hold where it cannot be read. */
function trialOf(payload: Uint8Array): WalkerTrial {
  const decoded = decodeJson(payload, LIMITS);
  return new WalkerTrial(decoded.ok ? pathsWithin(decoded.value, 6) : RANDOM_PATHS, LIMITS);
}

/** Cuts `payload` before every byte, and asks the decoder about one cut in `decodeEvery`. */
function cutEverywhere(payload: Uint8Array, decodeEvery: number): void {
  const trial = trialOf(payload);
  for (let length = payload.length; length >= 0; length--) {
    const cut = payload.subarray(0, length);
    if (length % decodeEvery === 0) trial.check(cut);
    else trial.checkAgreement(cut);
  }
}

describe('a payload cut short', FUZZ_SUITE, () => {
  it('gives the same reason and slots at every byte of every corpus payload up to 4 KiB', () => {
    const payloads = corpusPayloads().filter(({ length }) => length <= CUT_WHOLLY_BYTES_MAX);
    expect(payloads.length).toBeGreaterThan(300);
    for (const payload of payloads) cutEverywhere(payload, 1);
  });

  it('gives the same reason and slots at every byte of dataset payloads up to 4 KiB', () => {
    const payloads = datasetPayloads(fuzzScale(40, 400), fuzzScale(60, 329));
    const short = payloads.filter(({ length }) => length <= CUT_WHOLLY_BYTES_MAX);
    expect(short.length).toBeGreaterThan(40);
    for (const payload of short) cutEverywhere(payload, fuzzScale(8, 1));
  });

  it(`gives the same reason and slots at ${SAMPLED_CUTS} bytes of longer ones, seed ${SEED}`, () => {
    const random = new Seeded(SEED);
    const payloads = [...corpusPayloads(), ...datasetPayloads(0, fuzzScale(40, 329))];
    const long = payloads.filter(({ length }) => length > CUT_WHOLLY_BYTES_MAX);
    expect(long.length).toBeGreaterThan(10);
    for (const payload of long) {
      const trial = trialOf(payload);
      // Decoding the largest again and again would take minutes.
      const decodeEvery = payload.length > 100_000 || !isLongFuzz ? 25 : 1;
      for (let cut = 0; cut < SAMPLED_CUTS; cut++) {
        const shortened = payload.subarray(0, random.below(payload.length + 1));
        if (cut % decodeEvery === 0) trial.check(shortened);
        else trial.checkAgreement(shortened);
      }
    }
  });
});

describe('a payload with one byte changed', FUZZ_SUITE, () => {
  // The short mode leaves out of long payloads most of the bytes that no rule tells from their neighbours.
  it(`gives the same reason and slots for every byte of ${CHANGED_PAYLOADS} payloads, seed ${SEED}`, () => {
    const random = new Seeded(SEED);
    const payloads = shortPayloads(random, CHANGED_PAYLOADS, 70, CHANGED_BYTES_MAX);
    expect(payloads).toHaveLength(CHANGED_PAYLOADS);
    const decodeEvery = fuzzScale(61, 1);
    const seen = new Map<number, number>();
    let turn = 0;
    for (const payload of payloads) {
      const trial = trialOf(payload);
      const isSparse = !isLongFuzz && payload.length > CHANGED_WHOLLY_BYTES_MAX;
      for (let at = 0; at < payload.length; at++) {
        trial.place(payload);
        for (let byte = 0; byte < 256; byte++) {
          if (byte === payload[at] || (isSparse && byte % 8 !== at % 8 && !TELLING_BYTES.has(byte))) continue;
          trial.setByte(at, byte);
          const reason = turn++ % decodeEvery === 0 ? trial.checkPlaced() : trial.checkPlacedAgreement();
          seen.set(reason, (seen.get(reason) ?? 0) + 1);
        }
      }
    }
    for (const reason of [NO_REASON, MALFORMED]) expect(seen.get(reason)).toBeGreaterThan(100_000);
  });

  it(`gives the same reason and slots for random bytes of dataset payloads, seed ${SEED}`, () => {
    const random = new Seeded(SEED + 1);
    const tight = { maxPayloadBytes: 1 << 20, maxDepth: 3 };
    const seen = new Set<number>();
    for (const payload of datasetPayloads(fuzzScale(30, 300), fuzzScale(30, 329))) {
      const trials = [trialOf(payload), new WalkerTrial(RANDOM_PATHS, tight)];
      for (let change = 0; change < fuzzScale(60, 600); change++) {
        const changed = payload.slice();
        changed[random.below(changed.length)] = random.below(256);
        const trial = random.pick(trials);
        seen.add(change % fuzzScale(10, 1) === 0 ? trial.check(changed) : trial.checkAgreement(changed));
      }
    }
    expect([...seen].sort()).toEqual([NO_REASON, MALFORMED, TOO_DEEP]);
  });
});
