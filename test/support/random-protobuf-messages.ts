/** Random messages of one schema that has every kind of field, for libraries that encode, and what they mean. */
import type { Value } from '../../src/codec/value.js';
import type { Seeded } from './seeded.js';

/** Names are as every library keeps them. */
export const EVERY_KIND = `syntax = "proto3";
package every;
message Kind {
  double double = 1;
  float float = 2;
  int32 int32 = 3;
  uint32 uint32 = 4;
  sint32 sint32 = 5;
  fixed32 fixed32 = 6;
  sfixed32 sfixed32 = 7;
  int64 int64 = 8;
  uint64 uint64 = 9;
  sint64 sint64 = 10;
  fixed64 fixed64 = 11;
  sfixed64 sfixed64 = 12;
  bool bool = 13;
  string string = 14;
  bytes bytes = 15;
  Enum enum = 16;
  Kind nested = 17;
  optional int32 maybe = 18;
  repeated int32 list = 19;
  repeated sint64 wide = 20;
  repeated double doubles = 21;
  repeated string texts = 22;
  repeated Kind many = 23;
  map<string, int32> counts = 24;
  map<int64, string> names = 25;
  map<bool, Kind> kinds = 26;
  oneof choice { string word = 27; int32 number = 2047; Kind other = 5000; }
  repeated bytes blobs = 28;
  repeated bool flags = 29;
}
enum Enum { ZERO = 0; ONE = 1; MINUS = -1; }
`;
export const EVERY_KIND_MESSAGE = 'every.Kind';

/** As libraries take them: 64-bit integers are bigints, maps plain objects, a member of the oneof stands alone. */
export interface KindMessage {
  [field: string]: unknown;
}

const DOUBLES = [0, -0, 1, -1.5, 0.1, 1e300, 5e-324, 2 ** 53];
const TEXTS = ['', 'a', 'nine char', 'é', '🛰 station', '\u0000', 'x'.repeat(200)];

export function randomKindMessage(random: Seeded, level = 0): KindMessage {
  const word = (): number => random.pick([0, 1, -1, 127, 128, -129, 2 ** 31 - 1, -(2 ** 31), random.below(2 ** 31)]);
  const unsigned = (): number => random.pick([0, 1, 255, 2 ** 31, 2 ** 32 - 1, random.below(2 ** 32)]);
  const long = (): bigint =>
    random.pick([0n, 1n, -1n, 2n ** 53n, -(2n ** 53n) + 1n, 2n ** 63n - 1n, -(2n ** 63n), BigInt(word())]);
  const unsignedLong = (): bigint => BigInt.asUintN(64, long());
  const text = (): string => random.pick(TEXTS);
  const bytes = (): Uint8Array => Uint8Array.from({ length: random.below(5) }, () => random.below(256));
  const bool = (): boolean => random.chance(0.5);
  const list = <T>(one: () => T): T[] => Array.from({ length: random.below(4) }, one);
  const kind = (): KindMessage => randomKindMessage(random, level + 1);
  const makers: Record<string, () => unknown> = {
    double: () => random.pick(DOUBLES),
    float: () => Math.fround(random.pick([0, -0, 0.1, -2.5, 1e38])),
    int32: word,
    uint32: unsigned,
    sint32: word,
    fixed32: unsigned,
    sfixed32: word,
    int64: long,
    uint64: unsignedLong,
    sint64: long,
    fixed64: unsignedLong,
    sfixed64: long,
    bool,
    string: text,
    bytes,
    enum: () => random.pick([0, 1, -1]),
    maybe: word,
    list: () => list(word),
    wide: () => list(long),
    doubles: () => list(() => random.pick(DOUBLES)),
    texts: () => list(text),
    counts: () => Object.fromEntries(list(() => [text(), word()])),
    names: () => Object.fromEntries(list(() => [String(long()), text()])),
    blobs: () => list(bytes),
    flags: () => list(bool),
  };
  if (level < 3) {
    makers['nested'] = kind;
    makers['many'] = () => list(kind);
    makers['kinds'] = () => Object.fromEntries(list(() => [String(bool()), kind()]));
  }
  const message: KindMessage = {};
  for (const [field, make] of Object.entries(makers)) if (random.chance(0.4)) message[field] = make();
  if (random.chance(0.5)) {
    const member = random.pick(level < 3 ? ['word', 'number', 'other'] : ['word', 'number']);
    message[member] = member === 'word' ? text() : member === 'number' ? word() : kind();
  }
  return message;
}

/** What stands where a field is not set. */
const DEFAULTS: Readonly<Record<string, Value>> = {
  ...Object.fromEntries(['double', 'float'].map((field) => [field, 0])),
  ...Object.fromEntries(
    [
      'int32',
      'uint32',
      'sint32',
      'fixed32',
      'sfixed32',
      'int64',
      'uint64',
      'sint64',
      'fixed64',
      'sfixed64',
      'enum',
    ].map((field) => [field, 0n]),
  ),
  bool: false,
  string: '',
  ...Object.fromEntries(
    ['bytes', 'list', 'wide', 'doubles', 'texts', 'many', 'blobs', 'flags'].map((field) => [field, []]),
  ),
  ...Object.fromEntries(['counts', 'names', 'kinds'].map((field) => [field, new Map()])),
};

const DOUBLE_FIELDS: ReadonlySet<string> = new Set(['double', 'float', 'doubles']);

/** The value that a payload of the message has. */
export function meaningOf(message: KindMessage): Map<string, Value> {
  const fields = new Map<string, Value>(Object.entries(DEFAULTS));
  for (const [field, given] of Object.entries(message)) fields.set(field, meaning(given, field));
  return fields;
}

function meaning(given: unknown, field: string): Value {
  if (given instanceof Uint8Array) return Array.from(given, BigInt);
  if (Array.isArray(given)) return given.map((element) => meaning(element, field));
  if (typeof given === 'number') return DOUBLE_FIELDS.has(field) ? given : BigInt(given);
  if (typeof given !== 'object') return given as Value;
  if (!['counts', 'names', 'kinds'].includes(field)) return meaningOf(given as KindMessage);
  return new Map(Object.entries(given!).map(([key, value]) => [key, meaning(value, 'of a map')]));
}
