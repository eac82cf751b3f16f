/** The header walker against the decoder of whole blocks, and random blocks of every kind of entry. */
import { isDeepStrictEqual } from 'node:util';
import type { HeaderValue } from '../../src/core/header-value.js';
import * as slotKinds from '../../src/core/slots.js';
import type { HeaderReader } from '../../src/filter/program-record.js';
import { decodeContentType, decodeHeaderBlock, textHeaders } from '../../src/segment/header-block.js';
import { encodeHeaders, type HeaderInput, type HeaderValueInput } from '../../src/segment/header-encode.js';

import type { Seeded } from './seeded.js';

/** What a slot says of a header value; integers lose whether they were signed (see `compareWholeAt`), raw text becomes text. */
export type Seen = null | boolean | bigint | number | string | Uint8Array;

/** The value in a slot of a walker that read `bytes`. */
export function seen({ slots }: Pick<HeaderReader, 'slots'>, slot: number, bytes: Uint8Array): Seen {
  const { base, kinds, numbers, starts, ends, high, low } = slots;
  const index = base + slot;
  const wide = (BigInt(high[index]!) << 32n) | BigInt(low[index]!);
  const content = bytes.slice(starts[index], ends[index]);
  switch (kinds[index]) {
    case slotKinds.SLOT_MISSING:
      return null;
    case slotKinds.SLOT_FALSE:
      return false;
    case slotKinds.SLOT_TRUE:
      return true;
    case slotKinds.SLOT_INTEGER:
      return BigInt(numbers[index]!);
    case slotKinds.SLOT_INTEGER_WIDE:
      return wide;
    case slotKinds.SLOT_NEGATIVE_WIDE:
      return BigInt.asIntN(64, wide);
    case slotKinds.SLOT_DOUBLE:
      return numbers[index]!;
    case slotKinds.SLOT_STRING:
      return strictText(content)!;
    case slotKinds.SLOT_OBJECT:
      return content;
    default:
      throw new Error(`a header cannot have kind ${kinds[index]}`);
  }
}

/** What a slot should say of a decoded value. */
export function wanted(value: HeaderValue | undefined): Seen {
  if (value === undefined) return null;
  if (value.kind === 'raw') return strictText(value.value) ?? value.value;
  return value.value;
}

function strictText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Keys that random blocks hold; the first is the one a walker may read alone. */
export const RANDOM_HEADER_KEYS = ['agdx.ct', 'a', 'é', 'unit', 'agdx.cu', 'k'.repeat(255)];

/**
 * Walks and decodes `block`, all of it and its content type alone; `walker` was made for RANDOM_HEADER_KEYS. Returns
 * whether the whole block is well-formed and throws an `Error` where the two differ.
 */
export function compareWithBlockDecoder(walker: HeaderReader, block: Uint8Array): boolean {
  // Placed inside a larger buffer, so that a read past the end would be noticed as other bytes.
  const bytes = Uint8Array.from([1, 2, 3, ...block, 2, 1, 0, 0, 0, 0x61, 9, 1, 0, 0, 0, 5]);
  return compareBlockAt(walker, bytes, 3, 3 + block.length);
}

/** As {@link compareWithBlockDecoder}, for the block `bytes[start, end)`. */
export function compareBlockAt(walker: HeaderReader, bytes: Uint8Array, start: number, end: number): boolean {
  const isGood = compareWholeAt(walker, bytes, start, end);
  compareContentTypeAt(walker, bytes, start, end);
  return isGood;
}

/** As {@link compareBlockAt}, reading all of the block only. */
export function compareWholeAt(walker: HeaderReader, bytes: Uint8Array, start: number, end: number): boolean {
  const entries = decodeHeaderBlock(bytes, start, end);
  const differs = differenceOf(bytes, start, end);
  if (walker.readAll(bytes, start, end) !== (entries !== undefined)) throw differs('another judgement');
  if (entries !== undefined) {
    const headers = textHeaders(entries);
    for (const [slot, key] of RANDOM_HEADER_KEYS.entries()) {
      const header = headers.get(key);
      if (!isDeepStrictEqual(seen(walker, slot, bytes), wanted(header))) throw differs(`another ${key}`);
      const { base, kinds, high } = walker.slots;
      const isInteger = kinds[base + slot] === slotKinds.SLOT_INTEGER;
      if (isInteger && (high[base + slot] === 1) !== (header?.kind === 'uint')) throw differs(`another sign of ${key}`);
    }
  }
  return entries !== undefined;
}

