/**
 * The rules for Protobuf payloads (laser-filter §5), one by one: what the decoder makes of bytes written by hand, and that
 * the walker finds the same at every path there is.
 */
import { describe, expect, it } from 'vitest';
import { protobufDecoder } from '../../../src/codec/protobuf/decode.js';
import { compileProtoText } from '../../../src/codec/protobuf/proto-text.js';
import type { ProtobufSchema } from '../../../src/codec/protobuf/schema.js';
import type { Value } from '../../../src/codec/value.js';
import { MALFORMED, REASON_NAMES, TOO_DEEP, TOO_LARGE } from '../../../src/core/verdict.js';
import { pathsWithin } from '../../support/payload-corpus.js';
import { ProtobufTrial } from '../../support/random-protobuf-trial.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const PATHS_MAX = 40;

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
}

/** Maps as plain objects, so that expectations are short. */
function plain(value: Value): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

/** The value of a payload, or the name of the reason why there is none; both engines agree on it. */
function read(schema: ProtobufSchema, hex: string, limits = LIMITS): unknown {
  const payload = bytesOf(hex);
  const decoded = protobufDecoder(schema)(payload, limits);
  const paths = decoded.ok ? pathsWithin(decoded.value, PATHS_MAX) : [];
  const reason = new ProtobufTrial([schema], paths, limits).check(payload);
  return decoded.ok ? plain(decoded.value) : REASON_NAMES[reason];
}

const malformed = REASON_NAMES[MALFORMED];
const tooDeep = REASON_NAMES[TOO_DEEP];

