/** Every evaluation case of the corpora in the program over each engine, alone and many filters at once. */
import { describe, expect, it } from 'vitest';
import { recordCases } from '../support/cases.js';
import { programOf, shown } from '../support/program.js';
import { Seeded } from '../support/seeded.js';
import { beginStaged, gapsFor, stageBatch } from '../support/staged-batch.js';
import { BATCH_RECORDS_MAX } from '../support/walker-engine.js';
import { WALKER_ENGINES } from '../support/walker-engines.js';

const FILES = [
  ['laser-eval-json', 489],
  ['laser-eval-headers', 98],
  ['laser-explain', 24],
] as const;

describe.each(WALKER_ENGINES)('$name', (engine) => {
  describe.each(FILES)('%s', (file, count) => {
    const cases = recordCases(file);

    it(`runs ${count} cases`, () => {
      expect(cases).toHaveLength(count);
    });

    it.each(cases)('$id: $why', (given) => {
      const program = programOf([given.filterText], given.limits, engine);
      const staged = stageBatch(engine, [given], gapsFor(new Seeded(given.id.length), [given]));
      beginStaged(program, engine, staged, 0);
      expect(shown(program.evaluate(0))).toEqual({ verdict: given.verdict, reason: given.reason });
    });

    it('gives the same verdicts when many filters share one program, and many records a batch', () => {
      const kinds = new Set(cases.map(({ limits }) => JSON.stringify(limits)));
      for (const kind of kinds) {
        const group = cases.filter(({ limits }) => JSON.stringify(limits) === kind);
        const texts = group.map(({ filterText }) => filterText);
        const program = programOf(texts, group[0]!.limits, engine);
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
