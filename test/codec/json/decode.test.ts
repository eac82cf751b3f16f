/**
 * The oracle's JSON decoder: agreement with `JSON.parse` on valid text, every rule of the contract where that is
 * laxer.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeJson } from '../../../src/codec/json/decode.js';
import type { Decoded, Value } from '../../../src/codec/value.js';
import { MALFORMED, TOO_DEEP, TOO_LARGE } from '../../../src/core/verdict.js';
import { Seeded } from '../../support/seeded.js';

const LIMITS = { maxPayloadBytes: 1024 * 1024, maxDepth: 64 };
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function decode(payload: string | Uint8Array): Decoded {
  return decodeJson(typeof payload === 'string' ? utf8(payload) : payload, LIMITS);
}

/** The value as `JSON.parse` would give it: numbers as doubles, objects as plain ones without a prototype. */
function lossy(value: Value): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(lossy);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, member]) => [key, lossy(member)]));
}

test('numbers are classified exactly', () => {
  const value = (text: string): unknown => {
    const decoded = decode(text);
    return decoded.ok ? decoded.value : decoded.reason;
  };
  expect(value('5')).toBe(5n);
  expect(value('0')).toBe(0n);
  expect(value('-0')).toBe(-0);
  expect(value('5.0')).toBe(5);
  expect(value('5e0')).toBe(5);
  expect(value('9007199254740993')).toBe(9007199254740993n);
  expect(value('18446744073709551615')).toBe(18446744073709551615n);
  expect(value('18446744073709551616')).toBe(2 ** 64);
  expect(value('-9223372036854775808')).toBe(-9223372036854775808n);
  expect(value('-9223372036854775809')).toBe(-(2 ** 63));
  expect(value('1e-999')).toBe(0);
  expect(value('-1e-999')).toBe(-0);
  expect(value('1e308')).toBe(1e308);
  expect(value('1e999')).toBe(MALFORMED);
  expect(value('9'.repeat(400))).toBe(MALFORMED);
  expect(value(`1${'0'.repeat(308)}`)).toBe(1e308);
});

test('a repeated key keeps its last value', () => {
  expect(decode('{"a":1,"b":2,"a":3}')).toEqual({
    ok: true,
    value: new Map([
      ['a', 3n],
      ['b', 2n],
    ]),
  });
});

test('size is looked at before depth, and depth before syntax', () => {
  const limits = { maxPayloadBytes: 6, maxDepth: 2 };
  expect(decodeJson(utf8('[[[[[[['), limits)).toEqual({ ok: false, reason: TOO_LARGE });
  expect(decodeJson(utf8('[[[}'), limits)).toEqual({ ok: false, reason: TOO_DEEP });
  expect(decodeJson(utf8('[[}'), limits)).toEqual({ ok: false, reason: MALFORMED });
  expect(decodeJson(utf8('[[1]]'), limits)).toMatchObject({ ok: true });
});

test.each([
  ['brackets in a string do not count', '"[[["', MALFORMED, false],
  ['the count runs on past syntax errors', '}}} x [[[', TOO_DEEP, true],
  ['the count never falls below zero', ']]][[', MALFORMED, true],
  ['an unterminated string hides the rest', '"a [[[[', MALFORMED, true],
  ['an escaped quote does not end a string', String.raw`"\"[[["`, MALFORMED, false],
  ['an escaped backslash before a quote does not hide its end', String.raw`"\\"[[[`, TOO_DEEP, true],
  ['siblings do not add up', '[[],[],[],{"a":1}]', MALFORMED, false],
])('depth: %s', (_, text, reason, faulty) => {
  const decoded = decodeJson(utf8(text), { maxPayloadBytes: 100, maxDepth: 2 });
  expect(decoded).toMatchObject(faulty ? { ok: false, reason } : { ok: true });
});

test.each([
  '',
  ' ',
  '\ufeff{}',
  '{} {}',
  '{,}',
  '{"a":1,}',
  '{"a"}',
  '{"a":}',
  '{a:1}',
  "{'a':1}",
  '[1,]',
  '[1 2]',
  '[',
  ']',
  '"a',
  '"a\nb"',
  '"a\u0000"',
  String.raw`"\x"`,
  String.raw`"\u12g4"`,
  String.raw`"\u123"`,
  String.raw`"\ud800"`,
  String.raw`"\udc00"`,
  String.raw`"\ud800\u0041"`,
  String.raw`"\ud800\ud800"`,
  '01',
  '-',
  '-01',
  '1.',
  '.5',
  '+1',
  '1e',
  '1e+',
  '0x1',
  'NaN',
  'Infinity',
  'tru',
  'True',
  'nulll',
  '//c\n1',
  '1\u000b',
  '1\u00a0',
])('%j is malformed', (text) => {
  expect(decode(text)).toEqual({ ok: false, reason: MALFORMED });
});

test('bytes that are not UTF-8 are malformed wherever they stand', () => {
  for (const bad of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80]]) {
    expect(decode(Uint8Array.of(0x22, ...bad, 0x22))).toEqual({ ok: false, reason: MALFORMED });
    expect(decode(Uint8Array.of(0x31, ...bad))).toEqual({ ok: false, reason: MALFORMED });
  }
});

test('whatever JSON can say is read as JSON.parse reads it, in any spacing', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.nat(4), (text, indent) => {
      const spaced = JSON.stringify(JSON.parse(text), null, indent);
      const decoded = decode(spaced);
      expect(decoded.ok).toBe(true);
      if (decoded.ok) expect(lossy(decoded.value)).toEqual(JSON.parse(spaced));
    }),
    { seed: 41, numRuns: 500 },
  );
});

test('a mutated payload is accepted only where JSON.parse accepts it too, and refused only for a reason it has not', () => {
  const random = new Seeded(77);
  const base = utf8('{"a":[1,-2.5e3,"x\\u00e9\\n",true,null],"øl":{"b":[[],{}]},"n":18446744073709551615}');
  const alphabet = utf8('{}[]",:\\0123456789.eE+-tfnu \n\u00e9');
  let accepted = 0;
  for (let round = 0; round < 20_000; round++) {
    const bytes = Array.from(base);
    for (let edits = 1 + random.below(3); edits > 0; edits--) {
      const at = random.below(bytes.length);
      const byte = random.chance(0.1) ? random.below(256) : random.pick([...alphabet]);
      bytes.splice(at, random.below(3), ...(random.chance(0.7) ? [byte] : []));
    }
    const payload = Uint8Array.from(bytes);
    const decoded = decode(payload);
    if (decoded.ok) {
      accepted++;
      expect(lossy(decoded.value)).toEqual(JSON.parse(Buffer.from(payload).toString('utf8')));
    } else {
      expect(decoded.reason).toBe(MALFORMED);
      expect(parsesStrictly(payload)).toBe(false);
    }
  }
  expect(accepted).toBeGreaterThan(500);
});

/** True where `JSON.parse` accepts and none of its known leniencies (repaired UTF-8, surrogates, overflow) was used. */
function parsesStrictly(payload: Uint8Array): boolean {
  const text = Buffer.from(payload).toString('utf8');
  if (!Buffer.from(text).equals(payload)) return false;
  try {
    const value: unknown = JSON.parse(text);
    return !holdsLenient(value);
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return false;
    throw thrown;
  }
}

function holdsLenient(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value === 'string') return !isWellFormed(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, member]) => !isWellFormed(key) || holdsLenient(member));
}

function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString('utf8') === text;
}
