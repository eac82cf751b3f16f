/**
 * Programs behind the needle gate against the oracle: random filters with texts that a payload has to hold, over records
 * in which those stand whole, escaped, split, in keys, at the edges of blocks and payloads, or nowhere.
 *
 * Every program first sees records that hold none of them, so that its gate is on for the others.
 */
import { decodeJson } from '../../src/codec/json/decode.js';
import type { PayloadWalker } from '../../src/codec/walker.js';
import type { Kernel } from '../../src/core/kernel.js';
import { isDataFault, REJECTED, reasonOf, SELECTED, verdictOf } from '../../src/core/verdict.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { Evaluator } from '../../src/filter/evaluate.js';
import type { LoweredFilter } from '../../src/filter/ir.js';
import { compileProgram, type Program } from '../../src/filter/program.js';
import { programInputs } from '../../src/scan/program-inputs.js';
import { newKernel } from './kernel.js';
import { storedRecord } from './oracle.js';
import { shown } from './program.js';
import { FILTER_PATHS, randomFilter } from './random-filter.js';
import { spellString } from './random-json.js';
import { randomRecord } from './random-record.js';
import { cachedRegexEngine } from './regex-engine.js';
import { Seeded } from './seeded.js';

const WARM_RECORDS = 80;
const RECORDS = 176;
const LIMITS = { maxPayloadBytes: 600, maxDepth: 4 };

/** What filters ask for: empty, short, long, with every kind of escape, not ASCII, and parts of each other. */
const TEXTS = [
  '',
  'K',
  'lock',
  'Lock.raised',
  'locker',
  'ΟΔΟΣ',
  '🚢',
  'é',
  '"quoted\\"',
  'line\nbreak',
  'application/json',
  '/',
  '\u0000\u001f',
  '2031-03-09T14:15:16Z',
  'a text that is longer than what the kernel compares at once',
] as const;

const utf8 = new TextEncoder();

export interface GatedRecord {
  readonly payload: Uint8Array;
  readonly headerBlock: Uint8Array;
}

/** A program over the kernel, and how many payloads its walker has called barren so far. */
export class GatedProgram {
  readonly program: Program;
  private readonly kernel: Kernel;
  private walker: PayloadWalker | null = null;
  barren = 0;

  constructor(filters: readonly LoweredFilter[], kernel: Kernel, isGated = true, limits = LIMITS) {
    this.kernel = kernel;
    const inputs = programInputs(cachedRegexEngine, limits, kernel);
    const makeWalker: typeof inputs.makeWalker = (...wanted) => (this.walker = inputs.makeWalker(...wanted));
    this.program = compileProgram(filters, { ...inputs, makeWalker }, { isGated });
    for (const filter of filters.keys()) this.program.setActive(filter, true);
  }

  /** Lays records into the window as one batch and stands on each in turn. At most as many as the frame table has rows. */
  pass(records: readonly GatedRecord[], take: (index: number) => void): void {
    const { window, frames } = this.kernel;
    let at = 0;
    for (const [row, { payload, headerBlock }] of records.entries()) {
      window.set(payload, at);
      frames.payloadStarts[row] = at;
      frames.payloadEnds[row] = at + payload.length;
      window.set(headerBlock, at + payload.length);
      at += payload.length + headerBlock.length;
      frames.frameEnds[row] = at;
    }
    frames.begin(records.length);
    for (const row of records.keys()) {
      frames.row = row;
      const end = frames.payloadEnds[row]!;
      this.program.begin(window, frames.payloadStarts[row]!, end, end, frames.frameEnds[row]!);
      take(row);
      if (this.walker?.isBarren === true) this.barren += 1;
    }
  }
}

export interface GateSpread {
  records: number;
  barren: number;
  selected: number;
  faults: number;
}

/** Throws an `Error` that names filter and payload where a gated program and the oracle differ. */
export function runGateDifferential(seed: number, programs: number): GateSpread {
  const random = new Seeded(seed);
  const kernel = newKernel();
  const spread: GateSpread = { records: 0, barren: 0, selected: 0, faults: 0 };
  for (let round = 0; round < programs; round++) {
    // Few words a round, so that filters and records meet.
    const words = Array.from({ length: 1 + random.below(4) }, () => random.pick(TEXTS));
    const texts = Array.from({ length: 1 + random.below(2) }, () => gatedFilter(random, words));
    const filters = texts.map((text) => compileLaser(text, { strict: false, regex: cachedRegexEngine }).lowered);
    const oracles = filters.map((filter) => new Evaluator(filter, decodeJson, cachedRegexEngine));
    const gated = new GatedProgram(filters, kernel);
    const { program } = gated;
    const warm = Array.from({ length: WARM_RECORDS }, () => ({ payload: utf8.encode('{"z":1}'), headerBlock: NONE }));
    const records = [...warm, ...Array.from({ length: RECORDS }, () => anyRecord(random, words))];
    gated.pass(records, (index) => {
      const { payload, headerBlock } = records[index]!;
      const candidates = new Set(program.candidates.slice(0, program.select()));
      const record = storedRecord(headerBlock, payload);
      for (const [filter, oracle] of oracles.entries()) {
        const wanted = oracle.evaluate(record, LIMITS);
        const given = program.evaluate(filter);
        const isRejected = verdictOf(wanted) === REJECTED;
        // Why a policy rejected it may be left unsaid.
        const isSame = isRejected ? verdictOf(given) === REJECTED : given === wanted;
        if (isSame && (isRejected || candidates.has(filter))) {
          spread.records += 1;
          if (verdictOf(wanted) === SELECTED) spread.selected += 1;
          if (isDataFault(reasonOf(wanted))) spread.faults += 1;
          continue;
        }
        throw new Error(
          [
            `seed ${seed}: program ${JSON.stringify(shown(given))}, oracle ${JSON.stringify(shown(wanted))}`,
            `filter  ${texts[filter]!}`,
            `payload ${JSON.stringify(Buffer.from(payload).toString('latin1'))}`,
            `headers ${Buffer.from(headerBlock).toString('hex')}`,
          ].join('\n'),
        );
      }
    });
    spread.barren += gated.barren;
  }
  return spread;
}

