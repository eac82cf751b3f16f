/**
 * Search for a literal in bytes, in linear time whatever the literal and the subject (Knuth–Morris–Pratt): each byte of
 * the subject is compared at most twice, so a hostile pair costs no more than a friendly one.
 *
 * Bytes of the subject are seen through a fold table; the literal must already be folded by the same table.
 */

/** Fold table that leaves every byte as it is. */
export const SAME_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** Fold table that lowers `A` … `Z` and leaves every other byte as it is. */
export const LOWER_ASCII = SAME_BYTES.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));

export class LiteralSearch {
  readonly #literal: Uint8Array;
  readonly #fold: Uint8Array;
  /** For each length of a partial match: how much of it survives when the next byte does not fit. */
  readonly #shorter: Int32Array;

  constructor(literal: Uint8Array, fold: Uint8Array) {
    this.#literal = literal;
    this.#fold = fold;
    this.#shorter = new Int32Array(literal.length + 1);
    for (let i = 1, matched = 0; i < literal.length; i++) {
      while (matched > 0 && literal[i] !== literal[matched]) matched = this.#shorter[matched]!;
      if (literal[i] === literal[matched]) matched++;
      this.#shorter[i + 1] = matched;
    }
  }

  /** True if the literal stands somewhere in `bytes[start, end)`; an empty one always does. */
  test(bytes: Uint8Array, start: number, end: number): boolean {
    return this.endOfFirst(bytes, start, end) >= 0;
  }

  /** The position after the leftmost occurrence in `bytes[start, end)`, or −1. */
  endOfFirst(bytes: Uint8Array, start: number, end: number): number {
    const literal = this.#literal;
    const fold = this.#fold;
    const shorter = this.#shorter;
    const length = literal.length;
    if (length === 0) return start;
    const first = literal[0]!;
    let matched = 0;
    for (let i = start; i < end; i++) {
      const byte = fold[bytes[i]!]!;
      if (matched === 0) {
        if (byte !== first) continue;
      } else {
        while (matched > 0 && byte !== literal[matched]) matched = shorter[matched]!;
        if (byte !== literal[matched]) continue;
      }
      if (++matched === length) return i + 1;
    }
    return -1;
  }
}
