/**
 * The size of regex programs: stated check values, what is refused before compiling, and that the walk reads every
 * pattern the engine accepts as the engine reads it (shown by sizes that have to add up around it).
 */
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/core/error-codes.js';
import { PATTERN_NESTING_MAX, REGEX_PROGRAM_BYTES_MAX } from '../../src/core/limits.js';
import { refuseIn } from '../../src/core/text-place.js';
import { regexProgramBytes } from '../../src/filter/pattern-size.js';
import { problemFrom } from '../support/refused.js';
import { cachedRegexEngine } from '../support/regex-engine.js';
import { Seeded } from '../support/seeded.js';

function size(pattern: string, caseInsensitive = false): number {
  return regexProgramBytes(pattern, caseInsensitive, refuseIn(pattern));
}

function refusal(pattern: string): Problem {
  return problemFrom(() => size(pattern));
}

function engineAccepts(pattern: string): boolean {
  try {
    cachedRegexEngine.compile(pattern, false);
    return true;
  } catch {
    return false;
  }
}

function nested(groups: number, brackets: number): string {
  return '('.repeat(groups) + '[a'.repeat(brackets) + ']'.repeat(brackets) + ')'.repeat(groups);
}

describe('program size', () => {
  it.each([
    ['', 0],
    ['a', 32],
    ['abc', 96],
    ['é', 64],
    ['中', 96],
    ['🚢', 128],
    ['\\x41\\u{1F6A2}\\n\\.', 32 + 128 + 32 + 32],
    ['.', 1_000],
    ['[ab]', 72],
    ['[a-cx]', 80],
    ['[^a]', 1_000],
    ['[éà]', 3 * 32 + 2 * 32 + 8],
    ['[а-я]', 4 * 32 + 2 * 32 + 8],
    ['(a)', 96],
    ['(?:a)', 32],
    ['a|b', 32 + 32 + 64 + 8],
    ['a?', 32 + 40 + 32],
    ['a*', 32 + 40],
    ['a+?', 32 + 40],
    ['a{3}', 96],
    ['a{1,2}', 32 + 32 + 40 + 32],
    ['a{2,}', 64 + 40],
    ['a{0}', 0],
    ['(?:ab){2}{3}', 6 * 64],
    ['^$', 64],
    ['\\b{1000}', 32],
    ['x[?(]', 32 + 80],
    ['[]a]', 80],
    ['[^]a-]', 1_000],
    ['[-]]', 72 + 32],
    ['[a--b]', 72 + 72],
    ['[[:alpha:]]', 80],
    ['\\(', 32],
  ])('of %j is %i bytes', (pattern, bytes) => {
    const counted = size(pattern);
    // Complements of some ASCII differ only by how the first byte range is cut.
    if (bytes === 1_000) expect(Math.abs(counted - bytes)).toBeLessThan(100);
    else expect(counted).toBe(bytes);
  });

  it('ignoring case counts both cases and the special folds', () => {
    expect(size('a', true)).toBe(80);
    expect(size('[a-z]', true)).toBe(7 * 32 + 2 * 32 + 4 * 4);
    expect(size('k', true)).toBe(5 * 32 + 2 * 32 + 3 * 4);
    expect(size('1', true)).toBe(32);
  });

  it('stands at the bound for a{8192} and passes it one further', () => {
    expect(size('a{8192}')).toBe(REGEX_PROGRAM_BYTES_MAX);
    expect(size('a{8193}')).toBeGreaterThan(REGEX_PROGRAM_BYTES_MAX);
    expect(size('\\w{5}')).toBe(251_580);
    expect(size('\\w{90}')).toBeGreaterThan(REGEX_PROGRAM_BYTES_MAX);
    expect(size('(?:a{1000}){1000}')).toBe(32_000_000);
  });

  it('stays a number for absurd repetitions', () => {
    expect(size('(((a{999999999}){999999999}){999999999}){999999999}')).toBe(Number.MAX_SAFE_INTEGER);
    expect(size(`a{${'9'.repeat(400)}}`)).toBe(Number.MAX_SAFE_INTEGER);
    expect(size(`(?:){${'9'.repeat(400)},}`)).toBeLessThan(100);
  });

  it('counts both sides of a set operation, and the parts of nested classes', () => {
    expect(size('[\\w&&[^\\d]]')).toBeGreaterThan(size('\\w'));
    expect(size('[[a-z][0-9]_]')).toBe(size('[a-z0-9_]'));
    expect(size('[\\x{0}-\\x{10FFFF}&&[aéи中]]')).toBeGreaterThan(size('[aéи中]'));
  });

  it('knows the large properties by every way to write their names', () => {
    const letter = size('\\pL');
    expect(letter).toBeGreaterThan(40_000);
    for (const name of [
      '\\p{L}',
      '\\p{Letter}',
      '\\p{letter}',
      '\\p{gc=L}',
      '\\p{General_Category:Letter}',
      '\\p{Is_L}',
      '\\p{ l }',
    ]) {
      expect(size(name)).toBe(letter);
    }
    for (const name of ['\\PL', '\\p{^L}', '\\P{Letter}', '\\p{gc!=L}']) expect(size(name)).toBe(letter + 11_000);
    expect(size('\\p{Greek}')).toBeLessThan(6_000);
    expect(size('\\p{Greek}', true)).toBe(2 * size('\\p{Greek}'));
  });
});

