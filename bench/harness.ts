/**
 * The measuring half of the benchmarks: sides run in turn, medians with spread, one checksum for all.
 *
 * Machines are shared and noisy, so the figure of a case is a *ratio* between two things that ran one after the other
 * in the same round; absolute figures are printed for orientation. A case whose sides disagree on the checksum of what
 * they selected throws and prints no number.
 */

import type { EngineName } from '../src/core/engine.js';
import { clockNanoseconds, threadNanoseconds } from './process-usage.js';

/**
 * One thing to time. `run` does the whole work once and returns a checksum of what it selected, or what works that out
 * once the clock has stopped.
 */
export interface Side {
  readonly name: string;
  /** True for a side that selects nothing and is printed for orientation: its result is not compared. */
  readonly isAside?: boolean;
  run(): number | Promise<number | (() => number)>;
}

/** The side that is judged comes first, the one it is measured against second; further ones are printed only. */
export type Sides = readonly [Side, Side, ...Side[]];

/** Which of the two ways to read payloads and headers a case is about. */
export type Engine = EngineName;

export interface Case {
  /** Unique together with `engine`. */
  readonly name: string;
  /** The engine of the judged side, whose bar this is. */
  readonly engine: Engine;
  /** Records and bytes that one run passes over, for the per-record and MB/s columns. */
  readonly size: () => { readonly records: number; readonly bytes: number };
  /** Made when the case is measured and not kept, so that a run of few cases builds only theirs. */
  readonly sides: () => Sides | Promise<Sides>;
  /** How the ratio is formed: `speedup` = time of the second ÷ time of the first, `cost` = the inverse. */
  readonly ratio: 'speedup' | 'cost';
  /** The bar of the ratio, if the case has one: at least (speedup) or at most (cost). */
  readonly bar?: number;
  /** A bar of the judged side's median time itself, for the few that are stated in nanoseconds a record. */
  readonly nsPerRecordMax?: number;
  /**
   * True where both sides do all their work on this thread: then its processor time is taken, which a busy machine
   * disturbs least. Else the clock.
   */
  readonly isOneThread?: boolean;
  /** True where the sides do different work on purpose (a copy, a sum) and a common checksum would mean nothing. */
  readonly unlikeWork?: boolean;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface SideResult {
  readonly name: string;
  readonly nsPerRecord: Spread;
  readonly mbPerSecond: number;
}

export interface CaseResult {
  readonly name: string;
  readonly engine: Engine;
  readonly ratio: Spread;
  /** The ratio of each side's fastest round: what is left when others on the machine are left out. */
  readonly fastest: number;
  readonly kind: 'speedup' | 'cost';
  readonly bar: number | null;
  readonly nsPerRecordMax: number | null;
  /** Judged by the medians; null where there is no bar, or the run is too small to judge. */
  readonly met: boolean | null;
  readonly checksum: number | null;
  readonly sides: readonly SideResult[];
}

/** Median with the extremes. `values` is not empty. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: sorted[sorted.length >> 1]!, min: sorted[0]!, max: sorted.at(-1)! };
}

/** Makes a value when it is first asked for, once. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Order-sensitive 32-bit checksum (FNV-1a over the offsets' low words): equal selections give equal sums. */
export class Checksum {
  #hash = 0x811c9dc5;

  add(offset: number): void {
    this.#hash = Math.imul(this.#hash ^ offset, 0x01000193) >>> 0;
  }

  get value(): number {
    return this.#hash;
  }
}

/** Runs one case: `warmups` unmeasured rounds, then `rounds` measured ones in which every side runs once. */
export async function measure(one: Case, rounds: number, warmups: number): Promise<CaseResult> {
  const sides = await one.sides();
  const { records, bytes } = one.size();
  const now = one.isOneThread === true ? threadNanoseconds : clockNanoseconds;
  const times: number[][] = sides.map(() => []);
  let checksum: number | null = null;
  for (let round = 0; round < warmups + rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const from = now();
      const result = await side.run();
      const took = now() - from;
      const sum = typeof result === 'function' ? result() : result;
      if (!one.unlikeWork && !side.isAside) {
        checksum ??= sum;
        if (sum !== checksum) throw new Error(`${one.name}: ${side.name} selected other records than ${sides[0].name}`);
      }
      if (round >= warmups) times[index]!.push(took);
    }
  }
  const ratioOf = (first: number, second: number): number =>
    one.ratio === 'speedup' ? second / first : first / second;
  const ratio = spreadOf(times[0]!.map((first, round) => ratioOf(first, times[1]![round]!)));
  const results = sides.map((side, index): SideResult => {
    const nsPerRecord = spreadOf(times[index]!.map((took) => took / records));
    return { name: side.name, nsPerRecord, mbPerSecond: bytes / records / (nsPerRecord.median / 1000) };
  });
  return {
    name: one.name,
    engine: one.engine,
    ratio,
    fastest: ratioOf(results[0]!.nsPerRecord.min, results[1]!.nsPerRecord.min),
    kind: one.ratio,
    bar: one.bar ?? null,
    nsPerRecordMax: one.nsPerRecordMax ?? null,
    met: isMet(one, ratio.median, results[0]!.nsPerRecord.median),
    checksum,
    sides: results,
  };
}

function isMet({ ratio, bar, nsPerRecordMax }: Case, median: number, nsPerRecord: number): boolean | null {
  if (nsPerRecordMax !== undefined) return nsPerRecord <= nsPerRecordMax;
  if (bar === undefined) return null;
  return ratio === 'speedup' ? median >= bar : median <= bar;
}

/** The results as a Markdown table, one row a case. */
export function toMarkdown(results: readonly CaseResult[]): string {
  const rows = results.map((result) => {
    const sides = result.sides
      .map((side) => `${side.name} ${nanoseconds(side.nsPerRecord.median)} (${side.mbPerSecond.toFixed(0)} MB/s)`)
      .join(' · ');
    const { median, min, max } = result.ratio;
    const ratio = `${median.toFixed(2)}× (${min.toFixed(2)}–${max.toFixed(2)}, fastest ${result.fastest.toFixed(2)})`;
    return `| ${result.name} | ${result.engine} | ${ratio} | ${barText(result)} | ${sides} | ${result.checksum?.toString(16) ?? '–'} |`;
  });
  return [
    '| case | engine | ratio (min–max, of the fastest rounds) | bar | sides, median per record | checksum |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function barText({ kind, bar, nsPerRecordMax, met }: CaseResult): string {
  const verdict = met === null ? '' : met ? ' met' : ' missed';
  if (nsPerRecordMax !== null) return `≤ ${nsPerRecordMax} ns${verdict}`;
  return bar === null ? '–' : `${kind === 'speedup' ? '≥' : '≤'} ${bar}${verdict}`;
}

function nanoseconds(value: number): string {
  return value < 100 ? `${value.toFixed(1)} ns` : `${value.toFixed(0)} ns`;
}
