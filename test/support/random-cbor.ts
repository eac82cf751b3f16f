/**
 * Random CBOR for tests of the walker: values over a small alphabet of keys (so that paths hit) written in every legal
 * spelling, and ways to break them.
 */
import type { Value } from '../../src/codec/value.js';
import { RANDOM_KEYS } from './random-json.js';
import type { Seeded } from './seeded.js';

const utf8 = new TextEncoder();

const TEXTS = [
  '',
  'a',
  'safe',
  'Überflug',
  'naïve',
  '🛰️',
  '\u0000',
  '\ufeffx',
  '12.50',
  'seventeen letters',
  'é'.repeat(9),
];
const INTEGERS = [0n, 1n, 23n, 24n, 255n, 256n, 65_535n, 65_536n, 2n ** 32n - 1n, 2n ** 32n].flatMap((n) => [
  n,
  -1n - n,
]);
const WIDE_INTEGERS = [
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  -(2n ** 53n) + 1n,
  -(2n ** 53n),
  -(2n ** 53n) - 1n,
  2n ** 63n - 1n,
  2n ** 63n,
  -(2n ** 63n),
  2n ** 64n - 1n,
];
const FLOATS = [
  0,
  -0,
  1,
  0.5,
  -1.5,
  0.1,
  65_504,
  65_536,
  2 ** -24,
  2 ** -14,
  2 ** -149,
  1e300,
  5e-324,
  Math.fround(0.1),
];

/** What a value is filled with. */
export interface CborShape {
  readonly keys: readonly string[];
  readonly depth: number;
  /** Share of maps that have several hundred keys, each of which may be of the alphabet or not. */
  readonly wide: number;
}

export const ANY_CBOR: CborShape = { keys: RANDOM_KEYS, depth: 4, wide: 0.01 };

/** A value with any root. */
export function randomCborValue(random: Seeded, shape: CborShape, depth = shape.depth): Value {
  const roll = random.next();
  const isRoot = depth === shape.depth;
  if (depth === 0 || (roll < 0.5 && !isRoot) || roll < 0.05) return randomScalar(random);
  const count = random.below(isRoot ? 8 : 5);
  if (roll < 0.7 && !(isRoot && roll > 0.15)) {
    if (random.chance(0.2)) return Array.from({ length: random.below(30) }, () => BigInt(random.below(256)));
    return Array.from({ length: count }, () => randomCborValue(random, shape, depth - 1));
  }
  const entries = new Map<string, Value>();
  for (let left = count; left > 0; left--) {
    entries.set(random.pick(shape.keys), randomCborValue(random, shape, depth - 1));
  }
  if (random.chance(shape.wide)) {
    for (let left = random.below(300); left > 0; left--)
      entries.set(randomText(random), randomCborValue(random, shape, 0));
  }
  return entries;
}

function randomScalar(random: Seeded): Value {
  switch (random.below(8)) {
    case 0:
      return random.pick([true, false, null]);
    case 1:
      return random.pick(INTEGERS);
    case 2:
      return random.pick(WIDE_INTEGERS);
    case 3:
      return random.pick(FLOATS);
    case 4:
      return (random.next() - 0.5) * 10 ** (random.below(40) - 20);
    case 5:
      return randomText(random);
    default:
      return random.pick(TEXTS);
  }
}

/** Mostly ASCII, of every length around those that are looked at in one step. */
function randomText(random: Seeded): string {
  let text = '';
  const foreign = random.chance(0.3) ? random.next() * 0.5 : 0;
  for (let length = random.below(random.chance(0.1) ? 300 : 26); length > 0; length--) {
    const point = random.chance(foreign)
      ? random.pick([0xe9, 0x7ff, 0x800, 0xffff, 0x1f680])
      : 0x20 + random.below(0x5f);
    text += String.fromCodePoint(point);
  }
  return text;
}

/** The bytes of `value`, in spellings that `random` chooses; the shortest ones where there is none. */
export function encodeCbor(value: Value, random?: Seeded): Uint8Array {
  const bytes: number[] = [];
  putValue(bytes, value, random);
  return Uint8Array.from(bytes);
}

function putValue(bytes: number[], value: Value, random?: Seeded): void {
  if (value === null) bytes.push(random?.chance(0.3) === true ? 0xf7 : 0xf6);
  else if (typeof value === 'boolean') bytes.push(value ? 0xf5 : 0xf4);
  else if (typeof value === 'bigint') putHead(bytes, value < 0n ? 1 : 0, value < 0n ? -1n - value : value, random);
  else if (typeof value === 'number') bytes.push(...floatBytes(value, random));
  else if (typeof value === 'string') putText(bytes, value, random);
  else if (Array.isArray(value)) putArray(bytes, value, random);
  else {
    putHead(bytes, 5, BigInt(value.size), random);
    for (const [key, item] of value) {
      putText(bytes, key, random);
      putValue(bytes, item, random);
    }
  }
}

