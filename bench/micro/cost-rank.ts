/**
 * Does the cost score rank filters as the clock does? Nanoseconds per record of many filters over the same `orbit`
 * records, headers included, and Spearman's ρ between score and time (contract: scan-protocol §2, `cost`).
 *
 * Filters run in turn within a round, in passes short enough to fit between two interruptions; the time of a filter is
 * its fastest round. Ranks need that: a busy machine slows one filter and not the next. The engine is the default one.
 */
import { COST_FILTERS } from '../datasets/cost-filters.js';
import type { FilterDocument } from '../datasets/orbit-filters.js';
import { ORBIT_BLOCK, orbitDataset } from '../datasets/orbit.js';
import { segmentBytes } from '../datasets/write.js';
import { spreadOf } from '../harness.js';
import { threadNanoseconds } from '../process-usage.js';
import { costOf, ENGINES, kernelOf, programOf } from '../programs.js';
import { rankCorrelation } from '../rank-correlation.js';
import type { FrameTable, Kernel } from '../../src/core/kernel.js';
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
  const records = new Records(Math.max(50, Math.round(ORBIT_BLOCK * scale)), kernelOf(ENGINES[0]!));
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

/**
 * Stored records that all stand in the window of the engine, or in memory where it has none, and where their parts are,
 * so that frames are no part of what is timed.
 */
class Records {
  readonly count: number;
  private readonly bytes: Uint8Array;
  private readonly frames: FrameTable | undefined;
  private readonly payloadStarts: Int32Array;
  private readonly payloadEnds: Int32Array;
  private readonly frameEnds: Int32Array;

  constructor(count: number, kernel: Kernel | undefined) {
    this.count = count;
    this.frames = kernel?.frames;
    const segment = segmentBytes(orbitDataset(), 'iggy', count);
    this.bytes = kernel?.window ?? segment;
    [this.payloadStarts, this.payloadEnds, this.frameEnds] = placesIn(segment, count);
    kernel?.window.set(segment);
  }

  /** Runs the one filter of the program over all records; returns how many it selects. */
  pass(program: Program): number {
    const { frames, count } = this;
    if (frames === undefined) return this.passRows(program, 0, count);
    let selected = 0;
    for (let first = 0; first < count; first += frames.rows) {
      const last = Math.min(first + frames.rows, count);
      frames.payloadStarts.set(this.payloadStarts.subarray(first, last));
      frames.payloadEnds.set(this.payloadEnds.subarray(first, last));
      frames.frameEnds.set(this.frameEnds.subarray(first, last));
      frames.begin(last - first);
      selected += this.passRows(program, first, last);
    }
    return selected;
  }

  private passRows(program: Program, first: number, last: number): number {
    const { frames, bytes, payloadStarts, payloadEnds, frameEnds } = this;
    let selected = 0;
    for (let index = first; index < last; index++) {
      if (frames !== undefined) frames.row = index - first;
      const payloadEnd = payloadEnds[index]!;
      program.begin(bytes, payloadStarts[index]!, payloadEnd, payloadEnd, frameEnds[index]!);
      if (verdictOf(program.evaluate(0)) === SELECTED) selected += 1;
    }
    return selected;
  }
}

/** Where payloads start and end, and the header blocks behind them. */
function placesIn(segment: Uint8Array, count: number): [Int32Array, Int32Array, Int32Array] {
  const column = (): Int32Array => new Int32Array(count);
  const places: [Int32Array, Int32Array, Int32Array] = [column(), column(), column()];
  const cursor = new FrameCursor(new Window());
  cursor.open(inlineSource(segment), createReader('iggy', READER), WHOLE_SEGMENT, startMark());
  for (let index = 0; cursor.next() === CURSOR_FRAME; index++) {
    const { payloadStart, payloadEnd, headersEnd } = cursor.frame;
    places[0][index] = payloadStart;
    places[1][index] = payloadEnd;
    places[2][index] = headersEnd;
  }
  return places;
}
