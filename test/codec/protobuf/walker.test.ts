/** The Protobuf walker as an interface: slots of schemas that it goes between, elements, memory, and bounds. */
import { describe, expect, it } from 'vitest';
import { compileProtoText } from '../../../src/codec/protobuf/proto-text.js';
import { ProtobufWalker } from '../../../src/codec/protobuf/walker.js';
import { PROTOBUF_PLAN_WORDS_MAX } from '../../../src/core/limits.js';
import type { Path } from '../../../src/core/path.js';
import {
  SLOT_ARRAY,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_MISSING,
  SLOT_NEGATIVE_WIDE,
  SLOT_OBJECT,
  SLOT_STRING,
} from '../../../src/core/slots.js';
import { MALFORMED, NO_REASON } from '../../../src/core/verdict.js';
import { heapGrowth } from '../../support/allocation.js';
import { ProtobufBytes } from '../../support/random-protobuf-bytes.js';
import { ProtobufTrial } from '../../support/random-protobuf-trial.js';
import { problemFrom } from '../../support/refused.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const write = new ProtobufBytes();

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
}

/** Kinds of the slots after a walk of the whole of `bytes`. */
function kinds(walker: ProtobufWalker, hex: string): number[] {
  const bytes = bytesOf(hex);
  expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
  return [...walker.slots.kinds];
}

describe('a walker of several schemas', () => {
  const plain = compileProtoText('syntax = "proto3"; message A { string a = 1; repeated int32 l = 2; }', 'A');
  const other = compileProtoText(
    'message B { optional int64 a = 9; map<string, int32> m = 2; oneof o { B l = 3; B x = 4; } }',
    'B',
  );
  const needy = compileProtoText('message C { required int32 a = 1; }', 'C');
  const paths: Path[] = [['a'], ['l'], ['l', 0], ['l', 'a'], ['m', 'k']];

  it('reads each payload by the schema that was chosen last', () => {
    const walker = new ProtobufWalker(paths, LIMITS, [plain, other, needy]);
    expect(kinds(walker, '0a0178 120105')).toEqual([SLOT_STRING, SLOT_ARRAY, SLOT_INTEGER, SLOT_MISSING, SLOT_MISSING]);
    walker.chooseSchema(1);
    expect(kinds(walker, '4805 1205 0a016b 1001 1a02 4807')).toEqual([
      SLOT_INTEGER,
      SLOT_OBJECT,
      SLOT_MISSING,
      SLOT_INTEGER,
      SLOT_INTEGER,
    ]);
    expect(kinds(walker, '')).toEqual(paths.map(() => SLOT_MISSING));
    walker.chooseSchema(0);
    expect(kinds(walker, '')).toEqual([SLOT_STRING, SLOT_ARRAY, SLOT_MISSING, SLOT_MISSING, SLOT_MISSING]);
    walker.chooseSchema(2);
    expect(walker.walk(new Uint8Array(0), 0, 0)).toBe(MALFORMED);
    walker.chooseSchema(1);
    expect(walker.walk(new Uint8Array(0), 0, 0)).toBe(NO_REASON);
  });

  it('agrees with the decoder whatever it read before', () => {
    const trial = new ProtobufTrial([plain, other, needy], paths, LIMITS);
    const payloads = [
      '0a0178 120105',
      '4805',
      '0801',
      '1a00',
      '',
      '1205 0a016b 1001',
      '1a02 4807 2200',
      '1002 0a00 1203010203',
    ];
    for (let round = 0; round < 3 * payloads.length; round++) {
      for (const hex of payloads) trial.check(bytesOf(hex), (round + hex.length) % 3);
    }
  });

  it('may be made of none, while no payload is walked', () => {
    expect(new ProtobufWalker(paths, LIMITS, []).slots.count).toBe(paths.length);
  });
});

