/**
 * Who is in the pass: filters wait for their start, take part, and leave at their own stop (contract: scan-protocol §1
 * "All filters run in one pass").
 *
 * A record costs what the filters that deliver or fault on it cost, not what there are filters. All others reject it,
 * and rejecting is not noted one by one: every filter that takes part passes every record, so what it rejected since it
 * was looked at last is the difference of two totals of the pass. It is added (`settle`) before anything else happens to
 * the filter and at the end of the slice. A budget is a point on the same totals, fixed when a filter comes in; only the
 * nearest of these points is watched.
 *
 * Invariants: a filter is waiting, taking part or stopped; the row of a filter is settled whenever its `FilterRun` is
 * asked for anything; nothing is allocated for a record that no filter delivers.
 */
import type { FrameTable } from '../core/kernel.js';
import type { Outcome } from '../core/verdict.js';
import type { Program } from '../filter/program.js';
import type { Frame } from '../segment/frame.js';
import type { CompiledFilterEntry } from './compile.js';
import { addTo } from './counters.js';
import { type Ending, FilterRun, type FramePlace, HELD_PER_RECORD, type RunContext } from './filter-run.js';
import { REJECTED_COUNT, type RunTable } from './run-table.js';
import type { FilterChange, OpenPageState } from './task.js';

// Cells of the pass: typed, so that counting never puts a number on the heap.
/** Records and their bytes that the filters taking part have passed in this slice. */
const RECORDS = 0;
const BYTES = 1;
/** The last of them. */
const LAST_OFFSET = 2;
const LAST_SEGMENT = 3;
const LAST_POSITION = 4;
/** The totals at which the next budget may be spent, and the last one of those that count. */
const NEAREST_RECORDS = 5;
const NEAREST_BYTES = 6;
const FARTHEST_RECORDS = 7;
const FARTHEST_BYTES = 8;
/** Lowest start among the waiting filters. */
const NEXT_START = 9;
const CELLS = 10;

export class Roster {
  /** Filters that take part. */
  activeCount = 0;
  private runningCount = 0;
  private readonly entries: readonly CompiledFilterEntry[];
  private readonly context: RunContext;
  private readonly program: Program;
  private readonly table: RunTable;
  private readonly pages: ReadonlyMap<number, OpenPageState>;
  private readonly runs: (FilterRun | undefined)[];
  private readonly pass = new Float64Array(CELLS);
  private readonly isActive: Uint8Array;
  /** By filter: the totals of the pass up to which it is settled, and those at which its budgets are spent. */
  private readonly settledRecords: Float64Array;
  private readonly settledBytes: Float64Array;
  private readonly lastRecords: Float64Array;
  private readonly lastBytes: Float64Array;
  /** Filters that wait for an offset, lowest first, and the first that has not been reached. */
  private waiting: number[] = [];
  private waitingAt = 0;
  /** Filters that wait for a timestamp, earliest first. */
  private waitingForTime: number[] = [];
  private waitingForTimeAt = 0;

  /** `pages` are those that the slice before left open. */
  constructor(
    entries: readonly CompiledFilterEntry[],
    context: RunContext,
    program: Program,
    table: RunTable,
    pages: readonly OpenPageState[],
  ) {
    this.entries = entries;
    this.context = context;
    this.program = program;
    this.table = table;
    this.pages = new Map(pages.map((page) => [page.filter, page]));
    const { count } = table;
    this.runs = Array.from<undefined>({ length: count });
    this.isActive = new Uint8Array(count);
    this.settledRecords = new Float64Array(count);
    this.settledBytes = new Float64Array(count);
    this.lastRecords = new Float64Array(count);
    this.lastBytes = new Float64Array(count);
    for (let filter = 0; filter < count; filter++) {
      // The program serves one scan after another.
      program.setActive(filter, false);
      if (table.isRunning(filter)) this.runningCount += 1;
    }
    this.pass[NEXT_START] = Infinity;
    this.forgetBudgets();
  }

  /** True while some filter has not stopped. */
  get isRunning(): boolean {
    return this.runningCount > 0;
  }

  /** Says which record is the last visible one, to the filters that start there. */
  startAtLast(offset: number): void {
    for (let filter = 0; filter < this.table.count; filter++) {
      if (this.table.seeksLast(filter)) this.table.startAtLast(filter, offset);
    }
  }

