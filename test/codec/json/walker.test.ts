/** The JSON walker against the obvious decoder: the same verdict on every payload, the same values in the slots. */
import { describe, expect, it } from 'vitest';
import { JsonWalker } from '../../../src/codec/json/walker.js';
import { comparePaths, type Path } from '../../../src/core/path.js';
import { SLOT_ARRAY, SLOT_DOUBLE, SLOT_INTEGER, SLOT_STRING, SLOT_STRING_ESCAPED } from '../../../src/core/slots.js';
import { MALFORMED, NO_REASON, REASON_NAMES, TOO_DEEP, TOO_LARGE } from '../../../src/core/verdict.js';
import { recordCases } from '../../support/cases.js';
import { AROUND, MALFORMED_TEXTS, NOT_UTF8, WELL_FORMED_TEXTS } from '../../support/json-texts.js';
import { ANY_DOCUMENT, breakJson, randomJson } from '../../support/random-json.js';
import { Seeded } from '../../support/seeded.js';
import { MISSING, slotValue } from '../../support/slot-value.js';
import { compareWithDecoder, RANDOM_PATHS } from '../../support/walker-comparison.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const utf8 = new TextEncoder();

function read(text: string, ...paths: Path[]) {
  const sorted = [...paths].sort(comparePaths);
  const walker = new JsonWalker(sorted, LIMITS);
  const bytes = utf8.encode(text);
  expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
  return paths.map((path) => slotValue(walker, walker.slots, sorted.indexOf(path), bytes));
}

function reasonOf(text: string | Uint8Array, limits = LIMITS): string {
  const bytes = typeof text === 'string' ? utf8.encode(text) : text;
  return REASON_NAMES[new JsonWalker([['a']], limits).walk(bytes, 0, bytes.length)];
}

describe('slots of wanted paths', () => {
  it('hold the values at keys and indexes, the root and containers included', () => {
    const text = ' {"a": {"b": [1, [true, {"c": "x"}], null]}, "z": -0} ';
    expect(read(text, ['a', 'b', 0], ['a', 'b', 1, 1, 'c'], ['a', 'b', 2], ['z'], ['a', 'b', 3], ['a', 0])).toEqual([
      1n,
      'x',
      null,
      -0,
      MISSING,
      MISSING,
    ]);
    expect(read(text, [], ['a', 'b', 1])).toEqual([
      new Map<string, unknown>([
        ['a', new Map([['b', [1n, [true, new Map([['c', 'x']])], null]]])],
        ['z', -0],
      ]),
      [true, new Map([['c', 'x']])],
    ]);
    expect(read('"root"', [])).toEqual(['root']);
  });

  it('hold the last of a repeated key, with nothing left of the earlier ones', () => {
    expect(read('{"a":{"b":1,"c":2},"a":{"c":3}}', ['a', 'b'], ['a', 'c'])).toEqual([MISSING, 3n]);
    expect(read('{"a":{"b":1},"a":[5]}', ['a', 'b'], ['a', 0])).toEqual([MISSING, 5n]);
    expect(read('{"a":[5,6],"a":7}', ['a', 1], ['a'])).toEqual([MISSING, 7n]);
    expect(read('{"a":{"b":{"c":1}},"\\u0061":{"b":null}}', ['a', 'b', 'c'], ['a', 'b'])).toEqual([MISSING, null]);
    expect(read('[{"a":1},{"a":2}]', [0, 'a'], [1, 'a'])).toEqual([1n, 2n]);
  });

  it('are found by keys compared after unescaping', () => {
    expect(
      read('{"\\u006do\\u0064e":1,"\\u00e9":2,"\\ud83d\\ude80":3,"é2":4}', ['mode'], ['é'], ['🚀'], ['é2']),
    ).toEqual([1n, 2n, 3n, 4n]);
    expect(read('{"mode ":1,"Mode":2,"mod":3}', ['mode'])).toEqual([MISSING]);
  });

  it('tell plain text from text with escapes, and point between the quotes', () => {
    const walker = new JsonWalker([['a'], ['b']], LIMITS);
    const bytes = utf8.encode('{"a":"é plain","b":"tab\\t"}');
    expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
    expect([...walker.slots.kinds]).toEqual([SLOT_STRING, SLOT_STRING_ESCAPED]);
    expect(bytes.subarray(walker.slots.starts[0], walker.slots.ends[0])).toEqual(utf8.encode('é plain'));
  });

  it('are found among hundreds of keys of one object', () => {
    const keys = Array.from({ length: 500 }, (_, index) => `key${index}`);
    const text = `{${keys.map((key, index) => `"${key}":${index}`).join()}}`;
    expect(read(text, ...keys.map((key) => [key]))).toEqual(keys.map((_, index) => BigInt(index)));
  });

  it('keep integers exact to 64 bits and make every other number a double', () => {
    const cases: [string, bigint | number][] = [
      ['9007199254740991', 9007199254740991n],
      ['9007199254740992', 9007199254740992n],
      ['-9007199254740991', -9007199254740991n],
      ['-9007199254740992', -9007199254740992n],
      ['18446744073709551615', 18446744073709551615n],
      ['18446744073709551616', 2 ** 64],
      ['-9223372036854775808', -9223372036854775808n],
      ['-9223372036854775807', -9223372036854775807n],
      ['-4294967296000000000', -4294967296000000000n],
      ['-9223372036854775809', -(2 ** 63)],
      ['-0', -0],
      ['0', 0n],
      ['5.0', 5],
      ['1e3', 1000],
      ['1e-999', 0],
      ['-1e-999', -0],
    ];
    for (const [text, value] of cases) expect(read(`[${text}]`, [0])).toEqual([value]);
  });
});

