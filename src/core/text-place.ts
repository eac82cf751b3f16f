/**
 * Where something stands in a user's text, in the two forms a refusal shows: a UTF-8 byte offset and a caret under the
 * character (contract: scan-protocol §3).
 *
 * Invariant: pure text work on UTF-16 indices; one call is linear in the text, so this is for faults only.
 */

import { refuse, type ErrorCode, type Problem } from './error-codes.js';

/** What a refusal may carry besides its code and detail. */
export type ProblemExtras = Omit<Problem, 'code' | 'detail'>;

/**
 * Refuses a text because of the character at a UTF-16 index of it (`invalid_request`). Whoever hands it to a parser
 * knows where that text stands in what the user sent, and translates the index.
 */
export type RefuseAt = (index: number, detail: string, more?: ProblemExtras) => never;

/** The plain {@link RefuseAt}: `position` and caret refer to `text` itself. */
export function refuseIn(text: string, code: ErrorCode = 'invalid_request'): RefuseAt {
  return (index, detail, more) =>
    refuse(code, `${detail}\n${caretLines(text, index)}`, { ...more, position: byteOffset(text, index) });
}

/** Code points shown on either side of the caret, so that a fault in a body of megabytes stays readable. */
const SHOWN_AROUND = 40;

/** UTF-8 byte offset of a UTF-16 index. An index past the end counts as the end. */
export function byteOffset(text: string, index: number): number {
  return Buffer.byteLength(text.slice(0, index), 'utf8');
}

/**
 * Two lines: a stretch of the line that holds `index`, and a caret under that character.
 *
 * Control characters show as spaces, so that the caret keeps its column; at the end of the text the caret stands one
 * past the last character.
 */
export function caretLines(text: string, index: number): string {
  const before = stretch(
    text
      .slice(Math.max(0, index - 2 * SHOWN_AROUND), index)
      .split('\n')
      .at(-1) ?? '',
  ).slice(-SHOWN_AROUND);
  const after = stretch(text.slice(index, index + 2 * SHOWN_AROUND).split('\n')[0] ?? '').slice(0, SHOWN_AROUND);
  return `${before.join('')}${after.join('')}\n${' '.repeat(before.length)}^`;
}

/** The code points of a piece of text as they may be shown: a cut surrogate pair or a control character is a space. */
function stretch(piece: string): string[] {
  return Array.from(piece, (point) => (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(point) ? ' ' : point));
}
