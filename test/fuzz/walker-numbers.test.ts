/**
 * Every engine on numbers at the edges of integers and doubles: read where they are wanted, and judged alike where they
 * are not.
 */
import { describe, expect, it } from 'vitest';
import { MALFORMED, NO_REASON } from '../../src/core/verdict.js';
import { BEHIND_FILLER } from '../support/block-texts.js';
import { FUZZ_SUITE, fuzzScale, fuzzSeed } from '../support/fuzz-mode.js';
import { DOUBLE_TEXTS, integerTexts, randomNumberText } from '../support/number-texts.js';
import { pathsInOrder } from '../support/payload-corpus.js';
import { Seeded } from '../support/seeded.js';
import { RANDOM_PATHS } from '../support/walker-comparison.js';
import { WalkerTrial } from '../support/walker-trial.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const SEED = fuzzSeed(44);
const utf8 = new TextEncoder();

const PLACES: readonly ((number: string) => string)[] = [
  (number) => number,
  (number) => ` ${number} `,
  (number) => `[${number}]`,
  (number) => `[1,{"a":${number}}]`,
  (number) => `{"a":${number},"b":{"é":${number}},"mode":${number}}`,
  (number) => `{"unread":${number},"mode":[${number},"x",${number}]}`,
  (number) => `{"a":1,"a":${number},"\\u0061":${number}}`,
  (number) => `{"unread":[[${number}],{"a":${number}}]\n,"c":[0,1,\t${number}\r]}`,
];

describe('a number', FUZZ_SUITE, () => {
  it('at an edge is read exactly or refused, wherever it stands', () => {
    const trial = new WalkerTrial(RANDOM_PATHS, LIMITS);
    const blind = new WalkerTrial([], LIMITS);
    const seen = new Map<number, number>();
    for (const text of [...integerTexts(), ...DOUBLE_TEXTS, ...DOUBLE_TEXTS.map((number) => `-${number}`)]) {
      for (const place of PLACES) {
        const payload = utf8.encode(place(text));
        const reason = trial.check(payload);
        expect(blind.check(payload)).toBe(reason);
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
      }
    }
    for (const reason of [NO_REASON, MALFORMED]) expect(seen.get(reason)).toBeGreaterThan(300);
  });

  it('at an edge is read exactly or refused behind any number of bytes', () => {
    const trial = new WalkerTrial(RANDOM_PATHS, LIMITS);
    const texts = [...integerTexts().filter((_, index) => index % 13 === 0), ...DOUBLE_TEXTS];
    for (const [turn, text] of texts.entries()) {
      for (let length = 0; length < 64; length++) {
        const behind = BEHIND_FILLER[(turn + length) % BEHIND_FILLER.length]!;
        trial.check(utf8.encode(behind(text, length)));
      }
    }
  });

  it(`of any value and spelling is read exactly, many to a payload, seed ${SEED}`, () => {
    const random = new Seeded(SEED);
    const paths = pathsInOrder([[], ...Array.from({ length: 24 }, (_, index) => [index]), [24, 'a'], [24, 'b']]);
    const trial = new WalkerTrial(paths, LIMITS);
    const seen = new Map<number, number>();
    for (let round = 0; round < fuzzScale(800, 20_000); round++) {
      const numbers = Array.from({ length: 26 }, () => randomNumberText(random));
      const last = `{"a":${numbers.pop()},"b":${numbers.pop()}}`;
      const text = `[${[...numbers, last].join(random.chance(0.5) ? ',' : ' ,\n')}]`;
      const reason = trial.check(utf8.encode(random.chance(0.1) ? text.replace(/[0-9]\./, '.') : text));
      seen.set(reason, (seen.get(reason) ?? 0) + 1);
    }
    for (const reason of [NO_REASON, MALFORMED]) expect(seen.get(reason)).toBeGreaterThan(10);
  });
});
