/**
 * The size of a regex's program, counted by a walk over the pattern, and what the contract refuses before compiling:
 * backreferences, every `(?` but `(?:`, deep nesting (contract: laser-filter §1 "Program size", §3 "Text matches").
 *
 * The walk reads the Rust engine's syntax without flags. It does not judge syntax: whatever it does not know it takes
 * for literal text, because the engine compiles every pattern afterwards and refuses what is wrong. What the engine
 * accepts is walked right, so nothing escapes the count. Near the bound the count may differ from the reference's.
 *
 * Costs stand in `REGEX_PROGRAM_COSTS`. Invariant: linear in the pattern, recursion bounded by the nesting bound.
 */
import { REGEX_PROGRAM_COSTS } from '../core/limits.js';
import type { RefuseAt } from '../core/text-place.js';
import { matchAt, PatternClasses, refuseDeeper } from './pattern-classes.js';

const { state, alternate } = REGEX_PROGRAM_COSTS;

/** The size of a piece of a pattern. A piece that matches only the empty text is built once, however often repeated. */
interface Piece {
  readonly bytes: number;
  readonly isEmptyWidth: boolean;
}

/**
 * Program bytes of a pattern. Calls `refuseAt` with UTF-16 indices into the pattern for what is not portable and for
 * nesting over the bound; does not compare the size with its bound. At most 2^53−1, however absurd the repetitions.
 */
export function regexProgramBytes(pattern: string, caseInsensitive: boolean, refuseAt: RefuseAt): number {
  return Math.min(new PatternWalk(pattern, caseInsensitive, refuseAt).whole(), Number.MAX_SAFE_INTEGER);
}

class PatternWalk {
  private readonly pattern: string;
  private readonly classes: PatternClasses;
  private readonly refuseAt: RefuseAt;
  private at = 0;
  private depth = 0;

  constructor(pattern: string, caseInsensitive: boolean, refuseAt: RefuseAt) {
    this.pattern = pattern;
    this.refuseAt = refuseAt;
    this.classes = new PatternClasses(pattern, caseInsensitive, refuseAt);
  }

  whole(): number {
    let { bytes } = this.alternation();
    // A closing parenthesis that closes nothing: the engine refuses it, the rest is walked for what is not portable.
    while (this.at < this.pattern.length) {
      this.at += 1;
      bytes += this.alternation().bytes;
    }
    return bytes;
  }

  /** Arms up to a closing parenthesis or the end. */
  private alternation(): Piece {
    let arms = 0;
    let bytes = 0;
    let isEmptyWidth = true;
    do {
      if (arms > 0) this.at += 1;
      const arm = this.concatenation();
      arms += 1;
      bytes += arm.bytes;
      isEmptyWidth &&= arm.isEmptyWidth;
    } while (this.pattern[this.at] === '|');
    if (arms > 1) bytes += 2 * state + alternate * arms;
    return { bytes, isEmptyWidth };
  }

  private concatenation(): Piece {
    let bytes = 0;
    let isEmptyWidth = true;
    while (this.at < this.pattern.length && this.pattern[this.at] !== '|' && this.pattern[this.at] !== ')') {
      let piece = this.atom();
      for (let next = this.repetition(piece); next !== undefined; next = this.repetition(piece)) piece = next;
      bytes += piece.bytes;
      isEmptyWidth &&= piece.isEmptyWidth;
    }
    return { bytes, isEmptyWidth };
  }

  /** The piece under the repetition that stands here, or undefined where none does. */
  private repetition(piece: Piece): Piece | undefined {
    let least = 0;
    let most = Infinity;
    const mark = this.pattern[this.at];
    if (mark === '*' || mark === '+' || mark === '?') {
      this.at += 1;
      if (mark === '+') least = 1;
      if (mark === '?') most = 1;
    } else {
      const counted = matchAt(/\{\s*(\d*)\s*(,?)\s*(\d*)\s*\}/y, this.pattern, this.at);
      if (counted === null) return undefined;
      this.at += counted[0].length;
      least = Number(counted[1]);
      most = counted[2] === '' ? least : counted[3] === '' ? Infinity : Number(counted[3]);
    }
    if (this.pattern[this.at] === '?') this.at += 1;
    return repeated(piece, least, most);
  }

  private atom(): Piece {
    const start = this.at;
    switch (this.pattern[start]) {
      case '(':
        return this.group();
      case '[': {
        const { end, bytes } = this.classes.bracket(start, this.depth);
        this.at = end;
        return { bytes, isEmptyWidth: false };
      }
      case '^':
      case '$':
        this.at += 1;
        return { bytes: state, isEmptyWidth: true };
      case '.':
        this.at += 1;
        return { bytes: this.classes.anyButNewline, isEmptyWidth: false };
      case '\\': {
        const look = matchAt(/\\(?:[AzB<>]|b(?:\{(?:start|end)(?:-half)?\})?)/y, this.pattern, start);
        if (look !== null) {
          this.at += look[0].length;
          return { bytes: state, isEmptyWidth: true };
        }
        const { end, bytes } = this.classes.escape(start);
        this.at = end;
        return { bytes, isEmptyWidth: false };
      }
      default: {
        const point = this.pattern.codePointAt(start)!;
        this.at += point > 0xffff ? 2 : 1;
        return { bytes: this.classes.literal(point), isEmptyWidth: false };
      }
    }
  }

  private group(): Piece {
    const open = this.at;
    const isPlain = this.pattern.startsWith('(?:', open);
    if (this.pattern[open + 1] === '?' && !isPlain) {
      this.refuseAt(open, 'A group that starts with `(?` other than `(?:` is not portable between regex engines.');
    }
    this.depth += 1;
    refuseDeeper(this.depth, open, this.refuseAt);
    this.at += isPlain ? 3 : 1;
    const inner = this.alternation();
    if (this.pattern[this.at] === ')') this.at += 1;
    this.depth -= 1;
    return isPlain ? inner : { bytes: inner.bytes + 2 * state, isEmptyWidth: inner.isEmptyWidth };
  }
}

function repeated(piece: Piece, leastWanted: number, mostWanted: number): Piece {
  const least = piece.isEmptyWidth ? Math.min(leastWanted, 1) : leastWanted;
  const most = piece.isEmptyWidth ? Math.min(mostWanted, 1) : mostWanted;
  const choice = state + 2 * alternate;
  let bytes = least * piece.bytes;
  if (most === Infinity) bytes += (least === 0 ? piece.bytes : 0) + choice;
  else if (most > least) bytes += (most - least) * (piece.bytes + choice) + state;
  return { bytes, isEmptyWidth: piece.isEmptyWidth || most === 0 };
}
