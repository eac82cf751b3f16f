/** Text matchers against obvious string code: literals, globs, case, bounds. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { REGEX_SUBJECT_BYTES_MAX } from '../../src/core/limits.js';
import type { TextKind } from '../../src/filter/ir.js';
import { rustRegexEngine } from '../../src/filter/rust-regex.js';
import { compileText, literalMatcher, TEXT_NO, TEXT_TOO_LARGE, TEXT_YES } from '../../src/filter/text.js';
import { loadRegexModule } from '../../workers/regex-module.js';
import { heapGrowth } from '../support/allocation.js';
import { problemFrom } from '../support/refused.js';

const regex = rustRegexEngine(loadRegexModule());

/** Looks at the subject in the middle of other bytes that would change the answer if they were seen. */
function matches(kind: TextKind, pattern: string, subject: string, caseInsensitive = false): boolean {
  const utf8 = new TextEncoder().encode(`${pattern}${subject}${pattern}`);
  const edge = new TextEncoder().encode(pattern).length;
  const answer = compileText(kind, pattern, caseInsensitive, regex).match(utf8, edge, utf8.length - edge);
  expect([TEXT_NO, TEXT_YES]).toContain(answer);
  return answer === TEXT_YES;
}

const OBVIOUS = {
  equals: (subject: string, pattern: string) => subject === pattern,
  prefix: (subject: string, pattern: string) => subject.startsWith(pattern),
  suffix: (subject: string, pattern: string) => subject.endsWith(pattern),
  contains: (subject: string, pattern: string) => subject.includes(pattern),
} as const;

const LITERAL_KINDS = ['equals', 'prefix', 'suffix', 'contains'] as const;
const unit = fc.constantFrom(
  'a',
  'a',
  'b',
  'A',
  'B',
  'é',
  'É',
  'ß',
  'ẞ',
  'İ',
  'Σ',
  'ς',
  'K',
  'ſ',
  '🚢',
  '\u0301',
  '.',
  '\n',
);
const text = fc.string({ unit, maxLength: 12 });

test.each(LITERAL_KINDS)('%s is what strings say, with and without case', (kind) => {
  fc.assert(
    fc.property(text, text, fc.nat(12), fc.nat(12), (subject, other, from, length) => {
      for (const pattern of [
        other,
        Array.from(subject)
          .slice(from, from + length)
          .join(''),
      ]) {
        expect(matches(kind, pattern, subject)).toBe(OBVIOUS[kind](subject, pattern));
        const lowered = OBVIOUS[kind](subject.toLowerCase(), pattern.toLowerCase());
        expect(matches(kind, pattern, subject, true)).toBe(lowered);
      }
    }),
    { seed: 21, numRuns: 2_000 },
  );
});

test('a search for a literal that nearly repeats finds every place', () => {
  const few = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 24 });
  fc.assert(
    fc.property(few, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 7 }), (subject, pattern) => {
      expect(matches('contains', pattern, subject)).toBe(subject.includes(pattern));
    }),
    { seed: 22, numRuns: 5_000 },
  );
});

test('full lowercasing decides: dotted capital I becomes two characters, final sigma only at the end, never ss', () => {
  expect(matches('equals', 'İ', 'i̇', true)).toBe(true);
  expect(matches('equals', 'İ', 'i', true)).toBe(false);
  expect(matches('suffix', 'Σ', 'ΟΔΟΣ', true)).toBe(false);
  expect(matches('suffix', 'ΟΣ', 'ΟΔΟΣ', true)).toBe(true);
  expect(matches('equals', 'οδος', 'ΟΔΟΣ', true)).toBe(true);
  expect(matches('equals', 'K', 'K', true)).toBe(true);
  expect(matches('equals', 'ss', 'ß', true)).toBe(false);
  expect(matches('equals', 'ß', 'ẞ', true)).toBe(true);
});

/** The obvious glob: a recursion over characters, exponential on purpose-made input and therefore only for tests. */
function obviousGlob(pattern: readonly string[], subject: readonly string[], caseInsensitive: boolean): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return subject.length === 0;
  if (first === '*') {
    return (
      subject.some((_, i) => obviousGlob(rest, subject.slice(i), caseInsensitive)) ||
      obviousGlob(rest, [], caseInsensitive)
    );
  }
  if (first === '?') return subject.length > 0 && obviousGlob(rest, subject.slice(1), caseInsensitive);
  const [literal, after] = first === '\\' ? [rest[0]!, rest.slice(1)] : [first, rest];
  const characters = Array.from(caseInsensitive ? literal.toLowerCase() : literal);
  if (!characters.every((character, i) => subject[i] === character)) return false;
  return obviousGlob(after, subject.slice(characters.length), caseInsensitive);
}

