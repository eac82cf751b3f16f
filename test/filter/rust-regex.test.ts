/** The glue to the regex engine: meaning, refusals, traps, and that nothing leaks. */
import { expect, test } from 'vitest';
import { Refusal } from '../../src/core/error-codes.js';
import { rustRegexEngine } from '../../src/filter/rust-regex.js';
import { loadRegexModule } from '../../workers/regex-module.js';

const module = loadRegexModule();
const engine = rustRegexEngine(module);
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function search(pattern: string, subject: string, caseInsensitive = false): boolean {
  const bytes = utf8(subject);
  return engine.compile(pattern, caseInsensitive).search(bytes, 0, bytes.length);
}

function refusalOf(run: () => unknown): Refusal {
  try {
    run();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Refusal);
    return thrown as Refusal;
  }
  throw new Error('nothing was refused');
}

test('a search is unanchored and linear classes are Unicode-aware', () => {
  expect(search('b+', 'aabbcc')).toBe(true);
  expect(search('^b+$', 'aabbcc')).toBe(false);
  expect(search(String.raw`^\d$`, '٣')).toBe(true);
  expect(search(String.raw`^\w+$`, 'naïve')).toBe(true);
  expect(search(String.raw`\p{Greek}`, 'a λ')).toBe(true);
  expect(search('[[:alpha:]]', '1a')).toBe(true);
  expect(search('a.b', 'a\nb')).toBe(false);
  expect(search('', '')).toBe(true);
});

test('ignoring case folds simply: Kelvin, long s and capital sharp s match, dotted capital I does not', () => {
  expect(search('^K$', '\u212a', true)).toBe(true);
  expect(search('^s$', 'ſ', true)).toBe(true);
  expect(search('^ß$', 'ẞ', true)).toBe(true);
  expect(search('^i$', 'İ', true)).toBe(false);
  expect(search('^k$', 'K', false)).toBe(false);
  expect(search('a|B', 'b', true)).toBe(true);
});

test('only the given range of the subject is searched', () => {
  const regex = engine.compile('^b$', false);
  expect(regex.search(utf8('abc'), 1, 2)).toBe(true);
  expect(regex.search(utf8('abc'), 0, 2)).toBe(false);
  expect(regex.search(utf8('abc'), 1, 1)).toBe(false);
});

test('a pattern that does not compile is refused in the words of the engine and of the user', () => {
  for (const caseInsensitive of [false, true]) {
    const refusal = refusalOf(() => engine.compile('a(b', caseInsensitive));
    expect(refusal.problem.code).toBe('invalid_request');
    expect(refusal.problem.detail).toContain('unclosed group');
    expect(refusal.problem.detail).not.toContain('(?i)');
  }
});

test('a pattern beyond the bound of the engine is refused', () => {
  expect(refusalOf(() => engine.compile('(?:a{1000}){1000}', false)).problem.code).toBe('invalid_request');
  expect(refusalOf(() => engine.compile(String.raw`(?:\pL{1000}){1000}`, true)).problem.code).toBe('invalid_request');
});

test('a pattern far over the size bound of the contract still compiles, so the engine does not decide', () => {
  expect(search(String.raw`^\w{90}$`, 'a'.repeat(90))).toBe(true);
});

test('a trap inside the engine is a refusal, and the next search runs in a fresh instance', () => {
  const regex = engine.compile('needle', false);
  // 2^32−1 bytes are more than an instance can ever allocate.
  const bytes = utf8('a needle');
  const refusal = refusalOf(() => regex.search(bytes, 0, 0xffff_ffff));
  expect(refusal.problem.code).toBe('backend');
  expect(regex.search(bytes, 0, bytes.length)).toBe(true);
});

test('subjects of every size up to the bound are searched to their last byte', () => {
  const regex = engine.compile('z$', false);
  for (const size of [1, 2, 15, 16, 17, 4095, 4096, 65535, 65536]) {
    const bytes = new Uint8Array(size).fill(97);
    expect(regex.search(bytes, 0, size)).toBe(false);
    bytes[size - 1] = 122;
    expect(regex.search(bytes, 0, size)).toBe(true);
  }
});

test('hundreds of thousands of searches leave heap and engine memory where they were', () => {
  const regex = engine.compile(String.raw`\bz\w+\d{3}$`, false);
  const bytes = utf8('some words and zebra12 and more words that never match at the end');
  const run = (times: number): number => {
    let found = 0;
    for (let i = 0; i < times; i++) if (regex.search(bytes, i & 31, bytes.length)) found++;
    return found;
  };
  run(20_000);
  globalThis.gc!();
  const before = process.memoryUsage();
  expect(run(300_000)).toBe(0);
  globalThis.gc!();
  const after = process.memoryUsage();
  expect(after.heapUsed - before.heapUsed).toBeLessThan(64 * 1024);
  expect(after.external - before.external).toBeLessThan(64 * 1024);
});

async function compileAndDrop(times: number): Promise<NodeJS.MemoryUsage> {
  for (let i = 0; i < times; i++) engine.compile(`a${i}[b-d]+$`, i % 2 === 0).search(utf8('a1bcd'), 0, 5);
  globalThis.gc!();
  await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc!();
  return process.memoryUsage();
}

test('patterns that are dropped give their memory back', async () => {
  const before = await compileAndDrop(20);
  let after = before;
  for (let round = 0; round < 10; round++) after = await compileAndDrop(50);
  // 500 instances hold more than 750 MB while they live.
  expect(after.external - before.external).toBeLessThan(8 * 1024 * 1024);
  expect(after.heapUsed - before.heapUsed).toBeLessThan(8 * 1024 * 1024);
});
