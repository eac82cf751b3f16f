/**
 * Leaves as closures over slots (contract: laser-filter §3): presence, coerced comparisons and text matches here, plain
 * comparisons in `program-compare.ts`.
 *
 * A test answers a truth, or FAULTED with the reason in the record, which every node above hands on at once. What can be
 * prepared when the filter is compiled is; a test allocates nothing.
 */
import {
  SLOT_DOUBLE,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_MISSING,
  SLOT_NEGATIVE_WIDE,
  SLOT_NULL,
  SLOT_STRING,
  SLOT_STRING_ESCAPED,
} from '../core/slots.js';
import { MATCH, NO_MATCH, type Truth } from '../core/truth.js';
import { TOO_LARGE } from '../core/verdict.js';
import { Decimal, decimalOfDouble, decimalOfWideInteger, orderDecimals, parseDecimal } from './coerce-decimal.js';
import { Instant, instantOfInteger, instantOfWideInteger, orderInstants, parseInstant } from './coerce-instant.js';
import { decimalLiteral, instantLiteral } from './coerce.js';
import { ABOVE, BELOW, opCode, type Order, truthOfOrder } from './compare.js';
import type { CoerceLeaf, PresenceLeaf, TextLeaf, TimestampFormat, Undecided } from './ir.js';
import type { SlotSource } from './program-record.js';
import type { RegexEngine } from './regex.js';
import { compileText, TEXT_TOO_LARGE, TEXT_YES } from './text.js';

/** No truth: the record holds a fault, and the evaluation of this filter ends. */
export const FAULTED = 3;

/** A node that can be asked about the current record: a {@link Truth}, or {@link FAULTED}. */
export type Test = () => number;

/** What the leaf yields for a value it cannot compare. */
export function incomparable(source: SlotSource, undecided: Undecided): Truth {
  if (undecided.flagsMismatch) source.record.mismatch = true;
  return undecided.incomparable;
}

export function presenceTest(source: SlotSource, slot: number, leaf: PresenceLeaf): Test {
  const { slots } = source;
  const { kinds } = slots;
  const whenThere = leaf.wanted ? MATCH : NO_MATCH;
  const whenMissing = leaf.wanted ? NO_MATCH : MATCH;
  return () => {
    if (!source.isReady && !source.load()) return FAULTED;
    return kinds[slots.base + slot] === SLOT_MISSING ? whenMissing : whenThere;
  };
}

export function textTest(source: SlotSource, slot: number, leaf: TextLeaf, regex: RegexEngine): Test {
  const matcher = compileText(leaf.kind, leaf.pattern, leaf.caseInsensitive, regex);
  const { record, slots, walker } = source;
  const { kinds, starts, ends } = slots;
  const { undecided } = leaf;
  return () => {
    if (!source.isReady && !source.load()) return FAULTED;
    const index = slots.base + slot;
    let answer;
    switch (kinds[index]) {
      case SLOT_STRING:
        answer = matcher.match(record.bytes, starts[index]!, ends[index]!);
        break;
      case SLOT_STRING_ESCAPED: {
        const length = walker!.unescape(record.bytes, starts[index]!, ends[index]!);
        answer = matcher.match(walker!.unescaped, 0, length);
        break;
      }
      case SLOT_MISSING:
        return undecided.missing;
      case SLOT_NULL:
        return undecided.nullValue;
      default:
        return incomparable(source, undecided);
    }
    if (answer === TEXT_TOO_LARGE) {
      record.fault = TOO_LARGE;
      return FAULTED;
    }
    return answer === TEXT_YES ? MATCH : NO_MATCH;
  };
}

/** A value read under a coercion and ordered against the prepared literals. */
interface CoercedValue {
  /** Takes the present, non-null value at `index` of the slots; false if it does not parse. */
  read(index: number): boolean;
  /** Orders the value that was read against literal `place`. */
  order(place: number): Order;
}

export function coerceTest(source: SlotSource, slot: number, leaf: CoerceLeaf): Test {
  const { coercion, undecided } = leaf;
  const value =
    coercion.kind === 'number' ? new CoercedDecimal(source, leaf) : new CoercedInstant(source, leaf, coercion.format);
  const { slots } = source;
  const { kinds } = slots;
  const op = opCode(leaf.op);
  const count = leaf.literals.length;
  return () => {
    if (!source.isReady && !source.load()) return FAULTED;
    const index = slots.base + slot;
    const kind = kinds[index];
    if (kind === SLOT_MISSING) return undecided.missing;
    if (kind === SLOT_NULL) return undecided.nullValue;
    if (!value.read(index)) return incomparable(source, undecided);
    // Coerced values are always ordered, so an `in` that misses is a plain no.
    for (let place = 0; place < count; place++) {
      const truth = truthOfOrder(op, value.order(place));
      if (count === 1 || truth === MATCH) return truth;
    }
    return NO_MATCH;
  };
}

