/**
 * What a mutant of the Protobuf codec has to survive, in one process without a test runner: payloads of random schemas
 * against the decoder, texts with something at every place, lengths and numbers at the edges of their spellings, maps whose
 * entries replace each other, and the kinds of wide integers. Prints `agree` or fails.
 */
import { compileProtoText } from '../../src/codec/protobuf/proto-text.js';
import { ProtobufWalker } from '../../src/codec/protobuf/walker.js';
import { SLOT_INTEGER, SLOT_INTEGER_WIDE, SLOT_NEGATIVE_WIDE } from '../../src/core/slots.js';
import { ProtobufBytes } from '../support/random-protobuf-bytes.js';
import { ProtobufTrial, runProtobufTrials } from '../support/random-protobuf-trial.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const write = new ProtobufBytes();

function field(number: number, wireType: number, ...parts: Uint8Array[]): Uint8Array {
  return write.joined([write.tag(number, wireType), ...parts]);
}

/** Texts of every length with something at every place, before another field and at the end. */
function texts(): void {
  const schema = compileProtoText('syntax = "proto3"; message M { string a = 1; double b = 2; }', 'M');
  const trials = [[], [['a']]].map((paths) => new ProtobufTrial([schema], paths, LIMITS));
  for (let length = 0; length <= 20; length++) {
    for (let at = 0; at < length; at++) {
      for (const odd of [[0x80], [0xc3, 0xa9], [0xff]]) {
        const text = Buffer.alloc(length, 'x');
        text.set(odd.slice(0, length - at), at);
        const payload = field(1, 2, write.sized(text));
        for (const trial of trials) {
          trial.check(payload);
          trial.check(write.joined([payload, field(2, 1, write.double(1))]));
        }
      }
    }
  }
}

/** Numbers of fields and lengths of every size, some with nothing behind them. */
function edges(): void {
  const numbers = [1, 15, 16, 17, 47, 48, 100, 2047, 2048, 70_000, 2 ** 29 - 1];
  const fields = numbers.map((number) => `bytes b${number} = ${number};`).join('');
  const schema = compileProtoText(
    `syntax = "proto3"; message M { ${fields} repeated double d = 3; repeated fixed64 f = 4; }`,
    'M',
  );
  const paths = [...numbers.map((number) => [`b${number}`]), ['d'], ['f']].sort();
  const trial = new ProtobufTrial([schema], paths, LIMITS);
  for (const number of [...numbers.flatMap((declared) => [declared - 1, declared, declared + 1]), 3, 4]) {
    for (const length of [0, 1, 8, 9, 16, 127, 128, 129, 300, 16_383, 16_384]) {
      const bytes = new Uint8Array(length).fill(0x01);
      for (const wireType of [0, 1, 2, 3, 5, 6]) trial.check(field(number, wireType, write.sized(bytes)));
      trial.check(field(number, 2, write.sized(bytes)).subarray(0, -1));
      trial.check(field(number, 2, write.varint(BigInt(length) + 2n ** 32n), bytes));
    }
  }
  for (const last of [0, 1, 2, 3]) {
    trial.check(write.joined([field(5, 0), new Uint8Array(9).fill(0xff), Uint8Array.of(last)]));
  }
}

/** Maps of which later entries replace earlier ones, in every order, where values lack what is required. */
function maps(): void {
  const schema = compileProtoText(
    'message M { map<string, V> s = 1; map<int64, V> i = 2; map<bool, V> b = 3; } message V { required int32 id = 1; }',
    'M',
  );
  const paths = [
    ['b', 'true', 'id'],
    ['i', '-4294967296', 'id'],
    ['i', '-9223372036854775808', 'id'],
    ['s', 'b', 'id'],
  ];
  const trial = new ProtobufTrial([schema], paths, LIMITS);
  const keys = [
    ...['', 'a', 'b', 'ab', 'ba', 'ac', 'abc', 'abd'].map(
      (key) => [1, field(1, 2, write.sized(Buffer.from(key)))] as const,
    ),
    ...[0n, 1n, 2n ** 32n, 2n ** 63n, 2n ** 64n - 2n ** 32n].map((key) => [2, field(1, 0, write.varint(key))] as const),
    ...[0n, 1n, 2n].map((key) => [3, field(1, 0, write.varint(key))] as const),
  ];
  const values = ['', '0801'].map((hex) => field(2, 2, write.sized(Buffer.from(hex, 'hex'))));
  const entry = (at: number, isWhole: boolean): Uint8Array => {
    const [map, key] = keys[at % keys.length]!;
    return field(map, 2, write.sized(write.joined([key, values[isWhole ? 1 : 0]!])));
  };
  for (let step = 1; step < keys.length; step++) {
    const order = keys.map((_, index) => index * step);
    const broken = order.map((at) => entry(at, false));
    const whole = order.toReversed().map((at) => entry(at, true));
    trial.check(write.joined([...broken, ...whole]));
    for (const index of whole.keys()) trial.check(write.joined([...broken, ...whole.toSpliced(index, 1)]));
    trial.check(write.joined([...whole, broken[step % broken.length]!]));
  }
}

/** What a value does not tell: integers beyond ±(2^53−1) are wide. */
function wideIntegers(): void {
  const schema = compileProtoText('syntax = "proto3"; message M { sfixed64 a = 1; }', 'M');
  const walker = new ProtobufWalker([['a']], LIMITS, [schema]);
  for (const [value, kind] of [
    [2n ** 53n - 1n, SLOT_INTEGER],
    [2n ** 53n, SLOT_INTEGER_WIDE],
    [1n - 2n ** 53n, SLOT_INTEGER],
    [-(2n ** 53n), SLOT_NEGATIVE_WIDE],
  ] as const) {
    const bytes = field(1, 1, write.fixed64(BigInt.asUintN(64, value)));
    walker.walk(bytes, 0, bytes.length);
    if (walker.slots.kinds[0] !== kind) throw new Error(`${value} is not of kind ${kind}`);
  }
}

texts();
edges();
maps();
wideIntegers();
runProtobufTrials(3, 1_000);
console.log('agree');