  /** Lowest offset that a running filter may still want; `otherwise` where none runs. */
  lowestWanted(otherwise: number): number {
    let lowest = otherwise;
    for (let filter = 0; filter < this.table.count; filter++) {
      if (this.table.isRunning(filter)) lowest = Math.min(lowest, this.table.wantsFrom(filter));
    }
    return lowest;
  }

  /** Puts every running filter in its place, before the first record behind the one at `previousOffset`. */
  gather(previousOffset: number): void {
    const { table } = this;
    this.waiting = [];
    this.waitingForTime = [];
    this.waitingAt = 0;
    this.waitingForTimeAt = 0;
    for (let filter = 0; filter < table.count; filter++) {
      if (!table.isRunning(filter)) continue;
      if (table.waits(filter)) this.waitingForTime.push(filter);
      else if (table.wantsFrom(filter) > previousOffset + 1) this.waiting.push(filter);
      else this.enter(filter);
    }
    this.waiting.sort((a, b) => table.wantsFrom(a) - table.wantsFrom(b));
    this.waitingForTime.sort(
      (a, b) => table.timeHigh(a) - table.timeHigh(b) || table.timeLow(a) - table.timeLow(b) || a - b,
    );
    this.noteNextStart();
  }

  /** Lets in the filters that start at this record, and stops those whose budget forbids it. */
  admit(frame: Frame): void {
    const { pass } = this;
    if (frame.offset >= pass[NEXT_START]!) this.enterAt(frame);
    if (this.waitingForTimeAt < this.waitingForTime.length) this.enterInTime(frame);
    const isNear =
      pass[RECORDS]! >= pass[NEAREST_RECORDS]! ||
      pass[BYTES]! + frame.frameEnd - frame.frameStart > pass[NEAREST_BYTES]!;
    if (isNear) this.stopAtBudgets(frame);
  }

  /** The first row of `from`…`end` before which `admit` may have something to do; `from` where no filter takes part. */
  rowsUntilChange(frames: FrameTable, from: number, end: number): number {
    if (this.activeCount === 0 || this.waitingForTimeAt < this.waitingForTime.length) return from;
    const { pass } = this;
    const records = pass[NEAREST_RECORDS]! - pass[RECORDS]!;
    const bytes = pass[NEAREST_BYTES]! - pass[BYTES]!;
    let last = records < end - from ? from + Math.max(0, records) : end;
    const start = frames.frameStarts[from]!;
    while (
      last > from &&
      (frames.offsets[last - 1]! >= pass[NEXT_START]! || frames.frameEnds[last - 1]! - start > bytes)
    ) {
      last = from + ((last - from) >> 1);
    }
    return last;
  }

  /** A filter's verdict on the current record, which is not a plain rejection. */
  take(filter: number, outcome: Outcome, bytes: Uint8Array, frame: Frame, place: FramePlace): void {
    this.settle(filter);
    const run = this.run(filter);
    run.take(outcome, bytes, frame, place);
    if (!run.isRunning) {
      this.leave(filter);
      return;
    }
    this.settledRecords[filter] = this.pass[RECORDS]! + 1;
    this.settledBytes[filter] = this.pass[BYTES]! + frame.frameEnd - frame.frameStart;
  }

  /**
   * The record has been judged by all that take part: those that said nothing rejected it. It is the last of `records`
   * with `bytes` together, of which the others were rejected by all.
   */
  passed(frame: Frame, place: FramePlace, records: number, bytes: number): void {
    const { pass } = this;
    pass[RECORDS]! += records;
    pass[BYTES]! += bytes;
    pass[LAST_OFFSET] = frame.offset;
    pass[LAST_SEGMENT] = place.segment;
    pass[LAST_POSITION] = place.position;
  }

  /** A filter has not judged the current record, although the others have: the slice ended before. */
  leaveUnjudged(filter: number): void {
    this.settle(filter);
    this.remove(filter);
  }

  /** Stops every running filter. */
  stopAll(ending: Ending): void {
    for (let filter = 0; filter < this.table.count; filter++) {
      if (this.table.isRunning(filter)) this.stop(filter, ending);
    }
  }

