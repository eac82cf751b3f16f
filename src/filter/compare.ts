/**
 * The comparison table of the filter languages (contract: laser-filter §3 "Comparison of a payload field").
 *
 * Which value can be compared with which literal under which operator stands here once, as data, for both evaluators;
 * so do the order of exact numbers and what an operator makes of an order. It knows no paths, records or policies, and
 * nothing here allocates after a filter's literals have been prepared.
 *
 * Invariants: an integer and a double are ordered only if the integer is exactly a double; NaN is ordered with nothing;
 * anything unordered is undecidable, which is never a mismatch.
 */
import { SLOT_DOUBLE, SLOT_INTEGER, SLOT_NEGATIVE_WIDE } from '../core/slots.js';
import type { Slots } from '../core/slots.js';
import { MATCH, NO_MATCH, UNKNOWN } from '../core/truth.js';
import type { Truth } from '../core/truth.js';
import type { CompareOp, Scalar } from './ir.js';

/** What a present value is, as far as comparing goes; literals use the first four. */
export const CLASS_NULL = 0;
export const CLASS_BOOLEAN = 1;
/** Integers and doubles alike. */
export const CLASS_NUMBER = 2;
export const CLASS_STRING = 3;
export const CLASS_ARRAY = 4;
/** Objects, and header values that are neither typed nor text. */
export const CLASS_COMPOSITE = 5;

export type ValueClass = 0 | 1 | 2 | 3 | 4 | 5;

const CLASS_COUNT = 6;

/** Operators as small integers, for tables and the scan loop. */
export const OP_EQ = 0;
export const OP_NE = 1;
export const OP_LT = 2;
export const OP_LTE = 3;
export const OP_GT = 4;
export const OP_GTE = 5;
/** One item of `in`; an item decides like `eq`. */
export const OP_IN = 6;
export const OP_CONTAINS = 7;
export const OP_PREFIX = 8;

export type OpCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** In the order of their codes. */
const OPS: readonly CompareOp[] = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'contains', 'prefix'];

export function opCode(op: CompareOp): OpCode {
  return OPS.indexOf(op) as OpCode;
}

/** Compare the two: numbers and booleans by order, strings by order or, under `contains` and `prefix`, as text. */
export const PAIR_COMPARED = 0;
/** Equal without looking: null and null. */
export const PAIR_EQUAL = 1;
/** Unequal without looking: any present value that is not null, and a null literal. */
export const PAIR_UNEQUAL = 2;
/** A null and another literal: the leaf says what that yields. */
export const PAIR_NULL_VALUE = 3;
/** The types fit but the operator means nothing for them: not decided, and no mismatch. */
export const PAIR_UNDECIDABLE = 4;
/** Different types, or a composite: not decided, and a mismatch. */
export const PAIR_MISMATCH = 5;
/** An array under `contains`: match if some element pairs as `eq` and is equal, else no match. */
export const PAIR_ELEMENTS = 6;

export type Pairing = 0 | 1 | 2 | 3 | 4 | 5 | 6;

const PAIRINGS = new Uint8Array(CLASS_COUNT * CLASS_COUNT * OPS.length);

for (let value = 0; value < CLASS_COUNT; value++) {
  for (let literal = 0; literal < CLASS_COUNT; literal++) {
    for (let op = 0; op < OPS.length; op++) {
      PAIRINGS[place(value, literal, op)] = pairingBySpec(value as ValueClass, literal as ValueClass, op as OpCode);
    }
  }
}

function place(value: number, literal: number, op: number): number {
  return (value * CLASS_COUNT + literal) * OPS.length + op;
}

/** The contract's table, row by row; the scan loop looks it up instead. */
function pairingBySpec(value: ValueClass, literal: ValueClass, op: OpCode): Pairing {
  if (value === CLASS_NULL) return literal === CLASS_NULL ? PAIR_EQUAL : PAIR_NULL_VALUE;
  if (literal === CLASS_NULL) return PAIR_UNEQUAL;
  if (value === CLASS_ARRAY && op === OP_CONTAINS) return PAIR_ELEMENTS;
  if (value === CLASS_ARRAY || value === CLASS_COMPOSITE || value !== literal) return PAIR_MISMATCH;
  if (value === CLASS_STRING) return PAIR_COMPARED;
  if (op === OP_EQ || op === OP_NE || op === OP_IN) return PAIR_COMPARED;
  const ordering = op !== OP_CONTAINS && op !== OP_PREFIX;
  return value === CLASS_NUMBER && ordering ? PAIR_COMPARED : PAIR_UNDECIDABLE;
}

/** How a value of class `value` meets a literal of class `literal` (null … string) under `op`. */
export function pairing(value: ValueClass, literal: ValueClass, op: OpCode): Pairing {
  return PAIRINGS[place(value, literal, op)] as Pairing;
}

/** The value stands below, at or above the literal; UNORDERED where that cannot be said. */
export const BELOW = -1;
export const EQUAL = 0;
export const ABOVE = 1;
export const UNORDERED = 2;

export type Order = -1 | 0 | 1 | 2;

