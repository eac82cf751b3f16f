/**
 * What a filter says of one record, and why it could not judge it (contract: laser-filter §4).
 *
 * A verdict and a reason are packed into one small integer, the *outcome*, because the scan loop asks for one per
 * record and filter and must not allocate. Data faults are numbers, never exceptions.
 */

export const REJECTED = 0;
export const SELECTED = 1;
/** The filter could not judge the record; the reason and the filter's policies decide what happens to it. */
export const FAULT = 2;

export type Verdict = 0 | 1 | 2;

/** Wire spelling of each verdict, by its number. */
export const VERDICT_NAMES = ['rejected', 'selected', 'fault'] as const;

export const NO_REASON = 0;
export const FOREIGN_CODEC = 1;
export const MISSING_SCHEMA = 2;
export const SCHEMA_NOT_ALLOWED = 3;
export const SCHEMA_MISMATCH = 4;
export const TYPE_MISMATCH = 5;
export const MALFORMED = 6;
export const TOO_LARGE = 7;
export const TOO_DEEP = 8;

export type Reason = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** Wire spelling of each reason, by its number. Index 0 is "no reason" and never leaves the process. */
export const REASON_NAMES = [
  'none',
  'foreign_codec',
  'missing_schema',
  'schema_not_allowed',
  'schema_mismatch',
  'type_mismatch',
  'malformed',
  'too_large',
  'too_deep',
] as const;

/** True for the reasons that `fault_policy` decides (`stop`, `pass`, `drop`); the others obey a record policy. */
export function isDataFault(reason: Reason): boolean {
  return reason >= MALFORMED;
}

/** `verdict | reason << 2`. A reason may accompany REJECTED (under a `reject` policy) and always accompanies FAULT. */
export type Outcome = number;

export function outcome(verdict: Verdict, reason: Reason): Outcome {
  return verdict | (reason << 2);
}

export function verdictOf(value: Outcome): Verdict {
  return (value & 3) as Verdict;
}

export function reasonOf(value: Outcome): Reason {
  return (value >> 2) as Reason;
}
