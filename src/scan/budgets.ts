/**
 * The budgets of one filter in one response, and what it counted so far (contract: scan-protocol §1).
 *
 * Running out is a stop, never an error. The first record of a response is always examined, so a budget smaller than
 * one record still makes progress.
 *
 * Both are classes with number fields, made anew in every slice: plain objects that come out of a decoder or another
 * thread have shapes that die between slices, and every death throws the compiled loop away.
 */
import type { Budgets, FilterTotals } from './task.js';

/** Counts of a page or of a response. `examined` is always the sum of the four outcomes. */
export class RecordCounts {
  examined: number;
  matched: number;
  rejected: number;
  unevaluated: number;
  dropped: number;
  examinedBytes: number;

  constructor(totals: Omit<FilterTotals, 'pages'> | null) {
    this.examined = totals?.examined ?? 0;
    this.matched = totals?.matched ?? 0;
    this.rejected = totals?.rejected ?? 0;
    this.unevaluated = totals?.unevaluated_count ?? 0;
    this.dropped = totals?.dropped ?? 0;
    this.examinedBytes = totals?.examined_bytes ?? 0;
  }

  /** Counts one record as examined; its outcome is the caller's to count. */
  examine(frameBytes: number): void {
    this.examined += 1;
    this.examinedBytes += frameBytes;
  }

  /** Records delivered. */
  get delivered(): number {
    return this.matched + this.unevaluated;
  }

  /** In wire spelling. */
  wire(): Omit<FilterTotals, 'pages'> {
    return {
      examined: this.examined,
      matched: this.matched,
      rejected: this.rejected,
      unevaluated_count: this.unevaluated,
      dropped: this.dropped,
      examined_bytes: this.examinedBytes,
    };
  }
}

/** What a filter may use in one response. */
export class RunBudgets {
  /** Most delivered records of a page, and most bytes counted toward its reply. */
  readonly count: number;
  readonly replyBytes: number;
  /** Most filled pages of the response; infinite where none was set. */
  readonly pages: number;
  private readonly examined: number;
  private readonly examinedBytes: number;

  constructor(budgets: Budgets) {
    this.count = budgets.count;
    this.replyBytes = budgets.max_reply_bytes;
    this.pages = budgets.pages === 0 ? Number.POSITIVE_INFINITY : budgets.pages;
    this.examined = budgets.max_examined;
    this.examinedBytes = budgets.max_examined_bytes;
  }

  /** The budget that forbids examining one more record of `frameBytes` stored bytes, or null; looked at in this order. */
  spent(counts: RecordCounts, frameBytes: number): 'examined' | 'examined_bytes' | null {
    if (counts.examined === 0) return null;
    if (counts.examined >= this.examined) return 'examined';
    return counts.examinedBytes + frameBytes > this.examinedBytes ? 'examined_bytes' : null;
  }

  /** Stored bytes that may still be examined, at the mean size of a frame: what reading ahead is worth. */
  worthReading(counts: RecordCounts, averageFrameBytes: number): number {
    const records = this.examined - counts.examined;
    return Math.min(this.examinedBytes - counts.examinedBytes, records * averageFrameBytes);
  }
}