describe('wide integers', () => {
  const schema = compileProtoText(
    'syntax = "proto3"; message M { int64 s = 1; uint64 u = 2; sint64 z = 3; sfixed64 f = 4; fixed64 g = 5; }',
    'M',
  );
  const walker = new ProtobufWalker([['f'], ['g'], ['s'], ['u'], ['z']], LIMITS, [schema]);

  it.each([
    [2n ** 53n - 1n, SLOT_INTEGER],
    [2n ** 53n, SLOT_INTEGER_WIDE],
    [-(2n ** 53n) + 1n, SLOT_INTEGER],
    [-(2n ** 53n), SLOT_NEGATIVE_WIDE],
    [-(2n ** 63n), SLOT_NEGATIVE_WIDE],
    [2n ** 63n - 1n, SLOT_INTEGER_WIDE],
  ] as const)('%s has kind %i in every signed type', (value, kind) => {
    const varint = write.varint(BigInt.asUintN(64, value));
    const zigzag = write.varint(BigInt.asUintN(64, value < 0n ? -value * 2n - 1n : value * 2n));
    const fixed = write.fixed64(BigInt.asUintN(64, value));
    const bytes = write.joined([write.tag(1, 0), varint, write.tag(3, 0), zigzag, write.tag(4, 1), fixed]);
    expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
    const { slots } = walker;
    for (const slot of [0, 2, 4]) {
      expect(slots.kinds[slot]).toBe(kind);
      const wide = BigInt.asIntN(64, (BigInt(slots.high[slot]!) << 32n) | BigInt(slots.low[slot]!));
      expect(kind === SLOT_INTEGER ? BigInt(slots.numbers[slot]!) : wide).toBe(value);
    }
  });

  it('are never negative in unsigned types', () => {
    const bytes = write.joined([
      write.tag(2, 0),
      write.varint(2n ** 64n - 1n),
      write.tag(5, 1),
      write.fixed64(2n ** 63n),
    ]);
    walker.walk(bytes, 0, bytes.length);
    expect([walker.slots.kinds[1], walker.slots.kinds[3]]).toEqual([SLOT_INTEGER_WIDE, SLOT_INTEGER_WIDE]);
  });
});

describe('elements', () => {
  const schema = compileProtoText(
    'syntax = "proto3"; message M { repeated int32 l = 1; bytes b = 2; M m = 3; int32 x = 4; }',
    'M',
  );

  it('can be gone over again and given up, of one array after another', () => {
    const walker = new ProtobufWalker([['b'], ['l'], ['m', 'l']], LIMITS, [schema]);
    const bytes = bytesOf('0801 1202 0708 0802 1a03 0a0109 2001 0a02 0304');
    walker.walk(bytes, 0, bytes.length);
    const { elements, slots } = walker;
    const read = (slot: number, most = 100): number[] => {
      elements.open(bytes, slots.starts[slot]!, slots.ends[slot]!, elements.seek(3), slot);
      const values: number[] = [];
      while (values.length < most && elements.next()) values.push(elements.slots.numbers[0]!);
      return values;
    };
    for (let round = 0; round < 2; round++) {
      expect(read(1, 2)).toEqual([1, 2]);
      expect(read(0)).toEqual([7, 8]);
      expect(read(2)).toEqual([9]);
      expect(read(1)).toEqual([1, 2, 3, 4]);
    }
    expect(elements.seek(3)).toMatchObject({ value: 3 });
    expect(elements.seek(3).isNearest(bytes, 0, 1)).toBe(false);
  });

  it('are found in a hundred thousand runs', () => {
    const count = 100_000;
    const bytes = new Uint8Array(count * 4);
    for (let index = 0; index < count; index++) bytes.set([0x08, index & 0x7f, 0x20, 0], index * 4);
    const trial = new ProtobufTrial([schema], [['l'], ['l', 1], ['l', 99_999], ['l', 100_000]], LIMITS);
    expect(trial.check(bytes)).toBe(NO_REASON);
  });
});

