/** Every evaluation case of the corpora in the program over each engine, alone and many filters at once. */
import { describe, expect, it } from 'vitest';
import { schemaHash } from '../../src/codec/schema-source.js';
import { type RecordCase, recordCases } from '../support/cases.js';
import { programOf, shown } from '../support/program.js';
import { Seeded } from '../support/seeded.js';
import { beginStaged, gapsFor, stageBatch } from '../support/staged-batch.js';
import { BATCH_RECORDS_MAX } from '../support/walker-engine.js';
import { WALKER_ENGINES } from '../support/walker-engines.js';

const FILES = [
  ['laser-eval-json', 489],
  ['laser-eval-headers', 102],
  ['laser-eval-codecs', 234],
  ['laser-explain', 27],
] as const;

/** Cases of one kind can share a program: other cases mean other schemas by the same id. */
function kindOf({ limits, schemas }: RecordCase): string {
  return JSON.stringify([limits, ...[...schemas].map(([id, source]) => [id, schemaHash(source)])]);
}

describe.each(WALKER_ENGINES)('$name', (engine) => {
  describe.each(FILES)('%s', (file, count) => {
    const cases = recordCases(file);

    it(`runs ${count} cases`, () => {
      expect(cases).toHaveLength(count);
    });

    it.each(cases)('$id: $why', (given) => {
      const program = programOf([given.filterText], given.limits, engine, given.schemas);
      const staged = stageBatch(engine, [given], gapsFor(new Seeded(given.id.length), [given]));
      beginStaged(program, engine, staged, 0);
      expect(shown(program.evaluate(0))).toEqual({ verdict: given.verdict, reason: given.reason });
    });

    it('gives the same verdicts when many filters share one program, and many records a batch', () => {
      for (const kind of new Set(cases.map(kindOf))) {
        const group = cases.filter((one) => kindOf(one) === kind);
        const texts = group.map(({ filterText }) => filterText);
        const program = programOf(texts, group[0]!.limits, engine, group[0]!.schemas);
        for (let from = 0; from < group.length; from += BATCH_RECORDS_MAX) {
          const batch = group.slice(from, from + BATCH_RECORDS_MAX);
          const staged = stageBatch(engine, batch, gapsFor(new Seeded(from), batch));
          for (const [index, { id, verdict, reason }] of batch.entries()) {
            beginStaged(program, engine, staged, index);
            for (let other = 0; other < 3; other++) program.evaluate((index * 7 + other) % group.length);
            expect(shown(program.evaluate(from + index)), id).toEqual({ verdict, reason });
          }
        }
      }
    });
  });
});
