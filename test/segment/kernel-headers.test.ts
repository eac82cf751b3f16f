/** The kernel's header walker against the decoder of whole blocks and the corpus, for frames of whole batches. */
import { describe, expect, it } from 'vitest';
import type { Kernel } from '../../src/core/kernel.js';
import { encodeHeaders, type HeaderInput } from '../../src/segment/header-encode.js';
import { HeaderWalker } from '../../src/segment/header-walker.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { headerReader, KernelHeaders } from '../../src/segment/kernel-headers.js';
import { blockCases } from '../support/cases.js';
import { compareRows } from '../support/header-batch.js';
import { newKernel } from '../support/kernel.js';
import {
  compareBlockAt,
  compareWithBlockDecoder,
  RANDOM_HEADER_KEYS,
  randomBlock,
  randomEntry,
  seen,
  wanted,
} from '../support/random-headers.js';
import { Seeded } from '../support/seeded.js';

const kernel = newKernel();

/** Puts one frame for each block into the kernel's window and table, `around` between and behind them. */
function load(blocks: readonly Uint8Array[], around = 0x02): void {
  const payload = new Uint8Array(7).fill(around);
  const bytes = encodeIggySegment(blocks.map((headers, offset) => ({ offset, payload, headers })));
  kernel.window.fill(around);
  kernel.window.set(bytes, 5);
  const count = kernel.exports.readFrames(5, 5 + bytes.length, kernel.frames.rows);
  expect(count).toBe(blocks.length);
  kernel.frames.begin(count);
}

/** Makes a row the current record, and says where its header block stands. */
function at(row: number): [start: number, end: number] {
  const { frames } = kernel;
  frames.row = row;
  return [frames.payloadEnds[row]!, frames.frameEnds[row]!];
}

function readerOf(keys: readonly string[]): KernelHeaders {
  const reader = headerReader(keys, kernel);
  if (!(reader instanceof KernelHeaders)) throw new Error('the keys do not fit the kernel');
  return reader;
}

const text = (value: string) => ({ kind: 'string', value }) as const;

describe('conformance', () => {
  it.each(blockCases().map((one) => [one.id, one] as const))('%s', (_, { block, contentTypeOnly, entries }) => {
    const keys = [...new Set(['agdx.ct', ...(entries ?? []).map(({ key }) => key), 'absent'])];
    const reader = readerOf(keys);
    // Twice, since the second of two equal blocks is read with the first in mind.
    load([block, block]);
    for (const row of [0, 1]) {
      const [start, end] = at(row);
      const isGood = contentTypeOnly
        ? reader.readOnly(0, kernel.window, start, end)
        : reader.readAll(kernel.window, start, end);
      expect(isGood).toBe(entries !== undefined);
      if (entries === undefined) continue;
      const values = new Map(entries.map(({ key, value }) => [key, value]));
      for (const [slot, key] of keys.entries()) {
        expect(seen(reader, slot, kernel.window)).toEqual(wanted(values.get(key)));
      }
    }
  });
});

