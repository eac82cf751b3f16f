/**
 * The word of a list that a misspelled one was probably meant to be, for "did you mean".
 */

/** Words compared, and the longest of them: a record of thousands of fields costs a refusal no more than some ms. */
const WORDS_MAX = 1_000;
const LENGTH_MAX = 64;

/**
 * The word of `words` that is nearest by insertions, deletions, substitutions and swaps of neighbours, letters' case
 * left aside; undefined where none is near: at most a third of the longer word may differ.
 */
export function nearestWord(given: string, words: readonly string[]): string | undefined {
  if (given.length > LENGTH_MAX) return undefined;
  const wanted = given.toLowerCase();
  let nearest: string | undefined;
  let least = Infinity;
  for (const word of words.slice(0, WORDS_MAX)) {
    if (word.length > LENGTH_MAX) continue;
    const allowed = Math.max(1, Math.floor(Math.max(word.length, given.length) / 3));
    if (Math.abs(word.length - given.length) > allowed) continue;
    const distance = distanceOf(wanted, word.toLowerCase());
    if (distance > allowed || distance >= least) continue;
    nearest = word;
    least = distance;
  }
  return nearest;
}

/** Optimal string alignment. */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, before[j - 2]! + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}