const NONE = new Uint8Array(0);
const NUMBER = '{"kind":"int","value":1}';

/** A filter of one to three texts that have to stand in the payload, and now and then more. */
function gatedFilter(random: Seeded, words: readonly string[]): string {
  const literal = () => JSON.stringify({ kind: 'string', value: random.pick(words) });
  const leg = (): string => {
    const field = `"field":${JSON.stringify(random.chance(0.8) ? random.pick(['a', 'a', 'b']) : random.pick(FILTER_PATHS))}`;
    if (random.chance(0.4)) {
      const kind = random.pick(['equals', 'prefix', 'suffix', 'contains']);
      const more = random.chance(0.2) ? ',"case_insensitive":true' : '';
      return `{"text":{${field},"kind":"${kind}","pattern":${JSON.stringify(random.pick(words))}${more}}}`;
    }
    if (random.chance(0.3))
      return `{"pred":{${field},"op":"in","value":{"kind":"list","value":[${literal()},${random.chance(0.3) ? NUMBER : literal()}]}}}`;
    return `{"pred":{${field},"op":"${random.pick(['eq', 'contains', 'contains', 'prefix'])}","value":${literal()}}}`;
  };
  const other = (): string => {
    const text = randomFilter(random, { codec: 'json', depthMax: 2 });
    const start = text.indexOf('"expr":') + '"expr":'.length;
    return text.slice(start, text.indexOf(',"codec":'));
  };
  const children = Array.from({ length: Math.max(1, random.below(4) - 1) }, leg);
  while (random.chance(0.2)) children.splice(random.below(children.length + 1), 0, other());
  if (random.chance(0.2)) children.push(`{"all":[${leg()},${leg()}]}`);
  const expr = children.length === 1 ? children[0]! : `{"all":[${children.join()}]}`;
  const policies = ['foreign_policy', 'mismatch_policy']
    .filter(() => random.chance(0.15))
    .map((name) => `,"${name}":"pass"`);
  return `{"v":1,"evaluator_version":1,"expr":${expr},"codec":"json"${policies.join('')}}`;
}

function anyRecord(random: Seeded, words: readonly string[]): GatedRecord {
  const record = randomRecord(random);
  return random.chance(0.25)
    ? record
    : { payload: utf8.encode(document(random, words)), headerBlock: record.headerBlock };
}

/** Members that filters look at, one after a filling of any length, so that texts fall across the edges of blocks. */
function document(random: Seeded, words: readonly string[]): string {
  const written = (text: string): string => {
    if (random.chance(0.3)) return spellString(random, text);
    const plain = JSON.stringify(text);
    return random.chance(0.3) ? plain.replaceAll('/', '\\/') : plain;
  };
  const text = (): string => {
    const whole = random.pick(words);
    switch (random.below(6)) {
      case 0:
        return `${random.pick([...words, '.'])}${whole}${random.pick(['', '.'])}`;
      case 1:
        return `${whole}${random.pick(['K', 'r', '"', '\\'])}`;
      case 3:
        return random.chance(0.5) ? whole.toUpperCase() : whole.toLowerCase();
      case 2:
        return whole.slice(0, random.below(whole.length + 1));
      default:
        return whole;
    }
  };
  const value = (): string => {
    if (random.chance(0.15)) return random.pick(['1', 'null', '{}', 'true', '2.5']);
    return random.chance(0.2) ? `[${written(text())},${written(text())}]` : written(text());
  };
  const members = Array.from(
    { length: 1 + random.below(3) },
    () => `"${random.pick(['a', 'a', 'b', 'c', '0'])}":${value()}`,
  );
  if (random.chance(0.2)) members.push(`${written(text())}:1`);
  const filling = `"f":"${'lockx '.repeat(25).slice(0, random.below(140))}"`;
  members.splice(random.below(members.length + 1), 0, filling);
  return `{${members.join()}}`;
}
