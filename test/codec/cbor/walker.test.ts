/** The CBOR walkers against the obvious decoder: the same verdict on every payload, the same values in the slots. */
import { describe, expect, it } from 'vitest';
import { decodeCbor } from '../../../src/codec/cbor/decode.js';
import type { Value } from '../../../src/codec/value.js';
import { comparePaths, type Path } from '../../../src/core/path.js';
import {
  SLOT_ARRAY,
  SLOT_DOUBLE,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_NEGATIVE_WIDE,
  SLOT_OBJECT,
  SLOT_STRING,
} from '../../../src/core/slots.js';
import { MALFORMED, NO_REASON, REASON_NAMES, TOO_DEEP, TOO_LARGE } from '../../../src/core/verdict.js';
import { heapGrowth } from '../../support/allocation.js';
import { CBOR_ENGINES } from '../../support/cbor-engines.js';
import { AROUND_ITEM, fromHex, MALFORMED_ITEMS, WELL_FORMED_ITEMS } from '../../support/cbor-bytes.js';
import { ANY_CBOR, breakCbor, encodeCbor, randomCborValue } from '../../support/random-cbor.js';
import { cborMap, KEY_SPELLINGS, keyLists, MAP_SIZES } from '../../support/random-cbor-trial.js';
import { Seeded } from '../../support/seeded.js';
import { MISSING, slotValue } from '../../support/slot-value.js';
import { compareWithDecoder, RANDOM_PATHS } from '../../support/walker-comparison.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const DEEP = { maxPayloadBytes: 1 << 20, maxDepth: 127 };

