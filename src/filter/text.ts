/**
 * Text matches, compiled once per filter (contract: laser-filter §3 "Text matches").
 *
 * A matcher answers about UTF-8 bytes in place. Literal kinds and globs compare bytes; ignoring case, a subject of
 * ASCII alone is still compared in place, while one with other characters is decoded, lowered as a whole and encoded
 * again, because full lowercasing depends on context and changes lengths. `regex` is the engine's.
 *
 * Invariants: the subject is valid UTF-8; no kind takes more than linear time in the subject for a given pattern (the
 * files of the searches state their bounds); matching allocates nothing but for the lowered copy named above.
 */
import { REGEX_SUBJECT_BYTES_MAX } from '../core/limits.js';
import type { TextKind } from './ir.js';
import type { CompiledRegex, RegexEngine } from './regex.js';
import { Glob } from './text-glob.js';
import { LiteralSearch, LOWER_ASCII, SAME_BYTES } from './text-search.js';

export const TEXT_NO = 0;
export const TEXT_YES = 1;
/** A subject of `regex` over REGEX_SUBJECT_BYTES_MAX: the record is a fault `too_large`. */
export const TEXT_TOO_LARGE = 2;

export type TextAnswer = 0 | 1 | 2;

export interface TextMatcher {
  /** Looks at the text whose valid UTF-8 stands at `bytes[start, end)`. Only `regex` answers TEXT_TOO_LARGE. */
  match(bytes: Uint8Array, start: number, end: number): TextAnswer;
}

/**
 * The matcher of a text leaf. Throws a `Refusal` `invalid_request` for a regex that does not compile and for a glob
 * that ends in a lone backslash.
 */
export function compileText(
  kind: TextKind,
  pattern: string,
  caseInsensitive: boolean,
  regex: RegexEngine,
): TextMatcher {
  if (kind === 'regex') return new BoundedRegex(regex.compile(pattern, caseInsensitive));
  if (kind === 'glob') {
    const glob = new Glob(pattern, caseInsensitive);
    return caseInsensitive ? new Lowered(glob) : new Plain(glob);
  }
  if (!caseInsensitive) return literalMatcher(kind, pattern);
  return new Lowered(literalTest(kind, pattern.toLowerCase(), LOWER_ASCII));
}

/** The matcher of a literal kind that heeds case; `contains` and `prefix` comparisons of strings use it too. */
export function literalMatcher(kind: Exclude<TextKind, 'glob' | 'regex'>, literal: string): TextMatcher {
  return new Plain(literalTest(kind, literal, SAME_BYTES));
}

/** Something that decides about bytes in place, each byte seen through a fold table. */
interface ByteTest {
  test(bytes: Uint8Array, start: number, end: number): boolean;
}

function literalTest(kind: Exclude<TextKind, 'glob' | 'regex'>, literal: string, fold: Uint8Array): ByteTest {
  const utf8 = new TextEncoder().encode(literal);
  return kind === 'contains' ? new LiteralSearch(utf8, fold) : new Anchored(kind, utf8, fold);
}

class Plain implements TextMatcher {
  readonly #test: ByteTest;

  constructor(test: ByteTest) {
    this.#test = test;
  }

  match(bytes: Uint8Array, start: number, end: number): TextAnswer {
    return this.#test.test(bytes, start, end) ? TEXT_YES : TEXT_NO;
  }
}

/** Ignores case. Its test folds ASCII itself and expects a lowered pattern. */
class Lowered implements TextMatcher {
  readonly #test: ByteTest;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #encoder = new TextEncoder();

  constructor(test: ByteTest) {
    this.#test = test;
  }

  match(bytes: Uint8Array, start: number, end: number): TextAnswer {
    if (isAscii(bytes, start, end)) return this.#test.test(bytes, start, end) ? TEXT_YES : TEXT_NO;
    const lowered = this.#encoder.encode(this.#decoder.decode(bytes.subarray(start, end)).toLowerCase());
    return this.#test.test(lowered, 0, lowered.length) ? TEXT_YES : TEXT_NO;
  }
}

class BoundedRegex implements TextMatcher {
  readonly #regex: CompiledRegex;

  constructor(regex: CompiledRegex) {
    this.#regex = regex;
  }

  match(bytes: Uint8Array, start: number, end: number): TextAnswer {
    if (end - start > REGEX_SUBJECT_BYTES_MAX) return TEXT_TOO_LARGE;
    return this.#regex.search(bytes, start, end) ? TEXT_YES : TEXT_NO;
  }
}

/** `equals`, `prefix` and `suffix`: one comparison at a known place. */
class Anchored implements ByteTest {
  readonly #kind: 'equals' | 'prefix' | 'suffix';
  readonly #literal: Uint8Array;
  readonly #fold: Uint8Array;

  constructor(kind: 'equals' | 'prefix' | 'suffix', literal: Uint8Array, fold: Uint8Array) {
    this.#kind = kind;
    this.#literal = literal;
    this.#fold = fold;
  }

  test(bytes: Uint8Array, start: number, end: number): boolean {
    const literal = this.#literal;
    const fold = this.#fold;
    const spare = end - start - literal.length;
    if (spare < 0 || (spare > 0 && this.#kind === 'equals')) return false;
    const from = this.#kind === 'suffix' ? start + spare : start;
    for (let i = 0; i < literal.length; i++) if (fold[bytes[from + i]!] !== literal[i]) return false;
    return true;
  }
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i]! > 0x7f) return false;
  return true;
}
