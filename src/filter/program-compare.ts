/**
 * Typed comparisons as closures over slots (contract: laser-filter §3 "Comparison of a payload field").
 *
 * The table of `compare.ts` says how a value and a literal meet; here the value stays where it is: text as bytes of the
 * payload, unescaped into a kept buffer only where it holds escapes, 64-bit integers as two words.
 */
import type { ElementCursor, SoughtNumber } from '../codec/walker.js';
import {
  SLOT_ARRAY,
  SLOT_DOUBLE,
  SLOT_FALSE,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_MISSING,
  SLOT_NEGATIVE_WIDE,
  SLOT_NULL,
  SLOT_OBJECT,
  SLOT_STRING,
  SLOT_STRING_ESCAPED,
  SLOT_TRUE,
  type Slots,
} from '../core/slots.js';
import { MATCH, NO_MATCH, type Truth, UNKNOWN } from '../core/truth.js';
import {
  CLASS_ARRAY,
  CLASS_BOOLEAN,
  CLASS_COMPOSITE,
  CLASS_NULL,
  CLASS_NUMBER,
  CLASS_STRING,
  CompareLiteral,
  EQUAL,
  OP_CONTAINS,
  OP_EQ,
  OP_IN,
  OP_NE,
  opCode,
  type OpCode,
  type Order,
  orderBoolean,
  orderNumberAt,
  orderText,
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
  type ValueClass,
} from './compare.js';
import type { CompareLeaf, Undecided } from './ir.js';
import { FAULTED, incomparable, type Test } from './program-leaf.js';
import type { SlotSource } from './program-record.js';
import { literalMatcher, TEXT_YES, type TextMatcher } from './text.js';

/** Class of each slot kind; SLOT_MISSING has none and is asked for first. */
const CLASS_OF_KIND = new Uint8Array(SLOT_OBJECT + 1);
CLASS_OF_KIND[SLOT_NULL] = CLASS_NULL;
CLASS_OF_KIND[SLOT_FALSE] = CLASS_BOOLEAN;
CLASS_OF_KIND[SLOT_TRUE] = CLASS_BOOLEAN;
CLASS_OF_KIND[SLOT_INTEGER] = CLASS_NUMBER;
CLASS_OF_KIND[SLOT_INTEGER_WIDE] = CLASS_NUMBER;
CLASS_OF_KIND[SLOT_NEGATIVE_WIDE] = CLASS_NUMBER;
CLASS_OF_KIND[SLOT_DOUBLE] = CLASS_NUMBER;
CLASS_OF_KIND[SLOT_STRING] = CLASS_STRING;
CLASS_OF_KIND[SLOT_STRING_ESCAPED] = CLASS_STRING;
CLASS_OF_KIND[SLOT_ARRAY] = CLASS_ARRAY;
CLASS_OF_KIND[SLOT_OBJECT] = CLASS_COMPOSITE;

function classOf(kind: number): ValueClass {
  return CLASS_OF_KIND[kind] as ValueClass;
}

export function compareTest(source: SlotSource, slot: number, leaf: CompareLeaf): Test {
  const literals = leaf.literals.map((literal) => new CompareLiteral(literal));
  if (leaf.op === 'in') return membershipTest(source, slot, literals, leaf.undecided);
  const literal = literals[0]!;
  const comparison = new Comparison(source, slot, opCode(leaf.op), literal, leaf);
  if (leaf.op === 'eq' && literal.valueClass === CLASS_STRING) {
    return textEqualityTest(source, slot, literal.bytes, comparison);
  }
  return () => {
    if (!source.isReady && !source.load()) return FAULTED;
    return comparison.truth();
  };
}

/** The commonest leaf without a detour: text that is written as it is read, against a text literal. */
function textEqualityTest(source: SlotSource, slot: number, wanted: Uint8Array, otherwise: Comparison): Test {
  const { record, slots } = source;
  const { kinds, starts, ends } = slots;
  const length = wanted.length;
  return () => {
    if (!source.isReady && !source.load()) return FAULTED;
    const index = slots.base + slot;
    if (kinds[index] !== SLOT_STRING) return otherwise.truth();
    const start = starts[index]!;
    if (ends[index]! - start !== length) return NO_MATCH;
    const bytes = record.bytes;
    for (let at = 0; at < length; at++) if (bytes[start + at] !== wanted[at]) return NO_MATCH;
    return MATCH;
  };
}

/** One operator and one literal against one slot. */
class Comparison {
  private readonly source: SlotSource;
  private readonly slot: number;
  private readonly op: OpCode;
  private readonly literal: CompareLiteral;
  private readonly undecided: Undecided;
  /** For `contains` and `prefix` on text. */
  private readonly matcher: TextMatcher | null;
  /** For `contains` of a number in an array. */
  private readonly sought: SoughtNumber | null;