describe('faults', () => {
  it.each(MALFORMED_TEXTS)('%j is malformed, wherever it stands', (text) => {
    for (const around of AROUND) expect(reasonOf(around(text)), around(text)).toBe('malformed');
  });

  it.each(['', ' ', '\n\t'])('%j holds no value and is malformed', (text) => {
    expect(reasonOf(text)).toBe('malformed');
  });

  it.each(NOT_UTF8)('bytes %s that are not UTF-8 are malformed', (hex) => {
    expect(reasonOf(Uint8Array.from(Buffer.from(hex, 'hex')))).toBe('malformed');
  });

  it('rank size before depth and depth before syntax', () => {
    const limits = { maxPayloadBytes: 9, maxDepth: 2 };
    expect(reasonOf('[[1]]', limits)).toBe('none');
    expect(reasonOf('[[[[1]]]]]', limits)).toBe('too_large');
    expect(reasonOf('[[[1', limits)).toBe('too_deep');
    expect(reasonOf('x[[[', limits)).toBe('too_deep');
    expect(reasonOf(']]]x[[[', limits)).toBe('too_deep');
    expect(reasonOf('"[[[', limits)).toBe('malformed');
    expect(reasonOf('"\\"[[[', limits)).toBe('malformed');
    expect(reasonOf('x"a"[[[', limits)).toBe('too_deep');
    expect(reasonOf('[][][]', limits)).toBe('malformed');
    expect(reasonOf('1', { maxPayloadBytes: 9, maxDepth: 0 })).toBe('none');
    expect(reasonOf('[]', { maxPayloadBytes: 9, maxDepth: 0 })).toBe('too_deep');
  });

  it('nest to the ceiling of 127 and no deeper, whatever limit is asked', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    const limits = { maxPayloadBytes: 1 << 20, maxDepth: 127 };
    expect(reasonOf(nested(127), limits)).toBe('none');
    expect(reasonOf(nested(128), limits)).toBe('too_deep');
    expect(reasonOf('{"a":'.repeat(127) + '1' + '}'.repeat(127), limits)).toBe('none');
  });
});

describe('reading inside a larger buffer', () => {
  it('never looks past the end, at any alignment', () => {
    const text = '{"a":"0123456789","b":[12345,"x"],"c":true}';
    for (let before = 0; before < 9; before++) {
      const bytes = utf8.encode(`${'"'.repeat(before)}${text}"]}9e1`);
      const walker = new JsonWalker([['a'], ['b', 0]], LIMITS);
      expect(walker.walk(bytes, before, before + text.length)).toBe(NO_REASON);
      expect(slotValue(walker, walker.slots, 0, bytes)).toBe('0123456789');
      for (let cut = 0; cut < text.length; cut++) {
        expect(walker.walk(bytes, before, before + cut)).toBe(MALFORMED);
      }
    }
  });

  it('forgets the record before, faults included', () => {
    const walker = new JsonWalker([['a'], ['b']], LIMITS);
    const good = utf8.encode('{"a":1,"b":"x"}');
    const bad = utf8.encode('{"a":2,"b":');
    expect(walker.walk(good, 0, good.length)).toBe(NO_REASON);
    expect(walker.walk(bad, 0, bad.length)).toBe(MALFORMED);
    const other = utf8.encode('{"b":3}');
    expect(walker.walk(other, 0, other.length)).toBe(NO_REASON);
    expect(slotValue(walker, walker.slots, 0, other)).toBe(MISSING);
    expect(slotValue(walker, walker.slots, 1, other)).toBe(3n);
  });
});