class CoercedDecimal implements CoercedValue {
  private readonly source: SlotSource;
  private readonly literals: readonly Decimal[];
  /**
   * The nearest double of each literal, and how that double's shortest decimal stands to the literal. Shortest decimals
   * order like their doubles, and a literal lies in the rounding interval of its own nearest double: so a double is
   * ordered against a literal without ever writing its decimal. An integer within ±(2^53−1) is the shortest decimal of
   * the double it equals, and takes the same way.
   */
  private readonly nearest: Float64Array;
  private readonly nearestOrder: Int8Array;
  private readonly value = new Decimal();
  private isDouble = false;
  private double = 0;

  constructor(source: SlotSource, leaf: CoerceLeaf) {
    this.source = source;
    const literals = leaf.literals.map((literal) => decimalLiteral(literal)!);
    this.literals = literals;
    this.nearest = new Float64Array(literals.length);
    this.nearestOrder = new Int8Array(literals.length);
    for (const [index, literal] of literals.entries()) {
      const nearest = nearestDouble(literal);
      this.nearest[index] = nearest;
      if (!Number.isFinite(nearest)) continue;
      decimalOfDouble(nearest, this.value);
      this.nearestOrder[index] = orderDecimals(this.value, literal);
    }
  }

  read(index: number): boolean {
    const { slots, record, walker } = this.source;
    this.isDouble = false;
    switch (slots.kinds[index]) {
      case SLOT_STRING:
        return parseDecimal(record.bytes, slots.starts[index]!, slots.ends[index]!, this.value);
      case SLOT_STRING_ESCAPED: {
        const length = walker!.unescape(record.bytes, slots.starts[index]!, slots.ends[index]!);
        return parseDecimal(walker!.unescaped, 0, length, this.value);
      }
      case SLOT_INTEGER_WIDE:
        decimalOfWideInteger(false, slots.high[index]! | 0, slots.low[index]! | 0, this.value);
        return true;
      case SLOT_NEGATIVE_WIDE:
        decimalOfWideInteger(true, slots.high[index]! | 0, slots.low[index]! | 0, this.value);
        return true;
      case SLOT_INTEGER:
      case SLOT_DOUBLE:
        this.isDouble = true;
        this.double = slots.numbers[index]!;
        return Number.isFinite(this.double);
      default:
        return false;
    }
  }

  order(place: number): Order {
    if (!this.isDouble) return orderDecimals(this.value, this.literals[place]!);
    const nearest = this.nearest[place]!;
    if (this.double === nearest) return this.nearestOrder[place] as Order;
    return this.double < nearest ? BELOW : ABOVE;
  }
}

function nearestDouble(decimal: Decimal): number {
  const digits = decimal.digits.subarray(0, decimal.length).join('');
  const magnitude = digits === '' ? 0 : Number(`0.${digits}e${decimal.exponent}`);
  return decimal.negative ? -magnitude : magnitude;
}

class CoercedInstant implements CoercedValue {
  private readonly source: SlotSource;
  private readonly format: TimestampFormat;
  private readonly literals: readonly Instant[];
  private readonly value = new Instant();

  constructor(source: SlotSource, leaf: CoerceLeaf, format: TimestampFormat) {
    this.source = source;
    this.format = format;
    this.literals = leaf.literals.map((literal) => instantLiteral(literal, format)!);
  }

  read(index: number): boolean {
    const { slots, record, walker } = this.source;
    const { format, value } = this;
    switch (slots.kinds[index]) {
      case SLOT_STRING:
        return parseInstant(record.bytes, slots.starts[index]!, slots.ends[index]!, format, value);
      case SLOT_STRING_ESCAPED: {
        const length = walker!.unescape(record.bytes, slots.starts[index]!, slots.ends[index]!);
        return parseInstant(walker!.unescaped, 0, length, format, value);
      }
      case SLOT_INTEGER:
        return instantOfInteger(slots.numbers, index, format, value);
      case SLOT_INTEGER_WIDE:
        return instantOfWideInteger(false, slots.high[index]! | 0, slots.low[index]! | 0, format, value);
      case SLOT_NEGATIVE_WIDE:
        return instantOfWideInteger(true, slots.high[index]! | 0, slots.low[index]! | 0, format, value);
      default:
        return false;
    }
  }

  order(place: number): Order {
    return orderInstants(this.value, this.literals[place]!);
  }
}
