/** The comparison tables against brute force over every kind, literal and operator. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Slots, SLOT_DOUBLE, SLOT_INTEGER, SLOT_INTEGER_WIDE, SLOT_NEGATIVE_WIDE } from '../../src/core/slots.js';
import { MATCH, NO_MATCH, UNKNOWN } from '../../src/core/truth.js';
import {
  CLASS_ARRAY,
  CLASS_BOOLEAN,
  CLASS_COMPOSITE,
  CLASS_NULL,
  CLASS_NUMBER,
  CLASS_STRING,
  CompareLiteral,
  opCode,
  orderBoolean,
  orderNumberAt,
  orderText,
  pairing,
  PAIR_COMPARED,
  PAIR_ELEMENTS,
  PAIR_EQUAL,
  PAIR_MISMATCH,
  PAIR_NULL_VALUE,
  PAIR_UNDECIDABLE,
  PAIR_UNEQUAL,
  truthOfOrder,
  UNORDERED,
} from '../../src/filter/compare.js';
import type { Order } from '../../src/filter/compare.js';
import type { CompareOp, Scalar } from '../../src/filter/ir.js';

const OPS = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'contains', 'prefix'] as const;
const VALUES = [CLASS_NULL, CLASS_BOOLEAN, CLASS_NUMBER, CLASS_STRING, CLASS_ARRAY, CLASS_COMPOSITE] as const;
const LITERALS = [CLASS_NULL, CLASS_BOOLEAN, CLASS_NUMBER, CLASS_STRING] as const;

/**
 * The contract's table as text: a row per value, a column per literal (null, bool, number, string), a letter per
 * operator in the order of OPS. `.` compared, `=` equal, `/` unequal, `n` null rule, `u` undecidable, `m` mismatch,
 * `e` elements.
 */
const TABLE = [
  ['=========', 'nnnnnnnnn', 'nnnnnnnnn', 'nnnnnnnnn'],
  ['/////////', '..uuuu.uu', 'mmmmmmmmm', 'mmmmmmmmm'],
  ['/////////', 'mmmmmmmmm', '.......uu', 'mmmmmmmmm'],
  ['/////////', 'mmmmmmmmm', 'mmmmmmmmm', '.........'],
  ['/////////', 'mmmmmmmem', 'mmmmmmmem', 'mmmmmmmem'],
  ['/////////', 'mmmmmmmmm', 'mmmmmmmmm', 'mmmmmmmmm'],
];

const LETTERS = new Map([
  ['.', PAIR_COMPARED],
  ['=', PAIR_EQUAL],
  ['/', PAIR_UNEQUAL],
  ['n', PAIR_NULL_VALUE],
  ['u', PAIR_UNDECIDABLE],
  ['m', PAIR_MISMATCH],
  ['e', PAIR_ELEMENTS],
]);

test('every value class meets every literal under every operator as the contract says', () => {
  for (const [row, value] of VALUES.entries()) {
    for (const [column, literal] of LITERALS.entries()) {
      for (const [place, op] of OPS.entries()) {
        const expected = LETTERS.get(TABLE[row]![column]![place]!);
        expect(pairing(value, literal, opCode(op)), `${value} ${op} ${literal}`).toBe(expected);
      }
    }
  }
});

test('an operator makes a truth of an order, and unordered is unknown under each of them', () => {
  const rows: Record<string, readonly [number, number, number]> = {
    eq: [NO_MATCH, MATCH, NO_MATCH],
    in: [NO_MATCH, MATCH, NO_MATCH],
    ne: [MATCH, NO_MATCH, MATCH],
    lt: [MATCH, NO_MATCH, NO_MATCH],
    lte: [MATCH, MATCH, NO_MATCH],
    gt: [NO_MATCH, NO_MATCH, MATCH],
    gte: [NO_MATCH, MATCH, MATCH],
  };
  for (const [op, truths] of Object.entries(rows)) {
    const code = opCode(op as CompareOp);
    expect(([-1, 0, 1] as const).map((found) => truthOfOrder(code, found))).toEqual(truths);
    expect(truthOfOrder(code, UNORDERED)).toBe(UNKNOWN);
  }
});