describe('scalars', () => {
  const schema = compileProtoText(
    `syntax = "proto3";
    message M {
      optional double double = 1; optional float float = 2; optional int64 int64 = 3; optional uint64 uint64 = 4;
      optional int32 int32 = 5; optional fixed64 fixed64 = 6; optional fixed32 fixed32 = 7; optional bool bool = 8;
      optional string string = 9; optional bytes bytes = 12; optional uint32 uint32 = 13; optional E enum = 14;
      optional sfixed32 sfixed32 = 15; optional sfixed64 sfixed64 = 16; optional sint32 sint32 = 17; optional sint64 sint64 = 18;
    }
    enum E { Z = 0; }`,
    'M',
  );
  const FF = 'ff'.repeat(9);

  it.each([
    ['09 000000000000f03f', { double: 1 }],
    ['09 0000000000000080', { double: -0 }],
    ['15 cdcccc3d', { float: Math.fround(0.1) }],
    [`18 ${FF}01`, { int64: -1n }],
    ['18 80808080808080808001', { int64: -(2n ** 63n) }],
    ['18 8180808080808010', { int64: 2n ** 53n + 1n }],
    ['18 ffffffffffffff0f', { int64: 2n ** 53n - 1n }],
    ['18 8080808080808070', { int64: 7n << 53n }],
    [`20 ${FF}01`, { uint64: 2n ** 64n - 1n }],
    [`28 ${FF}01`, { int32: -1n }],
    ['28 8580808010', { int32: 5n }],
    ['28 ffffffff0f', { int32: -1n }],
    ['28 ffffffff07', { int32: 2n ** 31n - 1n }],
    ['31 ffffffffffffffff', { fixed64: 2n ** 64n - 1n }],
    ['3d ffffffff', { fixed32: 2n ** 32n - 1n }],
    ['40 00', { bool: false }],
    ['40 02', { bool: true }],
    ['40 80808080808080808001', { bool: true }],
    ['40 808000', { bool: false }],
    ['4a 00', { string: '' }],
    ['4a 04 f09f9bb0', { string: '🛰' }],
    ['4a 03 efbbbf', { string: '\ufeff' }],
    ['62 00', { bytes: [] }],
    ['62 03 00ff41', { bytes: [0n, 255n, 65n] }],
    ['68 ffffffff1f', { uint32: 2n ** 32n - 1n }],
    ['70 8380808010', { enum: 3n }],
    [`70 ${FF}01`, { enum: -1n }],
    ['7d f9ffffff', { sfixed32: -7n }],
    ['8101 0000000000000080', { sfixed64: -(2n ** 63n) }],
    ['8801 03', { sint32: -2n }],
    ['8801 ffffffff1f', { sint32: -(2n ** 31n) }],
    [`9001 ${FF}01`, { sint64: -(2n ** 63n) }],
    ['9001 feffffffffffffffff01', { sint64: 2n ** 63n - 1n }],
  ] as [string, unknown][])('%s reads as %o', (hex, value) => {
    expect(read(schema, hex)).toEqual(value);
  });

  it.each([
    ['a double that is not finite', '09 000000000000f07f'],
    ['a NaN', '09 000000000000f8ff'],
    ['a float that is not finite', '15 000080ff'],
    ['a text that is not UTF-8', '4a 01 ff'],
    ['a text with an overlong form', '4a 02 c080'],
    ['a text with a surrogate', '4a 05 61eda08061'],
    ['a text cut inside a character', '4a 02 61c3'],
    ['a varint of eleven bytes', '18 8080808080808080808001'],
    ['a varint of 65 bits', `18 ${FF}02`],
    ['a varint that is cut', '18 80'],
    ['a value that is cut', '09 00000000000000'],
    ['a tag without a value', '18'],
    ['a tag that is cut', '80'],
    ['a text longer than what is left', '4a 05 61'],
    ['a length that no payload has', `4a ${FF}01 61`],
    ['a length of 2^32', '4a 8080808010'],
    ['the wrong wire type', '4d 00000000'],
    ['a single value that stands packed', '1a 01 01'],
    ['field number 0', '00 01'],
    ['field number 0 in a padded tag', '8000 01'],
    ['a field number of 2^29', '8080808010 01'],
    ['wire type 6', '1e 00'],
    ['wire type 7', '1f 00'],
    ['a group that ends what did not begin', '1c'],
  ])('%s is malformed', (_, hex) => {
    expect(read(schema, hex)).toBe(malformed);
  });

  it('accepts varints that are padded, tags and lengths too', () => {
    expect(read(schema, '988000 8500')).toEqual({ int64: 5n });
    expect(read(schema, 'ca808000 8180808000 41')).toEqual({ string: 'A' });
  });

  it('keeps the last of a field that is repeated without being so', () => {
    expect(read(schema, '28 01 4a 01 61 28 02 4a 00')).toEqual({ int32: 2n, string: '' });
    expect(read(schema, '62 03 010203 62 01 04')).toEqual({ bytes: [4n] });
  });

  it('compares the payload with its limit before looking at it', () => {
    const limits = { maxPayloadBytes: 2, maxDepth: 64 };
    expect(read(schema, '28 01', limits)).toEqual({ int32: 1n });
    expect(read(schema, '28 8001', limits)).toBe(REASON_NAMES[TOO_LARGE]);
    expect(read(schema, 'ffffff', limits)).toBe(REASON_NAMES[TOO_LARGE]);
  });
});

describe('unknown fields', () => {
  const schema = compileProtoText('syntax = "proto3"; message M { optional int32 a = 1; }', 'M');

  it('are stepped over and never entered', () => {
    expect(read(schema, '10 05 1a 02 ffff 2d 00000000 31 0000000000000000 08 01')).toEqual({ a: 1n });
    expect(read(schema, 'f8ffffff0f 01')).toEqual({});
  });

  it.each(['10 80', '12 02 ff', '15 000000', '11 00000000000000', '13 14', '14', '16', '17'])(
    'are malformed where they are not well-formed: %s',
    (hex) => {
      expect(read(schema, hex)).toBe(malformed);
    },
  );
});

