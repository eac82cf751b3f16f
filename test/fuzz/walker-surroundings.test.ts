/**
 * A payload is read from its first byte to its last and nothing beside it: every engine gives the same whatever stands
 * around it and at whatever alignment it begins, and writes nowhere.
 */
import { describe, expect, it } from 'vitest';
import { PAYLOAD_BYTES_MAX } from '../../src/core/limits.js';
import { MALFORMED, NO_REASON } from '../../src/core/verdict.js';
import { FUZZ_SUITE, fuzzScale, fuzzSeed } from '../support/fuzz-mode.js';
import { WELL_FORMED_TEXTS } from '../support/json-texts.js';
import { datasetPayloads, shortPayloads } from '../support/payload-corpus.js';
import { Seeded } from '../support/seeded.js';
import { SURROUNDINGS } from '../support/surroundings.js';
import { RANDOM_PATHS } from '../support/walker-comparison.js';
import { WALKER_ENGINES } from '../support/walker-engines.js';
import { WalkerTrial } from '../support/walker-trial.js';

const LIMITS = { maxPayloadBytes: PAYLOAD_BYTES_MAX, maxDepth: 64 };
const ALIGNMENTS = Array.from({ length: 64 }, (_, alignment) => alignment);
const SEED = fuzzSeed(43);
const utf8 = new TextEncoder();

/** Texts that what follows or comes before could end, go on with or change. */
const OPEN_TEXTS: readonly string[] = [
  ['', ' ', '1', '-', '12', '1.', '1.5', '1e', '1e5', '-0', '0', 'tru', 'true', 'n', 'nul', 'null', 'false', 'fals'],
  ['"', '""', '"a', '"a"', '"\\', '"\\"', '"\\"a', '"\\\\"', '"\\u', '"\\u00', '"\\u0041', '"\\u0041"', '"\\ud83d'],
  ['"\\ud83d\\', '"\\ud83d\\u', '"\\ud83d\\ude80"', '[', '[1', '[1,', '[1]', '{', '{"a', '{"a"', '{"a":', '{"a":1'],
  ['{"a":1,', '{"a":1}', '{"a":"\\', '{"a":"x\\"', '{"a":tru', '{"a":-', '{"a":1e', '[[]', '[{}', '{"a":[]', '{"a":{}'],
  ['"x"x', '1 ', ' 1', '[] ', '\\', ']', '}', ',', ':', '"é"', '"🚀"', '{"mode":"safe","a":{"b":{"c":12}}}'],
].flat();

/** In hex: texts that end in the middle of a character, or begin in one. */
const CUT_CHARACTERS: readonly string[] = [
  ['22c3', '22e2', '22e282', '22f0', '22f09f', '22f09f9a', 'c3', '8022', '82ac22', '9a8022', 'bf', '225c', '22c3a9'],
  ['5b22f09f9a80222c22f09f9a', '7b2261223a22e282ac22', '7b22c3', '7b22c3a9223a317d'],
].flat();

describe('what stands around a payload', FUZZ_SUITE, () => {
  it('changes nothing, whatever it is, before and behind', () => {
    const trial = new WalkerTrial(RANDOM_PATHS, LIMITS);
    const payloads = [
      ...[...OPEN_TEXTS, ...WELL_FORMED_TEXTS].map((text) => utf8.encode(text)),
      ...CUT_CHARACTERS.map((hex) => Uint8Array.from(Buffer.from(hex, 'hex'))),
    ];
    const seen = new Set<number>();
    for (const [turn, payload] of payloads.entries()) {
      for (const before of SURROUNDINGS.keys()) {
        for (const after of SURROUNDINGS.keys()) {
          const at = 128 + ((turn * 31 + before * 17 + after * 7) % 64);
          seen.add(trial.check(payload, { at, before, after }));
        }
      }
    }
    expect([...seen].sort()).toEqual([NO_REASON, MALFORMED]);
  });

  it(`changes nothing at any alignment, and is left as it was, seed ${SEED}`, () => {
    const random = new Seeded(SEED);
    const trials = [
      new WalkerTrial(RANDOM_PATHS, LIMITS),
      new WalkerTrial([], LIMITS),
      new WalkerTrial([['a']], LIMITS),
    ];
    const payloads = [...shortPayloads(random, 400, 60, 300), ...datasetPayloads(fuzzScale(6, 60), fuzzScale(2, 20))];
    for (const payload of payloads) {
      for (const alignment of ALIGNMENTS) {
        const length = random.chance(0.5) ? payload.length : random.below(payload.length + 1);
        const placement = {
          at: 64 * (1 + random.below(40)) + alignment,
          before: random.below(SURROUNDINGS.length),
          after: random.below(SURROUNDINGS.length),
        };
        const trial = random.pick(trials);
        trial.check(payload.subarray(0, length), placement);
        expect(trial.isUntouched()).toBe(true);
      }
    }
  });
});

describe('a payload at an end of the memory', FUZZ_SUITE, () => {
  it('is read like any other', () => {
    const trial = new WalkerTrial(RANDOM_PATHS, LIMITS);
    const end = Math.max(...WALKER_ENGINES.map(({ stage }) => stage.length));
    for (const text of [...OPEN_TEXTS, ...WELL_FORMED_TEXTS]) {
      const payload = utf8.encode(text);
      for (const fill of SURROUNDINGS.keys()) {
        trial.check(payload, { at: 0, before: fill, after: fill });
        trial.check(payload, { at: end, before: fill, after: fill });
      }
    }
  });

  it('may fill all of it, or be larger than it', () => {
    const limits = { maxPayloadBytes: 2 * PAYLOAD_BYTES_MAX, maxDepth: 64 };
    const trial = new WalkerTrial(RANDOM_PATHS, limits);
    const document = (bytes: number) => utf8.encode(`{"a":"${'\\n'.repeat((bytes - 20) >> 1)}${'é'}","mode":[1]}`);
    for (const { stage } of WALKER_ENGINES) {
      for (const length of [stage.length - 1, stage.length, stage.length + 1, stage.length + 64]) {
        const payload = new Uint8Array(length).fill(0x20);
        payload.set(document(length - 8));
        expect(trial.check(payload)).toBe(NO_REASON);
        payload[length - 1] = 0x7d;
        expect(trial.check(payload)).toBe(MALFORMED);
      }
    }
  });
});
