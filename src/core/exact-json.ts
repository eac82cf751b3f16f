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
import { INTEGER_DIGITS_MAX, JSON_DEPTH_MAX, JSON_VALUES_MAX } from './limits.js';
import { byteOffset, caretLines, type ProblemExtras } from './text-place.js';

interface Placed {
  /** UTF-16 index of the value's first character. */
  readonly start: number;
  /** UTF-16 index past its last character. */
  readonly end: number;
}

export interface JsonMember {
  readonly key: JsonString;
  readonly value: JsonNode;
}

export interface JsonObject extends Placed {
  readonly kind: 'object';
  /** In written order, repeats kept. */
  readonly members: readonly JsonMember[];
}

export interface JsonArray extends Placed {
  readonly kind: 'array';
  readonly items: readonly JsonNode[];
}

export interface JsonString extends Placed {
  readonly kind: 'string';
  /** The text with its escapes undone. */
  readonly value: string;
  /** True when the value holds an unpaired surrogate (only an escape can write one), so it has no UTF-8 form. */
  readonly isUnpaired: boolean;
}

/** Its literal is `sourceOf(node)`; `integerOf` and `doubleOf` read it. */
export interface JsonNumber extends Placed {
  readonly kind: 'number';
  /** No fraction, no exponent, and not `-0` (which is a double: laser-filter §3). */
  readonly isInteger: boolean;
}

export interface JsonBoolean extends Placed {
  readonly kind: 'boolean';
  readonly value: boolean;
}

export interface JsonNull extends Placed {
  readonly kind: 'null';
}

export type JsonNode = JsonObject | JsonArray | JsonString | JsonNumber | JsonBoolean | JsonNull;

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
    refuseAt(this.text, index, code, detail, more);
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
    refuseAt(text, index, 'invalid_request', 'The text holds an unpaired surrogate, which UTF-8 cannot carry.');
  }
  return new JsonDocument(text, new Reader(text).readWhole());
}

/** As {@link readJson}, from UTF-8 bytes; invalid UTF-8 is refused with the position of its first bad byte. */
export function readJsonBytes(bytes: Uint8Array): JsonDocument {
  if (!isUtf8(bytes)) {
    const position = firstInvalidUtf8(bytes);
    refuse('invalid_request', `The body is not valid UTF-8 at byte ${position}.`, { position });
  }
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = view.toString(isAscii(bytes) ? 'latin1' : 'utf8');
  return new JsonDocument(text, new Reader(text).readWhole());
}

function refuseAt(text: string, index: number, code: ErrorCode, detail: string, more: ProblemExtras = {}): never {
  refuse(code, `${detail}\n${caretLines(text, index)}`, { ...more, position: byteOffset(text, index) });
}

