/** Both encodings of a request body meet the schemas as the same plain value, with every number exact. */
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../src/core/error-codes.js';
import { readJsonBody } from '../../src/wire/body.js';
import { readMsgpackBody } from '../../src/wire/msgpack-body.js';
import { Seeded } from '../support/seeded.js';
import { decodeMsgpack, decodeMsgpackFrames, encodeMsgpack } from '../../src/wire/msgpack.js';

function json(text: string): unknown {
  return readJsonBody(Buffer.from(text));
}

function msgpack(hex: string): unknown {
  return readMsgpackBody(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
}

function problemOf(run: () => unknown): Problem {
  try {
    run();
  } catch (thrown) {
    return (thrown as { problem: Problem }).problem;
  }
  throw new Error('nothing was refused');
}

describe('a JSON body', () => {
  test('keeps filters and records as the text that was sent', () => {
    expect(json('{"filters":[{"filter": {"n" : 9007199254740993} }],"filter":[1.0],"record":{"a":1e400}}')).toEqual({
      filters: [{ filter: '{"n" : 9007199254740993}' }],
      filter: '[1.0]',
      record: '{"a":1e400}',
    });
  });

  test('turns integers beyond 2^53 into decimal text and keeps the others numbers', () => {
    expect(json('[18446744073709551615,9007199254740991,-9007199254740993,1.5]')).toEqual([
      '18446744073709551615',
      9007199254740991,
      '-9007199254740993',
      1.5,
    ]);
  });

  test('is refused with a repeated member', () => {
    expect(problemOf(() => json('{"a":{"b":1,"b":2}}'))).toMatchObject({ code: 'invalid_request', field: '/a/b' });
  });

  test('is refused with a position where it does not parse', () => {
    expect(problemOf(() => json('{"a":}'))).toMatchObject({ code: 'invalid_request', position: 5 });
  });
});

describe('a MessagePack body', () => {
  test('reads every form of the format', () => {
    const value = {
      n: null,
      t: true,
      f: false,
      ints: [0, 127, 128, 255, 65535, 4294967295, 4294967296, -1, -32, -33, -129, -32769, -2147483649],
      wide: 18446744073709551615n,
      low: -9223372036854775808n,
      double: 1.5,
      text: 'é'.repeat(300),
      bytes: new Uint8Array([1, 2, 3]),
      list: Array.from({ length: 20 }, () => 'x'),
      map: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i])),
    };
    expect(readMsgpackBody(encodeMsgpack(value))).toEqual({
      ...value,
      wide: '18446744073709551615',
      low: '-9223372036854775808',
      bytes: new Uint8Array([1, 2, 3]),
    });
  });

  test('writes a filter as JSON text, exact and with its repeats', () => {
    // {"filter": {"a": uint64 max, "a": 5.0, "b": -0.0, "c": [nil, "x\""]}}
    const hex =
      '81 a666696c746572 84 a161 cfffffffffffffffff a161 cb4014000000000000 a162 cb8000000000000000 a163 92c0a27822';
    expect(msgpack(hex)).toEqual({ filter: '{"a":18446744073709551615,"a":5.0,"b":-0.0,"c":[null,"x\\""]}' });
  });

  test('hands bytes on as views of the body', () => {
    const body = encodeMsgpack({ bytes: new Uint8Array(1000) });
    const read = readMsgpackBody(body) as { bytes: Uint8Array };
    expect(read.bytes.buffer).toBe(body.buffer);
  });

  test.each([
    ['a repeated key', '82 a161 01 a161 02'],
    ['a key that is no text', '81 01 02'],
    ['bytes after the value', '01 01'],
    ['an extension', 'd40000'],
    ['the reserved code', 'c1'],
    ['text that is not UTF-8', 'a1ff'],
    ['a text longer than the body', 'a3 61'],
    ['a list longer than the body', 'ddffffffff'],
    ['a map longer than the body', 'dfffffffff'],
    ['nothing', ''],
    ['a cut integer', 'cf00'],
    ['a filter with a number that is not finite', '81 a666696c746572 cb7ff0000000000000'],
    ['too deep a nest', '91'.repeat(300) + '01'],
  ])('is refused with %s', (_, hex) => {
    expect(problemOf(() => msgpack(hex)).code).toBe('invalid_request');
  });

  test('keeps a member named __proto__ a member', () => {
    const read = msgpack('81 a95f5f70726f746f5f5f 01') as object;
    expect(Object.keys(read)).toEqual(['__proto__']);
  });
});

describe('both encodings', () => {
  test('give the same value for random bodies', () => {
    const random = new Seeded(3);
    for (let i = 0; i < 2_000; i += 1) {
      const value = randomValue(random, 4);
      expect(readMsgpackBody(encodeMsgpack(value))).toEqual(json(JSON.stringify(value)));
    }
  });

  test('refuse harmed MessagePack, or read it as something else, but never fail otherwise', () => {
    const random = new Seeded(4);
    let refused = 0;
    for (let i = 0; i < 20_000; i += 1) {
      const bytes = encodeMsgpack(randomValue(random, 3)).slice(0, 1 + random.below(200));
      for (let hits = 1 + random.below(3); hits > 0; hits -= 1) bytes[random.below(bytes.length)] = random.below(256);
      try {
        readMsgpackBody(bytes);
      } catch (thrown) {
        expect((thrown as { code?: string }).code).toBe('invalid_request');
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(1_000);
  });
});

/** A value that both encodings can carry: integers stay integers, doubles have a fraction. */
function randomValue(random: Seeded, depth: number): unknown {
  switch (random.below(depth > 0 ? 8 : 6)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return random.below(2 ** 31) * (random.chance(0.5) ? 1 : -1);
    case 3:
      return random.below(2 ** 31) * 2 ** 20 + random.below(1000);
    case 4:
      return random.next() - 0.5;
    case 5:
      return random.pick(['', 'a', 'é', '🚢', 'x'.repeat(random.below(300)), 'line\nbreak']);
    case 6:
      return Array.from({ length: random.below(20) }, () => randomValue(random, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(20) }, (_, i) => [`k${i}`, randomValue(random, depth - 1)]),
      );
  }
}

describe('MessagePack of our own', () => {
  test('writes integers in their shortest form', () => {
    expect(Buffer.from(encodeMsgpack([1, 2 ** 32, 2 ** 53 - 1, -(2 ** 31) - 1])).toString('hex')).toBe(
      '9401d30000000100000000d3001fffffffffffffd3ffffffff7fffffff',
    );
  });

  test('comes back as it went, also several objects in a row', () => {
    const value = { a: 2 ** 40, b: [2n ** 63n, 'x'], c: new Uint8Array([7]), d: null };
    const encoded = encodeMsgpack(value);
    expect(decodeMsgpack(encoded)).toEqual(value);
    expect(decodeMsgpackFrames(Buffer.concat([encoded, encodeMsgpack({ e: 1 })]))).toHaveLength(2);
  });
});
