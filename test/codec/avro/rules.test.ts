/** The contract's rules for Avro, one by one, in decoder and walker alike. */
import { describe, expect, it } from 'vitest';
import { avroDecoder } from '../../../src/codec/avro/decode.js';
import { compileAvro } from '../../../src/codec/avro/schema.js';
import type { Value } from '../../../src/codec/value.js';
import { REASON_NAMES } from '../../../src/core/verdict.js';
import type { Path } from '../../../src/core/path.js';
import { AvroTrial } from '../../support/random-avro-trial.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const PATHS: readonly Path[] = [[], [0], [1], ['a'], ['a', 0], ['b'], ['b', 'a']];

/** What both make of the bytes: the value, or the name of the reason. */
function read(schema: unknown, hex: string, limits = LIMITS): Value | string {
  const compiled = compileAvro(JSON.stringify(schema));
  const bytes = Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
  new AvroTrial([compiled], PATHS, limits).check(bytes);
  // Nothing wanted: other instructions.
  new AvroTrial([compiled], [], limits).check(bytes);
  const decoded = avroDecoder(compiled)(bytes, limits);
  return decoded.ok ? decoded.value : REASON_NAMES[decoded.reason];
}

const record = (...types: unknown[]) => ({
  type: 'record',
  name: 'R',
  fields: types.map((type, index) => ({ name: 'abcdef'[index], type })),
});
const inner = (...types: unknown[]) => ({ ...record(...types), name: 'Inner' });
const array = (items: unknown) => ({ type: 'array', items });
const map = (values: unknown) => ({ type: 'map', values });
const EMPTY = { type: 'record', name: 'Empty', fields: [] };
const STAGE = { type: 'enum', name: 'Stage', symbols: ['EGG', 'CHICK', 'FLEDGED'] };

describe('scalars', () => {
  it.each([
    ['null', '', null],
    ['null', '00', 'malformed'],
    ['boolean', '00', false],
    ['boolean', '01', true],
    ['boolean', '02', 'malformed'],
    ['boolean', '', 'malformed'],
    ['int', '00', 0n],
    ['int', '01', -1n],
    ['int', '7f', -64n],
    ['int', '8001', 64n],
    ['int', 'feffffff0f', 2n ** 31n - 1n],
    ['int', 'ffffffff0f', -(2n ** 31n)],
    ['int', '8080808010', 'malformed'],
    ['int', '8180808010', 'malformed'],
    ['int', 'feffffff1f', 'malformed'],
    ['int', '82808080808080808000', 1n],
    ['int', '82808080808080808001', 'malformed'],
    ['long', '8280808080 808020', 9007199254740993n],
    ['long', 'feffffffffffff1f', 2n ** 53n - 1n],
    ['long', '80808080808080 20', 2n ** 53n],
    ['long', 'ffffffffffffff1f', -(2n ** 53n)],
    ['long', 'fdffffffffffff1f', 1n - 2n ** 53n],
    ['long', 'feffffffffffffffff01', 2n ** 63n - 1n],
    ['long', 'ffffffffffffffffff01', -(2n ** 63n)],
    ['long', 'ffffffffffffffffff02', 'malformed'],
    ['long', 'ffffffffffffffffff03', 'malformed'],
    ['long', '8080808080808080808000', 'malformed'],
    ['long', '80808080808080808000', 0n],
    ['long', '8000', 0n],
    ['long', '80', 'malformed'],
    ['long', '', 'malformed'],
    ['long', '0000', 'malformed'],
    ['float', '0000803f', 1],
    ['float', '00000080', -0],
    ['float', 'cdcccc3d', Math.fround(0.1)],
    ['float', '0000807f', 'malformed'],
    ['float', '000080ff', 'malformed'],
    ['float', '0100807f', 'malformed'],
    ['float', 'ffff7f7f', 3.4028234663852886e38],
    ['float', '000080', 'malformed'],
    ['double', '000000000000f03f', 1],
    ['double', '0000000000000080', -0],
    ['double', 'ffffffffffffef7f', Number.MAX_VALUE],
    ['double', '000000000000f07f', 'malformed'],
    ['double', '000000000000f0ff', 'malformed'],
    ['double', '010000000000f07f', 'malformed'],
    ['double', '00000000000000', 'malformed'],
  ] as [string, string, Value | string][])('%s %s', (type, hex, value) => {
    expect(read(type, hex)).toEqual(value);
    // In a record, before another value: other instructions, and words read past it.
    if (typeof value === 'string') return;
    expect(read(record(type, 'string'), `${hex}06616263`)).toEqual(
      new Map<string, Value>([
        ['a', value],
        ['b', 'abc'],
      ]),
    );
  });
});

