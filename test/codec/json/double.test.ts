/** Decimal text to the nearest double, against the language's own conversion. */
import { expect, test } from 'vitest';
import { putEasyDouble } from '../../../src/codec/json/double.js';
import { checkDouble, checkNearest, midpoint, randomDouble } from '../../support/double-check.js';
import { Seeded } from '../../support/seeded.js';

const utf8 = new TextEncoder();
const out = new Float64Array(1);

test('random doubles, in shortest and in other spellings', () => {
  const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 4));
  for (let round = 0; round < 20_000; round++) {
    const value = randomDouble(random);
    checkDouble(String(value));
    checkDouble(value.toPrecision(1 + random.below(30)));
    const small = random.next() * 10 ** (random.below(40) - 20);
    checkDouble(String(small));
    checkDouble(small.toFixed(random.below(20)));
  }
});

test('midpoints between doubles round to even, a digit more or less to its own side', () => {
  const random = new Seeded(5);
  for (let round = 0; round < 1500; round++) {
    const { digits, exponent } = midpoint(Math.abs(randomDouble(random)));
    checkDouble(`${digits}e${exponent}`);
    checkDouble(`${digits}00000000000000000001e${exponent - 20}`);
    checkDouble(`${digits}${'0'.repeat(850)}1e${exponent - 851}`);
    checkDouble(`${digits}${'0'.repeat(851)}e${exponent - 851}`);
    checkDouble(`${digits - 1n}e${exponent}`);
    checkDouble(`-${digits + 1n}e${exponent}`);
  }
});

test('the nearest double is told from its neighbours by the text alone', () => {
  const random = new Seeded(6);
  for (let round = 0; round < 200; round++) {
    const value = randomDouble(random);
    checkNearest(String(value));
    checkNearest(value.toPrecision(1 + random.below(30)));
    const { digits, exponent } = midpoint(Math.abs(value));
    checkNearest(`${digits}e${exponent}`);
    checkNearest(`${digits}${'0'.repeat(851)}1e${exponent - 852}`);
    checkNearest(`-${digits - 1n}e${exponent}`);
    // Below a power of two the doubles stand twice as close.
    const below = midpoint(2 ** (round * 5 - 500) * (1 - 2 ** -53));
    for (const near of [-1n, 0n, 1n]) checkNearest(`${below.digits + near}e${below.exponent}`);
  }
  for (const text of ['0', '0.0', '0e999', '2e-324', '2.4703282292062327e-324', '2.4703282292062328e-324', '5e-324']) {
    checkNearest(text);
    checkNearest(`-${text}`);
  }
  for (const text of [
    '1',
    '0.5',
    '2.2250738585072014e-308',
    '2.225073858507201e-308',
    '1.7976931348623157e308',
    '9007199254740993.000',
  ]) {
    checkNearest(text);
  }
});

test('the easy way is certain for what data mostly holds', () => {
  for (const text of [
    '0.1',
    '-12.50',
    '1e22',
    '123456789.123456',
    '0.30000000000000004',
    '1e-7',
    '6.02214076e23',
    '97.4',
  ]) {
    const bytes = utf8.encode(text);
    expect(putEasyDouble(bytes, 0, bytes.length, out, 0)).toBe(true);
    expect(out[0]).toBe(Number(text));
  }
});

test('the ends of the range', () => {
  const threshold = 2n ** 1024n - 2n ** 970n;
  for (const text of [
    '1.7976931348623157e308',
    '1.7976931348623158e308',
    '1.7976931348623159e308',
    '0.00000017976931348623158079e315',
    String(threshold),
    String(threshold - 1n),
    `${threshold}.0`,
    `${threshold - 1n}.99999`,
    '1e308',
    '1e309',
    '9e307',
    '2e308',
    '1e99999999999',
    '1e-99999999999',
    '0e99999999999',
    `1${'0'.repeat(308)}`,
    `1${'0'.repeat(309)}`,
    `0.${'0'.repeat(400)}1e401`,
    `0.${'0'.repeat(400)}1e710`,
    `${'9'.repeat(900)}e-900`,
    `0.${'9'.repeat(2000)}`,
    `${'123'.repeat(400)}.5e-1100`,
    '4.9e-324',
    '2.4703282292062327e-324',
    '2.4703282292062328e-324',
    '2.2250738585072011e-308',
    '2.2250738585072014e-308',
    '1e-400',
    '-0.0',
    '-0e5',
    '0.000',
  ])
    checkDouble(text);
});
