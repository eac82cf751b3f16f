/** The Avro walker: slots of wanted paths, elements of arrays, and the obvious decoder's word on random data. */
import { describe, expect, it } from 'vitest';
import { compileAvro } from '../../../src/codec/avro/schema.js';
import { AvroWalker } from '../../../src/codec/avro/walker.js';
import { problemOf } from '../../../src/core/error-codes.js';
import { AVRO_PLAN_WORDS_MAX } from '../../../src/core/limits.js';
import { comparePaths, type Path } from '../../../src/core/path.js';
import {
  SLOT_ARRAY,
  SLOT_DOUBLE,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_MISSING,
  SLOT_NEGATIVE_WIDE,
  SLOT_NULL,
  SLOT_OBJECT,
  SLOT_STRING,
  SLOT_STRING_ESCAPED,
} from '../../../src/core/slots.js';
import { MALFORMED, NO_REASON, TOO_DEEP, TOO_LARGE } from '../../../src/core/verdict.js';
import { heapGrowth } from '../../support/allocation.js';
import { AvroTrial, runAvroTrials } from '../../support/random-avro-trial.js';
import { Seeded } from '../../support/seeded.js';
import { MISSING, slotValue } from '../../support/slot-value.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };

const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

const walkerOf = (paths: readonly Path[], ...schemas: unknown[]) =>
  new AvroWalker(
    paths,
    LIMITS,
    schemas.map((schema) => compileAvro(JSON.stringify(schema))),
  );

/** Scalars at `paths`. */
function read(schema: unknown, hex: string, ...paths: Path[]) {
  const sorted = [...paths].sort(comparePaths);
  const walker = walkerOf(sorted, schema);
  const bytes = bytesOf(hex);
  expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
  return paths.map((path) => slotValue(walker, walker.slots, sorted.indexOf(path), bytes));
}

const record = (name: string, ...fields: (readonly [string, unknown])[]) => ({
  type: 'record',
  name,
  fields: fields.map(([field, type]) => ({ name: field, type })),
});
const STAGE = { type: 'enum', name: 'Stage', symbols: ['EGG', 'CHICK', 'FLEDGED'] };
const NEST = record('Nest', ['height', 'int'], ['stage', STAGE], ['next', ['null', 'Nest']]);

