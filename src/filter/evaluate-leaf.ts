/**
 * The obvious evaluator's leaves: one predicate about one value, as the contract's tables say it (laser-filter §3).
 *
 * It works on plain values and shares with the fast program only the tables of comparison, coercion and text; how a
 * leaf is walked, what it yields and when it flags a mismatch is written here once more, to be read beside the contract.
 *
 * Invariant: judging has no memory. Whether a mismatch marks the record is the caller's business.
 */
import { MATCH, NO_MATCH } from '../core/truth.js';
import type { Truth } from '../core/truth.js';
import type { Value } from '../codec/value.js';
import { Decimal, decimalOfDouble, orderDecimals } from './coerce-decimal.js';
import { Instant, orderInstants } from './coerce-instant.js';
import { decimalLiteral, instantLiteral } from './coerce.js';
import {
  ABOVE,
  BELOW,
  CLASS_ARRAY,
  CLASS_BOOLEAN,
  CLASS_COMPOSITE,
  CLASS_NULL,
  CLASS_NUMBER,
  CLASS_STRING,
  EQUAL,
  literalClass,
  opCode,
  PAIR_COMPARED,
  PAIR_ELEMENTS,
  PAIR_EQUAL,
  PAIR_MISMATCH,
  PAIR_NULL_VALUE,
  PAIR_UNDECIDABLE,
  PAIR_UNEQUAL,
  pairing,
  truthOfOrder,
  UNORDERED,
} from './compare.js';
import type { Order, ValueClass } from './compare.js';
import type { CoerceLeaf, CompareLeaf, CompareOp, Leaf, Scalar, TextLeaf, TimestampFormat, Undecided } from './ir.js';
import type { RegexEngine } from './regex.js';
import { compileText, TEXT_TOO_LARGE, TEXT_YES } from './text.js';
import type { TextMatcher } from './text.js';

/** What a leaf looks at: a value, the bytes of a composite header, or undefined where there is none. */
export type Subject = Value | Uint8Array | undefined;

/** What a leaf says of a subject, and whether the subject is of a type that it cannot compare. */
export interface Judgement {
  readonly truth: Truth;
  readonly mismatch: boolean;
}

/** A text over the bound of `regex`: the record is a fault `too_large`. */
export const SUBJECT_TOO_LARGE = Symbol('subject too large');

/** Judges subjects under one leaf; what can be prepared (patterns, literals) is prepared once. */
export type LeafJudge = (subject: Subject) => Judgement | typeof SUBJECT_TOO_LARGE;

/** The judge of a leaf. Throws a `Refusal` for a pattern that does not compile. */
export function leafJudge(leaf: Leaf, regex: RegexEngine): LeafJudge {
  switch (leaf.node) {
    case 'presence':
      return (subject) => decided((subject !== undefined) === leaf.wanted);
    case 'compare':
      return (subject) => judgeComparison(leaf, subject);
    case 'coerce':
      return coercedJudge(leaf);
    case 'text': {
      const matcher = compileText(leaf.kind, leaf.pattern, leaf.caseInsensitive, regex);
      return (subject) => judgeText(leaf, matcher, subject);
    }
  }
}

function decided(holds: boolean): Judgement {
  return undecided(holds ? MATCH : NO_MATCH);
}

function undecided(truth: Truth): Judgement {
  return { truth, mismatch: false };
}

function incomparable(rules: Undecided): Judgement {
  return { truth: rules.incomparable, mismatch: rules.flagsMismatch };
}

function judgeComparison(leaf: CompareLeaf, subject: Subject): Judgement {
  if (subject === undefined) return undecided(leaf.undecided.missing);
  if (leaf.op === 'in') return judgeIn(leaf, subject);
  return judgeOne(leaf, subject, leaf.literals[0]!);
}

/** Match if any item equals; else unknown if some item could not be compared; a mismatch only if no item's type fits. */
function judgeIn(leaf: CompareLeaf, subject: Value | Uint8Array): Judgement {
  const items = leaf.literals.map((literal) => judgeOne(leaf, subject, literal));
  if (items.some(({ truth }) => truth === MATCH)) return decided(true);
  const open = items.find(({ truth }) => truth !== NO_MATCH);
  if (open === undefined) return decided(false);
  return { truth: open.truth, mismatch: items.every(({ mismatch }) => mismatch) };
}

function judgeOne(leaf: CompareLeaf, subject: Value | Uint8Array, literal: Scalar): Judgement {
  switch (pairing(classOf(subject), literalClass(literal), opCode(leaf.op))) {
    case PAIR_EQUAL:
      return decided(leaf.op !== 'ne');
    case PAIR_UNEQUAL:
      return decided(leaf.op === 'ne');
    case PAIR_NULL_VALUE:
      return undecided(leaf.undecided.nullValue);
    case PAIR_UNDECIDABLE:
      return undecided(leaf.undecided.incomparable);
    case PAIR_MISMATCH:
      return incomparable(leaf.undecided);
    case PAIR_ELEMENTS:
      return decided((subject as Value[]).some((element) => isEqual(element, literal)));
    case PAIR_COMPARED:
      return undecided(compare(subject, leaf.op, literal));
  }
}