describe('refused before compiling', () => {
  it.each([
    ['x(?=y)', 1],
    ['(?i)x', 0],
    ['é(?<n>x)', 2],
    ['[(](?P<n>x)', 3],
    ['\\\\(?!x)', 2],
    ['[[a]](?!x)', 5],
    ['a|(b(?#c))', 4],
    [')(?i)', 1],
    ['(x)\\1', 3],
    ['\\\\\\9', 2],
    ['[\\1]', 1],
    ['\\k<n>', 0],
  ])('%j is not portable, at byte %i', (pattern, position) => {
    expect(refusal(pattern)).toMatchObject({ code: 'invalid_request', position });
    expect(refusal(pattern).detail).toMatch(/portable/);
  });

  it.each(['[(?=x]', '\\(?=x', '[\\](?=x]', '(?:a)', '(a)?', '\\\\1', '[[(?i)]]', '[]-](?:x)', '\\0', '\\(\\?i\\)'])(
    '%j is portable',
    (pattern) => {
      expect(size(pattern)).toBeGreaterThan(0);
    },
  );

  it('nesting of groups and class brackets together is bounded', () => {
    for (const [groups, brackets] of [
      [PATTERN_NESTING_MAX, 0],
      [0, PATTERN_NESTING_MAX],
      [40, 24],
    ] as const) {
      expect(size(nested(groups, brackets))).toBeGreaterThan(0);
      expect(engineAccepts(nested(groups, brackets))).toBe(true);
    }
    for (const [groups, brackets] of [
      [65, 0],
      [0, 65],
      [41, 24],
      [500, 0],
    ] as const) {
      expect(refusal(nested(groups, brackets))).toMatchObject({ limit: PATTERN_NESTING_MAX, given: 65 });
    }
  });
});

describe('the walk', () => {
  const pieces = [
    'a',
    'é',
    '🚢',
    '.',
    '^',
    '$',
    '|',
    '*',
    '+',
    '?',
    '{2}',
    '{1,}',
    '{ 1 , 2 }',
    '(',
    ')',
    '(?:',
    '[',
    ']',
    '[^',
    '-',
    '&&',
    '--',
    '~~',
    '\\',
    '\\]',
    '\\[',
    '\\(',
    '\\-',
    '\\d',
    '\\W',
    '\\pL',
    '\\P{Greek}',
    '\\p{^Lu}',
    '\\x41',
    '\\x{1F6A2}',
    '\\u00e9',
    '\\b',
    '\\b{start}',
    '\\B',
    '\\A',
    '[:alpha:]',
    '[[:^digit:]]',
    ':',
    '{',
    '}',
    ',',
    '#',
    ' ',
    '\\n',
    '\\.',
    '\\<',
  ];

  it('reads every pattern that the engine accepts to its end and no further', () => {
    const seeded = new Seeded(3);
    let accepted = 0;
    for (let round = 0; round < 2_500; round += 1) {
      const pattern = Array.from({ length: 1 + seeded.below(7) }, () => seeded.pick(pieces)).join('');
      if (!engineAccepts(pattern)) continue;
      accepted += 1;
      const bytes = size(pattern);
      expect([pattern, size(`(?:${pattern})z{9}`)]).toEqual([pattern, bytes + 9 * 32]);
      // Twice the pattern, with a byte in each copy so that it is never of empty width.
      expect([pattern, size(`(?:z(?:${pattern})){2}`)]).toEqual([pattern, 2 * (bytes + 32)]);
    }
    expect(accepted).toBeGreaterThan(250);
  });

  it('ends on any text, with a number or a refusal that has a place', () => {
    const seeded = new Seeded(4);
    for (let round = 0; round < 20_000; round += 1) {
      const pattern = Array.from({ length: seeded.below(12) }, () =>
        seeded.chance(0.5) ? seeded.pick(pieces) : String.fromCodePoint(1 + seeded.below(0x300)),
      ).join('');
      for (const caseInsensitive of [false, true]) {
        try {
          expect(size(pattern, caseInsensitive)).toBeGreaterThanOrEqual(0);
        } catch (thrown) {
          const problem = problemFrom(() => {
            throw thrown;
          });
          expect(problem.position).toBeLessThan(Buffer.byteLength(pattern));
        }
      }
    }
  });
});
