/** A second opinion on the regex engine: RE2 must agree on ASCII patterns and subjects, where the two languages do. */
import { RE2 } from 're2-wasm';
import { expect, test } from 'vitest';
import { rustRegexEngine } from '../../src/filter/rust-regex.js';
import { compileText, TEXT_YES } from '../../src/filter/text.js';
import { loadRegexModule } from '../../workers/regex-module.js';
import { Seeded } from '../support/seeded.js';

const engine = rustRegexEngine(loadRegexModule());
const random = new Seeded(1_234);

const ATOMS = [
  'a',
  'b',
  'c',
  'B',
  '0',
  '7',
  ' ',
  '_',
  '.',
  '\\d',
  '\\w',
  '\\W',
  '\\D',
  '\\.',
  '[ab]',
  '[^a]',
  '[a-c0-9]',
  '[^\\d_]',
];
const EDGES = ['^', '$', '\\b', '\\B'];
const REPEATS = ['', '', '', '', '*', '+', '?', '{2}', '{1,3}', '*?', '+?'];

function randomPattern(depth: number): string {
  const pieces = Array.from({ length: 1 + random.below(4) }, () => {
    if (random.chance(0.12)) return random.pick(EDGES);
    const atom = depth > 0 && random.chance(0.35) ? `(?:${randomPattern(depth - 1)})` : random.pick(ATOMS);
    return atom + random.pick(REPEATS);
  });
  const rest = random.chance(0.25) ? `|${depth > 0 ? randomPattern(depth - 1) : random.pick(ATOMS)}` : '';
  return pieces.join('') + rest;
}

function randomSubject(): string {
  return Array.from({ length: random.below(14) }, () => random.pick([...'aabbcAB07_ .-\n'])).join('');
}

test('both engines find and miss the same matches', () => {
  let found = 0;
  let missed = 0;
  for (let round = 0; round < 300; round++) {
    const pattern = randomPattern(2);
    const caseInsensitive = random.chance(0.3);
    const matcher = compileText('regex', pattern, caseInsensitive, engine);
    const opinion = new RE2(pattern, caseInsensitive ? 'iu' : 'u');
    for (let i = 0; i < 25; i++) {
      const subject = randomSubject();
      const utf8 = new TextEncoder().encode(subject);
      const matches = matcher.match(utf8, 0, utf8.length) === TEXT_YES;
      expect(matches, `${pattern} on ${JSON.stringify(subject)}`).toBe(opinion.test(subject));
      if (matches) found++;
      else missed++;
    }
  }
  expect(Math.min(found, missed)).toBeGreaterThan(1_000);
});