/** An element of another type, or of no decidable order, is simply not equal. */
function isEqual(element: Value, literal: Scalar): boolean {
  return (
    pairing(classOf(element), literalClass(literal), opCode('eq')) === PAIR_COMPARED &&
    compare(element, 'eq', literal) === MATCH
  );
}

/** Of two values whose types fit. */
function compare(subject: Value | Uint8Array, op: CompareOp, literal: Scalar): Truth {
  if (typeof subject === 'string' && literal.kind === 'string') {
    if (op === 'contains') return subject.includes(literal.value) ? MATCH : NO_MATCH;
    if (op === 'prefix') return subject.startsWith(literal.value) ? MATCH : NO_MATCH;
    return truthOfOrder(opCode(op), orderTexts(subject, literal.value));
  }
  if (typeof subject === 'boolean' && literal.kind === 'boolean') {
    return truthOfOrder(opCode(op), orderNumbers(Number(subject), Number(literal.value)));
  }
  return truthOfOrder(
    opCode(op),
    orderNumbers(subject as bigint | number, (literal as { value: bigint | number }).value),
  );
}

/** By code points, which is the order of UTF-8 bytes and not that of UTF-16 units. */
function orderTexts(a: string, b: string): Order {
  const left = Array.from(a, (character) => character.codePointAt(0)!);
  const right = Array.from(b, (character) => character.codePointAt(0)!);
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    if (left[i] !== right[i]) return orderNumbers(left[i]!, right[i]!);
  }
  return orderNumbers(left.length, right.length);
}

/** Integers exactly, doubles by IEEE; an integer that is no exact double is unordered with every double, as NaN is. */
function orderNumbers(a: bigint | number, b: bigint | number): Order {
  if (typeof a !== typeof b) {
    const integer = typeof a === 'bigint' ? a : (b as bigint);
    if (BigInt(Number(integer)) !== integer) return UNORDERED;
    return orderNumbers(Number(a), Number(b));
  }
  return a < b ? BELOW : a > b ? ABOVE : a === b ? EQUAL : UNORDERED;
}

function classOf(subject: Value | Uint8Array): ValueClass {
  if (subject === null) return CLASS_NULL;
  if (Array.isArray(subject)) return CLASS_ARRAY;
  switch (typeof subject) {
    case 'boolean':
      return CLASS_BOOLEAN;
    case 'bigint':
    case 'number':
      return CLASS_NUMBER;
    case 'string':
      return CLASS_STRING;
    default:
      return CLASS_COMPOSITE;
  }
}

function coercedJudge(leaf: CoerceLeaf): LeafJudge {
  const { coercion } = leaf;
  if (coercion.kind === 'number') {
    const literals = leaf.literals.map((literal) => decimalLiteral(literal)!);
    return (subject) =>
      judgeCoerced(leaf, subject, decimalOf, (value) => literals.map((one) => orderDecimals(value, one)));
  }
  const literals = leaf.literals.map((literal) => instantLiteral(literal, coercion.format)!);
  const read = (subject: Value | Uint8Array): Instant | undefined => instantOf(subject, coercion.format);
  return (subject) => judgeCoerced(leaf, subject, read, (value) => literals.map((one) => orderInstants(value, one)));
}

/** A value that does not parse is a mismatch; one that does is always decided, under `in` too. */
function judgeCoerced<T>(
  leaf: CoerceLeaf,
  subject: Subject,
  read: (subject: Value | Uint8Array) => T | undefined,
  orders: (value: T) => Order[],
): Judgement {
  if (subject === undefined) return undecided(leaf.undecided.missing);
  if (subject === null) return undecided(leaf.undecided.nullValue);
  const value = read(subject);
  if (value === undefined) return incomparable(leaf.undecided);
  return decided(orders(value).some((order) => truthOfOrder(opCode(leaf.op), order) === MATCH));
}

function decimalOf(subject: Value | Uint8Array): Decimal | undefined {
  if (typeof subject === 'string') return decimalLiteral({ kind: 'string', value: subject });
  if (typeof subject === 'bigint') return decimalLiteral({ kind: 'integer', value: subject });
  if (typeof subject !== 'number' || !Number.isFinite(subject)) return undefined;
  const decimal = new Decimal();
  decimalOfDouble(subject, decimal);
  return decimal;
}

function instantOf(subject: Value | Uint8Array, format: TimestampFormat): Instant | undefined {
  if (typeof subject === 'string') return instantLiteral({ kind: 'string', value: subject }, format);
  if (typeof subject === 'bigint') return instantLiteral({ kind: 'integer', value: subject }, format);
  return undefined;
}

function judgeText(leaf: TextLeaf, matcher: TextMatcher, subject: Subject): Judgement | typeof SUBJECT_TOO_LARGE {
  if (subject === undefined) return undecided(leaf.undecided.missing);
  if (subject === null) return undecided(leaf.undecided.nullValue);
  if (typeof subject !== 'string') return incomparable(leaf.undecided);
  const utf8 = new TextEncoder().encode(subject);
  const answer = matcher.match(utf8, 0, utf8.length);
  return answer === TEXT_TOO_LARGE ? SUBJECT_TOO_LARGE : decided(answer === TEXT_YES);
}