test('a glob matches what the obvious recursion matches', () => {
  const globUnit = fc.constantFrom(
    '*',
    '*',
    '?',
    '?',
    'a',
    'b',
    'A',
    '\\*',
    '\\?',
    '\\\\',
    '\\a',
    'é',
    'É',
    'İ',
    'Σ',
    '🚢',
  );
  const glob = fc.string({ unit: globUnit, maxLength: 8 });
  const subjectUnit = fc.constantFrom('a', 'a', 'b', 'A', '*', '?', '\\', 'é', 'É', 'İ', 'Σ', '🚢', '\n');
  fc.assert(
    fc.property(
      glob,
      fc.string({ unit: subjectUnit, maxLength: 9 }),
      fc.boolean(),
      (pattern, subject, caseInsensitive) => {
        const seen = Array.from(caseInsensitive ? subject.toLowerCase() : subject);
        const expected = obviousGlob(Array.from(pattern), seen, caseInsensitive);
        expect(matches('glob', pattern, subject, caseInsensitive), `${pattern} on ${subject}`).toBe(expected);
      },
    ),
    { seed: 23, numRuns: 20_000 },
  );
});

test('pieces of a glob longer than a machine word match as short ones do', () => {
  for (const length of [31, 32, 33, 63, 64, 65, 200]) {
    const piece = `${'a'.repeat(length - 2)}?b`;
    const hit = `xx${'a'.repeat(length - 2)}éb`;
    expect(matches('glob', `*${piece}*`, `${hit}yy`)).toBe(true);
    expect(matches('glob', `*${piece}*`, `xx${'a'.repeat(length - 3)}éb`)).toBe(false);
    expect(matches('glob', `*${piece}*${piece}*`, `${hit}${hit}`)).toBe(true);
    expect(matches('glob', `*${piece}*${piece}*`, hit)).toBe(false);
    expect(matches('glob', `*${'?'.repeat(length)}*é`, `${'🚢'.repeat(length)}é`)).toBe(true);
    expect(matches('glob', `*${'?'.repeat(length)}*é`, `${'🚢'.repeat(length - 1)}é`)).toBe(false);
  }
});

test('a glob lowers its literals one by one, so it can miss its own text', () => {
  expect(matches('glob', 'ΟΔΟΣ', 'ΟΔΟΣ', true)).toBe(false);
  expect(matches('glob', 'ΟΔΟ?', 'ΟΔΟΣ', true)).toBe(true);
  expect(matches('glob', 'İ', 'İ', true)).toBe(true);
  expect(matches('glob', '??', 'İ', true)).toBe(true);
});

test('a glob that ends in a lone backslash is refused', () => {
  expect(problemFrom(() => compileText('glob', 'a\\', false, regex)).code).toBe('invalid_request');
  expect(matches('glob', 'a\\\\', 'a\\')).toBe(true);
});

test('hostile globs and literals take linear time', () => {
  const subject = new Uint8Array(1024 * 1024).fill(0x61);
  const patterns: [TextKind, string][] = [
    ['contains', `${'a'.repeat(1000)}b`],
    ['contains', `b${'a'.repeat(1000)}`],
    ['glob', `${'*a'.repeat(500)}b`],
    ['glob', `*${'a?'.repeat(500)}b*`],
    ['glob', `${'*?a'.repeat(300)}*b`],
    ['glob', `*${'?'.repeat(1000)}b*`],
  ];
  const started = performance.now();
  for (const [kind, pattern] of patterns) {
    expect(compileText(kind, pattern, false, regex).match(subject, 0, subject.length)).toBe(TEXT_NO);
  }
  // A quadratic search of one of them would take longer than all of this.
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('a subject of regex is bounded, one of any other kind is not', () => {
  const bytes = new Uint8Array(REGEX_SUBJECT_BYTES_MAX + 1).fill(0x61);
  const compiled = compileText('regex', 'a$', false, regex);
  expect(compiled.match(bytes, 1, bytes.length)).toBe(TEXT_YES);
  expect(compiled.match(bytes, 0, bytes.length)).toBe(TEXT_TOO_LARGE);
  expect(literalMatcher('suffix', 'aa').match(bytes, 0, bytes.length)).toBe(TEXT_YES);
});

test('matching in place allocates nothing', () => {
  const subject = new TextEncoder().encode('a subject of ASCII characters with Some Capitals in it');
  const kinds: readonly [TextKind, string][] = [
    ['equals', 'other'],
    ['prefix', 'A SUBJECT?'],
    ['suffix', 'in'],
    ['contains', 'capitals of'],
    ['glob', '*of?ascii*capitals*of*'],
    ['regex', 'z+$'],
  ];
  const matchers = kinds.flatMap(([kind, pattern]) =>
    [true, false].map((caseInsensitive) => compileText(kind, pattern, caseInsensitive, regex)),
  );
  const run = (times: number): number => {
    let found = 0;
    for (let i = 0; i < times; i++) found += matchers[i % matchers.length]!.match(subject, 0, subject.length);
    return found;
  };
  expect(heapGrowth(() => expect(run(60_000)).toBe(0))).toBeLessThan(32 * 1024);
});
