/**
 * Why a page ends, as the wire and the metrics spell it (contract: scan-protocol §1 "Stops").
 */

/** Every stop, in the order in which they are looked at; `flushed`, the last, is not terminal. */
export const STOP_NAMES = [
  'cancelled',
  'deadline',
  'end_of_visible',
  'budget',
  'fault',
  'oversized_record',
  'filled',
  'corrupt',
  'flushed',
] as const;

export type StopName = (typeof STOP_NAMES)[number];
