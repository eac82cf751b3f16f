/** The text of a `.proto` file: the same schema as its descriptor set, without generated code, and refusals with lines. */
import { describe, expect, it } from 'vitest';
import type { ProtobufMessage } from '../../../src/codec/protobuf/message.js';
import { compileProtoText } from '../../../src/codec/protobuf/proto-text.js';
import { problemFrom } from '../../support/refused.js';

function refusal(text: string, messageType = 'M') {
  return problemFrom(() => compileProtoText(text, messageType));
}

/** Fields as `number name type shape presence oneof held`. */
function spelled({ fields }: ProtobufMessage): string[] {
  return fields.map(({ number, name, type, shape, presence, oneof, message }) =>
    `${number} ${name} ${type} ${shape} ${presence} ${oneof} ${message?.name ?? ''}`.trim(),
  );
}

describe('proto3 text', () => {
  const TEXT = `syntax = "proto3";
    package a.b;
    import "google/protobuf/timestamp.proto";
    import public "google/protobuf/struct.proto";
    message M {
      int32 snake_case = 1;
      optional string text = 2;
      repeated M list = 3;
      map<string, .a.b.N> by_name = 4;
      oneof one { int32 x = 5; N y = 6; }
      google.protobuf.Timestamp at = 7;
      E kind = 8;
      map<int32, google.protobuf.Value> any = 9;
      In inner = 10;
      repeated sint64 packed = 11 [packed = false, json_name = "other"];
      message In { N n = 1; E e = 2; enum E { ZERO = 0; } }
      reserved 100 to 200, 300;
      reserved "gone";
    }
    // A comment; import "nothing.proto";
    message N { sint64 k = 1; bytes raw = 2; }
    enum E { Z = 0; A = 1; }
    service S { rpc Ask(M) returns (stream N); }`;

  it('has names as written, presence, oneofs, maps and well-known types', () => {
    const { root, family } = compileProtoText(TEXT, '.a.b.M');
    expect(family).toBe('protobuf');
    expect(spelled(root)).toEqual([
      '1 snake_case int32 singular implicit -1',
      '2 text string singular explicit -1',
      '3 list message repeated implicit -1 a.b.M',
      '4 by_name message map implicit -1 a.b.M.ByNameEntry',
      '5 x int32 singular explicit 1',
      '6 y message singular explicit 1 a.b.N',
      '7 at message singular explicit -1 google.protobuf.Timestamp',
      '8 kind enum singular implicit -1',
      '9 any message map implicit -1 a.b.M.AnyEntry',
      '10 inner message singular explicit -1 a.b.M.In',
      '11 packed sint64 repeated implicit -1',
    ]);
    expect(root.byNumber.get(4)?.message).toMatchObject({ isMapEntry: true });
    expect(spelled(root.byNumber.get(4)!.message!)).toEqual([
      '1 key string singular implicit -1',
      '2 value message singular implicit -1 a.b.N',
    ]);
    expect(spelled(root.byNumber.get(7)!.message!)).toEqual([
      '1 seconds int64 singular implicit -1',
      '2 nanos int32 singular implicit -1',
    ]);
    expect(spelled(root.byNumber.get(10)!.message!)).toEqual([
      '1 n message singular explicit -1 a.b.N',
      '2 e enum singular implicit -1',
    ]);
    const value = root.byNumber.get(9)!.message!.byNumber.get(2)!.message!;
    expect(value.byNumber.get(6)!.message!.byNumber.get(1)!.message).toBe(value);
  });

  it('declares messages within messages', () => {
    expect(compileProtoText(TEXT, 'a.b.M.In').root.fields).toHaveLength(2);
  });
});

describe('proto2 text', () => {
  it('has required and explicit fields and enums by their first value; extensions are no fields', () => {
    const text = `message M {
      required int32 a = 1;
      optional E e = 2 [default = A];
      extensions 100 to max;
      extend M { optional int32 inner = 101; }
    }
    extend M { optional int32 outer = 100; }
    enum E { A = 5; Z = 0; }`;
    const { root } = compileProtoText(text, 'M');
    expect(spelled(root)).toEqual(['1 a int32 singular required -1', '2 e enum singular explicit -1']);
    expect(root.byNumber.get(2)?.firstNumber).toBe(5);
  });

  it('refuses groups by their field', () => {
    expect(refusal('message M { repeated group Thing = 3 { optional int32 z = 1; } }').detail).toMatch(
      /"thing".*"M".*group/,
    );
  });
});

