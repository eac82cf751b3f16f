/**
 * Random records for the filters of `random-filter.ts`: payloads and header blocks made of the same words, so that
 * predicates meet equal, near and unlike values often, and a share of records that cannot be judged.
 */
import { encodeHeaders, type HeaderInput, type HeaderValueInput } from '../../src/segment/header-encode.js';
import { FILTER_DOUBLES, FILTER_HEADER_KEYS, FILTER_INTEGERS, FILTER_TEXTS } from './random-filter.js';
import { breakJson, type DocumentShape, randomJson, randomScalar, spellString } from './random-json.js';
import type { Seeded } from './seeded.js';

/** Limits under which random records reach every fault; real payloads would have to be huge. */
export const RANDOM_RECORD_LIMITS = { maxPayloadBytes: 420, maxDepth: 4 };

export interface RandomRecord {
  readonly payload: Uint8Array;
  readonly headerBlock: Uint8Array;
  /** True if the payload was damaged, nested or blown up on purpose. */
  readonly isHostile: boolean;
}

const utf8 = new TextEncoder();

/** One record; a tenth and more of the payloads is hostile, a few header blocks are damaged. */
export function randomRecord(random: Seeded): RandomRecord {
  const isHostile = random.chance(0.16);
  const text = randomPayload(random);
  return {
    payload: isHostile ? hostile(random, text) : utf8.encode(text),
    headerBlock: randomHeaderBlock(random),
    isHostile,
  };
}

