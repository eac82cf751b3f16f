/**
 * A parsed payload path (contract: laser-filter §2), shared by filters, codecs and the scan.
 *
 * A string is a key into an object, a number an index into an array; a step that does not fit the value makes the
 * field missing. The empty path is the whole payload.
 */
export type Path = readonly (string | number)[];

/**
 * A total order in which a path comes before those it is a prefix of, and paths under one parent stand together: the
 * order of a depth-first walk over their tree. Indexes come before keys.
 */
export function comparePaths(left: Path, right: Path): number {
  const shared = Math.min(left.length, right.length);
  for (let at = 0; at < shared; at++) {
    const a = left[at]!;
    const b = right[at]!;
    if (a === b) continue;
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return left.length - right.length;
}