/** As {@link compareBlockAt}, reading the content type only. */
export function compareContentTypeAt(walker: HeaderReader, bytes: Uint8Array, start: number, end: number): void {
  const contentType = decodeContentType(bytes, start, end);
  const differs = differenceOf(bytes, start, end);
  if (walker.readOnly(0, bytes, start, end) !== (contentType !== undefined)) throw differs('another content judgement');
  if (contentType !== undefined) {
    const value = wanted(contentType.get(RANDOM_HEADER_KEYS[0]!));
    if (!isDeepStrictEqual(seen(walker, 0, bytes), value)) throw differs('another content type');
  }
}

function differenceOf(bytes: Uint8Array, start: number, end: number): (what: string) => Error {
  return (what) => new Error(`${what} of the block ${Buffer.from(bytes.slice(start, end)).toString('hex')}`);
}

/** A block of up to five random entries; about half of the blocks are damaged in one or two bytes or cut. */
export function randomBlock(random: Seeded): Uint8Array {
  const block = encodeHeaders(Array.from({ length: random.below(6) }, () => randomEntry(random)));
  for (let damage = random.below(4) - 1; damage > 0 && block.length > 0; damage--) {
    block[random.below(block.length)] = random.pick([0, 1, 2, 3, random.below(16), random.below(256)]);
  }
  return random.chance(0.1) ? block.slice(0, random.below(block.length + 1)) : block;
}

/** One entry of any kind, under a wanted or an unwanted key. */
export function randomEntry(random: Seeded): HeaderInput {
  const value = randomValue(random);
  if (random.chance(0.1)) return { key: Uint8Array.of(0x61), keyCode: random.pick([1, 3, 9, 77]), value };
  return { key: random.chance(0.8) ? random.pick(RANDOM_HEADER_KEYS) : random.pick(['b', 'agdx', 'Unit', '🛰']), value };
}

function randomValue(random: Seeded): HeaderValueInput {
  const bits = (count: number) => BigInt.asUintN(count, BigInt(random.below(2 ** 32)) * 0x1_0000_0001n ** 3n);
  switch (random.below(10)) {
    case 0:
      return { kind: 'raw', value: Uint8Array.from({ length: 1 + random.below(4) }, () => random.below(256)) };
    case 1:
    case 2:
      return { kind: 'string', value: random.pick(['json', 'é', '🛰', ' ', '\ufeffx', 'z'.repeat(255)]) };
    case 3:
      return { kind: 'bool', value: random.chance(0.5) };
    case 4: {
      const kind = random.pick(['i8', 'i16', 'i32'] as const);
      const half = 2 ** (Number(kind.slice(1)) - 1);
      return { kind, value: random.pick([-half, half - 1, -1, 0, random.below(half)]) };
    }
    case 5: {
      const kind = random.pick(['u8', 'u16', 'u32'] as const);
      const whole = 2 ** Number(kind.slice(1));
      return { kind, value: random.pick([whole - 1, 0, 1, random.below(whole)]) };
    }
    case 6:
      return {
        kind: 'i64',
        value: random.pick([
          -(2n ** 63n),
          2n ** 63n - 1n,
          2n ** 53n,
          -(2n ** 53n) + 1n,
          -1n,
          BigInt.asIntN(64, bits(64)),
        ]),
      };
    case 7:
      return { kind: 'u64', value: random.pick([2n ** 64n - 1n, 2n ** 53n - 1n, 2n ** 53n, 1n, bits(64)]) };
    case 8:
      return random.chance(0.5)
        ? { kind: random.pick(['f32', 'f64'] as const), value: random.pick([NaN, -0, 1.5, Infinity, -1e-40]) }
        : { kind: 'i128', value: -1n };
    default:
      return random.chance(0.5)
        ? { kind: 'u128', value: bits(120) }
        : { kind: 'code', code: 16 + random.below(240), value: Uint8Array.of(random.below(256)) };
  }
}