describe('what is not set', () => {
  it('has its default in proto3, but messages, optional fields and members of oneofs', () => {
    const schema = compileProtoText(
      `syntax = "proto3";
      message M {
        double d = 1; float f = 2; int64 i = 3; bool b = 4; string s = 5; bytes r = 6; E e = 7; M m = 8;
        repeated int32 l = 9; map<string, M> p = 10; optional int32 o = 11; oneof one { int32 x = 12; } fixed64 u = 13;
      }
      enum E { Z = 0; }`,
      'M',
    );
    const empty = { d: 0, f: 0, i: 0n, b: false, s: '', r: [], e: 0n, l: [], p: {}, u: 0n };
    expect(read(schema, '')).toEqual(empty);
    expect(read(schema, '42 00')).toEqual({ ...empty, m: empty });
    expect(read(schema, '18 00 2a 00 58 00 60 00')).toEqual({ ...empty, o: 0n, x: 0n });
  });

  it('is missing in proto2, whatever its declared default; lists and maps are empty', () => {
    const schema = compileProtoText(
      'message M { optional int32 a = 1 [default = 7]; repeated int32 l = 2; map<int32, int32> m = 3; optional E e = 4; } enum E { A = 3; }',
      'M',
    );
    expect(read(schema, '')).toEqual({ l: [], m: {} });
    // A closed enum keeps a number that it does not declare.
    expect(read(schema, '20 63')).toEqual({ l: [], m: {}, e: 99n });
  });

  it('is the first value of an enum whose field has no presence', () => {
    const schema = compileProtoText(
      'edition = "2023"; message M { E e = 1 [features.field_presence = IMPLICIT]; } enum E { option features.enum_type = CLOSED; A = 3; }',
      'M',
    );
    expect(read(schema, '')).toEqual({ e: 3n });
  });
});

describe('repeated fields', () => {
  const schema = compileProtoText(
    `syntax = "proto3";
    message M { repeated int32 a = 1; repeated string s = 2; repeated double d = 3; repeated M m = 4; repeated bytes b = 5; repeated bool t = 6; M in = 7; repeated float f = 8; }`,
    'M',
  );
  const empty = { a: [], s: [], d: [], m: [], b: [], t: [], f: [] };

  it('read packed and alone, mixed, in order, with other fields between', () => {
    expect(read(schema, '08 05 0a 03 06ac02 12 01 61 0a 00 08 07')).toEqual({
      ...empty,
      a: [5n, 6n, 300n, 7n],
      s: ['a'],
    });
    expect(read(schema, '1a 10 000000000000f03f 0000000000000040 19 0000000000000840')).toEqual({
      ...empty,
      d: [1, 2, 3],
    });
    expect(read(schema, '32 03 000102 30 00')).toEqual({ ...empty, t: [false, true, true, false] });
    expect(read(schema, '22 02 0801 0a 01 02 22 00')).toEqual({ ...empty, a: [2n], m: [{ ...empty, a: [1n] }, empty] });
    expect(read(schema, '2a 00 2a 02 0102')).toEqual({ ...empty, b: [[], [1n, 2n]] });
  });

  it.each([
    ['a varint that is cut', '0a 02 0580'],
    ['a varint that goes on behind them', '0a 01 80 01'],
    ['a double that is cut', '1a 09 000000000000f03f00'],
    ['a double that is not finite', '1a 08 000000000000f07f'],
    ['a float that is cut', '42 03 000000'],
    ['a float that is not finite', '42 08 00000000 0000c07f'],
    ['another wire type', '0d 00000000'],
    ['a length that is too large', '0a 05 01'],
  ])('are malformed where packed elements have %s', (_, hex) => {
    expect(read(schema, hex)).toBe(malformed);
  });

  it('go on where messages merge', () => {
    expect(read(schema, '3a 05 0801 0a0102 12 01 78 3a 04 0803 1200')).toEqual({
      ...empty,
      s: ['x'],
      in: { ...empty, a: [1n, 2n, 3n], s: [''] },
    });
  });
});

