/**
 * What a mutant has to survive, in one process without a test runner: the corpora through programs and walkers, then
 * seeded random comparisons with decoders and oracle, over every engine. Prints `agree` if nothing differs; otherwise the first difference
 * is thrown and the process fails.
 */
import { HeaderWalker } from '../../src/segment/header-walker.js';
import {
  BEHIND_FILLER,
  BLOCK_MEMBERS,
  BLOCK_VALUES,
  INSIDE_STRING,
  SPACED_TEXTS,
  stringContents,
  UTF8_CONTENTS,
} from '../support/block-texts.js';
import { blockCases, recordCases } from '../support/cases.js';
import { runDifferential } from '../support/differential.js';
import { checkDouble, checkNearest, midpoint, randomDouble } from '../support/double-check.js';
import { runGateDifferential } from '../support/gate-differential.js';
import { AROUND, MALFORMED_TEXTS, NOT_UTF8, WELL_FORMED_TEXTS } from '../support/json-texts.js';
import { programOf, shown } from '../support/program.js';
import { compareWithBlockDecoder, RANDOM_HEADER_KEYS, randomBlock } from '../support/random-headers.js';
import { ANY_DOCUMENT, breakJson, randomJson } from '../support/random-json.js';
import { Seeded } from '../support/seeded.js';
import { beginStaged, stageBatch } from '../support/staged-batch.js';
import { RANDOM_PATHS } from '../support/walker-comparison.js';
import { WALKER_ENGINES } from '../support/walker-engines.js';
import { WalkerTrial } from '../support/walker-trial.js';

const utf8 = new TextEncoder();
const NO_GAP = new Uint8Array(0);

function corpora(): void {
  for (const file of ['laser-eval-json', 'laser-eval-headers', 'laser-eval-codecs', 'laser-explain'] as const) {
    for (const given of recordCases(file)) {
      for (const engine of WALKER_ENGINES) {
        const program = programOf([given.filterText], given.limits, engine, given.schemas);
        beginStaged(program, engine, stageBatch(engine, [given], [NO_GAP]), 0);
        const { verdict, reason } = shown(program.evaluate(0));
        if (verdict !== given.verdict || reason !== given.reason) {
          throw new Error(`${given.id}: ${engine.name} says ${verdict}, ${reason}`);
        }
      }
    }
  }
  const walker = new HeaderWalker(RANDOM_HEADER_KEYS);
  for (const { block } of blockCases()) compareWithBlockDecoder(walker, block);
}

function texts(): void {
  const limits = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
  const trial = new WalkerTrial(RANDOM_PATHS, limits);
  for (const text of [...WELL_FORMED_TEXTS, ...MALFORMED_TEXTS]) {
    for (const around of AROUND) trial.check(utf8.encode(around(text)));
  }
  for (const hex of NOT_UTF8) trial.check(Uint8Array.from(Buffer.from(hex, 'hex')));
}

/** Tokens at every distance from the payload's start, so that blocks of bytes meet in each of their bytes. */
function blocks(): void {
  const trial = new WalkerTrial(RANDOM_PATHS, { maxPayloadBytes: 1 << 20, maxDepth: 64 });
  for (let length = 0; length < 64; length++) {
    for (const [turn, value] of BLOCK_VALUES.entries()) {
      trial.check(utf8.encode(BEHIND_FILLER[(turn + length) % BEHIND_FILLER.length]!(value, length)));
    }
    for (const [turn, content] of stringContents().entries()) {
      trial.check(utf8.encode(INSIDE_STRING[(turn + length) % INSIDE_STRING.length]!(content, length)));
    }
    for (const text of SPACED_TEXTS) trial.check(utf8.encode(text.replaceAll('_', ' '.repeat(length * 2))));
    for (const members of BLOCK_MEMBERS) trial.check(utf8.encode(`{"filler":"${'-'.repeat(length)}",${members}}`));
    for (const hex of UTF8_CONTENTS) {
      trial.check(Buffer.concat([Buffer.from(`["${'-'.repeat(length)}`), Buffer.from(hex, 'hex'), Buffer.from('"]')]));
    }
  }
}

function documents(random: Seeded, rounds: number): void {
  const limits = { maxPayloadBytes: 300, maxDepth: 3 };
  const trial = new WalkerTrial(RANDOM_PATHS, limits);
  for (let round = 0; round < rounds; round++) {
    const bytes = utf8.encode(randomJson(random, ANY_DOCUMENT));
    trial.check(random.chance(0.4) ? breakJson(random, bytes) : bytes);
  }
}

function numbers(random: Seeded, rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    const value = randomDouble(random);
    checkDouble(String(value));
    checkDouble((random.next() * 10 ** (random.below(40) - 20)).toPrecision(1 + random.below(22)));
    if (round % 20 === 0) {
      const { digits, exponent } = midpoint(Math.abs(value));
      for (const near of [-1n, 0n, 1n]) {
        checkDouble(`${digits + near}e${exponent}`);
        checkNearest(`${digits + near}e${exponent}`);
      }
      // Below a power of two the doubles stand twice as close.
      const below = midpoint(2 ** (round % 900) * (1 - 2 ** -53));
      checkNearest(`${below.digits - 1n}e${below.exponent}`);
      // Beyond the digits that are kept, something or nothing still follows.
      const zeros = '0'.repeat(850);
      checkDouble(`${digits}${zeros}1e${exponent - 851}`);
      checkDouble(`${digits}${zeros}0e${exponent - 851}`);
    }
  }
}

function headers(random: Seeded, rounds: number): void {
  const walker = new HeaderWalker(RANDOM_HEADER_KEYS);
  for (let round = 0; round < rounds; round++) compareWithBlockDecoder(walker, randomBlock(random));
}

corpora();
texts();
blocks();
runDifferential(1, 2_000);
documents(new Seeded(2), 6_000);
headers(new Seeded(3), 6_000);
numbers(new Seeded(4), 3_000);
runGateDifferential(6, 60);
runDifferential(5, 18_000);
console.log('agree');