describe('slots of wanted paths', () => {
  it('hold values of records, through unions and recursion, without naming a branch', () => {
    const hex = '0e00 02 1002 02 1204 00';
    expect(
      read(NEST, hex, ['height'], ['next', 'height'], ['next', 'next', 'stage'], ['next', 'next', 'next']),
    ).toEqual([7n, 8n, 'FLEDGED', null]);
    expect(read(NEST, hex, ['next', 'next', 'next', 'height'], ['colour'], ['height', 'x'], [0])).toEqual([
      MISSING,
      MISSING,
      MISSING,
      MISSING,
    ]);
  });

  it('of integers are exact to 64 bits', () => {
    const walker = walkerOf([[]], 'long');
    const kindOf = (value: bigint) => {
      let word = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
      const bytes = [];
      for (; word > 0x7fn; word >>= 7n) bytes.push(Number(word & 0x7fn) | 0x80);
      const payload = Uint8Array.of(...bytes, Number(word));
      expect(walker.walk(payload, 0, payload.length)).toBe(NO_REASON);
      expect(slotValue(walker, walker.slots, 0, payload)).toBe(value);
      return walker.slots.kinds[0];
    };
    for (const value of [
      0n,
      -1n,
      2n ** 31n,
      -(2n ** 31n) - 1n,
      2n ** 53n - 1n,
      1n - 2n ** 53n,
      -(2n ** 32n),
      2n ** 32n,
    ]) {
      expect(kindOf(value)).toBe(SLOT_INTEGER);
    }
    for (const value of [2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]) expect(kindOf(value)).toBe(SLOT_INTEGER_WIDE);
    for (const value of [-(2n ** 53n), -(2n ** 53n) - 1n, -(2n ** 63n)]) expect(kindOf(value)).toBe(SLOT_NEGATIVE_WIDE);
  });

  it('say what a value is, and where its bytes stand', () => {
    const schema = record(
      'R',
      ['a', 'string'],
      ['b', { type: 'array', items: 'int' }],
      ['c', { type: 'map', values: 'int' }],
      ['d', record('D', ['x', 'null'])],
      ['e', 'bytes'],
      ['f', { type: 'fixed', name: 'F', size: 2 }],
      ['g', STAGE],
      ['h', 'float'],
    );
    const walker = walkerOf(
      [...'abcdefgh'].map((key) => [key]),
      schema,
    );
    const bytes = bytesOf('ffff 0461 62 02 02 00 00 040102 0304 02 0000803f');
    expect(walker.walk(bytes, 2, bytes.length)).toBe(NO_REASON);
    expect([...walker.slots.kinds]).toEqual([
      SLOT_STRING,
      SLOT_ARRAY,
      SLOT_OBJECT,
      SLOT_OBJECT,
      SLOT_ARRAY,
      SLOT_ARRAY,
      SLOT_STRING_ESCAPED,
      SLOT_DOUBLE,
    ]);
    const rangeOf = (slot: number) => [walker.slots.starts[slot], walker.slots.ends[slot]];
    expect([0, 1, 2, 3, 4, 5].map(rangeOf)).toEqual([
      [3, 5],
      [5, 8],
      [8, 9],
      [9, 9],
      [10, 12],
      [12, 14],
    ]);
    expect(slotValue(walker, walker.slots, 6, bytes)).toBe('CHICK');
  });

  it('hold items of arrays by index over all blocks', () => {
    const schema = { type: 'array', items: record('I', ['v', 'int']) };
    expect(read(schema, '02 02 03 04 04 06 02 08 00', [0, 'v'], [1, 'v'], [2, 'v'], [3, 'v'], [4, 'v'])).toEqual([
      1n,
      2n,
      3n,
      4n,
      MISSING,
    ]);
    expect(read(schema, '00', [4_294_967_295], [0, 'v'])).toEqual([MISSING, MISSING]);
  });

  it('hold bytes by index', () => {
    const schema = record('R', ['photo', 'bytes'], ['sum', { type: 'fixed', name: 'S', size: 3 }]);
    const paths: Path[] = [
      ['photo', 0],
      ['photo', 1],
      ['photo', 2],
      ['sum', 2],
      ['sum', 3],
      ['sum', 0, 'x'],
    ];
    expect(read(schema, '0401ff 090807', ...paths)).toEqual([1n, 255n, MISSING, 7n, MISSING, MISSING]);
  });

  it('hold the last of a repeated map key, with nothing left of the earlier ones', () => {
    const schema = { type: 'map', values: ['int', record('V', ['a', 'int'], ['b', ['null', 'int']])] };
    const paths: Path[] = [['k', 'a'], ['k', 'b'], ['l']];
    expect(read(schema, '04 026b 02 02 02 04 026b 02 06 00 00', ...paths)).toEqual([3n, null, MISSING]);
    expect(read(schema, '04 026b 02 02 02 04 026b 00 08 00', ...paths)).toEqual([MISSING, MISSING, MISSING]);
    expect(read(schema, '02 026b 00 08 02 026b 02 02 02 04 00', ...paths)).toEqual([1n, 2n, MISSING]);
  });

  it('are found among hundreds of map keys, whatever their bytes', () => {
    const keys = Array.from({ length: 300 }, (_, index) => `${index}é`);
    const entries = keys.map((key, index) => {
      const text = Buffer.from(key);
      return Buffer.concat([Buffer.from([text.length * 2]), text, Buffer.from([index & 0x7e])]).toString('hex');
    });
    const values = read({ type: 'map', values: 'int' }, `d804${entries.join('')}00`, ...keys.map((key) => [key]));
    expect(values).toEqual(keys.map((_, index) => BigInt((index & 0x7e) / 2)));
  });

  it('of a union are those of its branch', () => {
    const schema = ['null', 'string', { type: 'array', items: 'string' }, 'bytes', { type: 'map', values: 'string' }];
    const walker = walkerOf([[], [0], ['a']], schema);
    const kindsOf = (hex: string) => {
      const bytes = bytesOf(hex);
      expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
      return [...walker.slots.kinds];
    };
    expect(kindsOf('00')).toEqual([SLOT_NULL, SLOT_MISSING, SLOT_MISSING]);
    expect(kindsOf('02 0261')).toEqual([SLOT_STRING, SLOT_MISSING, SLOT_MISSING]);
    expect(kindsOf('04 02 0261 00')).toEqual([SLOT_ARRAY, SLOT_STRING, SLOT_MISSING]);
    expect(kindsOf('06 0261')).toEqual([SLOT_ARRAY, SLOT_INTEGER, SLOT_MISSING]);
    expect(kindsOf('08 02 0261 0262 00')).toEqual([SLOT_OBJECT, SLOT_MISSING, SLOT_STRING]);
    expect(kindsOf('00')).toEqual([SLOT_NULL, SLOT_MISSING, SLOT_MISSING]);
  });
});

