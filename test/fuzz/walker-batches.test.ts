/**
 * Every engine on batches of records that it may look ahead in: what it says of one record does not depend on the ones
 * beside it, on how many are skipped, or on who else walks in between.
 */
import { describe, expect, it } from 'vitest';
import { decodeJson } from '../../src/codec/json/decode.js';
import type { DecoderLimits, PayloadWalker } from '../../src/codec/walker.js';
import type { Path } from '../../src/core/path.js';
import { MALFORMED, NO_REASON, TOO_DEEP, TOO_LARGE } from '../../src/core/verdict.js';
import { FUZZ_SUITE, fuzzScale, fuzzSeed } from '../support/fuzz-mode.js';
import { datasetPayloads, pathsWithin, shortPayloads } from '../support/payload-corpus.js';
import { ANY_DOCUMENT, breakJson, RANDOM_KEYS, randomJson } from '../support/random-json.js';
import { Seeded } from '../support/seeded.js';
import { bareRecords, gapsFor, stageBatch } from '../support/staged-batch.js';
import { compareWithDecoded, RANDOM_PATHS, spellBytes } from '../support/walker-comparison.js';
import { BATCH_RECORDS_MAX, type StagedRecord, type WalkerEngine } from '../support/walker-engine.js';
import { WALKER_ENGINES } from '../support/walker-engines.js';
import { beginWatched, endWatched } from '../support/watchdog.js';

const SEED = fuzzSeed(49);
const utf8 = new TextEncoder();

const STRAY = utf8.encode('{"a":{"b":{"c":7}},"mode":"\\n"}');

const WIDE: DecoderLimits = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const NARROW: DecoderLimits = { maxPayloadBytes: 400, maxDepth: 3 };

interface Reader {
  readonly paths: readonly Path[];
  readonly limits: DecoderLimits;
  readonly walker: PayloadWalker;
}

function readersOver(engine: WalkerEngine, sample: Uint8Array): Reader[] {
  const decoded = decodeJson(sample, WIDE);
  const lists: [readonly Path[], DecoderLimits][] = [
    [RANDOM_PATHS, WIDE],
    [RANDOM_PATHS, NARROW],
    [[], WIDE],
    [[...RANDOM_KEYS].sort().map((key) => [key]), WIDE],
    [decoded.ok ? pathsWithin(decoded.value, 12) : [[]], WIDE],
  ];
  return lists.map(([paths, limits]) => ({ paths, limits, walker: engine.makeWalker(paths, limits) }));
}

/** Walks one record and compares it with the decoder. */
function check(engine: WalkerEngine, reader: Reader, { bytes, start, payloadEnd }: StagedRecord): number {
  const payload = bytes.slice(start, payloadEnd);
  beginWatched(engine.name, payload);
  try {
    const decoded = decodeJson(payload, reader.limits);
    return compareWithDecoded(reader.walker, reader.paths, bytes, start, payloadEnd, decoded);
  } catch (thrown) {
    throw new Error(`${engine.name}: ${(thrown as Error).message}: ${spellBytes(payload)}`, { cause: thrown });
  } finally {
    endWatched();
  }
}

/** A record that is in no batch: in bytes of its own, and behind the batch where the stage has room. */
function strays({ stage }: WalkerEngine, staged: readonly StagedRecord[]): StagedRecord[] {
  const { length } = STRAY;
  const own = { bytes: STRAY, start: 0, payloadEnd: length, end: length };
  const past = Math.max(...staged.map(({ bytes, end }) => (bytes === stage ? end : 0)));
  if (past + length > stage.length) return [own];
  stage.set(STRAY, past);
  return [own, { bytes: stage, start: past, payloadEnd: past + length, end: past + length }];
}

/** A batch of records of all sorts. */
function randomPayloads(random: Seeded, pool: readonly Uint8Array[]): Uint8Array[] {
  const count = random.pick([1, 2, 3, 5, 20, 40, 100, BATCH_RECORDS_MAX]);
  return Array.from({ length: count }, () => {
    switch (random.below(4)) {
      case 0:
        return random.pick(pool);
      case 1:
        return breakJson(random, random.pick(pool));
      case 2:
        return random.pick(pool).subarray(0, random.below(60));
      default:
        return utf8.encode(randomJson(random, ANY_DOCUMENT));
    }
  });
}

describe.each(WALKER_ENGINES)('$name', FUZZ_SUITE, (engine) => {
  it(`says the same of a record in any batch, order and company, seed ${SEED}`, () => {
    const random = new Seeded(SEED);
    const pool = [...shortPayloads(random, 400, 60, 300), ...datasetPayloads(60, 40)];
    const readers = readersOver(engine, pool.at(-1)!);
    const seen = new Map<number, number>();
    for (let round = 0; round < fuzzScale(120, 3000); round++) {
      const records = bareRecords(randomPayloads(random, pool));
      const staged = stageBatch(engine, records, gapsFor(random, records));
      const skips = random.pick([0, 0, 0.3, 0.9]);
      const company = random.pick([0, 0.05, 0.5]);
      const usual = random.pick(readers);
      for (const [index, record] of staged.entries()) {
        if (random.chance(0.02)) break;
        if (random.chance(skips)) continue;
        const isStaged = record.bytes === engine.stage;
        engine.moveTo?.(isStaged ? index : -1);
        const reason = check(engine, usual, record);
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
        if (!random.chance(company)) continue;
        if (random.chance(0.5)) check(engine, random.pick(readers), record);
        if (random.chance(0.5)) {
          engine.moveTo?.(-1);
          check(engine, random.chance(0.5) ? usual : random.pick(readers), random.pick(strays(engine, staged)));
          engine.moveTo?.(isStaged ? index : -1);
        }
        if (random.chance(0.5)) check(engine, usual, record);
      }
    }
    for (const reason of [NO_REASON, MALFORMED, TOO_DEEP, TOO_LARGE]) expect(seen.get(reason)).toBeGreaterThan(10);
  });

  it('forgets a batch when the next one stands in its place', () => {
    const reader = readersOver(engine, utf8.encode('[]'))[0]!;
    const batches = [1, 2, 3].map((value) =>
      Array.from({ length: 40 }, () => utf8.encode(`{"a":${value},"mode":"${value}"}`)),
    );
    for (const payloads of [...batches, ...batches]) {
      const records = bareRecords(payloads);
      const staged = stageBatch(engine, records, gapsFor(new Seeded(1), records));
      // The same places as the batch before, and only as far as half of it.
      for (const [index, record] of staged.slice(0, 20).entries()) {
        engine.moveTo?.(index);
        expect(check(engine, reader, record)).toBe(NO_REASON);
      }
    }
  });

  it('gives large records and small ones of one batch their own values', () => {
    const reader = readersOver(engine, utf8.encode('[]'))[0]!;
    const sizes = [10, 70_000, 1, 40_000, 40_000, 40_000, 100, 65_500, 65_536, 65_537, 5, 200_000, 7];
    const payloads = sizes.map((size, index) => utf8.encode(`{"a":"${'x'.repeat(size)}","mode":${index}}`));
    const records = bareRecords(payloads);
    const staged = stageBatch(engine, records, gapsFor(new Seeded(2), records));
    for (const [index, record] of staged.entries()) {
      engine.moveTo?.(index);
      expect(check(engine, reader, record)).toBe(NO_REASON);
    }
  });
});
