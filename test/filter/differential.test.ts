/**
 * The program over every engine against the oracle on seeded random filters and records. `WINNOW_SEED` and
 * `WINNOW_PAIRS` choose another run; a failure names the seed, the engine, the filter and the record.
 */
import { describe, expect, it } from 'vitest';
import { VERDICT_NAMES } from '../../src/core/verdict.js';
import { runDifferential } from '../support/differential.js';
import { fuzzScale, fuzzSeed } from '../support/fuzz-mode.js';
import { WALKER_ENGINES } from '../support/walker-engines.js';

const SEED = fuzzSeed(20_301);
const PAIRS = Number(process.env['WINNOW_PAIRS'] ?? fuzzScale(30_000, 250_000));
const NAMES = WALKER_ENGINES.map(({ name }) => `program over ${name}`).join(', ');

const COMPARE_OPS = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'contains', 'prefix'];
const COERCED_OPS = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in'];
const FORMATS = ['rfc3339', 'epoch_seconds', 'epoch_millis', 'epoch_micros'];
const TEXT_KINDS = ['equals', 'prefix', 'suffix', 'contains', 'glob', 'regex'];
const PAYLOAD_SUBJECTS = [
  'missing',
  'null',
  'boolean',
  'integer',
  'wide integer',
  'double',
  'string',
  'array',
  'composite',
];
const HEADER_SUBJECTS = ['missing', 'boolean', 'integer', 'wide integer', 'double', 'string', 'composite'];

describe(`oracle, ${NAMES}, seed ${SEED},`, () => {
  const spread = runDifferential(SEED, PAIRS);
  const share = (map: Map<string, number>, key: string) => (map.get(key) ?? 0) / spread.pairs;

  it(`agree on ${PAIRS} pairs`, () => {
    expect(spread.pairs).toBeGreaterThanOrEqual(PAIRS);
  });

  it.each(VERDICT_NAMES)('meet the verdict %s in at least 1 %% of the pairs', (verdict) => {
    expect(share(spread.verdicts, verdict)).toBeGreaterThanOrEqual(0.01);
  });

  it.each(['foreign_codec', 'type_mismatch', 'malformed', 'too_large', 'too_deep'])(
    'meet the reason %s in at least 1 %% of the pairs',
    (reason) => {
      expect(share(spread.reasons, reason)).toBeGreaterThanOrEqual(0.01);
    },
  );

  it('meet a hostile payload in at least a tenth of the pairs', () => {
    expect(spread.hostile / spread.pairs).toBeGreaterThanOrEqual(0.1);
  });

  it('put every operator to every type of value', () => {
    const payloadLeaves = [
      ...COMPARE_OPS,
      ...COERCED_OPS.flatMap((op) => [`${op} as number`, `${op} as timestamp`]),
      ...FORMATS,
      ...TEXT_KINDS.flatMap((kind) => [kind, `${kind} ignoring case`]),
      'present',
      'absent',
    ];
    const headerLeaves = [...COMPARE_OPS, ...TEXT_KINDS.flatMap((kind) => [kind, `${kind} ignoring case`])];
    const wanted = [
      ...payloadLeaves.flatMap((leaf) => PAYLOAD_SUBJECTS.map((subject) => `payload ${leaf} × ${subject}`)),
      ...headerLeaves.flatMap((leaf) => HEADER_SUBJECTS.map((subject) => `header ${leaf} × ${subject}`)),
    ];
    expect(wanted.filter((hit) => !spread.hits.has(hit))).toEqual([]);
  });
});