  /** Stops every running filter for damage; one that examined nothing ends without a page. */
  stopAtDamage(ending: Ending): void {
    for (let filter = 0; filter < this.table.count; filter++) {
      if (!this.table.isRunning(filter)) continue;
      if (this.hasExamined(filter)) {
        this.stop(filter, ending);
      } else {
        this.run(filter).abandon(ending);
        this.leave(filter);
      }
    }
  }

  /** True once some filter examined a record in this response. */
  get someHasExamined(): boolean {
    return this.some((filter) => this.hasExamined(filter));
  }

  /** Stored bytes that the filters may still examine, at the mean size of a frame: what reading ahead is worth. */
  worthReading(averageFrameBytes: number): number {
    // Records below a start are skipped without counting, so before it no budget bounds the reading.
    const { pass } = this;
    const isSomeoneWaiting = pass[NEXT_START]! < Infinity || this.waitingForTimeAt < this.waitingForTime.length;
    if (isSomeoneWaiting || this.activeCount === 0) return Infinity;
    const records = pass[FARTHEST_RECORDS]! - pass[RECORDS]!;
    return Math.min(pass[FARTHEST_BYTES]! - pass[BYTES]!, records * averageFrameBytes);
  }

  /** Closes, after a slice that did not end the scan, the open pages that have to leave now. */
  flush(heldBytesMax: number): void {
    this.settleAll();
    for (const run of this.runs) if (run?.holdsFirstMatch === true) run.flush();
    if (this.heldBytes < heldBytesMax) return;
    for (let filter = 0; filter < this.table.count; filter++) {
      if (this.table.isRunning(filter) && this.table.pageDelivered(filter) > 0) this.run(filter).flush();
    }
  }

  /** True where a filter's first match was found in this slice and has to leave at its end, should the stream flush. */
  get holdsFirstMatch(): boolean {
    return this.runs.some((run) => run?.holdsFirstMatch === true);
  }

  /** What the open pages hold together, in bytes. */
  get heldBytes(): number {
    let bytes = 0;
    for (let filter = 0; filter < this.table.count; filter++) {
      if (!this.table.isRunning(filter)) continue;
      bytes += this.table.pageReplyBytes(filter) + HELD_PER_RECORD * this.table.pageDelivered(filter);
    }
    return bytes;
  }

  /** Brings all rows up to date; the end of the slice. */
  settleAll(): void {
    for (let filter = 0; filter < this.table.count; filter++) if (this.isActive[filter] === 1) this.settle(filter);
  }

  /** What the slice changed of the filters, beside their rows. */
  changes(): FilterChange[] {
    return this.runs.flatMap((run) => run?.changed() ?? []);
  }

  /** The open pages for the next slice. The roster must not be used any more. */
  savePages(): OpenPageState[] {
    const untouched = [...this.pages.values()].filter(({ filter }) => this.runs[filter] === undefined);
    return [...untouched, ...this.runs.flatMap((run) => run?.save() ?? [])];
  }

  private run(filter: number): FilterRun {
    return (this.runs[filter] ??= new FilterRun(
      filter,
      this.entries[filter]!,
      this.context,
      this.table,
      this.pages.get(filter) ?? null,
    ));
  }

  private some(holds: (filter: number) => boolean): boolean {
    for (let filter = 0; filter < this.table.count; filter++) if (holds(filter)) return true;
    return false;
  }

  private hasExamined(filter: number): boolean {
    const rejected = this.isActive[filter] === 1 ? this.pass[RECORDS]! - this.settledRecords[filter]! : 0;
    return this.table.examined(filter) + rejected > 0;
  }

  /** Adds what the filter rejected since it was settled last. */
  private settle(filter: number): void {
    if (this.isActive[filter] === 0) return;
    const { pass, table, context } = this;
    const records = pass[RECORDS]! - this.settledRecords[filter]!;
    if (records <= 0) return;
    const bytes = pass[BYTES]! - this.settledBytes[filter]!;
    table.classify(filter, REJECTED_COUNT, records, bytes, pass[LAST_OFFSET]!);
    table.hintAt(filter, pass[LAST_SEGMENT]!, pass[LAST_POSITION]!);
    this.settledRecords[filter] = pass[RECORDS]!;
    this.settledBytes[filter] = pass[BYTES]!;
    const { counters } = context;
    counters.rejected += records;
    counters.bytesExamined += bytes;
    addTo(counters.examined, this.entries[filter]!.lowered.codec, records);
  }

