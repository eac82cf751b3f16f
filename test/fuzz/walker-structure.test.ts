/**
 * Every engine on the structure of payloads: nesting up to its limit and beyond with broken syntax around, repeated and
 * nearly equal keys, indexes, and containers of thousands.
 */
import { describe, expect, it } from 'vitest';
import type { Path } from '../../src/core/path.js';
import { MALFORMED, NO_REASON, TOO_DEEP, TOO_LARGE } from '../../src/core/verdict.js';
import { FUZZ_SUITE, fuzzScale, fuzzSeed } from '../support/fuzz-mode.js';
import { pathsInOrder } from '../support/payload-corpus.js';
import { breakJson, type DocumentShape, randomJson, randomScalar } from '../support/random-json.js';
import { Seeded } from '../support/seeded.js';
import { WalkerTrial } from '../support/walker-trial.js';

const PAYLOAD_BYTES = 1 << 20;
const LIMITS = { maxPayloadBytes: PAYLOAD_BYTES, maxDepth: 64 };
const SEED = fuzzSeed(45);
const utf8 = new TextEncoder();

/** `depth` containers around `inside`, each an object where `isObject` says so. */
function nested(depth: number, inside: string, isObject: (level: number) => boolean): string {
  let open = '';
  let close = '';
  for (let level = 0; level < depth; level++) {
    open += isObject(level) ? '{"a":' : '[';
    close = (isObject(level) ? '}' : ']') + close;
  }
  return open + inside + close;
}

const SHAPES: readonly ((level: number) => boolean)[] = [
  () => false,
  () => true,
  (level) => level % 2 === 0,
  (level) => level % 3 === 0,
  (level) => level % 64 >= 32,
  (level) => ((level * 2654435761) >>> 15) % 2 === 0,
];

/** Ways to break a nested text, or to dress it. */
const DAMAGES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => ` ${text} `,
  (text) => text.slice(0, -1),
  (text) => `${text}]`,
  (text) => `${text}}`,
  (text) => text.slice(0, text.length >> 1),
  (text) => text.slice(text.length >> 1),
  (text) => text.replace(/[\]}]/, (close) => (close === ']' ? '}' : ']')),
  (text) => text.replace(/.$/, (close) => (close === ']' ? '}' : ']')),
  (text) => `x${text}`,
  (text) => `"${text}`,
  (text) => `"\\"${text}`,
  (text) => `"a"${text}`,
  (text) => `]]]${text}`,
  (text) => `[[[]]]}}}${text}`,
  (text) => `{"[[[":"]]]{{{",${text}`,
  (text) => `["[[[{{{\\"[[[",${text}]`,
  (text) => `[${text},${text}]`,
  (text) => `[${text}${text}]`,
  (text) => `[${text},"unterminated [[[[`,
  (text) => `\u0000${text}`,
  (text) => `[1e999,${text}]`,
  (text) => `["\\x",${text}]`,
  (text) => `${text.replaceAll('a', 'é')}`,
  (text) => `${text.replaceAll('a', '\u0001')}`,
];

describe('nesting', FUZZ_SUITE, () => {
  const depths = [1, 2, 3, 8, 31, 32, 33, 62, 63, 64, 65, 66, 95, 96, 125, 126, 127, 128, 129, 130, 200, 255, 256, 257];

  it.each([0, 1, 2, 31, 63, 64, 65, 126, 127])(
    'up to a limit of %d is told from more, whatever is broken',
    (maxDepth) => {
      const limits = { maxPayloadBytes: PAYLOAD_BYTES, maxDepth };
      const deep = (length: number): Path => Array.from({ length }, (_, level) => (level % 2 === 0 ? 'a' : 0));
      const trials = [
        new WalkerTrial([], limits),
        new WalkerTrial([['a']], limits),
        new WalkerTrial(pathsInOrder([[], ['a', 'a', 'a'], [0, 0, 0], [0], deep(16), [0, 'a'], ['a', 0, 'a']]), limits),
      ];
      const wanted = new Set(depths.concat([maxDepth - 2, maxDepth - 1, maxDepth, maxDepth + 1, maxDepth + 2]));
      const seen = new Set<number>();
      let turn = 0;
      for (const depth of wanted) {
        if (depth < 0) continue;
        for (const shape of SHAPES) {
          for (const damage of DAMAGES) {
            const inside = ['1', '', '"]}"', '[]', '{}', 'tru'][turn++ % 6]!;
            const payload = utf8.encode(damage(nested(depth, inside, shape)));
            seen.add(trials[turn % trials.length]!.check(payload));
          }
        }
      }
      expect(seen).toContain(TOO_DEEP);
      expect(seen).toContain(MALFORMED);
      expect(seen).toContain(NO_REASON);
    },
  );

  it('that goes up and down is counted at its deepest, not in sum', () => {
    const limits = { maxPayloadBytes: PAYLOAD_BYTES, maxDepth: 5 };
    const trial = new WalkerTrial([['a', 'a', 0]], limits);
    const random = new Seeded(SEED);
    const seen = new Map<number, number>();
    for (let round = 0; round < fuzzScale(6000, 100_000); round++) {
      let text = '';
      for (let length = random.below(120); length > 0; length--) text += random.pick([...'[[[]]]{}{}"",:1 a\\']);
      const reason = trial.check(utf8.encode(text));
      seen.set(reason, (seen.get(reason) ?? 0) + 1);
    }
    for (const reason of [MALFORMED, TOO_DEEP]) expect(seen.get(reason)).toBeGreaterThan(100);
  });
});