const INTEGER_MIN = -(2n ** 63n);
const INTEGER_MAX = 2n ** 64n - 1n;
const EDGES = [0n, 1n, 2n ** 31n, 2n ** 32n, 2n ** 52n, 2n ** 53n, 2n ** 54n, 2n ** 62n, 2n ** 63n, 2n ** 64n];
const NEAR_EDGES = EDGES.flatMap((edge) => [-2049n, -2048n, -1024n, -1n, 0n, 1n, 2n, 3n, 1024n].map((by) => edge + by))
  .flatMap((value) => [value, -value])
  .filter((value) => value >= INTEGER_MIN && value <= INTEGER_MAX);

const integers = fc.oneof(
  fc.constantFrom(...NEAR_EDGES),
  fc.bigInt({ min: INTEGER_MIN, max: INTEGER_MAX }),
  fc.bigInt({ min: INTEGER_MIN, max: INTEGER_MAX }).map((value) => BigInt.asIntN(64, (value >> 11n) << 11n)),
);
const doubles = fc.oneof(
  fc.double(),
  fc.constantFrom(...NEAR_EDGES).map(Number),
  integers.map(Number),
  fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 5e-324, 0.5, 2 ** 64, -(2 ** 63) - 2048),
);
const values = fc.oneof(integers, doubles);

/** The rule in BigInt: an integer and a double are ordered only if the integer survives the way through a double. */
function obviousOrder(value: bigint | number, literal: bigint | number): Order {
  if (Number.isNaN(value) || Number.isNaN(literal)) return UNORDERED;
  for (const [one, other] of [
    [value, literal],
    [literal, value],
  ] as const) {
    if (typeof one === 'bigint' && typeof other === 'number' && BigInt(Number(one)) !== one) return UNORDERED;
  }
  // JavaScript orders mixed operands by their exact values.
  return value < literal ? -1 : value > literal ? 1 : 0;
}

const slots = new Slots(2);

/** The order of `value`, standing in the second slot as a walker puts it there. */
function order(value: bigint | number, literal: CompareLiteral): Order {
  slots.numbers[1] = Number(value);
  if (typeof value === 'number') slots.kinds[1] = SLOT_DOUBLE;
  else if (Number.isSafeInteger(Number(value))) slots.kinds[1] = SLOT_INTEGER;
  else {
    slots.kinds[1] = value < 0n ? SLOT_NEGATIVE_WIDE : SLOT_INTEGER_WIDE;
    slots.high[1] = Number(BigInt.asUintN(64, value) >> 32n);
    slots.low[1] = Number(BigInt.asUintN(32, value));
  }
  return orderNumberAt(slots, 1, literal);
}

test('numbers are ordered as exact arithmetic orders them', () => {
  fc.assert(
    fc.property(values, values, (value, literal) => {
      const scalar: Scalar =
        typeof literal === 'bigint' ? { kind: 'integer', value: literal } : { kind: 'double', value: literal };
      expect(order(value, new CompareLiteral(scalar))).toBe(obviousOrder(value, literal));
    }),
    { seed: 3, numRuns: 20_000 },
  );
  for (const value of NEAR_EDGES) {
    for (const literal of NEAR_EDGES) {
      expect(order(value, new CompareLiteral({ kind: 'integer', value: literal }))).toBe(obviousOrder(value, literal));
      const double = Number(literal);
      expect(order(value, new CompareLiteral({ kind: 'double', value: double }))).toBe(obviousOrder(value, double));
      expect(order(double, new CompareLiteral({ kind: 'integer', value }))).toBe(obviousOrder(double, value));
    }
  }
});

test('texts are ordered by code points, not by UTF-16 units', () => {
  const text = fc.string({ unit: fc.constantFrom('', 'a', 'b', 'é', '～', '🚢', '\uffff'), maxLength: 4 });
  fc.assert(
    fc.property(text, text, (value, literal) => {
      const utf8 = new TextEncoder().encode(`x${value}x`);
      const found = orderText(utf8, 1, utf8.length - 1, new CompareLiteral({ kind: 'string', value: literal }));
      expect(found).toBe(Buffer.compare(Buffer.from(value), Buffer.from(literal)));
    }),
    { seed: 4, numRuns: 2_000 },
  );
  const ship = new TextEncoder().encode('🚢');
  expect(orderText(ship, 0, ship.length, new CompareLiteral({ kind: 'string', value: '～' }))).toBe(1);
});

test('booleans are equal or not', () => {
  for (const value of [true, false]) {
    expect(orderBoolean(value, new CompareLiteral({ kind: 'boolean', value }))).toBe(0);
    expect(orderBoolean(value, new CompareLiteral({ kind: 'boolean', value: !value }))).not.toBe(0);
  }
});
