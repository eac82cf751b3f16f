/**
 * What a mutant of the kernel, or of what stands around it, has to survive, in one process without a test runner: tokens
 * across the edges of blocks, numbers, nesting and random documents against the decoder, header blocks in batches against
 * theirs, whole programs against the oracle, and frames against the portable reader. Prints `agree` or fails.
 */
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { alikeBlocks } from '../support/alike-blocks.js';
import {
  BEHIND_FILLER,
  BLOCK_MEMBERS,
  BLOCK_VALUES,
  INSIDE_STRING,
  stringContents,
  UTF8_CONTENTS,
} from '../support/block-texts.js';
import { runDifferential } from '../support/differential.js';
import { compareEngineScans } from '../support/engine-scans.js';
import { compareBatch, kernelReader } from '../support/header-batch.js';
import { AROUND, MALFORMED_TEXTS, WELL_FORMED_TEXTS } from '../support/json-texts.js';
import { newKernel } from '../support/kernel.js';
import { DOUBLE_TEXTS, integerTexts } from '../support/number-texts.js';
import { randomBlock } from '../support/random-headers.js';
import { ANY_DOCUMENT, breakJson, randomJson } from '../support/random-json.js';
import { rootTexts } from '../support/root-texts.js';
import { Seeded } from '../support/seeded.js';
import { drain } from '../support/segment-drain.js';
import { RANDOM_PATHS } from '../support/walker-comparison.js';
import { KERNEL_ENGINE } from '../support/walker-engines.js';
import { WalkerTrial } from '../support/walker-trial.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const BLOCK_BYTES = 64;
const utf8 = new TextEncoder();
const ENGINES = [KERNEL_ENGINE];

/** Each text behind fillers of every third length, another third for the next text. */
function atEdges(texts: readonly string[], places: readonly ((text: string, length: number) => string)[]): void {
  const trial = new WalkerTrial(RANDOM_PATHS, LIMITS, ENGINES);
  for (const [turn, text] of texts.entries()) {
    for (const place of places) {
      for (let length = turn % 3; length < BLOCK_BYTES; length += 3) trial.check(utf8.encode(place(text, length)));
    }
  }
}

/** Contents that are no text, between the characters of a string. */
function bytesAtEdges(): void {
  const trial = new WalkerTrial(RANDOM_PATHS, LIMITS, ENGINES);
  for (const hex of UTF8_CONTENTS) {
    for (let length = 0; length < BLOCK_BYTES; length += 1) {
      const parts = [utf8.encode(`["${'x'.repeat(length)}`), Buffer.from(hex, 'hex'), utf8.encode('",1]')];
      trial.check(Buffer.concat(parts));
    }
  }
}

function roots(): void {
  const trial = new WalkerTrial(RANDOM_PATHS, LIMITS, ENGINES);
  for (const text of rootTexts(40)) trial.check(utf8.encode(text));
}

function documents(random: Seeded, rounds: number): void {
  const limits = { maxPayloadBytes: 600, maxDepth: 5 };
  const trials = [RANDOM_PATHS, RANDOM_PATHS.slice(0, 1), []].map((paths) => new WalkerTrial(paths, limits, ENGINES));
  for (let round = 0; round < rounds; round += 1) {
    const bytes = utf8.encode(randomJson(random, ANY_DOCUMENT));
    trials[round % trials.length]!.check(random.chance(0.4) ? breakJson(random, bytes) : bytes);
  }
}

function nesting(): void {
  const trial = new WalkerTrial(RANDOM_PATHS, { ...LIMITS, maxDepth: 63 }, ENGINES);
  for (const depth of [1, 31, 32, 62, 63, 64, 65, 127, 128, 200]) {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
      ['[{"a":', '}]'],
    ] as const) {
      const text = open.repeat(depth) + '1' + close.repeat(depth);
      for (const one of [
        text,
        text.slice(1),
        text.slice(0, -1),
        `${text}]`,
        `["[[",${text}]`,
        `x${text}`,
        `"${text}`,
      ]) {
        trial.check(utf8.encode(one));
      }
    }
  }
}

const kernel = newKernel();

function headers(random: Seeded, rounds: number): void {
  const reader = kernelReader(kernel);
  for (let round = 0; round < rounds; round += 1) {
    const count = 1 + random.below(kernel.frames.rows);
    compareBatch(
      kernel,
      reader,
      Array.from({ length: count }, () => randomBlock(random)),
      random,
    );
    compareBatch(kernel, reader, alikeBlocks(random, count), random);
  }
}

/** Segments with one harmed byte, and cut anywhere. */
function segments(random: Seeded, rounds: number): void {
  for (let round = 0; round < rounds; round += 1) {
    const records = Array.from({ length: 1 + random.below(6) }, (_, index) => ({
      offset: index * (1 + random.below(3)) + (random.chance(0.05) ? 2 ** 53 - 8 : 0),
      timestamp: BigInt(random.below(2 ** 31)) << BigInt(random.below(32)),
      payload: new Uint8Array(random.below(90)),
      headers: randomBlock(random),
    }));
    const bytes = Buffer.from(encodeIggySegment(records));
    if (random.chance(0.6)) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
    const cut = new Uint8Array(bytes.subarray(0, random.chance(0.4) ? random.below(bytes.length) : bytes.length));
    const sealed = random.chance(0.5);
    const wanted = drain('iggy', cut, { sealed });
    const given = drain('iggy', cut, { sealed, kernel, windowBytes: kernel.window.length });
    if (JSON.stringify(given) !== JSON.stringify(wanted))
      throw new Error(`frames of ${Buffer.from(cut).toString('hex')}`);
  }
}

atEdges([...BLOCK_VALUES, ...DOUBLE_TEXTS, ...integerTexts().slice(0, 60)], BEHIND_FILLER);
atEdges(BLOCK_MEMBERS, [(text, length) => `{"${'x'.repeat(length)}":1,${text}}`]);
atEdges(stringContents(), INSIDE_STRING);
bytesAtEdges();
roots();
atEdges(
  [...WELL_FORMED_TEXTS, ...MALFORMED_TEXTS],
  AROUND.map((around) => (text: string) => around(text)),
);
nesting();
documents(new Seeded(2), 4_000);
headers(new Seeded(3), 40);
compareEngineScans(new Seeded(6), 12, 700);
segments(new Seeded(4), 2_000);
runDifferential(5, 6_000, ENGINES);
console.log('agree');
