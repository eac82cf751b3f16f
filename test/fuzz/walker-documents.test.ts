/**
 * Every engine on random documents of one block and of many, damaged and whole, under several lists of paths and limits
 * that take turns; and on payloads made to take long.
 */
import { describe, expect, it } from 'vitest';
import { MALFORMED, NO_REASON, TOO_DEEP, TOO_LARGE } from '../../src/core/verdict.js';
import { FUZZ_SUITE, fuzzScale, fuzzSeed } from '../support/fuzz-mode.js';
import { AROUND, MALFORMED_TEXTS, NOT_UTF8, WELL_FORMED_TEXTS } from '../support/json-texts.js';
import { ANY_DOCUMENT, breakJson, RANDOM_KEYS, randomJson } from '../support/random-json.js';
import { Seeded } from '../support/seeded.js';
import { RANDOM_PATHS } from '../support/walker-comparison.js';
import { WALKER_ENGINES } from '../support/walker-engines.js';
import { WalkerTrial } from '../support/walker-trial.js';
import { beginWatched, endWatched } from '../support/watchdog.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const SEED = fuzzSeed(48);
const utf8 = new TextEncoder();

describe('documents', FUZZ_SUITE, () => {
  it('that are chosen give the same values and reasons, wherever they stand', () => {
    const trials = [new WalkerTrial(RANDOM_PATHS, LIMITS), new WalkerTrial([], LIMITS)];
    for (const text of [...WELL_FORMED_TEXTS, ...MALFORMED_TEXTS]) {
      for (const around of AROUND) for (const trial of trials) trial.check(utf8.encode(around(text)));
    }
    for (const hex of NOT_UTF8) for (const trial of trials) trial.check(Uint8Array.from(Buffer.from(hex, 'hex')));
  });

  it(`that are random give the same values and reasons, seed ${SEED}`, () => {
    const random = new Seeded(SEED);
    const trials = [
      new WalkerTrial(RANDOM_PATHS, { maxPayloadBytes: 300, maxDepth: 3 }),
      new WalkerTrial(RANDOM_PATHS, LIMITS),
      new WalkerTrial([['a', 'b', 'c'], ['mode']], { maxPayloadBytes: 2000, maxDepth: 4 }),
      new WalkerTrial([[]], LIMITS),
      new WalkerTrial([], { maxPayloadBytes: 1000, maxDepth: 2 }),
      new WalkerTrial(
        [...RANDOM_KEYS].sort().map((key) => [key]),
        LIMITS,
      ),
    ];
    const seen = new Map<number, number>();
    for (let round = 0; round < fuzzScale(40_000, 600_000); round++) {
      const shape = { ...ANY_DOCUMENT, depth: 1 + random.below(7) };
      let payload = utf8.encode(randomJson(random, shape));
      for (let damages = random.pick([0, 0, 0, 1, 1, 2]); damages > 0; damages--) {
        payload = breakJson(random, payload) as Uint8Array<ArrayBuffer>;
      }
      const reason = random.pick(trials).check(payload);
      seen.set(reason, (seen.get(reason) ?? 0) + 1);
    }
    for (const reason of [NO_REASON, MALFORMED, TOO_LARGE, TOO_DEEP]) expect(seen.get(reason)).toBeGreaterThan(500);
  });

  it(`that are bytes of no sense give the same reasons, seed ${SEED}`, () => {
    const random = new Seeded(SEED + 1);
    const trial = new WalkerTrial(RANDOM_PATHS, { maxPayloadBytes: 1 << 20, maxDepth: 6 });
    const alphabets = ['"\\u00d8n{}[]:,1e-. at\n', '{}[]"",:', '"\\', '0123456789+-.eE,[]', 'truefalsn, []'].map(
      (text) => [...utf8.encode(text)],
    );
    alphabets.push(Array.from({ length: 256 }, (_, byte) => byte));
    for (let round = 0; round < fuzzScale(30_000, 1_000_000); round++) {
      const alphabet = random.pick(alphabets);
      const open = random.pick(['', '"', '{"a":', '[', '{"a":"', '{"']);
      const inside = Array.from({ length: random.below(random.chance(0.8) ? 12 : 200) }, () => random.pick(alphabet));
      const close = random.pick(['', '"', '}', ']', '"}', '":1}']);
      trial.check(Uint8Array.from([...utf8.encode(open), ...inside, ...utf8.encode(close)]));
    }
  });
});

describe('a payload of the largest size', FUZZ_SUITE, () => {
  const bytes = LIMITS.maxPayloadBytes;
  const fill = (open: string, piece: string, close: string) =>
    open + piece.repeat(Math.floor((bytes - open.length - close.length) / piece.length)) + close;
  /** An engine walks some 100 MB/s and more; this is what anything but linear time would be far above. */
  const WALK_MS_MAX = 1000;

  const texts: Readonly<Record<string, string>> = {
    backslashes: fill('"', '\\\\', '"'),
    'backslashes that never end': fill('"', '\\\\', ''),
    'escaped quotes': fill('{"a":"', '\\"', '"}'),
    'surrogate escapes': fill('["', '\\ud83d\\ude80', '"]'),
    quotes: fill('', '"', ''),
    'empty strings': fill('[""', ',""', ']'),
    'open brackets': fill('', '[', ''),
    'closed brackets': fill('', ']', ''),
    'empty arrays': fill('[[]', ',[]', ']'),
    'the same key': fill('{"a":{"b":{"c":1}}', ',"a":{"b":{"c":1}}', '}'),
    'the same escaped key': fill('{"\\u0061":[1]', ',"\\u0061":[1]', '}'),
    'keys of one letter': fill('{"x":1', ',"x":1', '}'),
    'one key': fill('{"', 'k', '":1}'),
    'one key of escapes': fill('{"', '\\u0061', '":1}'),
    digits: fill('[', '1', ']'),
    'digits of a wanted number': fill('{"a":0.', '1', '}'),
    'digits of an exponent': fill('{"a":1e', '0', '}'),
    'long numbers': fill('[1.7976931348623157e308', ',1.7976931348623157e308', ']'),
    'numbers that may overflow': fill('[1', `,${'9'.repeat(300)}`, ']'),
    minuses: fill('', '-', ''),
    words: fill('[true', ',false,null', ']'),
    'words in a row': fill('', 'true', ''),
    spaces: fill('', ' ', ''),
    'spaces around a value': fill('1', '\n', ' '),
    commas: fill('[', ',', ']'),
    colons: fill('{', ':', '}'),
    'characters of three bytes': `"${'€'.repeat((bytes - 2) / 3)}"`,
    'characters cut short': `"${'é'.repeat((bytes - 3) / 2)}`,
    'control characters': fill('"', '\u0001', '"'),
    zeros: fill('', '\u0000', ''),
  };

  it.each(Object.keys(texts))('full of %s is judged in time that grows with its bytes', (name) => {
    const payload = utf8.encode(texts[name]!);
    const paths = RANDOM_PATHS.filter((path) => path.length > 0);
    new WalkerTrial(paths, LIMITS).check(payload);
    for (const engine of WALKER_ENGINES) {
      const walker = engine.makeWalker(paths, LIMITS);
      engine.stage.set(payload);
      beginWatched(engine.name, payload);
      // Processor time: other processes may keep this one waiting.
      const { user } = process.cpuUsage();
      walker.walk(engine.stage, 0, payload.length);
      const tookMs = (process.cpuUsage().user - user) / 1000;
      endWatched();
      expect(tookMs, engine.name).toBeLessThan(WALK_MS_MAX);
    }
  });
});