describe('memory', () => {
  const schema = compileProtoText(
    `message M {
      required int32 id = 1; repeated M many = 2; map<string, M> map = 3; optional M one = 4; repeated int32 packed = 5;
      oneof o { M left = 6; string text = 7; }
    }`,
    'M',
  );
  const paths: Path[] = [
    ['id'],
    ['many'],
    ['many', 1, 'id'],
    ['map', 'k', 'id'],
    ['one', 'packed'],
    ['one', 'packed', 1],
    ['text'],
  ];

  it('does not grow by a record, valid, broken, merged or lacking what is required', () => {
    const walker = new ProtobufWalker(paths, LIMITS, [schema]);
    const payloads = [
      '0801 1202 0801 1202 0802 1a07 0a016b 12020805 2206 0801 2a020304 3a0178',
      '2200 2202 0801 0801 1a05 0a016b 1200 1a07 0a016b 12020805 3200 3a00',
      '0801 1200',
      '0801 09',
      '',
    ].map(bytesOf);
    const bytes = write.joined(payloads);
    const ends = payloads.map((_, index) => payloads.slice(0, index + 1).reduce((sum, { length }) => sum + length, 0));
    const { elements } = walker;
    const growth = heapGrowth(() => {
      for (let round = 0; round < 1_000; round++) {
        for (let index = 0; index < payloads.length; index++) {
          const end = ends[index]!;
          if (walker.walk(bytes, end - payloads[index]!.length, end) !== NO_REASON) continue;
          elements.open(bytes, 0, 0, null, 1);
          while (elements.next());
        }
      }
    });
    expect(growth).toBeLessThan(16 * 1024);
  });

  it('is never taken ahead of the bytes that back a length or a count', () => {
    const walker = new ProtobufWalker(paths, LIMITS, [schema]);
    // Five bytes that promise millions of packed elements, a text, a message, an entry.
    const payloads = ['2a80e1eb17', '3a80e1eb17', '2280e1eb17', '1a80e1eb17', '1280e1eb17'].map(bytesOf);
    const before = process.memoryUsage();
    for (const bytes of payloads) expect(walker.walk(bytes, 0, bytes.length)).toBe(MALFORMED);
    const after = process.memoryUsage();
    expect(after.heapUsed - before.heapUsed + after.arrayBuffers - before.arrayBuffers).toBeLessThan(1 << 20);
  });

  it('follows the messages of the largest payload, also where all of them lack something', () => {
    const walker = new ProtobufWalker(paths, LIMITS, [schema]);
    const bytes = new Uint8Array(1 << 20);
    // `one` again and again, each but the last empty, then what is required in it and in the root.
    for (let at = 0; at < bytes.length; at += 2) bytes[at] = 0x22;
    bytes.set([0x22, 0x02, 0x08, 0x01, 0x08, 0x01], bytes.length - 6);
    const before = process.memoryUsage().arrayBuffers;
    expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 << 20);
  });

  it('and time stay in bounds where thousands of entries of a map replace each other', () => {
    const trial = new ProtobufTrial([schema], [['map', 'k77', 'id']], LIMITS);
    const entry = (key: string, value: string): Uint8Array => {
      const text = Buffer.from(key);
      const inside = write.joined([bytesOf('0a'), write.sized(text), bytesOf('12'), write.sized(bytesOf(value))]);
      return write.joined([bytesOf('1a'), write.sized(inside)]);
    };
    const keys = Array.from({ length: 10_000 }, (_, index) => `k${(index * 7919) % 10_000}`);
    const empty = keys.map((key) => entry(key, ''));
    const whole = keys.toReversed().map((key) => entry(key, '0801'));
    expect(trial.check(write.joined([bytesOf('0801'), ...empty, ...whole]))).toBe(NO_REASON);
    expect(trial.check(write.joined([bytesOf('0801'), ...empty, ...whole.slice(1)]))).toBe(MALFORMED);
    expect(trial.check(write.joined([bytesOf('0801'), ...whole, ...empty.slice(-1)]))).toBe(MALFORMED);
  });
});

describe('plans', () => {
  it('are bounded: paths through messages of many fields are refused together with their schema', () => {
    const fields = Array.from({ length: 3000 }, (_, index) => `M f${index} = ${index + 1};`);
    const schema = compileProtoText(`syntax = "proto3"; message M { ${fields.join('')} }`, 'M');
    const few: Path[] = [['f0', 'f1', 'f2']];
    expect(new ProtobufWalker(few, LIMITS, [schema]).walk(new Uint8Array(0), 0, 0)).toBe(NO_REASON);
    const many: Path[] = Array.from({ length: 200 }, (_, index) => ['f0', `f${1000 + index}`, 'f2']);
    const problem = problemFrom(() => new ProtobufWalker(many, LIMITS, [schema]));
    expect(problem).toMatchObject({ code: 'invalid_request', limit: PROTOBUF_PLAN_WORDS_MAX });
  });

  it('are bounded for all schemas together', () => {
    const schema = compileProtoText(
      `syntax = "proto3"; ${Array.from({ length: 3000 }, (_, index) => `message M${index} { M${index + 1} m = 1; }`).join('')} message M3000 {}`,
      'M0',
    );
    const schemas = Array.from({ length: 10 }, () => schema);
    expect(new ProtobufWalker([], LIMITS, schemas).walk(new Uint8Array(0), 0, 0)).toBe(NO_REASON);
    const problem = problemFrom(() => new ProtobufWalker([], LIMITS, [...schemas, schema]));
    expect(problem).toMatchObject({ code: 'invalid_request', limit: PROTOBUF_PLAN_WORDS_MAX });
  });

  it('find fields of any number, dense, sparse and largest, beside ones that are not declared', () => {
    const numbers = [1, 15, 16, 17, 40, 2047, 2048, 262143, 262144, 2 ** 29 - 1];
    const fields = numbers.map((number) => `int32 f${number} = ${number};`);
    const schema = compileProtoText(`syntax = "proto3"; message M { ${fields.join('')} }`, 'M');
    const paths = numbers.map((number): Path => [`f${number}`]).sort((a, b) => (a[0]! < b[0]! ? -1 : 1));
    const trial = new ProtobufTrial([schema], paths, LIMITS);
    for (const number of numbers) {
      for (const near of [number - 1, number, number + 1]) {
        for (const wireType of [0, 1, 2, 5, 7]) {
          trial.check(write.joined([write.tag(near, wireType), bytesOf('07 00000000000000')]).subarray(0, 2 + near));
          trial.check(write.joined([write.tag(near, wireType), write.fixed64(7n)]));
          trial.check(write.joined([write.tag(near, wireType), write.varint(7n)]));
        }
      }
    }
  });
});
