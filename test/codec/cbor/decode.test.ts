/** The obvious CBOR decoder: every rule of the contract, by the bytes. */
import { describe, expect, it } from 'vitest';
import { decodeCbor } from '../../../src/codec/cbor/decode.js';
import type { Value } from '../../../src/codec/value.js';
import { REASON_NAMES } from '../../../src/core/verdict.js';
import { AROUND_ITEM, fromHex, MALFORMED_ITEMS, WELL_FORMED_ITEMS } from '../../support/cbor-bytes.js';
import { ANY_CBOR, encodeCbor, randomCborValue } from '../../support/random-cbor.js';
import { Seeded } from '../../support/seeded.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };

function decode(hex: string, limits = LIMITS): Value | string {
  const decoded = decodeCbor(fromHex(hex), limits);
  return decoded.ok ? decoded.value : `fault ${REASON_NAMES[decoded.reason]}`;
}

describe('values', () => {
  it.each(WELL_FORMED_ITEMS)('%s are what they should be', (hex, value) => {
    expect(decode(hex)).toEqual(value);
  });

  it('come back from every spelling of random ones', () => {
    const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 3));
    for (let round = 0; round < 3_000; round++) {
      const value = randomCborValue(random, ANY_CBOR);
      for (const bytes of [encodeCbor(value), encodeCbor(value, random)]) {
        expect(decodeCbor(bytes, LIMITS)).toEqual({ ok: true, value });
      }
    }
  });

  it('are exactly one', () => {
    expect(decode('')).toBe('fault malformed');
    expect(decode('0000')).toBe('fault malformed');
    expect(decode('80f6')).toBe('fault malformed');
    expect(decode('7b226e223a317d')).toBe('fault malformed');
  });
});

describe('faults', () => {
  it.each(MALFORMED_ITEMS)('%s is malformed, wherever it stands', (hex) => {
    for (const around of AROUND_ITEM) expect(decode(around(hex)), around(hex)).toBe('fault malformed');
  });

  it('are found at every cut', () => {
    for (const [hex] of WELL_FORMED_ITEMS) {
      for (let length = 0; length < hex.length; length += 2) {
        expect(decode(hex.slice(0, length))).toBe('fault malformed');
      }
    }
  });

  it('rank size before everything', () => {
    expect(decode('ffffff', { maxPayloadBytes: 2, maxDepth: 64 })).toBe('fault too_large');
    expect(decode('ffff', { maxPayloadBytes: 2, maxDepth: 64 })).toBe('fault malformed');
    expect(decode('8101', { maxPayloadBytes: 2, maxDepth: 64 })).toEqual([1n]);
  });

  it('count depth by values, the root at 0', () => {
    const nested = (count: number, inside: string) => '81'.repeat(count) + inside;
    expect(typeof decode(nested(64, '00'))).toBe('object');
    expect(decode(nested(65, '00'))).toBe('fault too_deep');
    expect(typeof decode(nested(64, '80'))).toBe('object');
    expect(decode(nested(65, '80'))).toBe('fault too_deep');
    expect(typeof decode(nested(64, 'a0'))).toBe('object');
    expect(decode(nested(64, 'a16100'))).toBe('fault too_deep');
    expect(decode(nested(64, 'a1610000'))).toBe('fault too_deep');
    expect(typeof decode('a16161'.repeat(64) + '00')).toBe('object');
    expect(decode('a16161'.repeat(65) + '00')).toBe('fault too_deep');
    // The integers of a byte string stand where it stands.
    expect(typeof decode(nested(64, '420102'))).toBe('object');
    expect(decode('07', { maxPayloadBytes: 9, maxDepth: 0 })).toBe(7n);
    expect(decode('4107', { maxPayloadBytes: 9, maxDepth: 0 })).toEqual([7n]);
    expect(decode('8107', { maxPayloadBytes: 9, maxDepth: 0 })).toBe('fault too_deep');
  });

  it('are the first in reading order', () => {
    const limits = { maxPayloadBytes: 99, maxDepth: 1 };
    // Too deep before the missing end, before a bad item behind it, before its own bad bytes.
    expect(decode('82810000', limits)).toBe('fault too_deep');
    expect(decode('828100ff', limits)).toBe('fault too_deep');
    expect(decode('81811c', limits)).toBe('fault too_deep');
    // A count that the bytes do not back, and everything that stands before, come first.
    expect(decode('8181', limits)).toBe('fault malformed');
    expect(decode('819bffffffffffffffff', limits)).toBe('fault malformed');
    expect(decode('82c0008100', limits)).toBe('fault malformed');
    // A key comes before its value: one that is bad, one that repeats another.
    expect(decode('81a1610000', limits)).toBe('fault too_deep');
    expect(decode('81a1618000', limits)).toBe('fault malformed');
    expect(decode('81a10000', limits)).toBe('fault malformed');
    expect(decode('a261610061618100', limits)).toBe('fault malformed');
    expect(decode('a26161006162818100', limits)).toBe('fault too_deep');
  });
});
