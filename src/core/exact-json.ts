/**
 * The exact JSON reader: RFC 8259 text to a node tree that keeps what `JSON.parse` loses, and faults with a place.
 *
 * It exists because filters and request bodies may hold 64-bit integers (no number here passes through a double unless
 * the caller asks for one), because a repeated member has to be refused rather than merged, and because a faulty text
 * has to be answered with the byte where it went wrong.
 *
 * Invariants: node places are UTF-16 indices into `text`, half-open; `positionOf` turns one into the UTF-8 byte offset
 * that users see. Time is linear in the text; depth and the number of values are bounded (`limits.ts`), so neither the
 * stack nor the heap can be blown up by a body. Members keep their order and their repeats. It does not judge: repeats,
 * escaped unpaired surrogates and numbers beyond a double are well-formed JSON and left to the caller (`plain-json.ts`
 * refuses all three).
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { refuse, type ErrorCode } from './error-codes.js';
import { isWellFormed, type JsonNode, type JsonNumber, type JsonString } from './json-node.js';
import { readNodes } from './json-reader.js';
import { INTEGER_DIGITS_MAX } from './limits.js';
import { byteOffset, refuseIn, type ProblemExtras } from './text-place.js';

/** A text that has been read whole, and the questions that need the text to answer. */
export class JsonDocument {
  readonly text: string;
  readonly root: JsonNode;

  constructor(text: string, root: JsonNode) {
    this.text = text;
    this.root = root;
  }

  /** The characters of a value exactly as written, so a subtree can be handed on without being written again. */
  sourceOf(node: JsonNode): string {
    return this.text.slice(node.start, node.end);
  }

  /** UTF-8 byte offset of a UTF-16 index of the text. Linear: for faults, not for loops. */
  positionOf(index: number): number {
    return byteOffset(this.text, index);
  }

  /** UTF-16 index in the text of the character that stands at `index` of a string's value, escapes counted through. */
  indexInString(node: JsonString, index: number): number {
    let at = node.start + 1;
    for (let decoded = 0; decoded < index && at < node.end - 1; decoded += 1) {
      at += this.text.charCodeAt(at) !== BACKSLASH ? 1 : this.text.charCodeAt(at + 1) === LOWER_U ? 6 : 2;
    }
    return at;
  }

  /** The exact integer, or undefined where the literal is none or has over `INTEGER_DIGITS_MAX` digits. */
  integerOf(node: JsonNumber): bigint | undefined {
    // The bound comes first: reading a literal of millions of digits as a bigint is not linear.
    if (!node.isInteger || this.digitsOf(node) > INTEGER_DIGITS_MAX) return undefined;
    return BigInt(this.sourceOf(node));
  }

  /** Digits of an integer literal. */
  digitsOf(node: JsonNumber): number {
    return node.end - node.start - (this.text.charCodeAt(node.start) === MINUS ? 1 : 0);
  }

  /** The nearest double; infinite where the literal lies beyond the doubles (`1e999`). */
  doubleOf(node: JsonNumber): number {
    return Number(this.sourceOf(node));
  }

  /** Throws a `Refusal` with `position` and a caret under the character at UTF-16 index `index`. */
  refuseAt(index: number, code: ErrorCode, detail: string, more: ProblemExtras = {}): never {
    return refuseIn(this.text, code)(index, detail, more);
  }
}

/**
 * Reads one JSON value with nothing around it but white space.
 *
 * Throws `invalid_request` with `position` (UTF-8 bytes from 0) and a caret in `detail` for anything that is not
 * RFC 8259, for a byte order mark, an unpaired surrogate in the text itself, and for a passed bound (with `limit`).
 */
export function readJson(text: string): JsonDocument {
  if (!isWellFormed(text)) {
    const index = text.search(/\p{Cs}/u);
    return refuseIn(text)(index, 'The text holds an unpaired surrogate, which UTF-8 cannot carry.');
  }
  return new JsonDocument(text, readNodes(text));
}

/** As {@link readJson}, from UTF-8 bytes; invalid UTF-8 is refused with the position of its first bad byte. */
export function readJsonBytes(bytes: Uint8Array): JsonDocument {
  if (!isUtf8(bytes)) {
    const position = firstInvalidUtf8(bytes);
    refuse('invalid_request', `The body is not valid UTF-8 at byte ${position}.`, { position });
  }
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = view.toString(isAscii(bytes) ? 'latin1' : 'utf8');
  return new JsonDocument(text, readNodes(text));
}

function firstInvalidUtf8(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const first = bytes[at]!;
    const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (!isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
  return at;
}

const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const MINUS = 0x2d;