describe('elements', () => {
  function elementsOf(schema: unknown, hex: string, ...path: Path) {
    const walker = walkerOf([path], schema);
    const bytes = bytesOf(hex);
    expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
    expect(walker.slots.kinds[0]).toBe(SLOT_ARRAY);
    const { elements } = walker;
    elements.open(bytes, walker.slots.starts[0]!, walker.slots.ends[0]!, elements.seek(1), 0);
    const seen = [];
    while (elements.next()) {
      const kind = elements.slots.kinds[0];
      seen.push(kind === SLOT_ARRAY || kind === SLOT_OBJECT ? kind : slotValue(walker, elements.slots, 0, bytes));
    }
    expect(elements.next()).toBe(false);
    return seen;
  }

  it('come one by one over all blocks, nested ones whole', () => {
    expect(elementsOf({ type: 'array', items: 'string' }, '02 0261 03 06 0262 00 00')).toEqual(['a', 'b', '']);
    expect(elementsOf({ type: 'array', items: STAGE }, '04 0004 00')).toEqual(['EGG', 'FLEDGED']);
    const mixed = ['null', 'boolean', 'long', 'double', 'bytes', { type: 'map', values: 'int' }, 'Nest'];
    const schema = record('R', ['first', NEST], ['items', { type: 'array', items: mixed }]);
    const items = '0e 00 0201 0405 06000000000000f03f 080401ff 0a02000200 0c0e0000 00';
    expect(elementsOf(schema, `000000${items}`, 'items')).toEqual([
      null,
      true,
      -3n,
      1,
      SLOT_ARRAY,
      SLOT_OBJECT,
      SLOT_OBJECT,
    ]);
    expect(elementsOf({ type: 'array', items: 'null' }, '04 02 00')).toEqual([null, null, null]);
    expect(elementsOf({ type: 'array', items: { type: 'array', items: 'int' } }, '04 00 02 02 00 00')).toEqual([
      SLOT_ARRAY,
      SLOT_ARRAY,
    ]);
  });

  it('of bytes and fixed are integers', () => {
    expect(elementsOf('bytes', '0401ff')).toEqual([1n, 255n]);
    expect(elementsOf({ type: 'fixed', name: 'F', size: 2 }, '8000')).toEqual([128n, 0n]);
  });

  it('are of the kind that the datum has, where a union has several', () => {
    const schema = ['bytes', { type: 'array', items: 'int' }, { type: 'fixed', name: 'F', size: 1 }];
    expect(elementsOf(schema, '00 040204')).toEqual([2n, 4n]);
    expect(elementsOf(schema, '02 04 0204 00')).toEqual([1n, 2n]);
    expect(elementsOf(schema, '04 09')).toEqual([9n]);
  });

  it('are none in an empty array', () => {
    expect(elementsOf({ type: 'array', items: 'string' }, '00')).toEqual([]);
    expect(elementsOf({ type: 'array', items: 'string' }, '8000')).toEqual([]);
    expect(elementsOf('bytes', '00')).toEqual([]);
  });
});