describe('against the decoder of whole blocks', () => {
  it('random blocks in batches, whole and damaged, are judged alike and hold the same values', () => {
    const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 5));
    const reader = readerOf(RANDOM_HEADER_KEYS);
    const good = [0, 0];
    for (let round = 0; round < 300; round++) {
      load(
        Array.from({ length: 1 + random.below(kernel.frames.rows) }, () => randomBlock(random)),
        random.pick([0, 1, 2, 0xff]),
      );
      for (let row = 0; row < kernel.frames.count; row += random.pick([1, 1, 1, 2, 9])) {
        good[compareBlockAt(reader, kernel.window, ...at(row)) ? 1 : 0]! += 1;
      }
      compareRows(kernel, reader, () => random.pick([1, 1, 1, 2, 9]));
    }
    expect(Math.min(...good)).toBeGreaterThan(2000);
  });

  it('blocks like the one before with one byte changed are judged alike', () => {
    const random = new Seeded(6);
    const reader = readerOf(RANDOM_HEADER_KEYS);
    for (let round = 0; round < 150; round++) {
      const block = encodeHeaders(Array.from({ length: 1 + random.below(10) }, () => randomEntry(random)));
      const changed = Array.from({ length: 60 }, (_, index) => {
        if (index % 2 === 0) return block;
        const other = block.slice(0, random.chance(0.1) ? random.below(block.length) : block.length);
        // Most changes to kinds and lengths, which stand among small numbers.
        if (other.length > 0) other[random.below(other.length)]! ^= random.pick([1, 2, 3, 4, 8, 0x80, 0xff]);
        return other;
      });
      load(changed);
      compareRows(kernel, reader);
    }
  });

  it('a value that is no field, or of another length than its kind has, is seen behind blocks like it', () => {
    const reader = readerOf(RANDOM_HEADER_KEYS);
    const entries: readonly HeaderInput[] = [
      { key: 'k', value: text('a') },
      { key: 'flag', value: { kind: 'bool', value: true } },
      { key: 'more', value: text('b'.repeat(255)) },
    ];
    for (const order of [
      [0, 1, 2],
      [1, 0, 2],
      [1, 2, 0],
    ]) {
      const block = encodeHeaders(order.map((index) => entries[index]!));
      const changed: Uint8Array[] = [];
      for (let place = 0; place < block.length; place++) {
        for (const byte of [0, 1, 2, 3, 0xff]) {
          const other = block.slice();
          other[place] = byte;
          changed.push(block, other);
        }
      }
      for (let from = 0; from < changed.length; from += kernel.frames.rows) {
        load(changed.slice(from, from + kernel.frames.rows));
        compareRows(kernel, reader);
      }
    }
  });

  it('a text without bytes, and one that is too long, are seen behind blocks like it', () => {
    const reader = readerOf(['k']);
    const block = encodeHeaders([{ key: 'k', value: text('a') }]);
    const ofLength = (length: number): Uint8Array => {
      const other = new Uint8Array(11 + length).fill(0x61);
      other.set(block.subarray(0, 7));
      new DataView(other.buffer).setUint32(7, length, true);
      return other;
    };
    const lengths = [1, 0, 1, 255, 256, 511, 2];
    load(lengths.map(ofLength));
    for (const [row, length] of lengths.entries()) {
      expect(reader.readAll(kernel.window, ...at(row)), `length ${length}`).toBe(length > 0 && length < 256);
    }
  });

  it('every truncation of a block with every kind is judged alike', () => {
    const random = new Seeded(3);
    const reader = readerOf(RANDOM_HEADER_KEYS);
    const block = encodeHeaders(Array.from({ length: 40 }, () => randomEntry(random)));
    const cuts = Array.from({ length: block.length + 1 }, (_, length) => block.slice(0, length));
    for (let from = 0; from < cuts.length; from += kernel.frames.rows) {
      load(cuts.slice(from, from + kernel.frames.rows));
      compareRows(kernel, reader);
    }
  });

  it('a block that stands in no row is judged alike', () => {
    const random = new Seeded(4);
    const reader = readerOf(RANDOM_HEADER_KEYS);
    for (let round = 0; round < 500; round++) compareWithBlockDecoder(reader, randomBlock(random));
  });
});