describe('text and bytes', () => {
  it.each([
    ['string', '00', ''],
    ['string', '0c7369736b696e', 'siskin'],
    ['string', '060ac3a9', '\né'],
    ['string', '8c007369736b696e', 'siskin'],
    ['string', '8c807369736b696e', 'malformed'],
    ['string', `8001${'61'.repeat(64)}`, 'a'.repeat(64)],
    ['string', `8001${'61'.repeat(63)}`, 'malformed'],
    ['string', '01', 'malformed'],
    ['string', '0261 00', 'malformed'],
    ['string', '04 61', 'malformed'],
    ['string', '02ff', 'malformed'],
    ['string', '06eda080', 'malformed'],
    ['string', '04c0af', 'malformed'],
    ['string', '02c3 a9', 'malformed'],
    ['string', 'feffffffffffffffff01', 'malformed'],
    ['string', '8080808020', 'malformed'],
    ['bytes', '00', []],
    ['bytes', '0401ff', [1n, 255n]],
    ['bytes', '840001ff', [1n, 255n]],
    ['bytes', '03', 'malformed'],
    ['bytes', '0601ff', 'malformed'],
    [{ type: 'fixed', name: 'F', size: 2 }, '8080', [128n, 128n]],
    [{ type: 'fixed', name: 'F', size: 2 }, '80', 'malformed'],
    [{ type: 'fixed', name: 'F', size: 0 }, '', []],
    [{ type: 'fixed', name: 'F', size: 2 ** 40 }, '00', 'malformed'],
  ] as [unknown, string, Value | string][])('%j %s', (type, hex, value) => {
    expect(read(type, hex)).toEqual(value);
  });

  it('a fault of UTF-8 is found at every place of a text of every length', () => {
    for (let length = 1; length <= 40; length++) {
      for (let at = 0; at < length; at++) {
        const text = Buffer.alloc(length, 'x');
        text[at] = 0x80;
        const datum = Buffer.concat([Buffer.from([length * 2]), text]).toString('hex');
        expect(read('string', datum)).toBe('malformed');
        expect(read(record('string', 'bytes'), `${datum}20${'00'.repeat(16)}`)).toBe('malformed');
        const good = datum.replace('80', '78');
        expect(read(record('string', 'bytes'), `${good}20${'80'.repeat(16)}`)).toBeInstanceOf(Map);
      }
    }
  });

  it('characters of every length are well-formed at every place of a text', () => {
    for (const character of ['é', '衛', '🛰', '\ufeff']) {
      for (let before = 0; before <= 17; before++) {
        const text = Buffer.from(`${'x'.repeat(before)}${character}${'y'.repeat(13)}`);
        const datum = Buffer.concat([Buffer.from([text.length * 2]), text]).toString('hex');
        expect(read('string', datum)).toBe(text.toString());
        expect(read(record('string', 'long'), `${datum}00`)).toBeInstanceOf(Map);
      }
    }
  });
});

describe('enums and unions', () => {
  it.each([
    [STAGE, '00', 'EGG'],
    [STAGE, '04', 'FLEDGED'],
    [STAGE, '8400', 'FLEDGED'],
    [STAGE, '06', 'malformed'],
    [STAGE, '01', 'malformed'],
    [STAGE, '8080808020', 'malformed'],
    [STAGE, '', 'malformed'],
    [{ ...STAGE, symbols: [] }, '00', 'malformed'],
    [['null', 'long'], '00', null],
    [['null', 'long'], '0205', -3n],
    [['null', 'long'], '820005', -3n],
    [['null', 'long'], '04', 'malformed'],
    [['null', 'long'], '01', 'malformed'],
    [['null', 'long'], '', 'malformed'],
    [['null', 'long'], '8080808020', 'malformed'],
    [[], '00', 'malformed'],
    [[STAGE], '0002', 'CHICK'],
    [['boolean', record('long')], '0202', new Map([['a', 1n]])],
  ] as [unknown, string, Value | string][])('%j %s', (type, hex, value) => {
    expect(read(type, hex)).toEqual(value);
  });
});

