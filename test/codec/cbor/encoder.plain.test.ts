/** Payloads that another library wrote: the decoder reads what was meant, and the walker what the decoder reads. */
import { Encoder, FLOAT32_OPTIONS, type Options } from 'cbor-x';
import { describe, expect, it } from 'vitest';
import { orbitDataset } from '../../../bench/datasets/orbit.js';
import { webhooksDataset } from '../../../bench/datasets/webhooks.js';
import { decodeCbor } from '../../../src/codec/cbor/decode.js';
import { CborWalker } from '../../../src/codec/cbor/walker.js';
import { decodeJson } from '../../../src/codec/json/decode.js';
import type { Value } from '../../../src/codec/value.js';
import { MALFORMED, NO_REASON } from '../../../src/core/verdict.js';
import { pathsWithin } from '../../support/payload-corpus.js';
import { ANY_CBOR, randomCborValue } from '../../support/random-cbor.js';
import { Seeded } from '../../support/seeded.js';
import { compareWithDecoder } from '../../support/walker-comparison.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };

/** Ways in which the library writes plain maps: heads of fixed or of least size. */
const SETTINGS: readonly Options[] = [{ useRecords: false }, { useRecords: false, variableMapSize: true }];

/** As a user of the library has it. Integers that are no safe numbers stay what they are. */
function plain(value: Value): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  return value;
}

/** As numbers without a kind, by which the library knows them: a double that is whole is written as an integer. */
function lossy(value: Value): Value {
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 32 && !Object.is(value, -0)) {
    return BigInt(value);
  }
  if (Array.isArray(value)) return value.map(lossy);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, lossy(item)]));
  return value;
}

/** What stands at the end of both: doubles beyond 32 bits that are whole may be written as either. */
function unkinded(value: Value): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value === 0 ? 0 : Number(value));
  if (Array.isArray(value)) return value.map(unkinded);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, unkinded(item)]));
  return value;
}

describe.each(SETTINGS)('payloads written with %j', (settings) => {
  const encoder = new Encoder(settings);

  function check(value: Value): void {
    const bytes = Uint8Array.from(encoder.encode(plain(value)));
    const decoded = decodeCbor(bytes, LIMITS);
    if (!decoded.ok) throw new Error(Buffer.from(bytes).toString('hex'));
    expect(unkinded(decoded.value)).toEqual(unkinded(lossy(value)));
    const paths = pathsWithin(decoded.value, 8);
    const walker = new CborWalker(paths, LIMITS);
    expect(compareWithDecoder(walker, paths, bytes, LIMITS, decodeCbor)).toBe(NO_REASON);
    expect(walker.walk(bytes, 0, bytes.length - 1)).toBe(MALFORMED);
  }

  it('of the datasets have the same values', () => {
    for (const [dataset, count] of [
      [orbitDataset(), 300],
      [webhooksDataset(), 100],
    ] as const) {
      for (let index = 0; index < count; index++) {
        const decoded = decodeJson(dataset.record(index).payload, LIMITS);
        if (!decoded.ok) throw new Error(`record ${index} is no JSON`);
        check(decoded.value);
      }
    }
  });

  it('of random values have the same values', () => {
    const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 7));
    for (let round = 0; round < 1_500; round++) check(randomCborValue(random, ANY_CBOR));
  });

  it('are arrays of integers where they are bytes', () => {
    const bytes = Uint8Array.from(encoder.encode({ bytes: Buffer.from([1, 2, 255]) }));
    expect(decodeCbor(bytes, LIMITS)).toEqual({ ok: true, value: new Map([['bytes', [1n, 2n, 255n]]]) });
  });
});

describe('floats of 32 bits', () => {
  it('are the doubles that they are exactly', () => {
    const bytes = Uint8Array.from(
      new Encoder({ useRecords: false, useFloat32: FLOAT32_OPTIONS.ALWAYS }).encode([0.1, -1.5]),
    );
    expect(decodeCbor(bytes, LIMITS)).toEqual({ ok: true, value: [Math.fround(0.1), -1.5] });
    const walker = new CborWalker([[0], [1]], LIMITS);
    expect(walker.walk(bytes, 0, bytes.length)).toBe(NO_REASON);
    expect([...walker.slots.numbers]).toEqual([Math.fround(0.1), -1.5]);
  });
});

describe('what the library writes beyond the contract', () => {
  it.each([
    ['dates, which are tagged', new Date(0)],
    ['records, which are tagged', [{ a: 1 }, { a: 2 }], { useRecords: true }],
    ['sets, which are tagged', new Set([1])],
    ['maps with keys that are no text', new Map([[1, 2]])],
    ['numbers that are not finite', { a: NaN }],
    ['integers beyond 64 bits, which are tagged', 2n ** 70n],
  ] as const)('%s, is malformed', (_, value, settings: Options = { useRecords: false }) => {
    const bytes = Uint8Array.from(new Encoder(settings).encode(value));
    expect(decodeCbor(bytes, LIMITS)).toEqual({ ok: false, reason: MALFORMED });
    expect(new CborWalker([], LIMITS).walk(bytes, 0, bytes.length)).toBe(MALFORMED);
  });
});
