/**
 * The classes and single characters of a regex pattern, and what each costs in a program: the leaves of the walk in
 * `pattern-size`.
 *
 * Explicit characters and ranges are counted from their UTF-8 forms; named classes (`\w`, `\p{…}`) from constants. Set
 * operations (`&&`, `--`, `~~`) count both sides, which bounds the result from above. Ignoring case adds the other case
 * of each character; the engine's exact folding differs by single characters.
 */
import { PATTERN_NESTING_MAX, REGEX_PROGRAM_COSTS } from '../core/limits.js';
import type { RefuseAt } from '../core/text-place.js';
import { classBytes, complementRanges, type CodePointRange } from './utf8-ranges.js';

/** A piece of a pattern that was read: where it ends and what it costs. */
export interface CountedPiece {
  readonly end: number;
  readonly bytes: number;
}

/** A set of code points: explicit ranges, and the bytes of what is known only by name. */
interface ClassSet {
  readonly ranges: CodePointRange[];
  named: number;
}

/** What one backslash escape stands for. */
type Escape = { readonly end: number } & ({ readonly point: number } | { readonly named: number });

const KELVIN_SIGN = 0x212a;
const LONG_S = 0x17f;
/** Ranges up to this many code points get the other case of each; a longer one is counted twice instead. */
const FOLDED_POINTS_MAX = 256;

const CONTROL_LETTERS: Readonly<Record<string, number>> = { a: 0x07, f: 0x0c, t: 0x09, n: 0x0a, r: 0x0d, v: 0x0b };

/** `[[:name:]]`: ASCII only, as the engine has it. */
const POSIX_CLASSES: ReadonlyMap<string, readonly CodePointRange[]> = new Map<string, readonly CodePointRange[]>([
  ['alnum', asciiRanges('09AZaz')],
  ['alpha', asciiRanges('AZaz')],
  ['ascii', [[0, 0x7f]]],
  ['blank', asciiRanges('\t\t  ')],
  [
    'cntrl',
    [
      [0, 0x1f],
      [0x7f, 0x7f],
    ],
  ],
  ['digit', asciiRanges('09')],
  ['graph', asciiRanges('!~')],
  ['lower', asciiRanges('az')],
  ['print', asciiRanges(' ~')],
  ['punct', asciiRanges('!/:@[`{~')],
  ['space', asciiRanges('\t\r  ')],
  ['upper', asciiRanges('AZ')],
  ['word', asciiRanges('09AZ__az')],
  ['xdigit', asciiRanges('09AFaf')],
]);

const PROPERTY_BYTES: ReadonlyMap<string, number> = new Map(
  REGEX_PROGRAM_COSTS.properties.flatMap(({ bytes, names }) => names.map((name) => [name, bytes] as const)),
);

/** Reads the classes, escapes and literals of one pattern. Indices are UTF-16. */
export class PatternClasses {
  /** Cost of `.`. */
  readonly anyButNewline = classBytes(complementRanges([[0x0a, 0x0a]]));
  private readonly pattern: string;
  private readonly caseInsensitive: boolean;
  private readonly refuseAt: RefuseAt;

  constructor(pattern: string, caseInsensitive: boolean, refuseAt: RefuseAt) {
    this.pattern = pattern;
    this.caseInsensitive = caseInsensitive;
    this.refuseAt = refuseAt;
  }

  /** Cost of one character outside a class. */
  literal(point: number): number {
    const cases = this.caseInsensitive ? otherCases(point) : [];
    if (cases.length > 0) return classBytes([point, ...cases].map((each) => [each, each]));
    return REGEX_PROGRAM_COSTS.state * Buffer.byteLength(String.fromCodePoint(point));
  }

  /** The escape whose backslash stands at `start`, outside a class. */
  escape(start: number): CountedPiece {
    const read = this.readEscape(start);
    return { end: read.end, bytes: 'point' in read ? this.literal(read.point) : read.named };
  }

  /** The bracketed class that opens at `start`, inside `depth` open groups and brackets. */
  bracket(start: number, depth: number): CountedPiece {
    const { end, set } = this.readBracket(start, depth + 1);
    return { end, bytes: this.bytesOf(set) };
  }