describe('messages', () => {
  const schema = compileProtoText(
    'syntax = "proto3"; message M { optional int32 a = 1; optional int32 b = 2; M m = 3; int32 n = 4; }',
    'M',
  );

  it('merge, field by field and level by level, with other fields between', () => {
    expect(read(schema, '1a 02 0801 10 05 1a 02 1002 1a 02 0803')).toEqual({
      b: 5n,
      n: 0n,
      m: { a: 3n, b: 2n, n: 0n },
    });
    expect(read(schema, '1a 06 1a04 0801 2007 1a 04 1a02 1002')).toEqual({
      n: 0n,
      m: { n: 0n, m: { a: 1n, b: 2n, n: 7n } },
    });
  });

  it('count for depth from the root at 0', () => {
    const nested = (levels: number): string => {
      let hex = '';
      for (let level = 0; level < levels; level++) hex = `1a${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`;
      return hex;
    };
    expect(read(schema, nested(3), { ...LIMITS, maxDepth: 3 })).toEqual({
      n: 0n,
      m: { n: 0n, m: { n: 0n, m: { n: 0n } } },
    });
    expect(read(schema, nested(4), { ...LIMITS, maxDepth: 3 })).toBe(tooDeep);
    expect(read(schema, '0801', { ...LIMITS, maxDepth: 0 })).toEqual({ a: 1n, n: 0n });
    expect(read(schema, '1a00', { ...LIMITS, maxDepth: 0 })).toBe(tooDeep);
  });

  it('are judged in reading order: a length before the depth, the depth before what is inside', () => {
    const limits = { ...LIMITS, maxDepth: 0 };
    expect(read(schema, '1a 05 00', limits)).toBe(malformed);
    expect(read(schema, '1a 01 00', limits)).toBe(tooDeep);
    expect(read(schema, '00 1a 00', limits)).toBe(malformed);
    expect(read(schema, '1a 00 00', limits)).toBe(tooDeep);
  });
});

describe('oneofs', () => {
  const schema = compileProtoText(
    'syntax = "proto3"; message M { oneof one { int32 a = 1; string b = 2; M m = 3; M k = 4; } int32 z = 5; repeated int32 l = 6; }',
    'M',
  );
  const empty = { z: 0n, l: [] };

  it('keep the member that was set last', () => {
    expect(read(schema, '08 01 12 01 61')).toEqual({ ...empty, b: 'a' });
    expect(read(schema, '12 01 61 08 00')).toEqual({ ...empty, a: 0n });
    expect(read(schema, '1a 00 22 02 0801 28 02')).toEqual({ k: { ...empty, a: 1n }, z: 2n, l: [] });
  });

  it('merge a message that is set again, unless another member was set between', () => {
    expect(read(schema, '1a 02 3001 1a 04 28073002')).toEqual({ ...empty, m: { z: 7n, l: [1n, 2n] } });
    expect(read(schema, '1a 02 3001 08 01 1a 04 28073002')).toEqual({ ...empty, m: { z: 7n, l: [2n] } });
    expect(read(schema, '1a 04 1a022801 12 00 1a 02 1a00')).toEqual({ ...empty, m: { ...empty, m: empty } });
  });

  it('inside a message that merges go on too', () => {
    const wrapped = compileProtoText(
      'syntax = "proto3"; message W { M m = 1; } message M { oneof one { int32 a = 1; string b = 2; } }',
      'W',
    );
    expect(read(wrapped, '0a 02 0801 0a 03 120161')).toEqual({ m: { b: 'a' } });
  });
});

