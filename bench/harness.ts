/**
 * The measuring half of the benchmarks: sides run in turn, medians with spread, one checksum for all.
 *
 * Machines are shared and noisy, so the figure of a case is a *ratio* between two things that ran one after the other
 * in the same round; absolute figures are printed for orientation. A case whose sides disagree on the checksum of what
 * they selected throws and prints no number.
 */

/** One thing to time. `run` does the whole work once and returns a checksum of what it selected. */
export interface Side {
  readonly name: string;
  /** True for a side that selects nothing and is printed for orientation: its result is not compared. */
  readonly isAside?: boolean;
  run(): number | Promise<number>;
}

export interface Case {
  readonly name: string;
  /** Records and bytes that one run passes over, for the per-record and MB/s columns. */
  readonly records: number;
  readonly bytes: number;
  /** The side that is judged comes first, the one it is measured against second; further ones are printed only. */
  readonly sides: readonly [Side, Side, ...Side[]];
  /** How the ratio is formed: `speedup` = time of the second ÷ time of the first, `cost` = the inverse. */
  readonly ratio: 'speedup' | 'cost';
  /** The bar of the ratio, if the case has one: at least (speedup) or at most (cost). */
  readonly bar?: number;
  /** True where the sides do different work on purpose (a copy, a sum) and a common checksum would mean nothing. */
  readonly unlikeWork?: boolean;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface CaseResult {
  readonly name: string;
  readonly ratio: Spread;
  readonly kind: 'speedup' | 'cost';
  readonly bar: number | null;
  readonly met: boolean | null;
  readonly checksum: number | null;
  readonly sides: readonly { readonly name: string; readonly nsPerRecord: Spread; readonly mbPerSecond: number }[];
}

/** Median with the extremes. `values` is not empty. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: sorted[sorted.length >> 1]!, min: sorted[0]!, max: sorted.at(-1)! };
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
  const times: number[][] = one.sides.map(() => []);
  let checksum: number | null = null;
  for (let round = 0; round < warmups + rounds; round++) {
    for (const [index, side] of one.sides.entries()) {
      const from = process.hrtime.bigint();
      const sum = await side.run();
      const took = Number(process.hrtime.bigint() - from);
      if (!one.unlikeWork && !side.isAside) {
        checksum ??= sum;
        if (sum !== checksum)
          throw new Error(`${one.name}: ${side.name} selected other records than ${one.sides[0].name}`);
      }
      if (round >= warmups) times[index]!.push(took);
    }
  }
  const ratios = times[0]!.map((first, round) =>
    one.ratio === 'speedup' ? times[1]![round]! / first : first / times[1]![round]!,
  );
  const ratio = spreadOf(ratios);
  return {
    name: one.name,
    ratio,
    kind: one.ratio,
    bar: one.bar ?? null,
    met: one.bar === undefined ? null : one.ratio === 'speedup' ? ratio.median >= one.bar : ratio.median <= one.bar,
    checksum,
    sides: one.sides.map((side, index) => {
      const perRecord = spreadOf(times[index]!.map((took) => took / one.records));
      return {
        name: side.name,
        nsPerRecord: perRecord,
        mbPerSecond: one.bytes / one.records / (perRecord.median / 1000),
      };
    }),
  };
}

/** The results as a Markdown table, one row a case. */
export function toMarkdown(results: readonly CaseResult[]): string {
  const rows = results.map((result) => {
    const sides = result.sides
      .map((side) => `${side.name} ${side.nsPerRecord.median.toFixed(0)} ns (${side.mbPerSecond.toFixed(0)} MB/s)`)
      .join(' · ');
    const { median, min, max } = result.ratio;
    const sign = result.kind === 'speedup' ? '≥' : '≤';
    const bar =
      result.bar === null ? '–' : `${sign} ${result.bar}${result.met === null ? '' : result.met ? ' met' : ' missed'}`;
    return `| ${result.name} | ${median.toFixed(2)}× (${min.toFixed(2)}–${max.toFixed(2)}) | ${bar} | ${sides} | ${result.checksum?.toString(16) ?? '–'} |`;
  });
  return [
    '| case | ratio (min–max) | bar | sides, median per record | checksum |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
