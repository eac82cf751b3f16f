/**
 * The program over every engine against the oracle, on seeded random filters and batches of records, with a count of
 * what was met.
 */
import { decodeJson } from '../../src/codec/json/decode.js';
import type { Truth } from '../../src/core/truth.js';
import { type Outcome, REASON_NAMES, reasonOf, VERDICT_NAMES, verdictOf } from '../../src/core/verdict.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { Evaluator, isUnjudged, type Reading, type Unjudged } from '../../src/filter/evaluate.js';
import type { Subject } from '../../src/filter/evaluate-leaf.js';
import type { Leaf } from '../../src/filter/ir.js';
import { compileProgram, type Program } from '../../src/filter/program.js';
import { storedRecord } from './oracle.js';
import { shown } from './program.js';
import { randomFilter } from './random-filter.js';
import { RANDOM_RECORD_LIMITS, randomRecord } from './random-record.js';
import { cachedRegexEngine } from './regex-engine.js';
import { Seeded } from './seeded.js';
import { beginStaged, gapsFor, type RecordBytes, stageBatch } from './staged-batch.js';
import { spellBytes } from './walker-comparison.js';
import type { WalkerEngine } from './walker-engine.js';
import { WALKER_ENGINES } from './walker-engines.js';
import { beginWatched, endWatched } from './watchdog.js';

const FILTERS_PER_PROGRAM = 5;
const RECORDS_PER_PROGRAM = 20;

/** The oracle, counting which kind of leaf was asked about which kind of value. */
class CountingOracle extends Evaluator {
  readonly hits: Map<string, number>;

  constructor(filterText: string, hits: Map<string, number>) {
    const { lowered } = compileLaser(filterText, { strict: true, regex: cachedRegexEngine });
    super(lowered, decodeJson, cachedRegexEngine);
    this.hits = hits;
  }

  override truthOfLeaf(leaf: Leaf, reading: Reading): Truth | Unjudged {
    const truth = super.truthOfLeaf(leaf, reading);
    const found = reading.find(leaf.source);
    if (!isUnjudged(truth) && 'subject' in found) {
      for (const name of leafNames(leaf))
        count(this.hits, `${leaf.source.from} ${name} × ${subjectName(found.subject)}`);
    }
    return truth;
  }
}

/** A coerced leaf counts under its operator and under its format. */
function leafNames(leaf: Leaf): string[] {
  switch (leaf.node) {
    case 'compare':
      return [leaf.op];
    case 'coerce':
      if (leaf.coercion.kind === 'number') return [`${leaf.op} as number`];
      return [`${leaf.op} as timestamp`, leaf.coercion.format];
    case 'presence':
      return [leaf.wanted ? 'present' : 'absent'];
    case 'text':
      return [leaf.caseInsensitive ? `${leaf.kind} ignoring case` : leaf.kind];
  }
}

function subjectName(subject: Subject): string {
  if (subject === undefined) return 'missing';
  if (subject === null) return 'null';
  if (Array.isArray(subject)) return 'array';
  if (typeof subject === 'bigint') return BigInt.asIntN(54, subject) === subject ? 'integer' : 'wide integer';
  if (typeof subject === 'number') return 'double';
  if (typeof subject === 'object') return 'composite';
  return typeof subject;
}

/** What a run met: pairs under each verdict, reason and, in `hits`, each kind of leaf and of value. */
export interface Spread {
  pairs: number;
  hostile: number;
  readonly verdicts: Map<string, number>;
  readonly reasons: Map<string, number>;
  readonly hits: Map<string, number>;
}

function count(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}

/**
 * At least `pairs` pairs of filter and record, each asked of the oracle and of the program over every engine. Throws an
 * `Error` that names engine, filter and record where one differs.
 */
export function runDifferential(
  seed: number,
  pairs: number,
  engines: readonly WalkerEngine[] = WALKER_ENGINES,
): Spread {
  const random = new Seeded(seed);
  const spread: Spread = { pairs: 0, hostile: 0, verdicts: new Map(), reasons: new Map(), hits: new Map() };
  while (spread.pairs < pairs) {
    const texts = Array.from({ length: 1 + random.below(FILTERS_PER_PROGRAM) }, () => randomFilter(random));
    const oracles = texts.map((text) => new CountingOracle(text, spread.hits));
    const records = Array.from({ length: RECORDS_PER_PROGRAM }, () => randomRecord(random));
    const wanted = records.map(({ payload, headerBlock }) => {
      const record = storedRecord(headerBlock, payload);
      return oracles.map((oracle) => oracle.evaluate(record, RANDOM_RECORD_LIMITS));
    });
    for (const [index, { isHostile }] of records.entries()) {
      for (const outcome of wanted[index]!) {
        spread.pairs++;
        if (isHostile) spread.hostile++;
        count(spread.verdicts, VERDICT_NAMES[verdictOf(outcome)]);
        count(spread.reasons, REASON_NAMES[reasonOf(outcome)]);
      }
    }
    const gaps = gapsFor(random, records);
    for (const engine of engines) {
      const program = compileProgram(
        oracles.map(({ filter }) => filter),
        engine.programInputs(RANDOM_RECORD_LIMITS),
        // A gate leaves out why a policy rejects; `gate-differential.ts` is for it.
        { isGated: false },
      );
      const fault = firstDifference(program, engine, records, gaps, wanted, random.below(2 ** 31));
      if (fault !== null) throw new Error(`seed ${seed}: ${fault.text}\nfilter  ${texts[fault.filter]!}`);
    }
  }
  return spread;
}

/** Runs a batch through one engine's program: filters in any order and now and then twice, now and then no filter. */
function firstDifference(
  program: Program,
  engine: WalkerEngine,
  records: readonly RecordBytes[],
  gaps: readonly Uint8Array[],
  wanted: readonly (readonly Outcome[])[],
  seed: number,
): { text: string; filter: number } | null {
  const random = new Seeded(seed);
  const staged = stageBatch(engine, records, gaps);
  for (const [index, { payload, headerBlock }] of records.entries()) {
    beginWatched(engine.name, payload);
    beginStaged(program, engine, staged, index);
    // No filter may see what another left behind.
    const first = random.below(program.count);
    const turns = random.chance(0.1) ? 0 : program.count + (random.chance(0.1) ? 1 : 0);
    for (let turn = 0; turn < turns; turn++) {
      const filter = (first + turn) % program.count;
      const given = program.evaluate(filter);
      if (given === wanted[index]![filter]) continue;
      endWatched();
      const text = [
        `${engine.name} ${JSON.stringify(shown(given))}, oracle ${JSON.stringify(shown(wanted[index]![filter]!))}`,
        `payload ${spellBytes(payload)}`,
        `headers ${Buffer.from(headerBlock).toString('hex')}`,
      ].join('\n');
      return { text, filter };
    }
    endWatched();
  }
  return null;
}
