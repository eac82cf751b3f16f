/**
 * The budgets of one response (contract: scan-protocol §1), the same for each of its filters.
 *
 * Running out is a stop, never an error. The first record of a response is always examined, so a budget smaller than
 * one record still makes progress.
 */
import type { Budgets } from './task.js';

/** What a filter may use in one response. */
export class RunBudgets {
  /** Most delivered records of a page, and most bytes counted toward its reply. */
  readonly count: number;
  readonly replyBytes: number;
  /** Most filled pages of the response; infinite where none was set. */
  readonly pages: number;
  /** Most records examined, and most of their stored bytes. */
  readonly examined: number;
  readonly examinedBytes: number;

  constructor(budgets: Budgets) {
    this.count = budgets.count;
    this.replyBytes = budgets.max_reply_bytes;
    this.pages = budgets.pages === 0 ? Number.POSITIVE_INFINITY : budgets.pages;
    this.examined = budgets.max_examined;
    this.examinedBytes = budgets.max_examined_bytes;
  }
}
