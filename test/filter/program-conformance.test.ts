/** Every evaluation case of the corpora in the program over the walkers, alone and many filters at once. */
import { describe, expect, it } from 'vitest';
import { recordCases } from '../support/cases.js';
import { beginRecord, programOf, shown } from '../support/program.js';

describe.each([
  ['laser-eval-json', 489],
  ['laser-eval-headers', 98],
  ['laser-explain', 24],
] as const)('%s', (file, count) => {
  const cases = recordCases(file);

  it(`runs ${count} cases`, () => {
    expect(cases).toHaveLength(count);
  });

  it.each(cases)('$id: $why', ({ filterText, headerBlock, payload, limits, verdict, reason }) => {
    const program = programOf([filterText], limits);
    beginRecord(program, payload, headerBlock);
    expect(shown(program.evaluate(0))).toEqual({ verdict, reason });
  });

  it('gives the same verdicts when many filters share one program', () => {
    const kinds = new Set(cases.map(({ limits }) => JSON.stringify(limits)));
    for (const kind of kinds) {
      const group = cases.filter(({ limits }) => JSON.stringify(limits) === kind);
      const program = programOf(
        group.map(({ filterText }) => filterText),
        group[0]!.limits,
      );
      for (const [index, { id, headerBlock, payload, verdict, reason }] of group.entries()) {
        beginRecord(program, payload, headerBlock);
        for (let other = 0; other < 3; other++) program.evaluate((index * 7 + other) % group.length);
        expect(shown(program.evaluate(index)), id).toEqual({ verdict, reason });
      }
    }
  });
});
