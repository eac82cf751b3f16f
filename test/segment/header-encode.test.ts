/**
 * Header blocks written, and shown in replies (contract: formats §3, scan-protocol §1 `records`).
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeHeaderBlock } from '../../src/segment/header-block.js';
import { encodeHeaders, HEADER_KIND_CODES, type HeaderInput } from '../../src/segment/header-encode.js';
import { replyHeaders } from '../../src/segment/header-reply.js';

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 });
const bytes = fc.uint8Array({ minLength: 1, maxLength: 255 });

/** Every stored kind with a value of its own range. */
const value: fc.Arbitrary<HeaderInput['value']> = fc.oneof(
  fc.record({ kind: fc.constant('raw' as const), value: bytes }),
  fc.record({ kind: fc.constant('string' as const), value: text }),
  fc.record({ kind: fc.constant('bool' as const), value: fc.boolean() }),
  fc.record({ kind: fc.constant('i8' as const), value: fc.integer({ min: -128, max: 127 }) }),
  fc.record({ kind: fc.constant('i16' as const), value: fc.integer({ min: -32768, max: 32767 }) }),
  fc.record({ kind: fc.constant('i32' as const), value: fc.integer() }),
  fc.record({ kind: fc.constant('u32' as const), value: fc.nat({ max: 0xffff_ffff }) }),
  fc.record({ kind: fc.constant('i64' as const), value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) }),
  fc.record({ kind: fc.constant('u64' as const), value: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }),
  fc.record({ kind: fc.constant('i128' as const), value: fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n }) }),
  fc.record({ kind: fc.constant('u128' as const), value: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }) }),
  fc.record({ kind: fc.constant('f64' as const), value: fc.double() }),
  fc.record({ kind: fc.constant('code' as const), code: fc.integer({ min: 16, max: 255 }), value: bytes }),
);

/** What a decoder gives back for a value written. */
function expected(input: HeaderInput['value']): unknown {
  switch (input.kind) {
    case 'raw':
    case 'code':
      return { kind: 'raw', value: input.value };
    case 'i128':
    case 'u128': {
      const unsigned = BigInt.asUintN(128, input.value);
      return {
        kind: 'raw',
        value: Uint8Array.from({ length: 16 }, (_, at) => Number((unsigned >> BigInt(8 * at)) & 255n)),
      };
    }
    case 'string':
    case 'bool':
      return input;
    case 'f32':
    case 'f64':
      return { kind: 'float', value: input.value };
    default:
      return { kind: input.kind.startsWith('u') ? 'uint' : 'int', value: BigInt(input.value) };
  }
}

describe('encoded header blocks', () => {
  it('decode to the entries written, in order, repeats and byte keys included', () => {
    const entry = fc.oneof(
      fc.record({ key: text, value }),
      fc.record({ key: bytes, keyCode: fc.constantFrom(1, 3, 9, 255), value }),
    );
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), (entries: HeaderInput[]) => {
        const block = encodeHeaders(entries);
        expect(decodeHeaderBlock(block, 0, block.length)).toEqual(
          entries.map(({ key, keyCode, value: input }) => ({
            keyKind: keyCode ?? 2,
            key,
            value: expected(input),
          })),
        );
      }),
      { seed: 20, numRuns: 300 },
    );
  });

  it('has the bytes of the contract’s grammar', () => {
    const block = encodeHeaders([
      { key: 'k', value: { kind: 'u16', value: 513 } },
      { key: Uint8Array.of(7), value: { kind: 'bool', value: true } },
    ]);
    expect(Buffer.from(block).toString('hex')).toBe('02010000006b0a020000000102010100000007030100000001');
    expect(HEADER_KIND_CODES).toMatchObject({
      raw: 1,
      string: 2,
      bool: 3,
      i8: 4,
      i128: 8,
      u8: 9,
      u128: 13,
      f32: 14,
      f64: 15,
    });
  });

  it('refuse what the format cannot hold', () => {
    const wrong: HeaderInput[] = [
      { key: '', value: { kind: 'bool', value: true } },
      { key: 'x'.repeat(256), value: { kind: 'bool', value: true } },
      { key: 'k', value: { kind: 'string', value: '' } },
      { key: 'k', value: { kind: 'u8', value: 256 } },
      { key: 'k', value: { kind: 'u8', value: -1 } },
      { key: 'k', value: { kind: 'i64', value: 2n ** 63n } },
    ];
    for (const entry of wrong) expect(() => encodeHeaders([entry])).toThrow(RangeError);
    expect(encodeHeaders([{ key: 'ü'.repeat(127), value: { kind: 'bool', value: true } }]).length).toBe(5 + 254 + 6);
  });
});

describe('headers in replies', () => {
  it('show key, stored key kind and typed value of every entry', () => {
    const block = encodeHeaders([
      { key: 'a', value: { kind: 'i8', value: -2 } },
      { key: 'a', value: { kind: 'u64', value: 2n ** 53n } },
      { key: 'b', value: { kind: 'i64', value: -(2n ** 53n) + 1n } },
      { key: Uint8Array.of(0xff, 0), keyCode: 9, value: { kind: 'bool', value: false } },
      { key: Uint8Array.of(1), value: { kind: 'code', code: 3, value: Uint8Array.of(2, 2) } },
      { key: '\ufeffc', value: { kind: 'raw', value: Uint8Array.of(1, 2, 3) } },
      { key: 'd', value: { kind: 'f32', value: 0.5 } },
    ]);
    expect(replyHeaders(block, 0, block.length)).toEqual([
      { key: 'a', key_kind: 2, value: { kind: 'int', value: -2 } },
      { key: 'a', key_kind: 2, value: { kind: 'uint', value: '9007199254740992' } },
      { key: 'b', key_kind: 2, value: { kind: 'int', value: -9007199254740991 } },
      { key: '/wA=', key_kind: 9, value: { kind: 'bool', value: false } },
      { key: 'AQ==', key_kind: 1, value: { kind: 'raw', value: 'AgI=' } },
      { key: '\ufeffc', key_kind: 2, value: { kind: 'raw', value: 'AQID' } },
      { key: 'd', key_kind: 2, value: { kind: 'float', value: 0.5 } },
    ]);
  });

  it('name the floats that JSON cannot write', () => {
    const floats = [NaN, Infinity, -Infinity, -0, 0].map((number) => ({
      key: 'f',
      value: { kind: 'f64' as const, value: number },
    }));
    const block = encodeHeaders(floats);
    expect(replyHeaders(block, 0, block.length)?.map((header) => header.value.value)).toEqual([
      'NaN',
      'Infinity',
      '-Infinity',
      '-0.0',
      0,
    ]);
  });

  it('are left to their bytes when the block does not parse', () => {
    const block = encodeHeaders([{ key: 'a', value: { kind: 'i8', value: -2 } }]);
    expect(replyHeaders(block, 0, block.length - 1)).toBeUndefined();
    expect(replyHeaders(block, 3, 3)).toEqual([]);
  });
});