describe('maps', () => {
  const schema = compileProtoText(
    `syntax = "proto3";
    message M {
      map<string, int32> s = 1; map<int64, string> i = 2; map<bool, M> b = 3; map<uint64, E> u = 4; map<sint32, bytes> z = 5; map<fixed32, double> f = 6;
      map<int32, bool> t = 7;
    }
    enum E { Z = 0; }`,
    'M',
  );
  const empty = { s: {}, i: {}, b: {}, u: {}, z: {}, f: {}, t: {} };

  it.each([
    ['0a 05 0a0161 1001', { s: { a: 1n } }],
    ['0a 05 1001 0a0161', { s: { a: 1n } }],
    ['0a 03 0a0161', { s: { a: 0n } }],
    ['0a 02 1005', { s: { '': 5n } }],
    ['0a 00', { s: { '': 0n } }],
    ['0a 0a 0a0161 1001 0a0162 1002', { s: { b: 2n } }],
    ['0a 05 0a0161 1001 0a 05 0a0162 1002 0a 05 0a0161 1003', { s: { a: 3n, b: 2n } }],
    ['0a 07 0a0161 1809 1007', { s: { a: 7n } }],
    ['12 0d 08ffffffffffffffffff01 1200', { i: { '-1': '' } }],
    ['12 0d 0880808080808080808001 1200', { i: { '-9223372036854775808': '' } }],
    ['12 03 120161', { i: { '0': 'a' } }],
    ['1a 04 0802 1200', { b: { true: empty } }],
    ['1a 00', { b: { false: empty } }],
    ['22 0b 08ffffffffffffffffff01', { u: { '18446744073709551615': 0n } }],
    ['22 0a 08feffffffffffffff7f', { u: { '9223372036854775806': 0n } }],
    ['2a 05 08071201ff', { z: { '-4': [255n] } }],
    ['2a 02 0807', { z: { '-4': [] } }],
    ['32 0e 0dffffffff 11000000000000e03f', { f: { '4294967295': 0.5 } }],
    ['3a 08 088180808010 1001', { t: { '1': true } }],
  ] as [string, object][])('%s reads as %o', (hex, value) => {
    expect(read(schema, hex)).toEqual({ ...empty, ...value });
  });

  it.each([
    ['a key of another wire type', '0a 02 0801'],
    ['a value of another wire type', '0a 03 120161'],
    ['a key that is not UTF-8', '0a 03 0a01ff'],
    ['a value that is not UTF-8', '12 05 0801 1201ff'],
    ['a value that is not finite', '32 09 11000000000000f87f'],
    ['a group in it', '0a 02 1b1c'],
    ['field number 0 in it', '0a 02 0001'],
    ['another wire type of its own', '08 01'],
    ['a length that is too large', '0a 05 0a0161'],
    ['a value beyond its end', '0a 04 0a016110 01'],
  ])('are malformed where an entry has %s', (_, hex) => {
    expect(read(schema, hex)).toBe(malformed);
  });

  it('count one level for an entry, and one more for a message in it', () => {
    for (const [hex, deepest] of [
      ['0a 00', 1],
      ['1a 00', 1],
      ['1a 02 1200', 2],
      ['1a 04 12021a00', 3],
    ] as const) {
      expect(read(schema, hex, { ...LIMITS, maxDepth: deepest - 1 })).toBe(tooDeep);
      expect(read(schema, hex, { ...LIMITS, maxDepth: deepest })).not.toBe(tooDeep);
    }
  });

  it('keep the last value of an entry without merging it with the one before', () => {
    expect(read(schema, '1a 0b 1205 0a030a0161 1202 0a00')).toEqual({
      ...empty,
      b: { false: { ...empty, s: { '': 0n } } },
    });
  });
});

