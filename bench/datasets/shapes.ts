/**
 * Datasets of one shape each, for what `orbit` is not: deep, wide, huge text, nothing but escapes, nothing but numbers,
 * tiny records, large documents.
 *
 * Every record holds `id`, its own number, so that a filter can select some; payloads are valid JSON and within the
 * default limits of depth and size.
 */
import { encodeHeaders } from '../../src/segment/header-encode.js';
import type { Dataset } from './dataset.js';
import { Random } from './random.js';

export type ShapeName = 'deep' | 'wide' | 'long-text' | 'escapes' | 'numbers' | 'tiny' | 'document';

/** Levels of `deep`: the default limit. */
export const DEEP_LEVELS = 64;
/** Keys of one `wide` object. */
export const WIDE_KEYS = 2000;
/** Characters of the one text in a `long-text` record. */
export const LONG_TEXT_BYTES = 900_000;
/** Bytes of a `tiny` payload, and about those of a `document`. */
export const TINY_BYTES = 90;
export const DOCUMENT_BYTES = 29_000;

const JSON_CONTENT = encodeHeaders([{ key: 'agdx.ct', value: { kind: 'u8', value: 1 } }]);
const ESCAPES = [
  '\\"',
  '\\\\',
  '\\/',
  '\\b',
  '\\f',
  '\\n',
  '\\r',
  '\\t',
  '\\u0041',
  '\\u00e9',
  '\\u2713',
  '\\ud83d\\udef0',
];
const STATES = ['idle', 'busy', 'lost', 'done'];

/** The dataset of one shape; `seed` default 1. */
export function shapeDataset(name: ShapeName, seed = 1): Dataset {
  const random = new Random();
  const textOf = SHAPES[name];
  return {
    name,
    record(index) {
      random.place(seed, index);
      return { payload: Buffer.from(textOf(index, random)), headers: JSON_CONTENT, timestamp: BigInt(index) };
    },
  };
}

const SHAPES: Readonly<Record<ShapeName, (index: number, random: Random) => string>> = {
  deep(index, random) {
    // The root is one level; arrays and objects take turns for the others.
    let text = `"${random.pick(STATES)}"`;
    for (let level = DEEP_LEVELS - 1; level > 0; level -= 1) text = level % 2 === 0 ? `[${text}]` : `{"d":${text}}`;
    return `{"id":${index},"down":${text}}`;
  },
  wide(index, random) {
    const members = Array.from({ length: WIDE_KEYS - 1 }, (_, key) => `"field_${key}":${random.below(1000)}`);
    members.splice(random.below(members.length), 0, `"id":${index}`);
    return `{${members.join(',')}}`;
  },
  'long-text'(index, random) {
    const word = `${random.pick(STATES)} ${random.below(1000)} `;
    return `{"id":${index},"text":"${word.repeat(Math.ceil(LONG_TEXT_BYTES / word.length)).slice(0, LONG_TEXT_BYTES)}"}`;
  },
  escapes(index, random) {
    let text = '';
    while (text.length < 550) text += random.pick(ESCAPES);
    return `{"\\u0069d":${index},"\\u0074ext":"${text}"}`;
  },
  numbers(index, random) {
    const numbers = Array.from({ length: 60 }, () => numberText(random));
    return `{"id":${index},"values":[${numbers.join(',')}]}`;
  },
  tiny(index, random) {
    const head = `{"id":${index},"state":"${random.pick(STATES)}","level":${random.below(100)},"tag":"`;
    return `${head}${'orbit pass window drift slew margin thermal uplink burn node'.slice(0, TINY_BYTES - 2 - head.length)}"}`;
  },
  document(index, random) {
    const items: string[] = [];
    let bytes = 0;
    while (bytes < DOCUMENT_BYTES - 100) {
      const item = `{"n":${items.length},"state":"${random.pick(STATES)}","level":${random.below(1000) / 10},"labels":["${random.pick(STATES)}","pass ${random.below(500)}"]}`;
      items.push(item);
      bytes += item.length + 1;
    }
    return `{"id":${index},"kind":"report","items":[${items.join(',')}],"state":"${random.pick(STATES)}"}`;
  },
};

/** A JSON number of any form: small, 64-bit, beyond, negative zero, fraction, exponent. */
function numberText(random: Random): string {
  switch (random.below(7)) {
    case 0:
      return random.below(100_000).toString();
    case 1:
      return `-${random.below(100_000)}`;
    case 2:
      return (BigInt(random.below(0x1_0000_0000)) * 0xffff_ffffn).toString();
    case 3:
      return `${random.below(10_000)}.${random.below(1_000_000)}`;
    case 4:
      return `-${random.below(10)}.${random.below(1000)}e-${random.below(30)}`;
    case 5:
      return `${random.between(1, 9)}E+${random.below(200)}`;
    default:
      return random.pick(['-0', '0', '0.0', '18446744073709551616', '-9223372036854775808']);
  }
}