describe.each(CBOR_ENGINES)('$name', ({ makeWalker }) => {
  function read(bytes: Uint8Array, ...paths: Path[]) {
    const sorted = [...paths].sort(comparePaths);
    const walker = makeWalker(sorted, LIMITS);
    expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
    return paths.map((path) => slotValue(walker, walker.slots, sorted.indexOf(path), bytes, decodeCbor));
  }

  function reasonOf(bytes: Uint8Array, limits = LIMITS): string {
    return REASON_NAMES[makeWalker([['a']], limits).walk(bytes, 0, bytes.length)];
  }

  function object(entries: Record<string, Value>): Map<string, Value> {
    return new Map(Object.entries(entries));
  }

  describe('slots of wanted paths', () => {
    const value = object({
      a: object({ b: [1n, [true, object({ c: 'x' })], null] }),
      bytes: [7n, 255n],
      z: -0,
    });

    it('hold the values at keys and indexes, the root and containers included', () => {
      const paths: Path[] = [
        ['a', 'b', 0],
        ['a', 'b', 1, 1, 'c'],
        ['a', 'b', 2],
        ['z'],
        ['a', 'b', 3],
        ['a', 'b', 4294967295],
        ['a', 0],
        ['z', 'a'],
        ['z', 0],
      ];
      expect(read(encodeCbor(value), ...paths)).toEqual([
        1n,
        'x',
        null,
        -0,
        MISSING,
        MISSING,
        MISSING,
        MISSING,
        MISSING,
      ]);
      expect(read(encodeCbor(value), [], ['a', 'b', 1])).toEqual([value, [true, object({ c: 'x' })]]);
      expect(read(encodeCbor('root'), [])).toEqual(['root']);
      expect(read(encodeCbor([]), [], [0])).toEqual([[], MISSING]);
    });

    it('hold elements of arrays wherever they stand, also beside each other and of empty ones', () => {
      const list = Array.from({ length: 40 }, (_, index) => BigInt(index));
      const indexes = [0, 1, 2, 17, 38, 39, 40, 100];
      expect(read(encodeCbor(list), ...indexes.map((index) => [index]))).toEqual(
        indexes.map((index) => (index < 40 ? BigInt(index) : MISSING)),
      );
      expect(read(encodeCbor([[], [list], list]), [0, 0], [1, 0, 3], [2, 39])).toEqual([MISSING, 3n, 39n]);
    });

    it('reach into byte strings, which are arrays of integers', () => {
      const bytes = fromHex('a1656279746573430507ff');
      expect(read(bytes, ['bytes'], ['bytes', 0], ['bytes', 2], ['bytes', 3], ['bytes', 2, 'x'])).toEqual([
        [5n, 7n, 255n],
        5n,
        255n,
        MISSING,
        MISSING,
      ]);
      expect(read(fromHex('590003090807'), [1])).toEqual([8n]);
      expect(read(fromHex('40'), [0])).toEqual([MISSING]);
      // Text is no array.
      expect(read(fromHex('63616263'), [0])).toEqual([MISSING]);
    });

    it('tell the kinds apart', () => {
      const paths: Path[] = [['a'], ['b'], ['c'], ['d'], ['e'], ['f'], ['g'], ['h']];
      const walker = makeWalker(paths, LIMITS);
      const bytes = encodeCbor(
        object({
          a: 5n,
          b: 5,
          c: 2n ** 53n - 1n,
          d: 2n ** 53n,
          e: -(2n ** 53n) + 1n,
          f: -(2n ** 53n),
          g: 'text',
          h: [5n],
        }),
      );
      expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
      expect([...walker.slots.kinds]).toEqual([
        SLOT_INTEGER,
        SLOT_DOUBLE,
        SLOT_INTEGER,
        SLOT_INTEGER_WIDE,
        SLOT_INTEGER,
        SLOT_NEGATIVE_WIDE,
        SLOT_STRING,
        SLOT_ARRAY,
      ]);
      expect(Buffer.from(bytes.subarray(walker.slots.starts[6], walker.slots.ends[6])).toString()).toBe('text');
      const map = fromHex('a0');
      const root = makeWalker([[]], LIMITS);
      expect(root.walk(map, 0, 1)).toBe(NO_REASON);
      expect(root.slots.kinds[0]).toBe(SLOT_OBJECT);
    });

    it('are found by keys of every length and spelling', () => {
      const keys = ['', 'a', 'é', 'mode', 'exactly8', 'ninebytes', 'x'.repeat(23), 'x'.repeat(24), 'é'.repeat(200)];
      const entries = new Map<string, Value>(keys.map((key, index) => [key, BigInt(index)]));
      const random = new Seeded(9);
      for (let round = 0; round < 50; round++) {
        const found = read(encodeCbor(entries, random), ...keys.map((key) => [key]), ['mod'], ['Mode'], ['mode ']);
        expect(found).toEqual([...keys.map((_, index) => BigInt(index)), MISSING, MISSING, MISSING]);
      }
    });

    it('are found among hundreds of keys of one map, and of maps in it', () => {
      const keys = Array.from({ length: 500 }, (_, index) => `key${index}`);
      const inner = new Map<string, Value>(keys.map((key, index) => [key, BigInt(index)]));
      const outer = new Map<string, Value>(keys.map((key) => [key, key === 'key499' ? inner : null]));
      expect(read(encodeCbor(outer), ['key0'], ['key499', 'key0'], ['key499', 'key499'])).toEqual([null, 0n, 499n]);
    });

    it('forget the record before, faults included', () => {
      const walker = makeWalker([['a'], ['b']], LIMITS);
      const good = encodeCbor(object({ a: 1n, b: 'x' }));
      expect(walker.walk(good, 0, good.length)).toBe(NO_REASON);
      expect(walker.walk(good, 0, good.length - 1)).toBe(MALFORMED);
      const other = encodeCbor(object({ b: 3n }));
      expect(walker.walk(other, 0, other.length)).toBe(NO_REASON);
      expect(slotValue(walker, walker.slots, 0, other)).toBe(MISSING);
      expect(slotValue(walker, walker.slots, 1, other)).toBe(3n);
    });
  });

  describe('elements of an array', () => {
    it('come one by one, nested ones whole, from arrays and byte strings', () => {
      const items: Value[] = [
        1n,
        'x',
        [2n, [']']],
        object({ k: '}' }),
        true,
        null,
        -0.5,
        2n ** 64n - 1n,
        -(2n ** 63n),
        [],
      ];
      const bytes = encodeCbor(object({ a: items, b: [1n, 2n, 255n] }), new Seeded(4));
      const walker = makeWalker([['a'], ['b']], LIMITS);
      expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
      const { elements, slots } = walker;
      for (const [slot, wanted] of [items, [1n, 2n, 255n]].entries()) {
        elements.open(bytes, slots.starts[slot]!, slots.ends[slot]!, null, slot);
        const seen = [];
        while (elements.next()) seen.push(slotValue(walker, elements.slots, 0, bytes, decodeCbor));
        expect(seen).toEqual(wanted);
        expect(elements.next()).toBe(false);
      }
    });
  });

  describe('repeated keys', () => {
    it.each(MAP_SIZES)('are found among %i, and only they', (size) => {
      for (const spell of KEY_SPELLINGS) {
        const [keys, ...repeated] = [...keyLists(size, spell)].reverse();
        expect(reasonOf(cborMap(keys!)), spell(1)).toBe('none');
        for (const list of repeated) expect(reasonOf(cborMap(list)), spell(1)).toBe('malformed');
      }
    });

    it('are looked for in each map by itself', () => {
      const keys = Array.from({ length: 70 }, (_, index) => new Uint8Array(Buffer.from(`k${index}`)));
      const list = (inner: Uint8Array): Uint8Array => Buffer.concat([Uint8Array.of(0x82), inner, inner]);
      expect(reasonOf(list(cborMap(keys)))).toBe('none');
      expect(reasonOf(list(cborMap(keys.slice(0, 9))))).toBe('none');
      expect(reasonOf(fromHex('a26161a16161a16161016162a2616101616202'))).toBe('none');
      expect(reasonOf(fromHex('a26161a16162016161f6'))).toBe('malformed');
    });

    it('are found in maps that hold others as large, before what is too deep and not behind it', () => {
      const limits = { maxPayloadBytes: 1 << 20, maxDepth: 2 };
      const keys = Array.from({ length: 70 }, (_, index) => `k${index}`);
      const build = (last: string, deepAt: number): Uint8Array => {
        const parts: Uint8Array[] = [Uint8Array.of(0xb8, keys.length)];
        for (const [index, key] of [...keys.slice(0, -1), last].entries()) {
          const inner = index === deepAt ? [[[0n]]] : [new Map<string, Value>(), 0n];
          parts.push(encodeCbor(key), encodeCbor(inner as Value));
        }
        return Buffer.concat(parts);
      };
      for (const [last, deepAt] of [
        ['k69', -1],
        ['k5', -1],
        ['k69', 30],
        ['k5', 30],
        ['k5', 69],
        ['k69', 69],
      ] as const) {
        const bytes = build(last, deepAt);
        for (const paths of [[], [['k30', 0, 0]]] as Path[][]) {
          compareWithDecoder(makeWalker(paths, limits), paths, bytes, limits, decodeCbor);
        }
      }
      expect(reasonOf(build('k5', 69), limits)).toBe('malformed');
      expect(reasonOf(build('k5', 30), limits)).toBe('too_deep');
    });
  });

  describe('faults', () => {
    it.each(MALFORMED_ITEMS)('%s is malformed, wherever it stands', (hex) => {
      for (const around of AROUND_ITEM) expect(reasonOf(fromHex(around(hex))), around(hex)).toBe('malformed');
    });

    it('nest to the ceiling of 127 and no deeper, whatever limit is asked', () => {
      const limits = { maxPayloadBytes: 1 << 20, maxDepth: 1000 };
      for (const open of ['81', 'a16161']) {
        expect(reasonOf(fromHex(`${open.repeat(127)}00`), limits)).toBe('none');
        expect(reasonOf(fromHex(`${open.repeat(128)}00`), limits)).toBe('too_deep');
        expect(reasonOf(fromHex(`${open.repeat(127)}80`), limits)).toBe('none');
      }
    });
  });

  describe('reading inside a larger buffer', () => {
    it('never looks past the end, whatever stands there', () => {
      const payload = encodeCbor(object({ a: '0123456789', b: [12345n, 'x'], c: true, mode: 'safe' }));
      for (const filler of [0x00, 0x61, 0x80, 0xa1, 0xff]) {
        for (let before = 0; before < 5; before++) {
          const bytes = new Uint8Array(payload.length + 40).fill(filler);
          bytes.set(payload, before);
          const walker = makeWalker([['a'], ['b', 0]], LIMITS);
          expect(walker.walk(bytes, before, before + payload.length)).toBe(NO_REASON);
          expect(slotValue(walker, walker.slots, 0, bytes)).toBe('0123456789');
          for (let cut = 0; cut < payload.length; cut++) {
            expect(walker.walk(bytes, before, before + cut)).toBe(MALFORMED);
          }
        }
      }
    });

    it('takes a payload that ends with its buffer, a buffer of another offset, and shared memory', () => {
      const payload = encodeCbor(object({ a: 'text at the end' }));
      const shared = new Uint8Array(new SharedArrayBuffer(64), 7, payload.length);
      shared.set(payload);
      const walker = makeWalker([['a']], LIMITS);
      for (const bytes of [payload, shared, payload.slice()]) {
        expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
        expect(walker.slots.ends[0]).toBe(bytes.length);
      }
    });
  });

  describe('against the decoder', () => {
    const walkers = [RANDOM_PATHS, RANDOM_PATHS.slice(0, 1), []].map(
      (paths) => [paths, makeWalker(paths, LIMITS), makeWalker(paths, DEEP)] as const,
    );

    it('chosen items give the same values and reasons, wherever they stand', () => {
      for (const item of [...WELL_FORMED_ITEMS.map(([hex]) => hex), ...MALFORMED_ITEMS]) {
        for (const around of AROUND_ITEM) {
          for (const [paths, walker, deep] of walkers) {
            compareWithDecoder(walker, paths, fromHex(around(item)), LIMITS, decodeCbor);
            compareWithDecoder(deep, paths, fromHex('81'.repeat(90) + around(item)), DEEP, decodeCbor);
          }
        }
      }
    });

    it('random payloads give the same values and damaged ones the same reason', () => {
      const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 1));
      const limits = { maxPayloadBytes: 3000, maxDepth: 3 };
      const walker = makeWalker(RANDOM_PATHS, limits);
      const seen = new Map<number, number>();
      for (let round = 0; round < 20_000; round++) {
        let bytes = encodeCbor(randomCborValue(random, ANY_CBOR), random);
        if (random.chance(0.5)) bytes = breakCbor(random, bytes);
        const reason = compareWithDecoder(walker, RANDOM_PATHS, bytes, limits, decodeCbor);
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
      }
      for (const reason of [NO_REASON, MALFORMED, TOO_LARGE, TOO_DEEP]) expect(seen.get(reason)).toBeGreaterThan(200);
    });
  });

  describe('memory', () => {
    it('is not taken by records, whatever they hold', () => {
      const random = new Seeded(8);
      const payloads = Array.from({ length: 200 }, () => encodeCbor(randomCborValue(random, ANY_CBOR), random));
      payloads.push(...payloads.slice(0, 50).map((payload) => breakCbor(random, payload)));
      const total = payloads.reduce((bytes, { length }) => bytes + length, 0);
      const bytes = new Uint8Array(total);
      const ends: number[] = [0];
      for (const payload of payloads) {
        bytes.set(payload, ends.at(-1));
        ends.push(ends.at(-1)! + payload.length);
      }
      const walker = makeWalker(RANDOM_PATHS, LIMITS);
      let faults = 0;
      const run = () => {
        for (let round = 0; round < 40; round++) {
          for (let at = 0; at < payloads.length; at++) faults += walker.walk(bytes, ends[at]!, ends[at + 1]!);
        }
      };
      run();
      expect(heapGrowth(run)).toBeLessThan(32 * 1024);
      expect(faults).toBeGreaterThan(0);
    });

    it('is not taken ahead of the bytes that back a count', () => {
      const claims = [
        '9a02faf080',
        '9b0000000002faf080',
        'ba02faf080',
        'bb0000000002faf080',
        '5a02faf080',
        '7a02faf080',
      ];
      const walker = makeWalker(RANDOM_PATHS, LIMITS);
      const before = process.memoryUsage();
      for (const claim of claims) {
        const bytes = fromHex(claim);
        for (let round = 0; round < 200; round++) {
          expect(walker.walk(bytes, 0, bytes.length)).toBe(MALFORMED);
          expect(decodeCbor(bytes, LIMITS)).toEqual({ ok: false, reason: MALFORMED });
        }
      }
      const after = process.memoryUsage();
      expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(1 << 20);
      expect(after.rss - before.rss).toBeLessThan(64 << 20);
    });
  });
});
