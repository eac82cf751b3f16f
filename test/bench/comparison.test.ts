/**
 * A comparison calls a difference what it is only where it leaves the noise.
 */
import { describe, expect, it } from 'vitest';
import { compareReports, comparedMarkdown, compareTurns } from '../../bench/comparison.js';
import { figure } from '../../bench/figures.js';
import type { CaseResult, Spread } from '../../bench/harness.js';
import type { BenchReport } from '../../bench/report.js';

const BAND = 0.05;

function steady(value: number): Spread {
  return { median: value, min: value, max: value };
}

function caseOf(name: string, ratio: Spread, kind: CaseResult['kind'], nsPerRecord = 100): CaseResult {
  const sides = ['judged', 'other'].map((side) => ({ name: side, nsPerRecord: steady(nsPerRecord), mbPerSecond: 1 }));
  const verdict = { bar: null, nsPerRecordMax: null, met: null, checksum: null };
  return { name, engine: 'walker', ratio, fastest: ratio.median, kind, ...verdict, sides };
}

function reportOf(results: readonly CaseResult[], figures: BenchReport['figures'] = []): BenchReport {
  return { node: 'v20', processor: 'one', rounds: 5, smoke: false, results, figures, costRank: null, fairness: null };
}

function verdictsOf(before: BenchReport, after: BenchReport): Record<string, string> {
  return Object.fromEntries(compareReports(before, after, BAND).map(({ key, verdict }) => [key, verdict]));
}

describe('two results', () => {
  it('differ by what a ratio means, not by its direction alone', () => {
    const before = reportOf([caseOf('a speedup', steady(10), 'speedup'), caseOf('a cost', steady(1.5), 'cost')]);
    const after = reportOf([caseOf('a speedup', steady(12), 'speedup'), caseOf('a cost', steady(1.8), 'cost')]);
    expect(verdictsOf(before, after)).toEqual({ 'a speedup (walker)': 'better', 'a cost (walker)': 'worse' });
    expect(verdictsOf(after, before)).toEqual({ 'a speedup (walker)': 'worse', 'a cost (walker)': 'better' });
  });

  it('are the same where the difference is within the band or within what their rounds spread', () => {
    const before = reportOf([caseOf('near', steady(10), 'speedup'), caseOf('restless', steady(10), 'speedup')]);
    const after = reportOf([
      caseOf('near', steady(10.4), 'speedup'),
      caseOf('restless', { median: 12, min: 9, max: 15 }, 'speedup'),
    ]);
    expect(verdictsOf(before, after)).toEqual({ 'near (walker)': 'same', 'restless (walker)': 'same' });
  });

  it('call a figure better or worse only where it has a bar', () => {
    const figures = (value: number) => [
      figure('share', 'walker', '%', steady(value), { kind: 'at most', value: 15 }),
      figure('memory', 'walker', 'MiB', steady(value)),
    ];
    expect(verdictsOf(reportOf([], figures(10)), reportOf([], figures(20)))).toEqual({
      'share (walker)': 'worse',
      'memory (walker)': 'more',
    });
  });

  it('leave out what only one of them has', () => {
    const before = reportOf([caseOf('old', steady(1), 'cost'), caseOf('both', steady(1), 'cost')]);
    const after = reportOf([caseOf('both', steady(1), 'cost'), caseOf('new', steady(1), 'cost')]);
    expect(Object.keys(verdictsOf(before, after))).toEqual(['both (walker)']);
  });
});

describe('two builds in turn', () => {
  const turn = (a: number, b: number) => ({
    a: reportOf([caseOf('one', steady(1), 'cost', a)]),
    b: reportOf([caseOf('one', steady(1), 'cost', b)]),
  });

  it('differ where B takes other times than A in the same turns', () => {
    expect(compareTurns([turn(100, 80), turn(101, 81), turn(100, 80)], BAND)[0]!.verdict).toBe('better');
    expect(compareTurns([turn(80, 100), turn(81, 101), turn(80, 100)], BAND)[0]!.verdict).toBe('worse');
  });

  it('are the same where a build differs as much from itself', () => {
    const [compared] = compareTurns([turn(100, 120), turn(125, 150), turn(100, 120)], BAND);
    expect(compared).toMatchObject({ verdict: 'same', noise: 0.25 });
    expect(compared!.change).toBeCloseTo(1.2);
  });
});

it('shows what differs before what does not', () => {
  const before = reportOf([caseOf('same', steady(1), 'cost'), caseOf('other', steady(1), 'cost')]);
  const after = reportOf([caseOf('same', steady(1), 'cost'), caseOf('other', steady(2), 'cost')]);
  expect(
    comparedMarkdown(compareReports(before, after, BAND))
      .split('\n')
      .slice(2),
  ).toEqual(['| other (walker) | +100.0 % | ±5.0 % | worse |', '| same (walker) | +0.0 % | ±5.0 % | same |']);
});