describe('blocks', () => {
  it.each([
    ['no block', array('int'), '00', []],
    ['an end that is padded', array('int'), '8000', []],
    ['one block', array('int'), '04 02 04 00', [1n, 2n]],
    ['several blocks', array('int'), '02 02 04 04 06 00', [1n, 2n, 3n]],
    ['a block of known size', array('int'), '03 04 02 04 00', [1n, 2n]],
    ['blocks of both kinds', array('int'), '01 02 02 02 04 00', [1n, 2n]],
    ['a size that is too small', array('int'), '03 02 02 04 00', 'malformed'],
    ['a size that is too large', array('int'), '03 06 02 04 00 00', 'malformed'],
    ['a size beyond the bytes', array('int'), '03 10 02 04 00', 'malformed'],
    ['a size below zero', array('int'), '03 03 02 04 00', 'malformed'],
    ['no size', array('int'), '03', 'malformed'],
    ['no end', array('int'), '02 02', 'malformed'],
    ['items that are missing', array('int'), '06 02 04', 'malformed'],
    ['a map', map('int'), '02 02 61 0a 00', new Map([['a', 5n]])],
    ['a key again, which keeps the last', map('int'), '04 02 61 0a 02 61 0c 00', new Map([['a', 6n]])],
    ['a key again in another block', map('int'), '02 02 61 0a 01 06 02 61 0c 00', new Map([['a', 6n]])],
    ['a key that is not UTF-8', map('int'), '02 02 ff 0a 00', 'malformed'],
    ['a key of no length', map('int'), '02 00 0a 00', new Map([['', 5n]])],
    ['a key whose length is padded', map('int'), '02 8200 61 0a 00', new Map([['a', 5n]])],
    ['a size that counts the keys', map('string'), '01 04 0261 0262 00', 'malformed'],
    ['a size that counts the keys rightly', map('string'), '01 08 0261 0262 00', new Map([['a', 'b']])],
    ['arrays in a map', map(array('int')), '02 02 61 02 02 00 00', new Map([['a', [1n]]])],
    ['maps in an array', array(map('int')), '04 00 02 02 61 02 00 00', [new Map(), new Map([['a', 1n]])]],
    [
      'records of a key again, of which nothing is left',
      map(array('int')),
      '04 0261 0202 00 0261 00 00',
      new Map([['a', []]]),
    ],
  ] as [string, unknown, string, Value | string][])('%s', (_, schema, hex, value) => {
    expect(read(schema, hex)).toEqual(value);
  });
});

describe('depth', () => {
  it.each([
    ['a scalar is depth 0', 'int', '02', 0, 1n],
    ['items are one deeper', array('int'), '02 02 00', 0, 'too_deep'],
    ['where there are none, nothing is deeper', array('int'), '00', 0, []],
    ['so are the values of a map', map('null'), '02 00 00', 0, 'too_deep'],
    ['the key of a value that is too deep is read first', map('null'), '02 02 ff 00', 0, 'malformed'],
    ['so are fields', record('null'), '', 0, 'too_deep'],
    ['a record without fields is not deeper', EMPTY, '', 0, new Map()],
    ['a union adds one', ['null'], '00', 0, 'too_deep'],
    ['its branch is read first', ['null'], '02', 0, 'malformed'],
    ['unions and records add up', record(['null', inner('int')]), '02 02', 2, 'too_deep'],
    ['and fit', record(['null', inner('int')]), '02 02', 3, new Map([['a', new Map([['a', 1n]])]])],
    ['missing bytes are not looked for where it is too deep', record('int'), '', 0, 'too_deep'],
    ['what stands before is read first', record('boolean', array('int')), '02 02 02', 1, 'malformed'],
    ['a record that holds itself never ends', record('R'), '', 64, 'too_deep'],
    ['in any number of ways', record('R', 'R', array('R')), '', 64, 'too_deep'],
    ['unless in arrays that end', record(array('R')), '02 00 00', 64, new Map([['a', [new Map([['a', []]])]]])],
  ] as [string, unknown, string, number, Value | string][])('%s', (_, schema, hex, maxDepth, value) => {
    expect(read(schema, hex, { ...LIMITS, maxDepth })).toEqual(value);
  });

  it('goes to the limit and no further through every kind of nesting', () => {
    const chain = record('int', ['null', 'R']);
    for (const maxDepth of [1, 2, 3, 8, 63, 64, 127]) {
      // Records stand at even depths, their last null one below its union.
      const links = Math.floor((maxDepth - 2) / 2);
      const fits = '0002'.repeat(Math.max(links, 0)) + '0000';
      const value = read(chain, fits, { ...LIMITS, maxDepth });
      expect(typeof value).toBe(maxDepth < 2 ? 'string' : 'object');
      expect(read(chain, `0002${fits}`, { ...LIMITS, maxDepth })).toBe('too_deep');
    }
  });
});

