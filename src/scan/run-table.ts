/**
 * The numbers of all filters of a scan, one row each, in one typed array: where each started, where it goes on, what it
 * counted in this response and on its open page (contract: scan-protocol §1 "A page", `totals`).
 *
 * A scan of 4,096 filters crosses threads twice a slice. As objects that would cost tens of milliseconds, more than the
 * slice itself; the array is handed over without a copy. Most filters of most slices are rows and nothing else: an object
 * (`filter-run.ts`) exists only for those that deliver or stop.
 *
 * Invariants: in every row examined = matched + rejected + unevaluated + dropped, of the response and of the page; no
 * cell is a value that a double does not hold exactly (timestamps are two halves).
 */
import type { ContinuationHint, ContinuationStart } from '../wire/continuation.js';
import type { FilterTotals } from './task.js';

/** 1 once the filter has left the pass. */
const STOPPED = 0;
/** Records below it are skipped; −1 while the last visible record is being located for this filter. */
const START_OFFSET = 1;
/** 1 until a record at or after the timestamp is met; until then everything is skipped. */
const WAITS = 2;
/** Microseconds of a timestamp start. */
const TIME_HIGH = 3;
const TIME_LOW = 4;
/** Place in START_KINDS of what a continuation carries while nothing was classified in this response. */
const START_KIND = 5;
/** Where a continuation goes on; −1 while nothing was classified in this response. */
const NEXT_OFFSET = 6;
/** Place of a frame at or just before that offset; segment −1 if none is known. */
const HINT_SEGMENT = 7;
const HINT_POSITION = 8;
const PAGES = 9;
/** Pages closed as `filled`; flushed ones count toward no budget. */
const FILLED_PAGES = 10;
/** `next_scan_offset` of the response so far; −1 if none. */
const SHOWN_NEXT = 11;
/** Six counts of the response, then the same six of the open page. */
const COUNTS = 12;
const PAGE_COUNTS = 18;
/** Last record classified on the open page; −1 if none. */
const PAGE_LAST = 24;
/** What the open page counts toward `max_reply_bytes`. */
const PAGE_REPLY_BYTES = 25;
const COLUMNS = 26;

/** What a classified record becomes: the column of its count. */
export const MATCHED = 1;
export const REJECTED_COUNT = 2;
export const UNEVALUATED = 3;
export const DROPPED = 4;
const EXAMINED = 0;
const EXAMINED_BYTES = 5;

export type CountColumn = typeof MATCHED | typeof REJECTED_COUNT | typeof UNEVALUATED | typeof DROPPED;

const START_KINDS = ['offset', 'first', 'last', 'timestamp'] as const;

/** A filter's start as a row holds it. */
export interface RowStart {
  readonly start: ContinuationStart;
  readonly hint: ContinuationHint | undefined;
}

export class RunTable {
  readonly cells: Float64Array<ArrayBuffer>;
  readonly count: number;

  /** A table over cells that another slice filled. */
  constructor(cells: Float64Array<ArrayBuffer>) {
    this.cells = cells;
    this.count = cells.length / COLUMNS;
  }

  /** A table of filters that have seen nothing yet. */
  static startingAt(starts: readonly RowStart[]): RunTable {
    const table = new RunTable(new Float64Array(starts.length * COLUMNS));
    for (const [filter, { start, hint }] of starts.entries()) table.begin(filter, start, hint);
    return table;
  }

  private begin(filter: number, start: ContinuationStart, hint: ContinuationHint | undefined): void {
    const { cells } = this;
    const row = filter * COLUMNS;
    cells[row + START_OFFSET] = start.at === 'offset' ? start.offset : start.at === 'last' ? -1 : 0;
    cells[row + START_KIND] = START_KINDS.indexOf(start.at);
    if (start.at === 'timestamp') {
      const micros = BigInt(start.timestamp);
      cells[row + WAITS] = 1;
      cells[row + TIME_HIGH] = Number(micros >> 32n);
      cells[row + TIME_LOW] = Number(micros & 0xffff_ffffn);
    }
    cells[row + NEXT_OFFSET] = -1;
    cells[row + SHOWN_NEXT] = -1;
    cells[row + HINT_SEGMENT] = hint?.segment ?? -1;
    cells[row + HINT_POSITION] = hint?.position ?? 0;
    cells[row + PAGE_LAST] = -1;
  }

  isRunning(filter: number): boolean {
    return this.cells[filter * COLUMNS + STOPPED] === 0;
  }

  stop(filter: number): void {
    this.cells[filter * COLUMNS + STOPPED] = 1;
  }

  /** True while the filter starts at the last visible record and that has not been found yet. */
  seeksLast(filter: number): boolean {
    return this.cells[filter * COLUMNS + START_OFFSET]! < 0;
  }

  startAtLast(filter: number, offset: number): void {
    this.cells[filter * COLUMNS + START_OFFSET] = offset;
  }

  /** Lowest offset that this filter may still want: its start, or behind what it classified. */
  wantsFrom(filter: number): number {
    const row = filter * COLUMNS;
    return Math.max(this.cells[row + START_OFFSET]!, this.cells[row + NEXT_OFFSET]!, 0);
  }

  /** True while the filter waits for a record at or after its timestamp. */
  waits(filter: number): boolean {
    return this.cells[filter * COLUMNS + WAITS] === 1;
  }

  waitsNoMore(filter: number): void {
    this.cells[filter * COLUMNS + WAITS] = 0;
  }

  timeHigh(filter: number): number {
    return this.cells[filter * COLUMNS + TIME_HIGH]!;
  }