  private readBracket(open: number, depth: number): { end: number; set: ClassSet } {
    refuseDeeper(depth, open, this.refuseAt);
    const { pattern } = this;
    let at = open + 1;
    const isNegated = pattern[at] === '^';
    if (isNegated) at += 1;
    let set: ClassSet = { ranges: [], named: 0 };
    let operands = 0;
    // A class may begin with hyphens, or else with one closing bracket, that stand for themselves.
    for (; pattern[at] === '-'; at += 1) set.ranges.push([0x2d, 0x2d]);
    if (pattern[at] === ']' && set.ranges.length === 0) {
      set.ranges.push([0x5d, 0x5d]);
      at += 1;
    }
    while (at < pattern.length && pattern[at] !== ']') {
      if (/^(?:&&|--|~~)/.test(pattern.slice(at, at + 2))) {
        operands += this.bytesOf(set);
        set = { ranges: [], named: 0 };
        at += 2;
      } else if (pattern[at] === '[') {
        at = this.readNested(at, depth, set);
      } else {
        at = this.readItem(at, set);
      }
    }
    if (operands > 0) set = { ranges: [], named: operands + this.bytesOf(set) };
    return { end: Math.min(at + 1, pattern.length), set: isNegated ? negated(set) : set };
  }

  /** A POSIX class or a bracket inside a bracket; adds it to `set` and returns its end. */
  private readNested(start: number, depth: number, set: ClassSet): number {
    const posix = matchAt(/\[:(\^?)([^:]*):\]/y, this.pattern, start);
    const ranges = POSIX_CLASSES.get(posix?.[2] ?? '');
    if (posix !== null && ranges !== undefined) {
      set.ranges.push(...(posix[1] === '^' ? complementRanges(ranges) : ranges));
      return start + posix[0].length;
    }
    const nested = this.readBracket(start, depth + 1);
    set.ranges.push(...nested.set.ranges);
    set.named += nested.set.named;
    return nested.end;
  }

  /** A character, an escape or a range; adds it to `set` and returns its end. */
  private readItem(start: number, set: ClassSet): number {
    const { pattern } = this;
    const first = this.readItemPoint(start);
    if ('named' in first) {
      set.named += first.named;
      return first.end;
    }
    const after = pattern[first.end + 1];
    if (pattern[first.end] !== '-' || after === undefined || after === ']' || after === '-') {
      set.ranges.push([first.point, first.point]);
      return first.end;
    }
    const last = this.readItemPoint(first.end + 1);
    set.ranges.push([first.point, 'point' in last ? last.point : first.point]);
    return last.end;
  }

  private readItemPoint(at: number): Escape {
    if (this.pattern[at] === '\\') return this.readEscape(at);
    const point = this.pattern.codePointAt(at)!;
    return { end: at + (point > 0xffff ? 2 : 1), point };
  }

  private readEscape(start: number): Escape {
    const { pattern } = this;
    const letter = pattern[start + 1] ?? '';
    if (letter === 'k' || (letter >= '1' && letter <= '9')) {
      this.refuseAt(start, 'Backreferences are not portable between regex engines.');
    }
    const named = namedClass(letter);
    if (named !== undefined) return { end: start + 2, named };
    const property = matchAt(/\\[pP](?:\{([^}]*)\}|([^{]))/y, pattern, start);
    if (property !== null) {
      const bytes = propertyBytes(property[1] ?? property[2]!);
      const isNegated = letter === 'P' || /^\^|!=/.test(property[1] ?? '');
      return { end: start + property[0].length, named: this.folded(isNegated ? negatedBytes(bytes) : bytes) };
    }
    const hex =
      matchAt(/\\[xuU]\{([0-9A-Fa-f]+)\}/y, pattern, start) ??
      matchAt(/\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))/y, pattern, start);
    if (hex !== null) {
      const point = Number.parseInt(hex[1] ?? hex[2] ?? hex[3]!, 16);
      // Beyond Unicode or a surrogate: the engine refuses it; any valid code point does until then.
      const isValid = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
      return { end: start + hex[0].length, point: isValid ? point : 0 };
    }
    const point = CONTROL_LETTERS[letter] ?? pattern.codePointAt(start + 1) ?? 0x5c;
    return { end: Math.min(start + (point > 0xffff ? 3 : 2), pattern.length), point };
  }

  private bytesOf({ ranges, named }: ClassSet): number {
    if (ranges.length === 0) return named === 0 ? REGEX_PROGRAM_COSTS.state : named;
    if (!this.caseInsensitive) return named + classBytes(ranges);
    const folded: CodePointRange[] = [];
    let long = 0;
    for (const [first, last] of ranges) {
      if (last - first >= FOLDED_POINTS_MAX) long += classBytes([[first, last]]);
      else
        for (let point = first; point <= last; point += 1) {
          for (const each of otherCases(point)) folded.push([each, each]);
        }
    }
    return named + long + classBytes([...ranges, ...folded]);
  }

  /** A property may name one case; ignoring case then adds about as much again. */
  private folded(bytes: number): number {
    return this.caseInsensitive ? 2 * bytes : bytes;
  }
}

