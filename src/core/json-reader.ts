/**
 * The parser of the exact reader: RFC 8259 text to nodes (`json-node.ts`), entered through `exact-json.ts`.
 *
 * Invariants: linear in the text, long strings at the speed of a search; recursion bounded by `JSON_DEPTH_MAX`, the
 * number of nodes by `JSON_VALUES_MAX`; repeats and unpaired surrogate escapes are kept and marked, not judged.
 */
import {
  isWellFormed,
  type JsonArray,
  type JsonBoolean,
  type JsonMember,
  type JsonNode,
  type JsonNull,
  type JsonNumber,
  type JsonObject,
  type JsonString,
} from './json-node.js';
import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from './limits.js';
import { refuseIn, type ProblemExtras } from './text-place.js';

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

// PERF: strings are looked through by hand for a first stretch and by a search after it: a call of the search costs
// about 50 ns, the hand loop 4 ns a character (8 MiB of base64: 33 ms by hand, 11 ms by search; 2026-11-30).
const HAND_SCAN_MAX = 24;

/** The root node of a text; throws the refusals that `readJson` promises, but does not look for unpaired surrogates. */
export function readNodes(text: string): JsonNode {
  return new Reader(text).readWhole();
}

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
      this.fail(this.at, `The text holds more than ${JSON_VALUES_MAX} values.`, {
        limit: JSON_VALUES_MAX,
        given: this.values,
      });
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
    return refuseIn(this.text)(index, `Invalid JSON. ${detail}`, more);
  }
}
