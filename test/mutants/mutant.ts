/** One-line mistakes that could be made; lists of them stand in `mutants.ts` and `kernel-mutants.ts`. */

/** Text that stands exactly once in a file, and what to put instead. */
export interface Mutant {
  /** From the repository root. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Mutants of one file. */
export function mutantsAt(file: string, ...changes: readonly (readonly [from: string, to: string])[]): Mutant[] {
  return changes.map(([from, to]) => ({ file, from, to }));
}