function hostile(random: Seeded, text: string): Uint8Array {
  switch (random.below(5)) {
    case 0:
      return utf8.encode(text.replace(/[{[]/, (open) => `${open === '{' ? '{"b":' : '['}[[[[[1]]]]],`));
    case 1:
      return utf8.encode(text + ' '.repeat(RANDOM_RECORD_LIMITS.maxPayloadBytes));
    default:
      return breakJson(random, utf8.encode(text));
  }
}

/** Usually an object with the keys that filters look for; now and then any document at all. */
function randomPayload(random: Seeded): string {
  if (random.chance(0.05)) return randomJson(random, { ...ANYTHING, depth: 3 });
  const members: string[] = [];
  const add = (key: string, value: string) => members.push(`${spellString(random, key)}:${value}`);
  for (const key of ['a', 'b', 'c', 'k.dot', '0', 'écluse']) {
    if (random.chance(0.75)) add(key, anyValue(random));
  }
  if (random.chance(0.6)) {
    const second = random.chance(0.6) ? `{"x":${scalar(random)}}` : anyValue(random);
    add('list', `[${[scalar(random), second, scalar(random)].slice(0, random.below(4)).join()}]`);
  }
  if (random.chance(0.7)) {
    const inner = random.chance(0.6) ? `{"f":${scalar(random)}}` : anyValue(random);
    add('d', random.chance(0.8) ? `{"x":1,"e":${inner}}` : anyValue(random));
  }
  if (random.chance(0.3)) add('unread', randomJson(random, ANYTHING));
  if (random.chance(0.1)) add(random.pick(['a', 'list', 'd']), anyValue(random));
  for (let at = members.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [members[at], members[other]] = [members[other]!, members[at]!];
  }
  return `{${members.join(random.chance(0.2) ? ' ,\n' : ',')}}`;
}

function anyValue(random: Seeded): string {
  switch (random.below(12)) {
    case 0:
    case 1:
      return `[${Array.from({ length: random.below(4) }, () => scalar(random)).join()}]`;
    case 2:
      return random.pick(['{}', '{"e":1}', '[[5]]', '{"a":{}}']);
    default:
      return scalar(random);
  }
}

/** A scalar of the filters' vocabulary, or an unrelated one. */
function scalar(random: Seeded): string {
  switch (random.below(11)) {
    case 0:
    case 1:
      return random.pick(['true', 'false', 'null', 'null']);
    case 2:
      return String(random.pick(FILTER_INTEGERS));
    case 3:
    case 4:
      return random.pick(FILTER_DOUBLES);
    case 5:
      return random.pick(['18446744073709551615', '9223372036854775809', '-0.5', '1700000000.0', '42.00', '5e0']);
    case 6:
      return randomScalar(random);
    default:
      return spellString(random, randomText(random));
  }
}

function randomText(random: Seeded): string {
  const text = random.pick(FILTER_TEXTS);
  switch (random.below(6)) {
    case 0:
      return text + random.pick(FILTER_TEXTS);
    case 1:
      return text.toUpperCase();
    case 2:
      return random.pick([
        '5.00',
        '+5',
        '1e3',
        '',
        '1700000000000',
        '1969-12-31T23:59:59.999999z',
        '-12.5',
        '2031-02-30T00:00:00Z',
      ]);
    default:
      return text;
  }
}

const ANYTHING: DocumentShape = { keys: ['a', 'b', 'd', 'e', 'list', '0'], depth: 2, scalar };

/** None, or a few entries; `agdx.ct` mostly names JSON or nothing. A twentieth of the blocks is damaged. */
function randomHeaderBlock(random: Seeded): Uint8Array {
  if (random.chance(0.2)) return new Uint8Array(0);
  const entries: HeaderInput[] = [];
  for (const key of FILTER_HEADER_KEYS) {
    if (key === 'never') continue;
    for (let count = random.pick([0, 1, 1, 1, 2]); count > 0; count--) {
      if (key !== 'agdx.ct') entries.push({ key, value: headerValue(random) });
      else if (random.chance(0.6)) entries.push({ key, value: contentType(random) });
    }
  }
  if (random.chance(0.1)) entries.push({ key: Uint8Array.of(0x68), keyCode: 1, value: headerValue(random) });
  const block = encodeHeaders(entries);
  if (!random.chance(0.05) || block.length === 0) return block;
  if (random.chance(0.3)) return block.slice(0, random.below(block.length));
  block[random.below(block.length)] = random.pick([0, 2, 3, 255, random.below(256)]);
  return block;
}

function contentType(random: Seeded): HeaderValueInput {
  switch (random.below(8)) {
    case 0:
      return { kind: random.pick(['u8', 'i64'] as const), value: random.pick([0, 2, 3, 5, 6, 8]) as never };
    case 1:
      return random.pick<HeaderValueInput>([
        { kind: 'u8', value: 255 },
        { kind: 'string', value: '3' },
        { kind: 'f64', value: 3 },
        { kind: 'i8', value: -1 },
        { kind: 'u16', value: 9 },
        { kind: 'raw', value: Uint8Array.of(3) },
      ]);
    default:
      return { kind: 'u8', value: 1 };
  }
}

function headerValue(random: Seeded): HeaderValueInput {
  const integer = random.pick(FILTER_INTEGERS);
  switch (random.below(10)) {
    case 0:
      return { kind: 'bool', value: random.chance(0.5) };
    case 1:
    case 2:
      return { kind: 'i64', value: integer };
    case 3:
      return integer >= 0n ? { kind: 'u64', value: integer } : { kind: 'i8', value: -1 };
    case 4:
      return { kind: 'u64', value: random.pick([2n ** 64n - 1n, 5n, 42n, 2n ** 53n]) };
    case 5:
      return { kind: 'f64', value: random.pick([NaN, Infinity, ...FILTER_DOUBLES.map(Number)]) };
    case 6:
      return { kind: 'raw', value: random.pick([Uint8Array.of(0xff), Uint8Array.of(0x35), utf8.encode('é')]) };
    case 7:
      return random.chance(0.5) ? { kind: 'i128', value: -1n } : { kind: 'f32', value: 1.5 };
    default: {
      const text = random.pick(FILTER_TEXTS);
      return { kind: 'string', value: text === '' ? 'a' : text };
    }
  }
}