/** `String.prototype.isWellFormed` is in every Node this runs on, but not yet in the compiler's ES2023 library. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
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
const QUOTE = 0x22;
const LOWER_U = 0x75;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

// PERF: strings are looked through by hand for a first stretch and by a search after it: a call of the search costs
// about 50 ns, the hand loop 4 ns a character (8 MiB of base64: 33 ms by hand, 11 ms by search; 2026-11-30).
const HAND_SCAN_MAX = 24;

class Reader {
  private readonly text: string;
  /** A quote, a backslash or a control character: everything a string may hold as it is, negated. */
  private readonly stringStop = /[^ !#-[\]-\uffff]/g;
  private at = 0;
  private depth = 0;
  private values = 0;

  constructor(text: string) {
    this.text = text;
  }

  readWhole(): JsonNode {
    if (this.text.charCodeAt(0) === 0xfeff) this.fail(0, 'A byte order mark is not part of JSON.');
    this.skipSpace();
    const root = this.readValue();
    this.skipSpace();
    if (this.at < this.text.length) this.fail(this.at, 'Expected the end of the text after the value.');
    return root;
  }

  private readValue(): JsonNode {
    this.values += 1;
    if (this.values > JSON_VALUES_MAX) {
      this.fail(this.at, `The text holds more than ${JSON_VALUES_MAX} values.`, { limit: JSON_VALUES_MAX });
    }
    switch (this.text[this.at]) {
      case '{':
        return this.readObject();
      case '[':
        return this.readArray();
      case '"':
        return this.readString();
      case 't':
        return this.readWord('true', { kind: 'boolean', value: true, start: this.at, end: this.at + 4 });
      case 'f':
        return this.readWord('false', { kind: 'boolean', value: false, start: this.at, end: this.at + 5 });
      case 'n':
        return this.readWord('null', { kind: 'null', start: this.at, end: this.at + 4 });
      default:
        return this.readNumber();
    }
  }

  private readObject(): JsonObject {
    const start = this.enter();
    const members: JsonMember[] = [];
    if (!this.accepts('}')) {
      do {
        this.skipSpace();
        if (this.text[this.at] !== '"') this.fail(this.at, 'Expected a member name in double quotes.');
        const key = this.readString();
        if (!this.accepts(':')) this.fail(this.at, 'Expected `:` after the member name.');
        this.skipSpace();
        members.push({ key, value: this.readValue() });
      } while (this.accepts(','));
      if (!this.accepts('}')) this.fail(this.at, 'Expected `,` or `}` after the member.');
    }
    this.depth -= 1;
    return { kind: 'object', start, end: this.at, members };
  }

  private readArray(): JsonArray {
    const start = this.enter();
    const items: JsonNode[] = [];
    if (!this.accepts(']')) {
      do {
        this.skipSpace();
        items.push(this.readValue());
      } while (this.accepts(','));
      if (!this.accepts(']')) this.fail(this.at, 'Expected `,` or `]` after the item.');
    }
    this.depth -= 1;
    return { kind: 'array', start, end: this.at, items };
  }

  /** Steps past an opening bracket and returns its place. */
  private enter(): number {
    this.depth += 1;
    if (this.depth > JSON_DEPTH_MAX) {
      this.fail(this.at, `The text nests deeper than ${JSON_DEPTH_MAX} levels.`, {
        limit: JSON_DEPTH_MAX,
        given: this.depth,
      });
    }
    this.at += 1;
    return this.at - 1;
  }

  private readString(): JsonString {
    const { text } = this;
    const start = this.at;
    let at = start + 1;
    let hasEscape = false;
    for (;;) {
      at = this.findStringStop(at);
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (at === text.length) this.fail(start, 'This string is not terminated.');
      if (code !== BACKSLASH) this.fail(at, 'A control character in a string has to be escaped.');
      hasEscape = true;
      at += this.escapeLength(at);
    }
    this.at = at + 1;
    // A string without an escape is one slice of the text: no copy, however long. Unescaping is what `JSON.parse` of
    // one checked literal does exactly, in one native pass.
    const value = hasEscape ? (JSON.parse(text.slice(start, this.at)) as string) : text.slice(start + 1, at);
    return { kind: 'string', start, end: this.at, value, isUnpaired: hasEscape && !isWellFormed(value) };
  }

  private escapeLength(at: number): number {
    const letter = this.text[at + 1] ?? '';
    if (letter === 'u') {
      if (!/^[0-9a-fA-F]{4}$/.test(this.text.slice(at + 2, at + 6))) {
        this.fail(at, 'Expected four hexadecimal digits after `\\u`.');
      }
      return 6;
    }
    if (letter === '' || !'"\\/bfnrt'.includes(letter)) this.fail(at, 'Unknown escape in a string.');
    return 2;
  }

  /** Index of the next quote, backslash or control character at or after `at`, or the text's length. */
  private findStringStop(at: number): number {
    const { text } = this;
    const handEnd = Math.min(at + HAND_SCAN_MAX, text.length);
    for (let index = at; index < handEnd; index += 1) {
      const code = text.charCodeAt(index);
      if (code === QUOTE || code === BACKSLASH || code < 0x20) return index;
    }
    this.stringStop.lastIndex = handEnd;
    return this.stringStop.test(text) ? this.stringStop.lastIndex - 1 : text.length;
  }

  private readNumber(): JsonNumber {
    const { text } = this;
    const start = this.at;
    const digitsStart = text.charCodeAt(start) === MINUS ? start + 1 : start;
    let at = this.skipDigits(digitsStart);
    if (at === digitsStart) this.fail(start, digitsStart === start ? 'Expected a value.' : 'Expected a digit.');
    if (text.charCodeAt(digitsStart) === ZERO && at > digitsStart + 1) {
      this.fail(digitsStart, 'A number has no leading zeros.');
    }
    let isInteger = !(digitsStart > start && text.charCodeAt(digitsStart) === ZERO);
    if (text[at] === '.') {
      isInteger = false;
      at = this.skipSomeDigits(at + 1);
    }
    if (text[at] === 'e' || text[at] === 'E') {
      isInteger = false;
      const sign = text[at + 1];
      at = this.skipSomeDigits(sign === '+' || sign === '-' ? at + 2 : at + 1);
    }
    this.at = at;
    return { kind: 'number', start, end: at, isInteger };
  }

  private skipSomeDigits(from: number): number {
    const at = this.skipDigits(from);
    if (at === from) this.fail(at, 'Expected a digit.');
    return at;
  }

  private skipDigits(from: number): number {
    let at = from;
    for (let code = this.text.charCodeAt(at); code >= ZERO && code <= NINE; code = this.text.charCodeAt(at)) at += 1;
    return at;
  }

  private readWord<Node extends JsonBoolean | JsonNull>(word: string, node: Node): Node {
    if (!this.text.startsWith(word, this.at)) this.fail(this.at, 'Expected a value.');
    this.at += word.length;
    return node;
  }

  /** Skips white space, then steps past `mark` if it stands there. */
  private accepts(mark: string): boolean {
    this.skipSpace();
    if (this.text[this.at] !== mark) return false;
    this.at += 1;
    return true;
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.at += 1;
    }
  }

  private fail(index: number, detail: string, more: ProblemExtras = {}): never {
    refuseAt(this.text, index, 'invalid_request', `Invalid JSON. ${detail}`, more);
  }
}