/** What `eq … gte` and an item of `in` make of an order. UNORDERED is unknown under every operator, `ne` included. */
export function truthOfOrder(op: OpCode, order: Order): Truth {
  if (order === UNORDERED) return UNKNOWN;
  let holds: boolean;
  switch (op) {
    case OP_NE:
      holds = order !== EQUAL;
      break;
    case OP_LT:
      holds = order === BELOW;
      break;
    case OP_LTE:
      holds = order !== ABOVE;
      break;
    case OP_GT:
      holds = order === ABOVE;
      break;
    case OP_GTE:
      holds = order !== BELOW;
      break;
    default:
      holds = order === EQUAL;
  }
  return holds ? MATCH : NO_MATCH;
}

const FORM_SAFE = 0;
const FORM_WIDE = 1;
const FORM_DOUBLE = 2;

/**
 * A literal prepared once, when its filter is compiled.
 *
 * Integers within ±(2^53−1) and doubles stand in `number`; a wider integer is `high`/`low` (two's complement if
 * `negative`, as in a slot), and its `number` is NaN unless it is exactly a double. `bytes` is the UTF-8 of a string literal.
 */
export class CompareLiteral {
  readonly valueClass: ValueClass;
  readonly boolean: boolean;
  readonly numberForm: 0 | 1 | 2;
  readonly number: number;
  readonly negative: boolean;
  readonly high: number;
  readonly low: number;
  readonly bytes: Uint8Array;

  constructor(scalar: Scalar) {
    const integer = scalar.kind === 'integer' ? scalar.value : 0n;
    const safe = integer >= BigInt(Number.MIN_SAFE_INTEGER) && integer <= BigInt(Number.MAX_SAFE_INTEGER);
    this.valueClass = literalClass(scalar);
    this.boolean = scalar.kind === 'boolean' && scalar.value;
    this.numberForm = scalar.kind === 'double' ? FORM_DOUBLE : safe ? FORM_SAFE : FORM_WIDE;
    this.number = scalar.kind === 'double' ? scalar.value : exactDouble(integer);
    this.negative = integer < 0n;
    this.high = Number(BigInt.asUintN(64, integer) >> 32n);
    this.low = Number(BigInt.asUintN(32, integer));
    this.bytes = new TextEncoder().encode(scalar.kind === 'string' ? scalar.value : '');
  }
}

function exactDouble(integer: bigint): number {
  const nearest = Number(integer);
  return BigInt(nearest) === integer ? nearest : NaN;
}

/** The class of a literal: null, boolean, number or string. */
export function literalClass(scalar: Scalar): ValueClass {
  switch (scalar.kind) {
    case 'null':
      return CLASS_NULL;
    case 'boolean':
      return CLASS_BOOLEAN;
    case 'string':
      return CLASS_STRING;
    default:
      return CLASS_NUMBER;
  }
}

/**
 * Orders the number in `slots[index]` against a number literal: integers exactly, doubles by IEEE (−0.0 equals 0.0,
 * infinities are ordered, NaN is not), and the two kinds only where the integer is exactly a double.
 *
 * It reads the slot itself, because a number that crosses a call may be boxed on the heap.
 */
export function orderNumberAt(slots: Slots, index: number, literal: CompareLiteral): Order {
  const kind = slots.kinds[index];
  let value: number;
  if (kind === SLOT_INTEGER) {
    if (literal.numberForm === FORM_WIDE) return literal.negative ? ABOVE : BELOW;
    // Such an integer is exactly a double, so one comparison serves integer and double literals.
    value = slots.numbers[index]!;
  } else if (kind === SLOT_DOUBLE) {
    value = slots.numbers[index]!;
  } else {
    const isNegative = kind === SLOT_NEGATIVE_WIDE;
    const high = slots.high[index]!;
    const low = slots.low[index]!;
    if (literal.numberForm === FORM_SAFE) return isNegative ? BELOW : ABOVE;
    if (literal.numberForm === FORM_WIDE) {
      if (isNegative !== literal.negative) return isNegative ? BELOW : ABOVE;
      // Within one sign two's complement orders like unsigned words.
      if (high !== literal.high) return high < literal.high ? BELOW : ABOVE;
      return low < literal.low ? BELOW : low > literal.low ? ABOVE : EQUAL;
    }
    const upper = (isNegative ? high - 0x1_0000_0000 : high) * 0x1_0000_0000;
    value = upper + low;
    // One rounding, and the difference is exact: it gives the low word back only if nothing was lost.
    if (value - upper !== low) return UNORDERED;
  }
  const other = literal.number;
  return value < other ? BELOW : value > other ? ABOVE : value === other ? EQUAL : UNORDERED;
}

/** Orders booleans as 0 and 1; only equality is ever asked of it. */
export function orderBoolean(value: boolean, literal: CompareLiteral): Order {
  return value === literal.boolean ? EQUAL : value ? ABOVE : BELOW;
}

/** Orders UTF-8 `bytes[start, end)` and a string literal by bytes, which is the order of code points. */
export function orderText(bytes: Uint8Array, start: number, end: number, literal: CompareLiteral): Order {
  const other = literal.bytes;
  const shared = Math.min(end - start, other.length);
  for (let i = 0; i < shared; i++) {
    const difference = bytes[start + i]! - other[i]!;
    if (difference !== 0) return difference < 0 ? BELOW : ABOVE;
  }
  const length = end - start;
  return length < other.length ? BELOW : length > other.length ? ABOVE : EQUAL;
}