  timeLow(filter: number): number {
    return this.cells[filter * COLUMNS + TIME_LOW]!;
  }

  /** Examined records and bytes of the response. */
  examined(filter: number): number {
    return this.cells[filter * COLUMNS + COUNTS + EXAMINED]!;
  }

  examinedBytes(filter: number): number {
    return this.cells[filter * COLUMNS + COUNTS + EXAMINED_BYTES]!;
  }

  /** Records of the response, or of the open page, that became what `column` says. */
  responseCount(filter: number, column: CountColumn): number {
    return this.cells[filter * COLUMNS + COUNTS + column]!;
  }

  pageCount(filter: number, column: CountColumn): number {
    return this.cells[filter * COLUMNS + PAGE_COUNTS + column]!;
  }

  /** Records delivered on the open page. */
  pageDelivered(filter: number): number {
    return this.pageCount(filter, MATCHED) + this.pageCount(filter, UNEVALUATED);
  }

  /** Counts records that this filter examined, all with one outcome; `lastOffset` is that of the last one. */
  classify(filter: number, column: CountColumn, records: number, bytes: number, lastOffset: number): void {
    const { cells } = this;
    const row = filter * COLUMNS;
    cells[row + COUNTS + EXAMINED]! += records;
    cells[row + COUNTS + column]! += records;
    cells[row + COUNTS + EXAMINED_BYTES]! += bytes;
    cells[row + PAGE_COUNTS + EXAMINED]! += records;
    cells[row + PAGE_COUNTS + column]! += records;
    cells[row + PAGE_COUNTS + EXAMINED_BYTES]! += bytes;
    cells[row + PAGE_LAST] = lastOffset;
    cells[row + NEXT_OFFSET] = lastOffset + 1;
  }

  /** Where a continuation goes on. */
  nextOffset(filter: number): number {
    return this.cells[filter * COLUMNS + NEXT_OFFSET]!;
  }

  goOnAt(filter: number, offset: number): void {
    this.cells[filter * COLUMNS + NEXT_OFFSET] = offset;
  }

  /** Notes a frame from which a continuation finds its way. */
  hintAt(filter: number, segment: number, position: number): void {
    this.cells[filter * COLUMNS + HINT_SEGMENT] = segment;
    this.cells[filter * COLUMNS + HINT_POSITION] = position;
  }

  hint(filter: number): ContinuationHint {
    const row = filter * COLUMNS;
    return { segment: this.cells[row + HINT_SEGMENT]!, position: this.cells[row + HINT_POSITION]! };
  }

  /** What a continuation carries: where the filter goes on, or its start where nothing was classified. */
  continuationStart(filter: number): ContinuationStart {
    const next = this.nextOffset(filter);
    if (next >= 0) return { at: 'offset', offset: next };
    const kind = START_KINDS[this.cells[filter * COLUMNS + START_KIND]!]!;
    if (kind === 'offset') return { at: kind, offset: this.wantsFrom(filter) };
    if (kind !== 'timestamp') return { at: kind };
    return { at: kind, timestamp: String((BigInt(this.timeHigh(filter)) << 32n) | BigInt(this.timeLow(filter))) };
  }

  pageLast(filter: number): number {
    return this.cells[filter * COLUMNS + PAGE_LAST]!;
  }

  pageReplyBytes(filter: number): number {
    return this.cells[filter * COLUMNS + PAGE_REPLY_BYTES]!;
  }

  addReplyBytes(filter: number, bytes: number): void {
    this.cells[filter * COLUMNS + PAGE_REPLY_BYTES]! += bytes;
  }

  /** Counts of the open page in wire spelling. */
  pageCounts(filter: number): Omit<FilterTotals, 'pages'> {
    return this.counts(filter * COLUMNS + PAGE_COUNTS);
  }

  totals(filter: number): FilterTotals {
    return { pages: this.cells[filter * COLUMNS + PAGES]!, ...this.counts(filter * COLUMNS + COUNTS) };
  }

  /** Counts a closed page and empties the page's cells; `next` is the `next_scan_offset` it shows, −1 for none. */
  closePage(filter: number, next: number): void {
    const row = filter * COLUMNS;
    this.cells[row + PAGES]! += 1;
    if (next >= 0) this.cells[row + SHOWN_NEXT] = next;
    this.cells.fill(0, row + PAGE_COUNTS, row + PAGE_LAST);
    this.cells[row + PAGE_LAST] = -1;
    this.cells[row + PAGE_REPLY_BYTES] = 0;
  }

  /** Counts a page as filled and returns how many were. */
  countFilled(filter: number): number {
    return (this.cells[filter * COLUMNS + FILLED_PAGES]! += 1);
  }

  /**
   * Where the filter stands: past the last classified record, but never past a record that waits on an open page, so
   * that nobody who goes on there loses one. −1 if nowhere yet.
   */
  reached(filter: number): number {
    const row = filter * COLUMNS;
    const isSent = !this.isRunning(filter) || this.pageDelivered(filter) === 0;
    return isSent && this.nextOffset(filter) >= 0 ? this.nextOffset(filter) : this.cells[row + SHOWN_NEXT]!;
  }

  private counts(at: number): Omit<FilterTotals, 'pages'> {
    const { cells } = this;
    return {
      examined: cells[at + EXAMINED]!,
      matched: cells[at + MATCHED]!,
      rejected: cells[at + REJECTED_COUNT]!,
      unevaluated_count: cells[at + UNEVALUATED]!,
      dropped: cells[at + DROPPED]!,
      examined_bytes: cells[at + EXAMINED_BYTES]!,
    };
  }
}
