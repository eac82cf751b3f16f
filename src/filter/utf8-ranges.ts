/**
 * How large a set of code points is as a byte automaton: the part of counting a regex program that needs UTF-8.
 *
 * A range of code points is an alternation of byte sequences, each byte a range (`[à-ü]` is `C3` `A0-BC`). Sequences
 * that begin alike share their beginning. Pure arithmetic; nothing here builds an automaton.
 */
import { REGEX_PROGRAM_COSTS } from '../core/limits.js';

/** Code points from `first` to `last`, both included. */
export type CodePointRange = readonly [first: number, last: number];

const CODE_POINT_MAX = 0x10ffff;
/** Last code points of the lengths 1, 2 and 3, with the surrogates (which have no UTF-8) cut out of the third. */
const LENGTH_BOUNDS = [0x7f, 0x7ff, 0xd7ff, 0xdfff, 0xffff] as const;

/** Program bytes of a class: see `REGEX_PROGRAM_COSTS` for the rule. Ranges may overlap and stand in any order. */
export function classBytes(ranges: readonly CodePointRange[]): number {
  const { state, transition, alternate } = REGEX_PROGRAM_COSTS;
  const merged = mergeRanges(ranges);
  if (merged.every(([, last]) => last <= 0x7f)) return 2 * state + transition * merged.length;
  const beginnings = new Set<string>();
  let sequences = 0;
  for (const [first, last] of merged) {
    forEachSequence(first, last, (bytes) => {
      sequences += 1;
      for (let length = 1; length <= bytes.length; length += 1) beginnings.add(bytes.slice(0, length).join(' '));
    });
  }
  return state * beginnings.size + 2 * state + alternate * sequences;
}

/** Every code point that the ranges leave out, surrogates aside. */
export function complementRanges(ranges: readonly CodePointRange[]): CodePointRange[] {
  const gaps: CodePointRange[] = [];
  let next = 0;
  for (const [first, last] of mergeRanges(ranges)) {
    if (first > next) gaps.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= CODE_POINT_MAX) gaps.push([next, CODE_POINT_MAX]);
  return gaps;
}

function mergeRanges(ranges: readonly CodePointRange[]): CodePointRange[] {
  const merged: CodePointRange[] = [];
  for (const [first, last] of ranges.toSorted((left, right) => left[0] - right[0])) {
    const previous = merged.at(-1);
    if (previous !== undefined && first <= previous[1] + 1) {
      merged[merged.length - 1] = [previous[0], Math.max(previous[1], last)];
    } else if (first <= last) {
      merged.push([first, last]);
    }
  }
  return merged;
}

/** Splits a range until each piece is one byte range per place, and hands over the pieces. */
function forEachSequence(first: number, last: number, visit: (bytes: readonly string[]) => void): void {
  if (first >= 0xd800 && last <= 0xdfff) return;
  for (const bound of LENGTH_BOUNDS) {
    if (first <= bound && last > bound) {
      forEachSequence(first, bound, visit);
      forEachSequence(bound + 1, last, visit);
      return;
    }
  }
  if (last > 0x7f) {
    for (let places = 1; places < 4; places += 1) {
      // All values of the last `places` continuation bytes: a piece may vary there only if it covers them whole.
      const tail = 2 ** (6 * places) - 1;
      const firstHead = first - (first & tail);
      const lastHead = last - (last & tail);
      if (firstHead === lastHead) continue;
      if (first !== firstHead) {
        forEachSequence(first, firstHead + tail, visit);
        forEachSequence(firstHead + tail + 1, last, visit);
        return;
      }
      if (last !== lastHead + tail) {
        forEachSequence(first, lastHead - 1, visit);
        forEachSequence(lastHead, last, visit);
        return;
      }
    }
  }
  const low = Buffer.from(String.fromCodePoint(first));
  const high = Buffer.from(String.fromCodePoint(last));
  visit(Array.from(low, (byte, index) => `${byte}-${high[index]}`));
}