describe('keys', () => {
  it('of every length are told apart from those that differ in one byte', () => {
    for (let length = 1; length <= 255; length += length < 40 ? 1 : 17) {
      const key = 'k'.repeat(length);
      const others = Array.from({ length }, (_, index) => `${key.slice(0, index)}x${key.slice(index + 1)}`);
      const reader = readerOf(['agdx.ct', key]);
      load([key, ...others.slice(0, 200)].map((one) => encodeHeaders([{ key: one, value: text('v') }])));
      for (let row = 0; row < kernel.frames.count; row++) {
        expect(reader.readAll(kernel.window, ...at(row))).toBe(true);
        expect(seen(reader, 1, kernel.window)).toBe(row === 0 ? 'v' : null);
      }
    }
  });

  it('may be a thousand, and each has its own slot', () => {
    const keys = Array.from({ length: 1000 }, (_, index) => `key.${index}${'-'.repeat(index % 30)}`);
    const reader = readerOf(keys);
    const blocks = Array.from({ length: 100 }, (_, row) =>
      [row, (row * 7) % 1000, 999 - row].map((slot): HeaderInput => ({ key: keys[slot]!, value: text(`v${slot}`) })),
    );
    load(blocks.map((block) => encodeHeaders(block)));
    for (const [row, block] of blocks.entries()) {
      expect(reader.readAll(kernel.window, ...at(row))).toBe(true);
      const values = new Map(block.map(({ key, value }) => [key, value.value]));
      for (const [slot, key] of keys.entries()) {
        expect(seen(reader, slot, kernel.window)).toBe(values.get(key) ?? null);
      }
    }
  });

  it('that do not fit the kernel are read by the portable walker', () => {
    expect(
      headerReader(
        Array.from({ length: 4000 }, (_, index) => `key.${index}`),
        kernel,
      ),
    ).toBeInstanceOf(HeaderWalker);
    expect(headerReader(['a'], undefined)).toBeInstanceOf(HeaderWalker);
  });
});

describe('two readers over one kernel', () => {
  it('see their own keys, whoever was there before', () => {
    const readers = [readerOf(['agdx.ct', 'a']), readerOf(['b', 'agdx.ct', 'c'])] as const;
    const blocks = Array.from({ length: 50 }, (_, row) =>
      encodeHeaders(['a', 'b', 'c'].map((key) => ({ key, value: text(`${key}${row}`) }))),
    );
    load(blocks);
    for (let row = 0; row < 50; row++) {
      const [start, end] = at(row);
      const [first, second] = readers;
      if (row % 3 !== 0) {
        expect(first.readAll(kernel.window, start, end)).toBe(true);
        expect([0, 1].map((slot) => seen(first, slot, kernel.window))).toEqual([null, `a${row}`]);
      }
      if (row % 3 !== 1) {
        expect(second.readOnly(2, kernel.window, start, end)).toBe(true);
        expect([0, 1, 2].map((slot) => seen(second, slot, kernel.window))).toEqual([null, null, `c${row}`]);
        expect(second.readAll(kernel.window, start, end)).toBe(true);
        expect([0, 1, 2].map((slot) => seen(second, slot, kernel.window))).toEqual([`b${row}`, null, `c${row}`]);
      }
    }
  });

  it('see the records of the batch at hand, not those of the one before', () => {
    const reader = readerOf(['a']);
    for (const value of ['x', 'yy']) {
      load(Array.from({ length: 20 }, () => encodeHeaders([{ key: 'a', value: text(value) }])));
      for (let row = 0; row < 20; row++) {
        expect(reader.readAll(kernel.window, ...at(row))).toBe(true);
        expect(seen(reader, 0, kernel.window)).toBe(value);
      }
    }
  });
});

describe('reading ahead', () => {
  it('reads at most as many blocks in vain as were used', () => {
    const counting: { exports: Pick<Kernel['exports'], 'readHeaders'>; read: number } = {
      exports: kernel.exports,
      read: 0,
    };
    const watched = Object.create(kernel, {
      exports: {
        value: {
          ...kernel.exports,
          readHeaders(first: number, count: number) {
            counting.read += count;
            kernel.exports.readHeaders(first, count);
          },
        },
      },
    }) as Kernel;
    const reader = headerReader(['a'], watched);
    const blocks = Array.from({ length: kernel.frames.rows }, () => encodeHeaders([{ key: 'a', value: text('v') }]));
    const random = new Seeded(8);
    let used = 0;
    for (let round = 0; round < 100; round++) {
      load(blocks);
      for (let row = 0; row < blocks.length; row += 1 + random.below(1 + (round % 50))) {
        used += 1;
        expect(reader.readAll(kernel.window, ...at(row))).toBe(true);
      }
    }
    expect(counting.read).toBeLessThanOrEqual(2 * used + kernel.frames.rows);
  });
});