describe('keys', FUZZ_SUITE, () => {
  const keys = ['a', 'ab', 'abc', 'b', 'ba', 'é', 'éa', '', 'a"', 'a\\'];
  const shape: DocumentShape = { keys, depth: 4, scalar: randomScalar };

  it(`that repeat at any level, and are prefixes of each other, keep the last value, seed ${SEED}`, () => {
    const random = new Seeded(SEED);
    const steps: (string | number)[] = [...keys, 0, 1];
    const limits = { maxPayloadBytes: PAYLOAD_BYTES, maxDepth: 4 };
    const trials = Array.from({ length: 12 }, (_, index) => {
      const paths: Path[] = [];
      for (let count = 0; count < 3 * index; count++) {
        paths.push(Array.from({ length: random.below(5) }, () => random.pick(steps)));
      }
      return new WalkerTrial(pathsInOrder(paths), limits);
    });
    for (let round = 0; round < fuzzScale(6000, 100_000); round++) {
      const payload = utf8.encode(randomJson(random, shape));
      const trial = random.pick(trials);
      trial.check(random.chance(0.2) ? breakJson(random, payload) : payload);
    }
  });

  it('that differ from a wanted one in one byte are not it', () => {
    const wanted = ['k', 'key', 'keylong8', 'keyof16bytes....', `keyof${'x'.repeat(60)}`, 'naïve', '🛰🛰', 'q"uote'];
    const paths = pathsInOrder([...wanted.map((key) => [key]), ['keylong8', 'keylong8'], ['key', 1]]);
    const trial = new WalkerTrial(paths, LIMITS);
    for (const key of wanted) {
      const spelled = JSON.stringify(key).slice(1, -1);
      for (let at = 0; at <= spelled.length; at++) {
        const others = [
          spelled.slice(0, at) + spelled.slice(at + 1),
          `${spelled.slice(0, at)}_${spelled.slice(at + 1)}`,
          `${spelled.slice(0, at)}\\u005f${spelled.slice(at)}`,
          `${spelled.slice(0, at)}\\u0000${spelled.slice(at)}`,
          spelled.slice(0, at),
        ];
        for (const other of others) {
          for (const [first, second] of [
            [spelled, other],
            [other, spelled],
          ] as const) {
            trial.check(utf8.encode(`{"${first}":1,"${second}":{"${second}":[true,"${first}"]}}`));
          }
        }
      }
    }
  });

  it('of a thousand are found among thousands, in any order', () => {
    const random = new Seeded(46);
    for (const [wide, wanted] of [
      [70, 64],
      [300, 3],
      [2000, 1000],
      [20_000, 40],
      [3000, 3000],
    ] as const) {
      const names = Array.from({ length: wide }, (_, index) => `k${index}`);
      const paths = pathsInOrder(names.slice(0, wanted).map((name) => [name]));
      const trial = new WalkerTrial(paths, LIMITS);
      for (let round = 0; round < 2; round++) {
        const members = names.map((name) => `"${name}":${randomScalar(random)}`);
        for (let at = members.length - 1; at > 0; at--) {
          const other = random.below(at + 1);
          [members[at], members[other]] = [members[other]!, members[at]!];
        }
        expect(trial.check(utf8.encode(`{${members.join()}}`))).toBe(NO_REASON);
        expect(trial.check(utf8.encode(`{${members.join()}`))).toBe(MALFORMED);
      }
    }
  });
});

describe('indexes', FUZZ_SUITE, () => {
  const last = 2 ** 32 - 1;
  const paths = pathsInOrder([
    ...[0, 1, 2, 7, 31, 32, 63, 64, 65, 999, last].flatMap((index): Path[] => [[index], ['a', index], [index, 0]]),
    ['a', 0, 'a'],
    ['a', '0'],
    ['0'],
    [1, 'a', 2],
    [2, 2, 2],
  ]);

  it('are counted from zero in arrays of any length and nowhere else', () => {
    const random = new Seeded(47);
    const trial = new WalkerTrial(paths, LIMITS);
    for (const length of [0, 1, 2, 3, 8, 31, 32, 33, 63, 64, 65, 66, 127, 128, 1000, 1001]) {
      for (const item of ['1', '[]', '{}', '"a,b]"', '[1,2,[3,4,5]]', '{"a":[1,2,3],"0":[]}', 'null', '"\\",\\""']) {
        const items = Array.from({ length }, () => (random.chance(0.8) ? item : randomScalar(random)));
        for (const text of [
          `[${items.join()}]`,
          `{"a":[${items.join(' , ')}]}`,
          `{"0":[${items.join()}],"a":{"0":1}}`,
        ]) {
          trial.check(utf8.encode(text));
        }
      }
    }
  });

  it(`are found in random arrays, seed ${SEED}`, () => {
    const random = new Seeded(SEED);
    const trial = new WalkerTrial(paths, { maxPayloadBytes: 2000, maxDepth: 3 });
    const shape: DocumentShape = { keys: ['a', '0', '1'], depth: 3, scalar: randomScalar };
    const seen = new Set<number>();
    for (let round = 0; round < fuzzScale(4000, 60_000); round++) {
      const items = Array.from({ length: random.below(12) }, () => randomJson(random, shape));
      const text = random.chance(0.5) ? `[${items.join()}]` : `{"a":[${items.join()}],"\\u0061":[${items[0] ?? ''}]}`;
      const payload = utf8.encode(text);
      seen.add(trial.check(random.chance(0.2) ? breakJson(random, payload) : payload));
    }
    expect([...seen].sort()).toEqual([NO_REASON, MALFORMED, TOO_LARGE, TOO_DEEP]);
  });
});
