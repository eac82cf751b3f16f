/**
 * The obvious JSON decoder: one whole payload to a `Value`, or the reason why not (contract: laser-filter §4, §5).
 *
 * It is written to be read beside the contract, and is what the fast walker is compared with: it shares nothing with
 * it. Order of checks: size, depth by counting brackets over all bytes, then everything else at once as `malformed`.
 *
 * Invariants: recursion is bounded by the depth check that ran before; a fault is a value, never an exception.
 */
import { MALFORMED, TOO_DEEP, TOO_LARGE } from '../../core/verdict.js';
import type { Decoded, Value } from '../value.js';
import type { DecoderLimits } from '../walker.js';

/** Decodes the payload. Reasons: `too_large`, `too_deep`, `malformed`, looked at in this order. */
export function decodeJson(payload: Uint8Array, limits: DecoderLimits): Decoded {
  if (payload.length > limits.maxPayloadBytes) return { ok: false, reason: TOO_LARGE };
  if (bracketDepth(payload) > limits.maxDepth) return { ok: false, reason: TOO_DEEP };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload);
    return { ok: true, value: new Parser(text).parse() };
  } catch (thrown) {
    // The text decoder says TypeError for bytes that are not UTF-8.
    if (thrown instanceof SyntaxError || thrown instanceof TypeError) return { ok: false, reason: MALFORMED };
    throw thrown;
  }
}

/**
 * The deepest count of open brackets outside strings. It never falls below 0, heeds no syntax, and an unterminated
 * string hides the rest.
 */
function bracketDepth(payload: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < payload.length; i++) {
    const character = String.fromCharCode(payload[i]!);
    if (inString) {
      if (character === '\\') i++;
      else if (character === '"') inString = false;
    } else if (character === '"') {
      inString = true;
    } else if (character === '[' || character === '{') {
      depth++;
      deepest = Math.max(deepest, depth);
    } else if (character === ']' || character === '}') {
      depth = Math.max(depth - 1, 0);
    }
  }
  return deepest;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const INTEGER_MIN = -(2n ** 63n);
const INTEGER_MAX = 2n ** 64n - 1n;
/** −2^63 and 2^64−1 have 20 characters; longer literals are not worth an exact look. */
const INTEGER_CHARACTERS_MAX = 20;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** RFC 8259 by recursive descent; throws SyntaxError. */
class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Value {
    const value = this.#element();
    if (this.#at !== this.#text.length) throw new SyntaxError('bytes after the value');
    return value;
  }

  #element(): Value {
    this.#skipWhitespace();
    const value = this.#value();
    this.#skipWhitespace();
    return value;
  }

  #value(): Value {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #object(): Value {
    const members = new Map<string, Value>();
    this.#expect('{');
    this.#skipWhitespace();
    if (this.#take('}')) return members;
    do {
      this.#skipWhitespace();
      const key = this.#string();
      this.#skipWhitespace();
      this.#expect(':');
      members.set(key, this.#element());
    } while (this.#take(','));
    this.#expect('}');
    return members;
  }

  #array(): Value {
    const items: Value[] = [];
    this.#expect('[');
    this.#skipWhitespace();
    if (this.#take(']')) return items;
    do items.push(this.#element());
    while (this.#take(','));
    this.#expect(']');
    return items;
  }

  #string(): string {
    this.#expect('"');
    let text = '';
    while (!this.#take('"')) {
      const character = this.#next();
      if (character < ' ') throw new SyntaxError('control character in a string');
      text += character === '\\' ? this.#escape() : character;
    }
    return text;
  }

  #escape(): string {
    const letter = this.#next();
    if (letter !== 'u') {
      const meant = ESCAPES[letter];
      if (meant === undefined) throw new SyntaxError('unknown escape');
      return meant;
    }
    const unit = this.#fourHex();
    if (unit >= 0xdc00 && unit <= 0xdfff) throw new SyntaxError('low surrogate without a high one');
    if (unit < 0xd800 || unit > 0xdbff) return String.fromCharCode(unit);
    this.#expect('\\');
    this.#expect('u');
    const low = this.#fourHex();
    if (low < 0xdc00 || low > 0xdfff) throw new SyntaxError('high surrogate without a low one');
    return String.fromCharCode(unit, low);
  }

  #fourHex(): number {
    const digits = this.#text.slice(this.#at, this.#at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new SyntaxError('four hex digits expected');
    this.#at += 4;
    return Number.parseInt(digits, 16);
  }

  #number(): Value {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) throw new SyntaxError('value expected');
    this.#at = NUMBER.lastIndex;
    const [literal, fraction, exponent] = match;
    const isWhole = fraction === undefined && exponent === undefined && literal !== '-0';
    if (isWhole && literal.length <= INTEGER_CHARACTERS_MAX) {
      const integer = BigInt(literal);
      if (integer >= INTEGER_MIN && integer <= INTEGER_MAX) return integer;
    }
    const double = Number(literal);
    if (!Number.isFinite(double)) throw new SyntaxError('number overflows a double');
    return double;
  }

  #word<T extends boolean | null>(word: string, value: T): T {
    for (const character of word) this.#expect(character);
    return value;
  }

  #skipWhitespace(): void {
    while (this.#take(' ') || this.#take('\t') || this.#take('\n') || this.#take('\r'));
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #expect(character: string): void {
    if (!this.#take(character)) throw new SyntaxError(`${character} expected`);
  }

  /** The next UTF-16 unit. */
  #next(): string {
    const character = this.#text[this.#at++];
    if (character === undefined) throw new SyntaxError('unfinished string');
    return character;
  }
}
