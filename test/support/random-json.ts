/**
 * Random JSON texts for tests of walkers and evaluators: documents over a small alphabet of keys (so that paths hit and
 * keys repeat) written in every legal spelling, and ways to break them.
 */
import type { Seeded } from './seeded.js';

/** Keys of random documents; some need escapes, some are not ASCII, one is empty. */
export const RANDOM_KEYS = ['a', 'b', 'c', 'id', 'mode', 'é', 'k"y', 'a.b', '键', '', '🛰'] as const;

/** A JSON scalar as it stands in a text. */
export type ScalarText = string;

const STRINGS = [
  '',
  'a',
  'safe',
  'Safe',
  'nominal',
  'é',
  'İ',
  'Σ',
  'naïve',
  '🛰️',
  '\u0000',
  '\u001f',
  'a"b\\c/',
  '\ufeff',
  '12.50',
];
const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '7',
  '42',
  '0.0',
  '-0.0',
  '1.0',
  '1e3',
  '1E+2',
  '12.50',
  '0.1',
  '1e-999',
  '0e999',
  '1.7976931348623157e308',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '-9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '-9223372036854775809',
  '18446744073709551615',
  '18446744073709551616',
  '123456789012345678901234567890',
  '0.30000000000000004',
  '2.2250738585072011e-308',
  '100000000000000000000000000000e-5',
];

/** A random number or literal word, or a string in a random spelling. */
export function randomScalar(random: Seeded): ScalarText {
  switch (random.below(8)) {
    case 0:
      return random.pick(['true', 'false', 'null']);
    case 1:
    case 2:
      return random.pick(NUMBERS);
    case 3:
      return randomNumber(random);
    case 4:
      return spellString(random, randomText(random));
    default:
      return spellString(random, random.pick(STRINGS));
  }
}

/** Digits with every optional part of the grammar; never overflows a double. */
function randomNumber(random: Seeded): string {
  const sign = random.chance(0.3) ? '-' : '';
  const whole = random.chance(0.2) ? '0' : `${1 + random.below(9)}${digits(random, random.below(22))}`;
  const fraction = random.chance(0.4) ? `.${digits(random, 1 + random.below(20))}` : '';
  const exponent = random.chance(0.2)
    ? `${random.pick(['e', 'E'])}${random.pick(['', '+', '-'])}${random.below(random.chance(0.5) ? 30 : 280)}`
    : '';
  return sign + whole + fraction + exponent;
}

function digits(random: Seeded, count: number): string {
  let text = '';
  for (let index = 0; index < count; index++) text += String(random.below(10));
  return text;
}

function randomText(random: Seeded): string {
  let text = '';
  for (let length = random.below(30); length > 0; length--) {
    const point = random.pick([
      0x20 + random.below(0x5f),
      0x61 + random.below(26),
      random.below(0x800),
      random.below(0xd800),
    ]);
    text += String.fromCodePoint(random.chance(0.05) ? 0x10000 + random.below(0x100000) : point);
  }
  return text;
}

/** A string literal that reads as `text`: any character may be written as an escape, those that must be are. */
export function spellString(random: Seeded, text: string): string {
  const escapes = random.chance(0.3) ? random.next() : 0;
  let spelled = '"';
  for (const character of text) {
    const mustEscape = character < ' ' || character === '"' || character === '\\';
    if (!mustEscape && !random.chance(escapes)) {
      spelled += character;
      continue;
    }
    const short = SHORT_ESCAPES.get(character);
    if (short !== undefined && random.chance(0.5)) {
      spelled += short;
      continue;
    }
    for (let unit = 0; unit < character.length; unit++) {
      const hex = character.charCodeAt(unit).toString(16).padStart(4, '0');
      spelled += `\\u${random.chance(0.5) ? hex : hex.toUpperCase()}`;
    }
  }
  return `${spelled}"`;
}

const SHORT_ESCAPES = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['/', '\\/'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** What a document is filled with; `scalar` lets a caller bias values towards the literals of a filter. */
export interface DocumentShape {
  readonly keys: readonly string[];
  readonly depth: number;
  scalar(random: Seeded): ScalarText;
}

export const ANY_DOCUMENT: DocumentShape = { keys: RANDOM_KEYS, depth: 4, scalar: randomScalar };

/** The text of a valid document: any root, repeated keys, random spacing. */
export function randomJson(random: Seeded, shape: DocumentShape): string {
  const space = random.chance(0.7) ? 0 : random.next() * 0.7;
  return between(random, space) + value(random, shape, shape.depth, space) + between(random, space);
}

function value(random: Seeded, shape: DocumentShape, depth: number, space: number): string {
  const roll = random.next();
  const isRoot = depth === shape.depth;
  if (depth === 0 || (roll < 0.5 && !isRoot) || roll < 0.05) return shape.scalar(random);
  const isObject = roll > 0.7 || (isRoot && roll > 0.15);
  const entries: string[] = [];
  for (let count = random.below(isRoot ? 8 : 5); count > 0; count--) {
    const entry = value(random, shape, depth - 1, space);
    const key = isObject
      ? `${spellString(random, random.pick(shape.keys))}${between(random, space)}:${between(random, space)}`
      : '';
    entries.push(between(random, space) + key + entry + between(random, space));
  }
  const inside = entries.length === 0 ? between(random, space) : entries.join(',');
  return isObject ? `{${inside}}` : `[${inside}]`;
}

function between(random: Seeded, space: number): string {
  let text = '';
  while (random.chance(space)) text += random.pick([' ', '\n', '\t', '\r']);
  return text;
}

/** Pieces that break JSON, or nest it, wherever they come to stand. */
const POISONS: readonly (readonly number[])[] = [
  '"',
  '\\',
  '\\x',
  '\\u12',
  '\\ud800',
  '\\udc00x',
  '\u0001',
  '{',
  '[',
  '}',
  ']',
  '[[[[[[',
  '{"a":{"a":{"a":{"a":{',
  ',',
  ':',
  '1e999',
  '01',
  '1.',
  '-',
  '+1',
  '.5',
  'nul',
  'NaN',
  '\ufeff',
  '/**/',
  "'",
  '"a":1',
].map((text) => [...new TextEncoder().encode(text)]);

const BAD_UTF8: readonly (readonly number[])[] = [
  [0x80],
  [0xff],
  [0xc0, 0xaf],
  [0xc2],
  [0xe0, 0x80, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x80, 0x80, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xe2, 0x82],
];

/** The document damaged in one place, most often into something malformed. */
export function breakJson(random: Seeded, bytes: Uint8Array): Uint8Array {
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
      return splice(bytes, at, 0, random.pick(BAD_UTF8));
    case 3:
      return splice(bytes, at, 1 + random.below(3), []);
    default:
      return splice(bytes, at, random.below(2), random.pick(POISONS));
  }
}

function splice(bytes: Uint8Array, at: number, remove: number, insert: readonly number[]): Uint8Array {
  return Uint8Array.from([...bytes.subarray(0, at), ...insert, ...bytes.subarray(at + remove)]);
}