/** Refuses a group or class bracket that opens one level too deep. */
export function refuseDeeper(depth: number, index: number, refuseAt: RefuseAt): void {
  if (depth > PATTERN_NESTING_MAX) {
    refuseAt(index, `Groups and class brackets of a pattern nest at most ${PATTERN_NESTING_MAX} levels.`, {
      limit: PATTERN_NESTING_MAX,
      given: depth,
    });
  }
}

/** The match of a sticky expression at an index. */
export function matchAt(sticky: RegExp, text: string, index: number): RegExpExecArray | null {
  sticky.lastIndex = index;
  return sticky.exec(text);
}

function negated({ ranges, named }: ClassSet): ClassSet {
  if (named === 0) return { ranges: complementRanges(ranges), named: 0 };
  return { ranges: [], named: negatedBytes(named) + (ranges.length === 0 ? 0 : classBytes(ranges)) };
}

/** The gaps of a small class cost more than the class, because each edge cuts through several byte lengths. */
function negatedBytes(bytes: number): number {
  return bytes + Math.min(2 * bytes, REGEX_PROGRAM_COSTS.negationMax);
}

function namedClass(letter: string): number | undefined {
  switch (letter) {
    case 'w':
      return REGEX_PROGRAM_COSTS.word;
    case 'W':
      return REGEX_PROGRAM_COSTS.notWord;
    case 'd':
      return REGEX_PROGRAM_COSTS.digit;
    case 'D':
      return REGEX_PROGRAM_COSTS.notDigit;
    case 's':
      return REGEX_PROGRAM_COSTS.space;
    case 'S':
      return REGEX_PROGRAM_COSTS.notSpace;
    default:
      return undefined;
  }
}

function propertyBytes(written: string): number {
  // `gc=Lu`, `script:Greek`, `^Greek`: what counts is the value; the engine checks the name before it.
  const name = written
    .replace(/^\^/, '')
    .split(/!?=|:/)
    .at(-1)!
    .toLowerCase()
    .replaceAll(/[_\-\s]/g, '');
  return PROPERTY_BYTES.get(name) ?? PROPERTY_BYTES.get(name.replace(/^is/, '')) ?? REGEX_PROGRAM_COSTS.property;
}

/** The other cases of a character that simple folding can reach, single code points only. */
function otherCases(point: number): number[] {
  const text = String.fromCodePoint(point);
  const cases = new Set<number>();
  for (const other of [text.toLowerCase(), text.toUpperCase()]) {
    const otherPoint = other.codePointAt(0)!;
    if (other.length === (otherPoint > 0xffff ? 2 : 1)) cases.add(otherPoint);
  }
  if (text === 'k' || text === 'K') cases.add(KELVIN_SIGN);
  if (text === 's' || text === 'S') cases.add(LONG_S);
  cases.delete(point);
  return [...cases];
}

/** Ranges from pairs of characters: `09AZ` is two. */
function asciiRanges(pairs: string): CodePointRange[] {
  const ranges: CodePointRange[] = [];
  for (let index = 0; index < pairs.length; index += 2) {
    ranges.push([pairs.charCodeAt(index), pairs.charCodeAt(index + 1)]);
  }
  return ranges;
}
