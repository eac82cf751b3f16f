/** Header blocks as values: every block case of the corpus, widths, repeats, and the content-type-only reading. */
import { expect, test } from 'vitest';
import type { HeaderValue } from '../../src/core/header-value.js';
import { decodeContentType, decodeHeaderBlock, textHeaders } from '../../src/segment/header-block.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { blockCases, headerBlock } from '../support/cases.js';
import { Seeded } from '../support/seeded.js';

function headersOf(block: Uint8Array, contentTypeOnly: boolean): ReadonlyMap<string, HeaderValue> | undefined {
  if (contentTypeOnly) return decodeContentType(block, 0, block.length);
  const entries = decodeHeaderBlock(block, 0, block.length);
  return entries && textHeaders(entries);
}

test.each(blockCases())('$id: $why', ({ block, contentTypeOnly, entries }) => {
  const headers = headersOf(block, contentTypeOnly);
  const sorted = headers && [...headers].toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect(sorted?.map(([key, value]) => ({ key, value }))).toEqual(entries);
});

test('every case of the corpus is run', () => {
  expect(blockCases()).toHaveLength(72);
});

test('an entry is read in place, whatever stands around the block', () => {
  const block = headerBlock([{ key: 'lane', value: { kind: 'uint', value: 7n } }]);
  const padded = new Uint8Array(block.length + 20).fill(0xff);
  padded.set(block, 9);
  expect(headersOf(padded.subarray(9, 9 + block.length), false)).toEqual(
    new Map([['lane', { kind: 'uint', value: 7n }]]),
  );
  expect(decodeHeaderBlock(padded, 9, 9 + block.length)).toHaveLength(1);
  expect(decodeHeaderBlock(padded, 9, 8 + block.length)).toBeUndefined();
  expect(decodeHeaderBlock(padded, 9, 9)).toEqual([]);
});

test('entries under a key that is not text keep their kind and bytes, and no filter sees them', () => {
  const block = encodeHeaders([
    { key: Uint8Array.of(1, 2), keyCode: 9, value: { kind: 'u8', value: 3 } },
    { key: Uint8Array.of(7), value: { kind: 'code', code: 10, value: Uint8Array.of(1, 2, 3) } },
  ]);
  const entries = decodeHeaderBlock(block, 0, block.length)!;
  expect(entries).toEqual([
    { keyKind: 9, key: Uint8Array.of(1, 2), value: { kind: 'uint', value: 3n } },
    { keyKind: 1, key: Uint8Array.of(7), value: { kind: 'raw', value: Uint8Array.of(1, 2, 3) } },
  ]);
  expect(textHeaders(entries).size).toBe(0);
});

test('random damage never reads past the block, and what only needs the content type never faults on more', () => {
  const random = new Seeded(20_260_101);
  const block = headerBlock([
    { key: 'agdx.ct', value: { kind: 'uint', value: 1n } },
    { key: 'name', value: { kind: 'string', value: 'øst' } },
    { key: 'ready', value: { kind: 'bool', value: true } },
    { key: 'share', value: { kind: 'float', value: 0.5 } },
  ]);
  let malformed = 0;
  for (let round = 0; round < 5_000; round++) {
    const damaged = block.slice(0, random.chance(0.5) ? block.length : random.below(block.length));
    for (let flips = random.below(4); flips > 0 && damaged.length > 0; flips--) {
      damaged[random.below(damaged.length)] = random.below(256);
    }
    const whole = headersOf(damaged, false);
    const contentType = headersOf(damaged, true);
    if (whole === undefined) malformed++;
    else expect(contentType?.get('agdx.ct')).toEqual(whole.get('agdx.ct'));
  }
  expect(malformed).toBeGreaterThan(1_000);
});