describe('required fields', () => {
  const schema = compileProtoText(
    `message M {
      required int32 id = 1;
      optional M one = 2;
      repeated M many = 3;
      map<string, M> map = 4;
      oneof choice { M left = 5; M right = 6; int32 none = 7; }
      optional O other = 8;
    }
    message O { optional M m = 1; repeated O o = 2; required string also = 3; }`,
    'M',
  );
  const sound = (hex: string): boolean => read(schema, hex) !== malformed;

  it('that are missing make a payload malformed, anywhere in it', () => {
    expect(sound('08 01')).toBe(true);
    expect(sound('')).toBe(false);
    expect(sound('08 01 12 00')).toBe(false);
    expect(sound('08 01 12 02 0802')).toBe(true);
    expect(sound('08 01 1a 02 0801 1a 00')).toBe(false);
    expect(sound('08 01 22 05 0a0161 1200')).toBe(false);
    expect(sound('08 01 42 00')).toBe(false);
    expect(sound('08 01 42 02 1a00')).toBe(true);
    expect(sound('08 01 42 04 1a00 0a00')).toBe(false);
    expect(sound('08 01 42 06 1a00 1202 1a00')).toBe(true);
  });

  it('are judged when messages have merged', () => {
    expect(sound('12 00 12 02 0801 08 01')).toBe(true);
    expect(sound('08 01 12 04 1202 1000')).toBe(false);
    expect(sound('08 01 12 04 0801 1200 12 04 1202 0801')).toBe(true);
    expect(sound('08 01 42 02 0a00 42 02 1a00 42 04 0a02 0801')).toBe(true);
    // Elements of a repeated field do not merge.
    expect(sound('08 01 1a 00 1a 02 0801')).toBe(false);
  });

  it('do not matter in a member of a oneof that another one has cleared', () => {
    expect(sound('08 01 2a 00')).toBe(false);
    expect(sound('08 01 2a 00 38 01')).toBe(true);
    expect(sound('08 01 2a 00 32 02 0801')).toBe(true);
    expect(sound('08 01 2a 02 0801 32 02 0801 2a 00')).toBe(false);
    expect(sound('08 01 2a 00 2a 02 0801')).toBe(true);
  });

  it('do not matter in an entry that a later one of its key replaces, or a value that is replaced in its entry', () => {
    expect(sound('08 01 22 05 0a0161 1200 22 07 0a0161 12020801')).toBe(true);
    expect(sound('08 01 22 07 0a0161 12020801 22 05 0a0161 1200')).toBe(false);
    expect(sound('08 01 22 05 0a0161 1200 22 07 0a0162 12020801')).toBe(false);
    expect(sound('08 01 22 09 0a0161 1200 12020801')).toBe(true);
    expect(sound('08 01 22 09 0a0161 12020801 1200')).toBe(false);
  });

  it('are missing in a value that is not there, which is an empty message', () => {
    expect(sound('08 01 22 03 0a0161')).toBe(false);
    expect(sound('08 01 22 03 0a0161 22 07 0a0161 12020801')).toBe(true);
    expect(sound('08 01 22 07 0a0161 12020801 22 00')).toBe(false);
  });

  it('are judged last: what is malformed or too deep is reported first', () => {
    const limits = { ...LIMITS, maxDepth: 0 };
    expect(read(schema, '12 00', limits)).toBe(tooDeep);
    expect(read(schema, '', limits)).toBe(malformed);
  });

  it('may be more than a word has bits', () => {
    const fields = Array.from({ length: 70 }, (_, index) => `required int32 f${index} = ${index + 1};`);
    const wide = compileProtoText(`message W { ${fields.join('')} optional W w = 100; }`, 'W');
    const field = (index: number): string => {
      const tag = (index + 1) * 8;
      return `${(tag < 128 ? [tag] : [(tag & 0x7f) | 0x80, tag >> 7]).map((byte) => byte.toString(16).padStart(2, '0')).join('')}00`;
    };
    const all = Array.from({ length: 70 }, (_, index) => field(index));
    expect(read(wide, all.join(''))).toMatchObject({ f69: 0n });
    for (const missing of [0, 15, 30, 31, 32, 62, 63, 69]) {
      expect(read(wide, all.filter((_, index) => index !== missing).join(''))).toBe(malformed);
    }
    expect(read(wide, `${all.join('')}a20600`)).toBe(malformed);
  });

  it('stay required where the schema says so by a feature', () => {
    const text = 'edition = "2023"; message M { int32 a = 1 [features.field_presence = LEGACY_REQUIRED]; }';
    expect(read(compileProtoText(text, 'M'), '')).toBe(malformed);
    expect(read(compileProtoText(text, 'M'), '0800')).toEqual({ a: 0n });
  });
});
