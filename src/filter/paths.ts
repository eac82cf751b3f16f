/**
 * Payload paths: their text form and back (contract: laser-filter §2).
 *
 * Keys are separated by `.`, elements are `[n]`, `\\` escapes `.`, `[`, `]`, `\\` and nothing else. Digits between dots are
 * a key. Invariant: one text form per path, so `pathText(parsePath(text)) === text` for every accepted text.
 */
import { PATH_BYTES_MAX, PATH_INDEX_MAX, PATH_SEGMENTS_MAX } from '../core/limits.js';
import type { Path } from '../core/path.js';
import { refuseIn, type RefuseAt } from '../core/text-place.js';

/**
 * The path that a text names. `refuseAt` says where a fault goes; by default `position` counts into `text` itself.
 *
 * Refused (`invalid_request`): an empty path or key, an unescaped `]` in a key, an unterminated bracket or escape, an
 * escape of anything else, `[]`, `[01]` and other non-numbers, an index over 2^32−1, anything but `.` or `[` after an
 * element; more than 256 bytes or 16 segments (with `limit` and `given`).
 */
export function parsePath(text: string, refuseAt: RefuseAt = refuseIn(text)): Path {
  const bytes = Buffer.byteLength(text);
  if (bytes > PATH_BYTES_MAX) {
    refuseAt(0, `A path has at most ${PATH_BYTES_MAX} bytes; this one has ${bytes}.`, {
      limit: PATH_BYTES_MAX,
      given: bytes,
    });
  }
  if (text === '') refuseAt(0, 'A path must not be empty.');
  const path: (string | number)[] = [];
  let at = 0;
  while (at < text.length) {
    if (path.length > 0 && text[at] === '.') at = readKey(text, at + 1, path, refuseAt);
    else if (text[at] === '[') at = readIndex(text, at, path, refuseAt);
    else if (path.length === 0) at = readKey(text, at, path, refuseAt);
    else refuseAt(at, 'Expected `.` or `[` after an element of a path.');
  }
  if (path.length > PATH_SEGMENTS_MAX) {
    refuseAt(0, `A path has at most ${PATH_SEGMENTS_MAX} segments; this one has ${path.length}.`, {
      limit: PATH_SEGMENTS_MAX,
      given: path.length,
    });
  }
  return path;
}

/** The one text form of a path. The empty path (the whole payload) has none and gives an empty text. */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += `${text === '' ? '' : '.'}${step.replaceAll(/[.[\]\\]/g, '\\$&')}`;
  }
  return text;
}

/** Reads a key that starts at `start`; returns where it ends. */
function readKey(text: string, start: number, path: (string | number)[], refuseAt: RefuseAt): number {
  let key = '';
  let at = start;
  for (; at < text.length && text[at] !== '.' && text[at] !== '['; at += 1) {
    if (text[at] === ']') refuseAt(at, 'A `]` in a key of a path has to be escaped as `\\]`.');
    if (text[at] === '\\') {
      at += 1;
      const escaped = text[at];
      if (escaped === undefined) return refuseAt(at - 1, 'A path must not end in an unfinished escape.');
      if (!'.[]\\'.includes(escaped)) refuseAt(at - 1, 'In a path only `.`, `[`, `]` and `\\` can be escaped.');
    }
    key += text[at];
  }
  if (at === start) refuseAt(start, 'A key in a path must not be empty.');
  path.push(key);
  return at;
}

/** Reads `[n]` whose bracket stands at `open`; returns where it ends. */
function readIndex(text: string, open: number, path: (string | number)[], refuseAt: RefuseAt): number {
  const close = text.indexOf(']', open);
  if (close === -1) return refuseAt(open, 'A `[` in a path has to be closed by `]`.');
  const digits = text.slice(open + 1, close);
  if (!/^(?:0|[1-9][0-9]*)$/.test(digits)) {
    refuseAt(open + 1, 'An index in a path is a number in digits, without a sign or leading zeros.');
  }
  const index = Number(digits);
  if (index > PATH_INDEX_MAX) {
    refuseAt(open + 1, `An index in a path is at most ${PATH_INDEX_MAX}.`, { limit: PATH_INDEX_MAX, given: digits });
  }
  path.push(index);
  return close + 1;
}
