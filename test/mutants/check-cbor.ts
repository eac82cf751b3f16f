/**
 * What a mutant of the CBOR codec has to survive, in one process without a test runner: chosen items in every place, maps
 * with repeated keys, and seeded random payloads, whole and damaged, against the decoder. Prints `agree` or fails.
 */
import { RepeatedKey } from '../../src/codec/cbor/repeated-key.js';
import { SLOT_INTEGER, SLOT_INTEGER_WIDE, SLOT_NEGATIVE_WIDE } from '../../src/core/slots.js';
import type { Value } from '../../src/codec/value.js';
import type { PayloadWalker } from '../../src/codec/walker.js';
import { comparePaths, type Path } from '../../src/core/path.js';
import { NO_REASON } from '../../src/core/verdict.js';
import { AROUND_ITEM, fromHex, MALFORMED_ITEMS, WELL_FORMED_ITEMS } from '../support/cbor-bytes.js';
import { CBOR_ENGINES } from '../support/cbor-engines.js';
import { ANY_CBOR, breakCbor, encodeCbor, randomCborValue } from '../support/random-cbor.js';
import { cborMap, CborTrial, KEY_SPELLINGS, keyLists, MAP_SIZES } from '../support/random-cbor-trial.js';
import { Seeded } from '../support/seeded.js';
import { RANDOM_PATHS } from '../support/walker-comparison.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };

function items(): void {
  const trials = [RANDOM_PATHS, []].map((paths) => new CborTrial(paths, LIMITS));
  for (const item of [...WELL_FORMED_ITEMS.map(([hex]) => hex), ...MALFORMED_ITEMS]) {
    for (const around of AROUND_ITEM) for (const trial of trials) trial.check(fromHex(around(item)));
  }
}

function depths(): void {
  for (const maxDepth of [0, 1, 63, 127]) {
    const trial = new CborTrial(RANDOM_PATHS, { maxPayloadBytes: 500, maxDepth });
    for (const inside of ['00', '80', 'a0', 'a16161', 'a1616100', 'a1618000', '420102', 'ff', '']) {
      for (let depth = maxDepth - 1; depth <= maxDepth + 1; depth++) {
        for (const open of ['81', 'a16161']) trial.check(fromHex(open.repeat(Math.max(depth, 0)) + inside));
      }
    }
  }
  const trial = new CborTrial([], { maxPayloadBytes: 4, maxDepth: 4 });
  for (const hex of ['830000', '83000000', '8400000000']) trial.check(fromHex(hex));
}

function repeatedKeys(): void {
  const trial = new CborTrial([['k5', 'k7']], LIMITS);
  const shallow = new CborTrial([['k5', 'k7']], { maxPayloadBytes: 1 << 20, maxDepth: 1 });
  for (const size of MAP_SIZES) {
    for (const spell of KEY_SPELLINGS) {
      for (const keys of keyLists(size, spell)) {
        trial.check(cborMap(keys));
        if (size > 100) continue;
        trial.check(cborMap(keys.slice(0, 20), cborMap(keys.slice(-20))));
        trial.check(Buffer.concat([Uint8Array.of(0x82), cborMap(keys), cborMap(keys)]));
        // The last value is too deep: what is wrong before it counts.
        const deep = cborMap(keys.slice(0, -1));
        deep[4]! += 1;
        shallow.check(Buffer.concat([deep, fromHex('626b35818100')]));
      }
    }
  }
}

/** Wanted keys of all lengths, one map after another, and keys like them that are not wanted. */
function keyLengths(): void {
  const keys = Array.from({ length: 60 }, (_, length) => `${'k'.repeat(length)}${length % 10}`);
  const trial = new CborTrial(keys.map((key): Path => [key]).sort(comparePaths), LIMITS);
  for (const key of keys) {
    for (const near of [key, `${key}k`, `x${key}`, key.replace('k', 'j')]) {
      trial.check(encodeCbor(new Map([[near, 1n]])));
      trial.check(
        encodeCbor(
          new Map<string, Value>([
            ['', [near]],
            [near, near],
          ]),
        ),
      );
    }
  }
}

/** Large maps in large maps that have the same keys. */
function largeInLarge(): void {
  const trial = new CborTrial([['k5', 'k7']], LIMITS);
  for (const keys of keyLists(70, (index) => `k${index}`)) trial.check(cborMap(keys, cborMap(keys)));
}

/** What a value does not tell: integers beyond ±(2^53−1) are wide. */
function wideIntegers(): void {
  for (const { name, makeWalker } of CBOR_ENGINES) wideIntegersOf(name, makeWalker([[]], LIMITS));
}

function wideIntegersOf(name: string, walker: PayloadWalker): void {
  for (const [hex, kind] of [
    ['1b001fffffffffffff', SLOT_INTEGER],
    ['1b0020000000000000', SLOT_INTEGER_WIDE],
    ['3b001ffffffffffffe', SLOT_INTEGER],
    ['3b001fffffffffffff', SLOT_NEGATIVE_WIDE],
  ] as const) {
    const reason = walker.walk(fromHex(hex), 0, 9);
    if (reason !== NO_REASON || walker.slots.kinds[0] !== kind)
      throw new Error(`${name}: ${hex} is not of kind ${kind}`);
  }
}

/** Texts whose hashes are one, by what a table makes of eight bytes. */
function sortedTexts(): void {
  const count = 3000;
  const bytes = new Uint8Array((count + 1) * 8);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < count; index++) {
    let hash = Math.imul(8 ^ (index * 7919), 0x9e3779b1);
    hash ^= hash >>> 15;
    view.setInt32(index * 8, index * 7919, true);
    view.setInt32(index * 8 + 4, hash ^ 0x1234567, true);
  }
  bytes.copyWithin(count * 8, 8, 16);
  const starts = Int32Array.from({ length: count + 1 }, (_, index) => index * 8);
  const ends = starts.map((start) => start + 8);
  const finder = new RepeatedKey();
  for (const to of [count, count + 1]) {
    if (finder.isAmong(bytes, view, starts, ends, 0, to) !== to > count)
      throw new Error('a text that is repeated, or not');
  }
}

function payloads(random: Seeded, rounds: number): void {
  const limits = { maxPayloadBytes: 3000, maxDepth: 3 };
  const trials = [RANDOM_PATHS, RANDOM_PATHS.slice(0, 1), []].map((paths) => new CborTrial(paths, limits));
  let valid = 0;
  for (let round = 0; round < rounds; round++) {
    const bytes = encodeCbor(randomCborValue(random, ANY_CBOR), random);
    const reason = trials[round % trials.length]!.check(random.chance(0.5) ? breakCbor(random, bytes) : bytes);
    if (reason === NO_REASON) valid++;
  }
  if (valid < rounds / 10) throw new Error(`only ${valid} of ${rounds} payloads were valid`);
}

items();
depths();
repeatedKeys();
keyLengths();
largeInLarge();
wideIntegers();
sortedTexts();
payloads(new Seeded(2), 8_000);
console.log('agree');