function putText(bytes: number[], text: string, random?: Seeded): void {
  const encoded = utf8.encode(text);
  putHead(bytes, 3, BigInt(encoded.length), random);
  for (const byte of encoded) bytes.push(byte);
}

/** Byte strings are the same values as arrays of small integers. */
function putArray(bytes: number[], items: readonly Value[], random?: Seeded): void {
  const areBytes = items.every((item) => typeof item === 'bigint' && item >= 0n && item < 256n);
  const asBytes = areBytes && random?.chance(0.7) === true;
  putHead(bytes, asBytes ? 2 : 4, BigInt(items.length), random);
  for (const item of items) {
    if (asBytes) bytes.push(Number(item));
    else putValue(bytes, item, random);
  }
}

/** A head of `major` type with an argument, longer than it need be where `random` says so. */
function putHead(bytes: number[], major: number, argument: bigint, random?: Seeded): void {
  const needed = argument < 24n ? 0 : argument < 256n ? 1 : argument < 65_536n ? 2 : argument < 2n ** 32n ? 3 : 4;
  const chosen = random?.chance(0.1) === true ? needed + random.below(5 - needed) : needed;
  bytes.push((major << 5) | (chosen === 0 ? Number(argument) : 23 + chosen));
  for (let left = chosen === 0 ? 0 : 1 << (chosen - 1); left > 0; left--) {
    bytes.push(Number((argument >> BigInt((left - 1) * 8)) & 255n));
  }
}

/** As 64 bits, or where `random` says so as the fewest that hold it exactly. */
function floatBytes(value: number, random?: Seeded): Uint8Array {
  const view = new DataView(new ArrayBuffer(9));
  const isShort = random?.chance(0.5) === true;
  const half = isShort ? halfBits(value) : -1;
  if (half >= 0) {
    view.setUint8(0, 0xf9);
    view.setUint16(1, half);
    return new Uint8Array(view.buffer, 0, 3);
  }
  if (isShort && Math.fround(value) === value) {
    view.setUint8(0, 0xfa);
    view.setFloat32(1, value);
    return new Uint8Array(view.buffer, 0, 5);
  }
  view.setUint8(0, 0xfb);
  view.setFloat64(1, value);
  return new Uint8Array(view.buffer);
}

/** The 16 bits of a finite binary16 that is exactly `value`, or -1. */
function halfBits(value: number): number {
  const sign = Object.is(value, -0) || value < 0 ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size > 65_504) return -1;
  const exponent = size < 2 ** -14 ? 0 : Math.floor(Math.log2(size)) + 15;
  const fraction = exponent === 0 ? size * 2 ** 24 : (size / 2 ** (exponent - 15) - 1) * 1024;
  return Number.isInteger(fraction) && fraction < 1024 ? sign | (exponent << 10) | fraction : -1;
}

/** Bytes that break CBOR, or nest it, wherever they come to stand. */
const POISONS: readonly string[] = [
  '00',
  '1c',
  '1f',
  '18',
  '1b',
  '3b8000000000000000',
  '3b7fffffffffffffff',
  '4100',
  '5f',
  '5bffffffffffffffff',
  '6161',
  '6180',
  '62c328',
  '63eda080',
  '7f',
  '7b0000000100000000',
  '80',
  '81',
  '8181818181',
  '9affffffff',
  '9bffffffffffffffff',
  '9f',
  'a0',
  'a16161a16161a16161a16161',
  'a2616101616102',
  'a2616101780161f6',
  'a10000',
  'bbffffffffffffffff',
  'c0',
  'd9d9f7',
  'e0',
  'f3',
  'f7',
  'f820',
  'f97c00',
  'f97e00',
  'fa7f800000',
  'fb7ff0000000000000',
  'fbfff8000000000000',
  'ff',
];

/** The payload damaged in one place, most often into something malformed. */
export function breakCbor(random: Seeded, bytes: Uint8Array): Uint8Array {
  const at = random.below(bytes.length + 1);
  switch (random.below(6)) {
    case 0:
      return bytes.slice(0, at);
    case 1: {
      const copy = bytes.slice();
      if (copy.length > 0) copy[at % copy.length] = random.below(256);
      return copy;
    }
    case 2:
      return splice(bytes, at, 1 + random.below(3), []);
    case 3: {
      // A part that stands twice, as a key may.
      const length = random.below(8);
      return splice(bytes, at, length, bytes.subarray(Math.max(0, at - 6), Math.max(0, at - 6) + length));
    }
    default:
      return splice(bytes, at, random.below(10), Buffer.from(random.pick(POISONS), 'hex'));
  }
}

function splice(bytes: Uint8Array, at: number, remove: number, insert: Iterable<number>): Uint8Array {
  return Uint8Array.from([...bytes.subarray(0, at), ...insert, ...bytes.subarray(at + remove)]);
}