  constructor(source: SlotSource, slot: number, op: OpCode, literal: CompareLiteral, leaf: CompareLeaf) {
    this.source = source;
    this.slot = slot;
    this.op = op;
    this.literal = literal;
    this.undecided = leaf.undecided;
    const scalar = leaf.literals[0]!;
    this.matcher =
      scalar.kind === 'string' && (leaf.op === 'contains' || leaf.op === 'prefix')
        ? literalMatcher(leaf.op, scalar.value)
        : null;
    const seeks = op === OP_CONTAINS && literal.valueClass === CLASS_NUMBER && !Number.isNaN(literal.number);
    this.sought = seeks && source.walker !== null ? source.walker.elements.seek(literal.number) : null;
  }

  truth(): Truth {
    const { source, op, literal, undecided } = this;
    const { slots } = source;
    const index = slots.base + this.slot;
    const kind = slots.kinds[index]!;
    if (kind === SLOT_MISSING) return undecided.missing;
    switch (pairing(classOf(kind), literal.valueClass, op)) {
      case PAIR_COMPARED:
        if (this.matcher !== null) return this.textTruth(this.matcher, index);
        return truthOfOrder(op, orderAt(source, slots, index, literal));
      case PAIR_EQUAL:
        return op === OP_NE ? NO_MATCH : MATCH;
      case PAIR_UNEQUAL:
        return op === OP_NE ? MATCH : NO_MATCH;
      case PAIR_NULL_VALUE:
        return undecided.nullValue;
      case PAIR_UNDECIDABLE:
        return undecided.incomparable;
      case PAIR_ELEMENTS:
        return this.hasElement(source.walker!.elements, index) ? MATCH : NO_MATCH;
      case PAIR_MISMATCH:
        return incomparable(source, undecided);
    }
  }

  private textTruth(matcher: TextMatcher, index: number): Truth {
    const { record, slots, walker } = this.source;
    const start = slots.starts[index]!;
    const end = slots.ends[index]!;
    if (slots.kinds[index] === SLOT_STRING) {
      return matcher.match(record.bytes, start, end) === TEXT_YES ? MATCH : NO_MATCH;
    }
    const length = walker!.unescape(record.bytes, start, end);
    return matcher.match(walker!.unescaped, 0, length) === TEXT_YES ? MATCH : NO_MATCH;
  }

  /** True if some element of the array at `index` equals the literal; elements of other types never do. */
  private hasElement(elements: ElementCursor, index: number): boolean {
    const { source, literal } = this;
    const { kinds, starts, ends } = elements.slots;
    const wantedLength = literal.bytes.length;
    const { starts: from, ends: to, base } = source.slots;
    elements.open(source.record.bytes, from[index]!, to[index]!, this.sought, index - base);
    while (elements.next()) {
      // PERF: most elements are text of another length than the literal's.
      if (kinds[0] === SLOT_STRING && ends[0]! - starts[0]! !== wantedLength) continue;
      const pair = pairing(classOf(kinds[0]!), literal.valueClass, OP_EQ);
      if (pair === PAIR_COMPARED && orderAt(source, elements.slots, 0, literal) === EQUAL) return true;
    }
    return false;
  }
}

/** `in`: match if any item equals; a mismatch only if no item's type can be compared with the value's. */
function membershipTest(
  source: SlotSource,
  slot: number,
  items: readonly CompareLiteral[],
  undecided: Undecided,
): Test {
  const { slots } = source;
  const { kinds } = slots;
  return () => {
    if (!source.isReady && !source.load()) return FAULTED;
    const index = slots.base + slot;
    const kind = kinds[index]!;
    if (kind === SLOT_MISSING) return undecided.missing;
    if (kind === SLOT_NULL) return undecided.nullValue;
    let isUndecided = false;
    let isComparable = false;
    for (let place = 0; place < items.length; place++) {
      const item = items[place]!;
      if (pairing(classOf(kind), item.valueClass, OP_IN) !== PAIR_COMPARED) {
        isUndecided ||= undecided.incomparable === UNKNOWN;
        continue;
      }
      isComparable = true;
      const order = orderAt(source, slots, index, item);
      if (order === EQUAL) return MATCH;
      isUndecided ||= order === UNORDERED;
    }
    if (!isComparable) return incomparable(source, undecided);
    return isUndecided ? UNKNOWN : NO_MATCH;
  };
}

/** Orders the scalar at `index` of `slots` against a literal of its own class. */
function orderAt(source: SlotSource, slots: Slots, index: number, literal: CompareLiteral): Order {
  switch (slots.kinds[index]) {
    case SLOT_STRING:
      return orderText(source.record.bytes, slots.starts[index]!, slots.ends[index]!, literal);
    case SLOT_STRING_ESCAPED: {
      const walker = source.walker!;
      const length = walker.unescape(source.record.bytes, slots.starts[index]!, slots.ends[index]!);
      return orderText(walker.unescaped, 0, length, literal);
    }
    case SLOT_FALSE:
      return orderBoolean(false, literal);
    case SLOT_TRUE:
      return orderBoolean(true, literal);
    default:
      return orderNumberAt(slots, index, literal);
  }
}
