/**
 * Does the cost score rank filters as the clock does? Nanoseconds per record of many filters over the same `orbit`
 * records, headers included, and Spearman's ρ between score and time (contract: scan-protocol §2, `cost`).
 *
 * Filters run in turn within a round, in passes short enough to fit between two interruptions; the time of a filter is
 * its fastest round. Ranks need that: a busy machine slows one filter and not the next.
 */
import { COST_FILTERS } from '../datasets/cost-filters.js';
import type { FilterDocument } from '../datasets/orbit-filters.js';
import { ORBIT_BLOCK, orbitDataset } from '../datasets/orbit.js';
import { segmentBytes } from '../datasets/write.js';
import { spreadOf } from '../harness.js';
import { threadNanoseconds } from '../process-usage.js';
import { costOf, ENGINES, programOf } from '../programs.js';
import { rankCorrelation } from '../rank-correlation.js';
import { SELECTED, verdictOf } from '../../src/core/verdict.js';
import type { Program } from '../../src/filter/program.js';
import { createReader } from '../../src/segment/formats.js';
import { CURSOR_FRAME, FrameCursor, startMark, WHOLE_SEGMENT } from '../../src/source/frame-cursor.js';
import { inlineSource } from '../../src/source/inline.js';
import { Window } from '../../src/source/window.js';

/** Least ρ, over at least forty filters. */
const COST_RANK_BAR = 0.8;

const READER = { verifyChecksums: false, partitionId: 0, baseOffset: 0, sealed: true };

export interface RankedFilter {
  readonly filter: FilterDocument;
  readonly costClass: string;
  readonly score: number;
  readonly nsPerRecord: number;
}

export interface CostRank {
  readonly rho: number;
  /** By rising time. */
  readonly filters: readonly RankedFilter[];
}

/** Measures every filter of COST_FILTERS over the first orbit block at scale 1, which holds each rarity. */
export function measureCostRank(scale: number, rounds: number, warmups: number): CostRank {
  const records = new Records(Math.max(50, Math.round(ORBIT_BLOCK * scale)));
  const programs = COST_FILTERS.map((filter) => programOf(ENGINES[0]!, filter));
  const times: number[][] = programs.map(() => []);
  for (let round = 0; round < warmups + rounds; round++) {
    for (const [index, program] of programs.entries()) {
      const from = threadNanoseconds();
      records.pass(program);
      const took = threadNanoseconds() - from;
      if (round >= warmups) times[index]!.push(took / records.count);
    }
  }
  const filters = COST_FILTERS.map((filter, index): RankedFilter => {
    const { class: costClass, score } = costOf(filter);
    return { filter, costClass, score, nsPerRecord: spreadOf(times[index]!).min };
  });
  const rho = rankCorrelation(
    filters.map(({ score }) => score),
    filters.map(({ nsPerRecord }) => nsPerRecord),
  );
  return { rho, filters: filters.sort((a, b) => a.nsPerRecord - b.nsPerRecord) };
}

/** The result in one sentence and, by class, what the filters took. `isSmoke`: nothing is judged. */
export function costRankText({ rho, filters }: CostRank, isSmoke: boolean): string {
  const verdict = isSmoke ? '' : rho >= COST_RANK_BAR ? ' met' : ' missed';
  const classes = ['headers', 'indexed', 'decode', 'heavy'].map((costClass) => {
    const times = filters.filter((one) => one.costClass === costClass).map(({ nsPerRecord }) => nsPerRecord);
    const { median, min, max } = spreadOf(times);
    return `${costClass} ${median.toFixed(0)} ns (${min.toFixed(0)}–${max.toFixed(0)}, ${times.length})`;
  });
  return [
    `Cost score against time per record, ${filters.length} filters: ρ = ${rho.toFixed(3)} (bar ≥ ${COST_RANK_BAR}${verdict}).`,
    `By class, median (range, filters): ${classes.join(' · ')}.`,
  ].join('\n');
}

/** Stored records in memory and where their parts stand, so that frames are not part of what is timed. */
class Records {
  readonly count: number;
  private readonly bytes: Uint8Array;
  private readonly places: Int32Array;

  constructor(count: number) {
    this.count = count;
    this.places = new Int32Array(count * 4);
    this.bytes = segmentBytes(orbitDataset(), 'iggy', count);
    const cursor = new FrameCursor(new Window());
    cursor.open(inlineSource(this.bytes), createReader('iggy', READER), WHOLE_SEGMENT, startMark());
    for (let index = 0; cursor.next() === CURSOR_FRAME; index++) {
      const { payloadStart, payloadEnd, headersStart, headersEnd } = cursor.frame;
      this.places.set([payloadStart, payloadEnd, headersStart, headersEnd], index * 4);
    }
  }

  /** Runs the one filter of the program over all records; returns how many it selects. */
  pass(program: Program): number {
    const { bytes, places } = this;
    let selected = 0;
    for (let at = 0; at < places.length; at += 4) {
      program.begin(bytes, places[at]!, places[at + 1]!, places[at + 2]!, places[at + 3]!);
      if (verdictOf(program.evaluate(0)) === SELECTED) selected += 1;
    }
    return selected;
  }
}
