/**
 * Two builds or two results of the benchmarks side by side, with the noise that a difference has to leave.
 */
import { type CaseResult, type Spread, spreadOf } from './harness.js';
import type { BenchReport } from './report.js';

/** The results of both builds from one turn. */
export interface Turn {
  readonly a: BenchReport;
  readonly b: BenchReport;
}

export interface Compared {
  /** Case or figure, and its engine. */
  readonly key: string;
  /** What B is of A: above 1 is more. */
  readonly change: number;
  /** How far from 1 the change may be by chance: 0.05 is ±5 %. */
  readonly noise: number;
  /** `more` and `less` where the direction is neither better nor worse by itself. */
  readonly verdict: 'same' | 'better' | 'worse' | 'more' | 'less';
}

/** Compares the time per record of judged sides, each turn's fastest round; at least two turns, for the noise. */
export function compareTurns(turns: readonly Turn[], band: number): Compared[] {
  const keys = turns[0]!.a.results.map(keyOf).filter((key) => turns.every(({ b }) => timeOf(b, key) !== undefined));
  return keys.map((key) => {
    const times = turns.map(({ a, b }) => ({ a: timeOf(a, key)!, b: timeOf(b, key)! }));
    const change = spreadOf(times.map((time) => time.b / time.a)).median;
    const noise = Math.max(band, unrest(times.map((time) => time.a)), unrest(times.map((time) => time.b)));
    return { key, change, noise, verdict: verdictOn(change, noise, 'less is better') };
  });
}

/** Compares the ratios and figures that both results have. */
export function compareReports(a: BenchReport, b: BenchReport, band: number): Compared[] {
  const after = new Map([...b.results, ...b.figures].map((one) => [keyOf(one), one]));
  return [...a.results, ...a.figures].flatMap((before): Compared[] => {
    const key = keyOf(before);
    const other = after.get(key);
    if (other === undefined) return [];
    const [from, to] = [valueOf(before), valueOf(other)];
    const change = to.median / from.median;
    const noise = Math.max(band, halfWidth(from) + halfWidth(to));
    return [{ key, change, noise, verdict: verdictOn(change, noise, goodOf(before)) }];
  });
}

/** One row each, those that differ first. */
export function comparedMarkdown(compared: readonly Compared[]): string {
  const order = [...compared].sort((a, b) => Number(a.verdict === 'same') - Number(b.verdict === 'same'));
  const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;
  const rows = order.map(({ key, change, noise, verdict }) => {
    const sign = change >= 1 ? '+' : '−';
    return `| ${key} | ${sign}${percent(Math.abs(change - 1))} | ±${percent(noise)} | ${verdict} |`;
  });
  return ['| case | B against A | noise | verdict |', '|---|---|---|---|', ...rows].join('\n');
}

type Goal = 'less is better' | 'more is better' | 'neither';

function verdictOn(change: number, noise: number, goal: Goal): Compared['verdict'] {
  // The band is symmetric in ratios: twice as fast and half as fast are equally far from the same.
  if (change <= 1 + noise && change >= 1 / (1 + noise)) return 'same';
  if (goal === 'neither') return change > 1 ? 'more' : 'less';
  return change < 1 === (goal === 'less is better') ? 'better' : 'worse';
}

type Measured = BenchReport['results'][number] | BenchReport['figures'][number];

function keyOf({ name, engine }: { readonly name: string; readonly engine: string }): string {
  return `${name} (${engine})`;
}

function valueOf(one: Measured): Spread {
  return 'ratio' in one ? one.ratio : one.value;
}

function goodOf(one: Measured): Goal {
  if ('ratio' in one) return one.kind === 'speedup' ? 'more is better' : 'less is better';
  if (one.bar === null) return 'neither';
  return one.bar.kind === 'at least' ? 'more is better' : 'less is better';
}

function timeOf({ results }: BenchReport, key: string): number | undefined {
  return results.find((one: CaseResult) => keyOf(one) === key)?.sides[0]!.nsPerRecord.min;
}

/** The median step from one value to the next, as a share: what a thing differs from itself. */
function unrest(values: readonly number[]): number {
  const steps = values
    .slice(1)
    .map((value, index) => Math.max(value, values[index]!) / Math.min(value, values[index]!) - 1);
  return steps.length === 0 ? 0 : spreadOf(steps).median;
}

/** Half of what lies between the extremes, as a share of the median. */
function halfWidth({ median, min, max }: Spread): number {
  return (max - min) / median / 2;
}