  private stop(filter: number, ending: Ending): void {
    this.settle(filter);
    this.run(filter).stop(ending);
    this.leave(filter);
  }

  /** The filter takes part from the next record that passes. */
  private enter(filter: number): void {
    if (this.isActive[filter] === 1 || !this.table.isRunning(filter)) return;
    const { pass, table } = this;
    const { budgets } = this.context;
    this.isActive[filter] = 1;
    this.activeCount += 1;
    this.program.setActive(filter, true);
    this.settledRecords[filter] = pass[RECORDS]!;
    this.settledBytes[filter] = pass[BYTES]!;
    this.lastRecords[filter] = pass[RECORDS]! + budgets.examined - table.examined(filter);
    this.lastBytes[filter] = pass[BYTES]! + budgets.examinedBytes - table.examinedBytes(filter);
    this.watchBudgets(filter);
  }

  private remove(filter: number): void {
    if (this.isActive[filter] === 0) return;
    this.isActive[filter] = 0;
    this.activeCount -= 1;
    this.program.setActive(filter, false);
  }

  /** The filter has stopped. */
  private leave(filter: number): void {
    this.runningCount -= 1;
    this.remove(filter);
  }

  private enterAt(frame: Frame): void {
    const { waiting, table } = this;
    while (this.waitingAt < waiting.length && table.wantsFrom(waiting[this.waitingAt]!) <= frame.offset) {
      this.enter(waiting[this.waitingAt]!);
      this.waitingAt += 1;
    }
    this.noteNextStart();
  }

  private noteNextStart(): void {
    const next = this.waiting[this.waitingAt];
    this.pass[NEXT_START] = next === undefined ? Infinity : this.table.wantsFrom(next);
  }

  private enterInTime(frame: Frame): void {
    const { waitingForTime, table } = this;
    while (this.waitingForTimeAt < waitingForTime.length) {
      const filter = waitingForTime[this.waitingForTimeAt]!;
      const high = table.timeHigh(filter);
      const isThere =
        frame.timestampHigh > high || (frame.timestampHigh === high && frame.timestampLow >= table.timeLow(filter));
      if (!isThere) return;
      table.waitsNoMore(filter);
      this.enter(filter);
      this.waitingForTimeAt += 1;
    }
  }

  private forgetBudgets(): void {
    const { pass } = this;
    pass[NEAREST_RECORDS] = Infinity;
    pass[NEAREST_BYTES] = Infinity;
    pass[FARTHEST_RECORDS] = -Infinity;
    pass[FARTHEST_BYTES] = -Infinity;
  }

  private watchBudgets(filter: number): void {
    const { pass } = this;
    pass[NEAREST_RECORDS] = Math.min(pass[NEAREST_RECORDS]!, this.lastRecords[filter]!);
    pass[NEAREST_BYTES] = Math.min(pass[NEAREST_BYTES]!, this.lastBytes[filter]!);
    pass[FARTHEST_RECORDS] = Math.max(pass[FARTHEST_RECORDS]!, this.lastRecords[filter]!);
    pass[FARTHEST_BYTES] = Math.max(pass[FARTHEST_BYTES]!, this.lastBytes[filter]!);
  }

  /** Stops the filters that may not examine one more record of this size, and watches the budgets of the others. */
  private stopAtBudgets(frame: Frame): void {
    const { pass } = this;
    const bytesAfter = pass[BYTES]! + frame.frameEnd - frame.frameStart;
    this.forgetBudgets();
    for (let filter = 0; filter < this.table.count; filter++) {
      if (this.isActive[filter] === 0) continue;
      // The first record of a response is always examined.
      if (!this.hasExamined(filter)) this.watchBudgets(filter);
      else if (pass[RECORDS]! >= this.lastRecords[filter]!) this.stop(filter, { stop: 'budget', budget: 'examined' });
      else if (bytesAfter > this.lastBytes[filter]!) this.stop(filter, { stop: 'budget', budget: 'examined_bytes' });
      else this.watchBudgets(filter);
    }
  }
}