describe('the value budget', () => {
  const within = (budget: number) => ({ maxPayloadBytes: budget, maxDepth: 64 });

  it.each([
    ['a scalar is one', 'null', '', 1],
    ['fields and their record count', record('null', 'null'), '', 3],
    ['an array and its items', array('null'), '0a00', 6],
    ['a map and its values', record(map('null'), 'null', 'null', 'null'), '04 00 00 00', 7],
    ['a union does not', record(['null'], ['null']), '0000', 3],
    ['its branch as an item counts once', array(['null', 'int']), '04 00 00 00', 4],
    ['records as items count once, their fields each', array(record('null', 'null')), '04 00', 7],
    ['records that stand in two places', record(EMPTY, 'Empty', array('Empty')), '04 00', 6],
    ['a wanted or unwanted array of scalars', record('null', array('boolean')), '04 0001 00', 5],
    ['after a union of branches of different sizes', record(['null', inner('null')], 'null'), '02', 4],
    ['and its shorter branch', record(['null', inner('null')], 'null'), '00', 3],
  ] as [string, unknown, string, number][])('%s', (_, schema, hex, budget) => {
    expect(read(schema, hex, within(budget))).not.toBeTypeOf('string');
    const bytes = hex.replaceAll(' ', '').length / 2;
    if (bytes < budget) expect(read(schema, hex, within(budget - 1))).toBe('too_large');
  });

  it('is spent before the items of a block are read', () => {
    expect(read(array('boolean'), '0a 02', within(5))).toBe('too_large');
    expect(read(array('boolean'), '08 02', within(5))).toBe('malformed');
  });

  it('is spent by a count before its size is looked at', () => {
    expect(read(array('null'), '0b 01', within(5))).toBe('too_large');
    expect(read(array('null'), '07 01', within(5))).toBe('malformed');
  });

  it('by any count, however large', () => {
    for (const hex of ['feffffffffffffffff01', 'ffffffffffffffffff01', '8080808080808080 10', 'ffffffff0f']) {
      for (const items of ['null', 'boolean', 'string', EMPTY, record('null')]) {
        expect(read(array(items), hex)).toBe('too_large');
        expect(read(map(items), hex)).toBe('too_large');
      }
    }
  });

  it('comes after depth where one value is both, and in reading order otherwise', () => {
    const limits = { maxPayloadBytes: 2, maxDepth: 1 };
    expect(read(record('null', ['null']), '00', limits)).toBe('too_deep');
    expect(read(record('null', 'null'), '', limits)).toBe('too_large');
    expect(read(record('null', 'null', ['null']), '00', limits)).toBe('too_large');
    expect(read(record('boolean', 'null'), '', limits)).toBe('malformed');
    expect(read(record('null', 'boolean'), '', limits)).toBe('too_large');
    // A block counts before its items are met.
    expect(read(array('null'), '04', { maxPayloadBytes: 2, maxDepth: 0 })).toBe('too_large');
    expect(read(array('null'), '02', { maxPayloadBytes: 2, maxDepth: 0 })).toBe('too_deep');
  });

  it('ends records that multiply without bytes, soon', () => {
    // Each record holds two of the next: 2^40 of them.
    let next: unknown = EMPTY;
    for (let level = 0; level < 40; level++) {
      const first = next as { name: string };
      next = {
        type: 'record',
        name: `M${level}`,
        fields: [
          { name: 'a', type: first },
          { name: 'b', type: first.name },
        ],
      };
    }
    const started = performance.now();
    expect(read(next, '')).toBe('too_large');
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

describe('size', () => {
  it('is looked at first', () => {
    expect(read('boolean', '0202', { maxPayloadBytes: 1, maxDepth: 64 })).toBe('too_large');
    expect(read('boolean', '02', { maxPayloadBytes: 1, maxDepth: 64 })).toBe('malformed');
  });
});
