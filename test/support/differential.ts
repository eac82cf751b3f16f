/**
 * The program against the oracle on seeded random filters and records, with a count of what was met.
 */
import { decodeJson } from '../../src/codec/json/decode.js';
import type { Truth } from '../../src/core/truth.js';
import { type Outcome, REASON_NAMES, reasonOf, VERDICT_NAMES, verdictOf } from '../../src/core/verdict.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { Evaluator, isUnjudged, type Reading, type Unjudged } from '../../src/filter/evaluate.js';
import type { Subject } from '../../src/filter/evaluate-leaf.js';
import type { Leaf } from '../../src/filter/ir.js';
import { compileProgram } from '../../src/filter/program.js';
import { programInputs } from '../../src/scan/program-inputs.js';
import { storedRecord } from './oracle.js';
import { beginRecord, shown } from './program.js';
import { randomFilter } from './random-filter.js';
import { RANDOM_RECORD_LIMITS, randomRecord } from './random-record.js';
import { cachedRegexEngine } from './regex-engine.js';
import { Seeded } from './seeded.js';

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

/** At least `pairs` pairs of filter and record. Throws an `Error` that names both where program and oracle differ. */
export function runDifferential(seed: number, pairs: number): Spread {
  const random = new Seeded(seed);
  const spread: Spread = { pairs: 0, hostile: 0, verdicts: new Map(), reasons: new Map(), hits: new Map() };
  while (spread.pairs < pairs) {
    const texts = Array.from({ length: 1 + random.below(FILTERS_PER_PROGRAM) }, () => randomFilter(random));
    const oracles = texts.map((text) => new CountingOracle(text, spread.hits));
    const program = compileProgram(
      oracles.map(({ filter }) => filter),
      programInputs(cachedRegexEngine, RANDOM_RECORD_LIMITS),
    );
    for (let round = 0; round < RECORDS_PER_PROGRAM; round++) {
      const { payload, headerBlock, isHostile } = randomRecord(random);
      beginRecord(program, payload, headerBlock);
      const record = storedRecord(headerBlock, payload);
      // In any order, and now and then twice: no filter may see what another left behind.
      const first = random.below(texts.length);
      const again = random.chance(0.1) ? 1 : 0;
      for (let turn = 0; turn < texts.length + again; turn++) {
        const index = (first + turn) % texts.length;
        const wanted = oracles[index]!.evaluate(record, RANDOM_RECORD_LIMITS);
        const given = program.evaluate(index);
        if (given !== wanted) throw new Error(difference(seed, texts[index]!, payload, headerBlock, given, wanted));
        if (turn >= texts.length) continue;
        spread.pairs++;
        if (isHostile) spread.hostile++;
        count(spread.verdicts, VERDICT_NAMES[verdictOf(wanted)]);
        count(spread.reasons, REASON_NAMES[reasonOf(wanted)]);
      }
    }
  }
  return spread;
}

function difference(
  seed: number,
  filter: string,
  payload: Uint8Array,
  headerBlock: Uint8Array,
  given: Outcome,
  wanted: Outcome,
): string {
  return [
    `seed ${seed}: program ${JSON.stringify(shown(given))}, oracle ${JSON.stringify(shown(wanted))}`,
    `filter  ${filter}`,
    `payload ${JSON.stringify(Buffer.from(payload).toString('latin1'))}`,
    `headers ${Buffer.from(headerBlock).toString('hex')}`,
  ].join('\n');
}