describe('a walker', () => {
  it('of several schemas reads each payload by the chosen one', () => {
    const other = record(
      'Other',
      ['stage', { type: 'enum', name: 'Stage', symbols: ['OLD', 'YOUNGER'] }],
      ['height', 'string'],
    );
    const walker = walkerOf([['height'], ['stage']], NEST, other);
    const bytes = bytesOf('0e0200 020478 79');
    walker.chooseSchema(1);
    expect(walker.walk(bytes, 3, 7)).toBe(NO_REASON);
    expect(slotValue(walker, walker.slots, 0, bytes)).toBe('xy');
    expect(slotValue(walker, walker.slots, 1, bytes)).toBe('YOUNGER');
    walker.chooseSchema(0);
    expect(walker.walk(bytes, 0, 3)).toBe(NO_REASON);
    expect(slotValue(walker, walker.slots, 0, bytes)).toBe(7n);
    expect(slotValue(walker, walker.slots, 1, bytes)).toBe('CHICK');
    expect(walker.walk(bytes, 3, 7)).toBe(MALFORMED);
  });

  it('never looks outside the payload, at any alignment', () => {
    const schema = record(
      'R',
      ['a', 'string'],
      ['b', 'long'],
      ['c', ['null', 'double']],
      ['d', { type: 'array', items: 'string' }],
    );
    const trial = new AvroTrial([compileAvro(JSON.stringify(schema))], [['a'], ['d', 1]], LIMITS);
    const payload = bytesOf('16 68656c6c6f20776f726c64 8080808010 02 000000000000f03f 04 0661c3a9 0278 00');
    for (let before = 0; before < 9; before++) {
      for (const around of [0x00, 0x80, 0xff]) {
        const bytes = new Uint8Array(before + payload.length + 9).fill(around);
        bytes.set(payload, before);
        expect(trial.check(bytes, before, before + payload.length)).toBe(NO_REASON);
        for (let cut = 0; cut < payload.length; cut++) expect(trial.check(bytes, before, before + cut)).toBe(MALFORMED);
      }
    }
  });

  it('leaves nothing on the heap', () => {
    const schema = record(
      'R',
      ['a', 'string'],
      ['b', 'long'],
      ['c', ['null', 'double']],
      ['d', { type: 'array', items: 'string' }],
      ['e', { type: 'map', values: NEST }],
    );
    const walker = walkerOf([['a'], ['b'], ['d'], ['e', 'k', 'stage']], schema);
    const bytes = bytesOf('046162 fdffffffffffff3f 02 000000000000f03f 02 0261 00 02 026b 0e0000 00');
    const { elements, slots } = walker;
    const growth = heapGrowth(() => {
      for (let round = 0; round < 20_000; round++) {
        if (walker.walk(bytes, 0, bytes.length) !== NO_REASON) throw new Error('a fault');
        elements.open(bytes, slots.starts[2]!, slots.ends[2]!, null, 2);
        while (elements.next());
        walker.unescape(bytes, slots.starts[3]!, slots.ends[3]!);
        walker.walk(bytes, 0, bytes.length - 1);
      }
    });
    expect(growth).toBeLessThan(16 * 1024);
  });

  it('reads records that stand in a chain of references as long as a schema can be', () => {
    const records: unknown[] = [record('R0', ['f', 'int'])];
    for (let at = 1; at < 10_000; at++) records.push(record(`R${at}`, ['f', `R${at - 1}`]));
    const walker = walkerOf([['f', 'f']], records);
    const bytes = bytesOf('0202');
    expect(walker.walk(bytes, 0, 2)).toBe(NO_REASON);
    const deep = bytesOf('9e9c0102');
    expect(walker.walk(deep, 0, deep.length)).toBe(TOO_DEEP);
  });

  it('is refused where schemas and paths multiply', () => {
    // Every record under every path: 60 × 2^12 programs.
    const names = Array.from({ length: 60 }, (_, index) => `R${index}`);
    const branches = names.map((name) =>
      record(name, ['a', [...names.slice(0, names.indexOf(name)), name]], ['b', name]),
    );
    const paths: Path[] = [];
    for (let word = 0; word < 2 ** 12; word++)
      paths.push([...word.toString(2).padStart(12, '0')].map((digit) => (digit === '0' ? 'a' : 'b')));
    const problem = (() => {
      try {
        walkerOf(paths.sort(comparePaths), branches);
        return undefined;
      } catch (thrown) {
        return problemOf(thrown);
      }
    })();
    expect(problem).toMatchObject({ code: 'invalid_request', limit: AVRO_PLAN_WORDS_MAX });
  });
});

describe('against the decoder', () => {
  it('random data of random schemas give the same values and damaged ones the same reason', () => {
    const seen = runAvroTrials(new Seeded(Number(process.env['WINNOW_SEED'] ?? 1)), 3000);
    for (const reason of [NO_REASON, MALFORMED, TOO_LARGE, TOO_DEEP] as const)
      expect(seen.get(reason)).toBeGreaterThan(500);
  });
});