describe('elements of an array', () => {
  it('come one by one, nested ones whole', () => {
    const text = '{"a":[ 1 ,"x","\\n",[2,["]"]],{"k":"}"},true,false,null,-0.5,18446744073709551615,1e22 ]}';
    const bytes = utf8.encode(text);
    const walker = new JsonWalker([['a']], LIMITS);
    expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
    expect(walker.slots.kinds[0]).toBe(SLOT_ARRAY);
    const { elements } = walker;
    elements.open(bytes, walker.slots.starts[0]!, walker.slots.ends[0]!, null);
    const seen = [];
    while (elements.next()) seen.push(slotValue(walker, elements.slots, 0, bytes));
    expect(seen).toEqual([
      1n,
      'x',
      '\n',
      [2n, [']']],
      new Map([['k', '}']]),
      true,
      false,
      null,
      -0.5,
      18446744073709551615n,
      1e22,
    ]);
    expect(elements.next()).toBe(false);
  });

  it('that are hard to convert are told apart without converting them', () => {
    const texts = [
      '9007199254740993.0',
      '9007199254740992',
      '9007199254740993.00000000001',
      '1e-300',
      '2e-324',
      '-1e-300',
    ];
    const bytes = utf8.encode(`[${texts.join(',')}]`);
    const walker = new JsonWalker([[]], LIMITS);
    expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
    const found = (value: number): boolean[] => {
      const { elements } = walker;
      elements.open(bytes, 0, bytes.length, elements.seek(value));
      const places = [];
      while (elements.next()) places.push(elements.slots.numbers[0] === value);
      return places;
    };
    expect(found(2 ** 53)).toEqual([true, true, false, false, false, false]);
    expect(found(2 ** 53 + 2)).toEqual([false, false, true, false, false, false]);
    expect(found(1e-300)).toEqual([false, false, false, true, false, false]);
    expect(found(0)).toEqual([false, false, false, false, true, false]);
  });

  it('are none in an empty array', () => {
    const bytes = utf8.encode('[ ]');
    const walker = new JsonWalker([[]], LIMITS);
    expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
    walker.elements.open(bytes, walker.slots.starts[0]!, walker.slots.ends[0]!, null);
    expect(walker.elements.next()).toBe(false);
  });
});

describe('against the decoder', () => {
  const paths = RANDOM_PATHS;

  it('chosen texts give the same values and reasons, wherever they stand', () => {
    const walker = new JsonWalker(paths, LIMITS);
    for (const text of [...WELL_FORMED_TEXTS, ...MALFORMED_TEXTS]) {
      for (const around of AROUND) compareWithDecoder(walker, paths, utf8.encode(around(text)), LIMITS);
    }
  });

  it('random documents give the same values and damaged ones the same reason', () => {
    const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 1));
    const limits = { maxPayloadBytes: 300, maxDepth: 3 };
    const walker = new JsonWalker(paths, limits);
    const seen = new Map<number, number>();
    for (let round = 0; round < 20_000; round++) {
      let bytes = utf8.encode(randomJson(random, ANY_DOCUMENT));
      if (random.chance(0.4)) bytes = breakJson(random, bytes) as Uint8Array<ArrayBuffer>;
      const reason = compareWithDecoder(walker, paths, bytes, limits);
      seen.set(reason, (seen.get(reason) ?? 0) + 1);
    }
    for (const reason of [NO_REASON, MALFORMED, TOO_LARGE, TOO_DEEP]) expect(seen.get(reason)).toBeGreaterThan(500);
  });

  it('every truncation of every conformance payload up to 4 KiB gives the same reason', () => {
    const walker = new JsonWalker(paths, LIMITS);
    const payloads = distinctPayloads().filter((payload) => payload.length <= 4096);
    expect(payloads.length).toBeGreaterThan(150);
    for (const payload of payloads) {
      for (let length = payload.length; length >= 0; length--)
        compareWithDecoder(walker, paths, payload.slice(0, length), LIMITS);
    }
  });

  it('every single-byte change of short conformance payloads gives the same reason', () => {
    const walker = new JsonWalker(paths, LIMITS);
    const payloads = distinctPayloads().filter((payload) => payload.length > 0 && payload.length <= 120);
    const changes = [
      0x00, 0x1f, 0x20, 0x22, 0x2c, 0x2d, 0x2e, 0x30, 0x39, 0x3a, 0x5b, 0x5c, 0x5d, 0x65, 0x75, 0x7b, 0x7d,
    ];
    let changed = 0;
    for (const payload of payloads) {
      for (let at = 0; at < payload.length; at++) {
        for (const byte of [...changes, 0x7f, 0x80, 0xc3, 0xed, 0xff]) {
          const copy = payload.slice();
          copy[at] = byte;
          compareWithDecoder(walker, paths, copy, LIMITS);
          changed++;
        }
      }
    }
    expect(changed).toBeGreaterThan(50_000);
  });

  function distinctPayloads(): Uint8Array[] {
    const payloads = new Map<string, Uint8Array>();
    for (const { payload } of [...recordCases('laser-eval-json'), ...recordCases('laser-explain')]) {
      payloads.set(Buffer.from(payload).toString('latin1'), payload);
    }
    return [...payloads.values()];
  }
});

describe('wanted paths', () => {
  it('have to be in order without repeats', () => {
    expect(() => new JsonWalker([['b'], ['a']], LIMITS)).toThrow('strictly ascending');
    expect(() => new JsonWalker([['a'], ['a']], LIMITS)).toThrow('strictly ascending');
  });

  it('may be none: the payload is then only validated', () => {
    const walker = new JsonWalker([], LIMITS);
    const bytes = utf8.encode('{"a":[1,2,{"b":"c"}]}');
    expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
    expect(walker.walk(bytes, 0, bytes.length - 1)).toBe(MALFORMED);
  });

  it('give an integer and a double their own kinds', () => {
    const walker = new JsonWalker([[0], [1]], LIMITS);
    const bytes = utf8.encode('[5,5.0]');
    expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
    expect([...walker.slots.kinds]).toEqual([SLOT_INTEGER, SLOT_DOUBLE]);
  });
});
