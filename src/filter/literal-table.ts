/**
 * Literals of many filters under one path or header key, to be found by the value of a slot in constant time.
 *
 * Finding allocates nothing. Texts are compared as bytes, integers exactly; the hash only picks a chain, so texts made to
 * collide cost what comparing them one by one would.
 */
import type { PayloadWalker } from '../codec/walker.js';
import {
  SLOT_DOUBLE,
  SLOT_FALSE,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_NEGATIVE_WIDE,
  type Slots,
  SLOT_STRING,
  SLOT_STRING_ESCAPED,
  SLOT_TRUE,
} from '../core/slots.js';
import { CompareLiteral } from './compare.js';
import type { LiteralKind } from './equality.js';
import type { Scalar } from './ir.js';

/** The value is of the literals' kind and none of them: every equality over this table is decided, and none matches. */
export const ABSENT = -1;
/** The value is missing, null or of another kind: no equality over this table matches, and none is decided. */
export const UNDECIDED = -2;
/** The value may equal a literal in a way that this table does not know. */
export const UNKNOWN_VALUE = -3;

export interface LiteralTable {
  /** The place of the literal that the value at `index` of `slots` equals, or ABSENT, UNDECIDED, UNKNOWN_VALUE. */
  find(bytes: Uint8Array, slots: Slots, index: number, walker: PayloadWalker | null): number;
}

/** A table over distinct literals of one kind; what it finds is their place in the list. */
export function literalTable(kind: LiteralKind, literals: readonly Scalar[]): LiteralTable {
  const prepared = literals.map((literal) => new CompareLiteral(literal));
  switch (kind) {
    case 'string':
      return new TextTable(prepared.map(({ bytes }) => bytes));
    case 'integer':
      return new IntegerTable(prepared.map(({ number, numberForm }) => (numberForm === 0 ? number : NaN)));
    case 'boolean':
      return new BooleanTable(prepared.map(({ boolean }) => boolean));
  }
}

/** Places in chains by hash; the caller compares. */
class Chains {
  readonly first: Int32Array;
  readonly next: Int32Array;
  readonly mask: number;

  constructor(count: number) {
    let size = 1;
    while (size < count * 2) size *= 2;
    this.first = new Int32Array(size).fill(ABSENT);
    this.next = new Int32Array(count).fill(ABSENT);
    this.mask = size - 1;
  }

  add(hash: number, place: number): void {
    this.next[place] = this.first[hash & this.mask]!;
    this.first[hash & this.mask] = place;
  }
}

class TextTable implements LiteralTable {
  private readonly texts: readonly Uint8Array[];
  private readonly chains: Chains;
  /** Longer texts equal none and are not hashed. */
  private readonly lengthMax: number;

  constructor(texts: readonly Uint8Array[]) {
    this.texts = texts;
    this.chains = new Chains(texts.length);
    this.lengthMax = texts.reduce((longest, { length }) => Math.max(longest, length), 0);
    for (const [place, text] of texts.entries()) this.chains.add(hashOf(text, 0, text.length), place);
  }

  find(bytes: Uint8Array, slots: Slots, index: number, walker: PayloadWalker | null): number {
    const kind = slots.kinds[index];
    if (kind === SLOT_STRING) return this.placeOf(bytes, slots.starts[index]!, slots.ends[index]!);
    if (kind !== SLOT_STRING_ESCAPED) return UNDECIDED;
    const length = walker!.unescape(bytes, slots.starts[index]!, slots.ends[index]!);
    return this.placeOf(walker!.unescaped, 0, length);
  }

  private placeOf(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    // PERF: a hash costs more than the comparison that it could save.
    if (this.texts.length === 1) return isText(this.texts[0]!, bytes, start, length) ? 0 : ABSENT;
    if (length > this.lengthMax) return ABSENT;
    const { first, next, mask } = this.chains;
    let place = first[hashOf(bytes, start, end) & mask]!;
    while (place !== ABSENT) {
      if (isText(this.texts[place]!, bytes, start, length)) return place;
      place = next[place]!;
    }
    return ABSENT;
  }
}

/** True if `bytes` hold `text` in the `length` bytes from `start`. */
function isText(text: Uint8Array, bytes: Uint8Array, start: number, length: number): boolean {
  if (text.length !== length) return false;
  let at = 0;
  while (at < length && text[at] === bytes[start + at]) at++;
  return at === length;
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash ^ (hash >>> 15);
}

/** Integers that doubles hold exactly; a wider literal stands as NaN, which no such value equals. */
class IntegerTable implements LiteralTable {
  private readonly numbers: Float64Array;
  private readonly chains: Chains;
  private readonly hasWide: boolean;

  constructor(numbers: readonly number[]) {
    this.numbers = Float64Array.from(numbers);
    this.chains = new Chains(numbers.length);
    this.hasWide = numbers.some(Number.isNaN);
    for (const [place, number] of numbers.entries()) {
      if (!Number.isNaN(number)) this.chains.add(hashOfNumber(number), place);
    }
  }

  find(_bytes: Uint8Array, slots: Slots, index: number): number {
    switch (slots.kinds[index]) {
      case SLOT_INTEGER:
        break;
      case SLOT_DOUBLE:
        // A double may equal a wide literal or, as NaN, be ordered with none.
        if (this.hasWide || !Number.isFinite(slots.numbers[index]!)) return UNKNOWN_VALUE;
        break;
      case SLOT_INTEGER_WIDE:
      case SLOT_NEGATIVE_WIDE:
        return this.hasWide ? UNKNOWN_VALUE : ABSENT;
      default:
        return UNDECIDED;
    }
    const { first, next, mask } = this.chains;
    const value = slots.numbers[index]!;
    let place = first[hashOfNumber(value) & mask]!;
    while (place !== ABSENT) {
      if (this.numbers[place] === value) return place;
      place = next[place]!;
    }
    return ABSENT;
  }
}

/** Of a finite double; equal numbers have equal hashes, −0 and 0 too. */
function hashOfNumber(value: number): number {
  const hash = Math.imul((value | 0) ^ Math.imul((value / 0x1_0000_0000) | 0, 0x85ebca6b), 0x9e3779b1);
  return hash ^ (hash >>> 15);
}

class BooleanTable implements LiteralTable {
  private readonly whenFalse: number;
  private readonly whenTrue: number;

  constructor(literals: readonly boolean[]) {
    this.whenFalse = literals.indexOf(false);
    this.whenTrue = literals.indexOf(true);
  }

  find(_bytes: Uint8Array, slots: Slots, index: number): number {
    const kind = slots.kinds[index];
    return kind === SLOT_TRUE ? this.whenTrue : kind === SLOT_FALSE ? this.whenFalse : UNDECIDED;
  }
}
