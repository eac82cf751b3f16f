/**
 * The budgets of one filter in one response (contract: scan-protocol §1): looked at before a record, in this order.
 *
 * Running out is a stop, never an error. The first record of a response is always examined, so a budget smaller than
 * one record still makes progress.
 */
import type { Budgets, FilterTotals } from './task.js';

/** The budget that forbids examining one more record of `frameBytes` stored bytes, or null. */
export function spentBudget(
  budgets: Budgets,
  totals: FilterTotals,
  frameBytes: number,
): 'examined' | 'examined_bytes' | null {
  if (totals.examined === 0) return null;
  if (totals.examined >= budgets.max_examined) return 'examined';
  return totals.examined_bytes + frameBytes > budgets.max_examined_bytes ? 'examined_bytes' : null;
}

/** Stored bytes that the filter may still examine, at the mean size of a frame: what reading ahead is worth. */
export function bytesWorthReading(budgets: Budgets, totals: FilterTotals, averageFrameBytes: number): number {
  const records = budgets.max_examined - totals.examined;
  return Math.min(budgets.max_examined_bytes - totals.examined_bytes, records * averageFrameBytes);
}