describe('text of editions', () => {
  it('resolves features from the file to the message to the field', () => {
    const text = `edition = "2023";
    option features.field_presence = IMPLICIT;
    message M {
      int32 a = 1;
      int32 b = 2 [features.field_presence = LEGACY_REQUIRED];
      int32 c = 3 [features = { field_presence: EXPLICIT }];
      M m = 4;
      N n = 5;
      message N { option features.field_presence = EXPLICIT; int32 a = 1; }
    }`;
    const { root } = compileProtoText(text, 'M');
    expect(root.fields.map(({ presence }) => presence)).toEqual([
      'implicit',
      'required',
      'explicit',
      'explicit',
      'explicit',
    ]);
    expect(root.byNumber.get(5)?.message?.fields[0]?.presence).toBe('explicit');
  });

  it('refuses messages that are written as groups, but not in maps', () => {
    const head = 'edition = "2024"; option features.message_encoding = DELIMITED; ';
    expect(compileProtoText(`${head} message M { map<string, M> m = 1; }`, 'M').root.fields).toHaveLength(1);
    expect(refusal(`${head} message M { M m = 1; }`).detail).toMatch(/"m".*group/);
  });
});

describe('text that does not compile', () => {
  it('refuses a name that the parser would leave out, and repeats no more of a text than it takes', () => {
    for (const declaration of ['int32 __proto__ = 1;', 'oneof __proto__ { int32 a = 1; }', 'message __proto__ {}']) {
      const { detail, given } = refusal(`syntax = "proto3";\nmessage M {\n${declaration} }`);
      expect(detail).toMatch(/^Line 3 has the name __proto__/);
      expect(given).toBe('__proto__');
    }
    expect(() => compileProtoText('// __proto__\nmessage M { reserved "__proto__"; }', 'M')).not.toThrow();
    const { detail } = refusal(`\n\n${'/*'.repeat(100_000)}`);
    expect(detail.length).toBeLessThan(300);
    expect(detail).toContain('line 3');
  });

  it('is refused with the line where it cannot be read', () => {
    expect(refusal('syntax = "proto3";\nmessage M {\n  int32 a = ;\n}')).toMatchObject({ code: 'invalid_request' });
    expect(refusal('syntax = "proto3";\nmessage M {\n  int32 a = ;\n}').detail).toContain('line 3');
    expect(refusal('message M {\n  int32 a = 1;\n}').detail).toContain('line 2');
    expect(refusal('message M {').detail).toMatch(/cannot be parsed/);
    for (const text of ['{', '"', '/*', 'message', 'message M { optional int32 a = 1; optional int32 b = 1; }']) {
      expect(refusal(text).code).toBe('invalid_request');
    }
  });

  it('is refused with the line of an import that is no well-known type', () => {
    const text =
      'syntax = "proto3";\n// import "other.proto";\n/* import\n "other.proto"; */\nimport weak\n  "other.proto";\nmessage M {}';
    expect(refusal(text)).toMatchObject({ given: '"other.proto"', detail: expect.stringMatching(/^Line 6 imports/) });
    expect(refusal('import "google/protobuf/nothing.proto"; message M {}').detail).toMatch(/^Line 1 imports/);
  });

  it('is refused with message and field where a type is missing, and where there is no such message', () => {
    expect(refusal('message M { optional Gone.Type a = 1; }')).toMatchObject({
      given: '"Gone.Type"',
      detail: expect.stringMatching(/"a".*"M"/),
    });
    expect(refusal('message M {}', 'N')).toMatchObject({ given: '"N"' });
    expect(refusal('', 'M')).toMatchObject({ given: '"M"' });
  });

  it('is refused for a syntax or an edition that is not known, and for its size', () => {
    expect(refusal('syntax = "proto4"; message M {}')).toMatchObject({ given: '"proto4"' });
    expect(refusal('edition = "1999"; message M {}').code).toBe('invalid_request');
    expect(refusal(' '.repeat(2 ** 20 + 1))).toMatchObject({ limit: 2 ** 20, given: 2 ** 20 + 1 });
  });
});
