/**
 * Globs over UTF-8 bytes: `*` is any run, `?` one code point, `\` makes the next character literal; the whole text must
 * match (contract: laser-filter §3 "Text matches").
 *
 * A glob is cut at its stars. The first piece is anchored at the start of the text, the last at its end, and each piece
 * between is taken at its leftmost place after the one before: with pieces of fixed length in characters that finds a
 * match whenever there is one, so nothing is ever tried twice.
 *
 * Bound: a text of n bytes and a pattern of m bytes take at most n × ⌈m/32⌉ + m steps: a piece of literals is found by a
 * linear search, one with `?` by a bit-parallel one of 32 places per word. Memory is at most 1 KiB per word.
 *
 * Ignoring case, the literals are lowered one by one here (so a final sigma stays σ) and the text by the caller.
 */
import { refuse } from '../core/error-codes.js';
import { LiteralSearch, LOWER_ASCII, SAME_BYTES } from './text-search.js';

/** In a piece: one code point. Other entries are bytes. */
const ANY = 256;

/** A part of a glob without stars: bytes and {@link ANY}. */
type Piece = Uint16Array;

export class Glob {
  readonly #fold: Uint8Array;
  readonly #first: Piece;
  /** The piece after the last star; undefined without a star. */
  readonly #last: Piece | undefined;
  readonly #between: readonly PieceSearch[];

  constructor(pattern: string, caseInsensitive: boolean) {
    this.#fold = caseInsensitive ? LOWER_ASCII : SAME_BYTES;
    const pieces = cutAtStars(pattern, caseInsensitive);
    this.#first = pieces[0]!;
    this.#last = pieces.length > 1 ? pieces[pieces.length - 1] : undefined;
    this.#between = pieces
      .slice(1, -1)
      .filter((piece) => piece.length > 0)
      .map((piece) =>
        piece.includes(ANY) ? new BitSearch(piece, this.#fold) : new LiteralSearch(Uint8Array.from(piece), this.#fold),
      );
  }

  test(bytes: Uint8Array, start: number, end: number): boolean {
    let at = this.#endOfPieceAt(bytes, start, end);
    const last = this.#last;
    if (last === undefined) return at === end;
    if (at < 0) return false;
    const limit = this.#startOfPieceBefore(last, bytes, at, end);
    if (limit < 0) return false;
    for (const search of this.#between) {
      at = search.endOfFirst(bytes, at, limit);
      if (at < 0) return false;
    }
    return true;
  }

  /** The position after the first piece if the text starts with it, else −1. */
  #endOfPieceAt(bytes: Uint8Array, start: number, end: number): number {
    const piece = this.#first;
    let at = start;
    for (let i = 0; i < piece.length; i++) {
      if (at === end) return -1;
      if (piece[i] === ANY) at = nextCodePoint(bytes, at, end);
      else if (piece[i] !== this.#fold[bytes[at++]!]) return -1;
    }
    return at;
  }

  /** The position where `piece` starts if `bytes[start, end)` ends with it, else −1. */
  #startOfPieceBefore(piece: Piece, bytes: Uint8Array, start: number, end: number): number {
    let at = end;
    for (let i = piece.length - 1; i >= 0; i--) {
      if (at === start) return -1;
      at--;
      if (piece[i] === ANY) while (at > start && isContinuation(bytes[at]!)) at--;
      else if (piece[i] !== this.#fold[bytes[at]!]) return -1;
    }
    return at;
  }
}

interface PieceSearch {
  /** The position after the leftmost occurrence in `bytes[start, end)`, or −1. */
  endOfFirst(bytes: Uint8Array, start: number, end: number): number;
}

/**
 * Shift-And over a piece that holds {@link ANY}: bit i of the state says that the piece's first i+1 places match up to
 * here. A code point for ANY enters on its first byte and stays through its continuation bytes; no literal and no other
 * ANY begins with such a byte, so the piece stays aligned to characters.
 */
class BitSearch implements PieceSearch {
  readonly #fold: Uint8Array;
  readonly #words: number;
  /** Word w of byte b at `b * words + w`: the places that b may enter. */
  readonly #enters: Uint32Array;
  /** The places where a continuation byte may stay: those of ANY. */
  readonly #stays: Uint32Array;
  readonly #state: Uint32Array;
  readonly #lastBit: number;
  readonly #endsInAny: boolean;

  constructor(piece: Piece, fold: Uint8Array) {
    this.#fold = fold;
    this.#words = Math.ceil(piece.length / 32);
    this.#enters = new Uint32Array(256 * this.#words);
    this.#stays = new Uint32Array(this.#words);
    this.#state = new Uint32Array(this.#words);
    this.#lastBit = 1 << ((piece.length - 1) & 31);
    this.#endsInAny = piece[piece.length - 1] === ANY;
    piece.forEach((place, i) => {
      const word = i >>> 5;
      const bit = 1 << (i & 31);
      if (place === ANY) this.#stays[word]! |= bit;
      for (let byte = 0; byte < 256; byte++) {
        if (place === ANY ? !isContinuation(byte) : place === byte) this.#enters[byte * this.#words + word]! |= bit;
      }
    });
  }

  endOfFirst(bytes: Uint8Array, start: number, end: number): number {
    const state = this.#state.fill(0);
    const words = this.#words;
    const enters = this.#enters;
    const stays = this.#stays;
    for (let at = start; at < end; at++) {
      const byte = this.#fold[bytes[at]!]!;
      const row = byte * words;
      const staying = isContinuation(byte);
      let carry = 1;
      for (let w = 0; w < words; w++) {
        const before = state[w]!;
        const entered = ((before << 1) | carry) & enters[row + w]!;
        state[w] = staying ? entered | (before & stays[w]!) : entered;
        carry = before >>> 31;
      }
      if ((state[words - 1]! & this.#lastBit) !== 0) {
        return this.#endsInAny ? nextCodePoint(bytes, at, end) : at + 1;
      }
    }
    return -1;
  }
}

function cutAtStars(pattern: string, caseInsensitive: boolean): Piece[] {
  const encoder = new TextEncoder();
  const pieces: number[][] = [[]];
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    let character = characters[i]!;
    if (character === '*') {
      pieces.push([]);
      continue;
    }
    const piece = pieces[pieces.length - 1]!;
    if (character === '?') {
      piece.push(ANY);
      continue;
    }
    if (character === '\\') {
      i++;
      if (i === characters.length) refuse('invalid_request', 'a glob may not end in a lone backslash');
      character = characters[i]!;
    }
    piece.push(...encoder.encode(caseInsensitive ? character.toLowerCase() : character));
  }
  return pieces.map((piece) => Uint16Array.from(piece));
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** The position after the code point whose first byte stands at `at`. */
function nextCodePoint(bytes: Uint8Array, at: number, end: number): number {
  do at++;
  while (at < end && isContinuation(bytes[at]!));
  return at;
}
