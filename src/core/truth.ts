/**
 * Three-valued truth (contract: laser-filter §3) as small integers, so that the scan loop compares numbers.
 *
 * Invariant: the values never change meaning; `TRUTH_NAMES` is the wire spelling in index order.
 */

/** A filter or predicate does not hold. */
export const NO_MATCH = 0;
/** A filter or predicate holds. */
export const MATCH = 1;
/** Neither: the record lacks what the predicate reads, or has it in a type that cannot be compared. */
export const UNKNOWN = 2;

/** One of {@link NO_MATCH}, {@link MATCH}, {@link UNKNOWN}. */
export type Truth = 0 | 1 | 2;

/** Wire spelling of each truth, by its number. */
export const TRUTH_NAMES = ['no_match', 'match', 'unknown'] as const;

/** `not`: swaps match and no match, keeps unknown. */
export function negate(truth: Truth): Truth {
  return truth === UNKNOWN ? UNKNOWN : truth === MATCH ? NO_MATCH : MATCH;
}
