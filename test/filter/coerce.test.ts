/** Coerced values against an obvious restatement with big integers: decimals, instants, what does not parse. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  Decimal,
  decimalOfDouble,
  decimalOfInteger,
  decimalOfWideInteger,
  orderDecimals,
  parseDecimal,
} from '../../src/filter/coerce-decimal.js';
import {
  Instant,
  instantOfInteger,
  instantOfWideInteger,
  orderInstants,
  parseInstant,
} from '../../src/filter/coerce-instant.js';
import { decimalLiteral, instantLiteral, literalCoerces } from '../../src/filter/coerce.js';
import type { TimestampFormat } from '../../src/filter/ir.js';
import { heapGrowth } from '../support/allocation.js';
import { Seeded } from '../support/seeded.js';

const INTEGER_MIN = -(2n ** 63n);
const INTEGER_MAX = 2n ** 64n - 1n;

function decimal(text: string): Decimal | undefined {
  const utf8 = new TextEncoder().encode(`9${text}9`);
  const out = new Decimal();
  return parseDecimal(utf8, 1, utf8.length - 1, out) ? out : undefined;
}

/** The obvious decimal: a BigInt over a power of ten, from the same grammar as a regular expression. */
function obviousDecimal(text: string): { units: bigint; decimals: number } | undefined {
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]+))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign, whole, fraction = ''] = match;
  const digits = whole! + fraction;
  if (digits === '' || digits.length > 512) return undefined;
  return { units: BigInt(`${digits}`) * (sign === '-' ? -1n : 1n), decimals: fraction.length };
}

function obviousOrder(a: string, b: string): number {
  const left = obviousDecimal(a)!;
  const right = obviousDecimal(b)!;
  const leftUnits = left.units * 10n ** BigInt(right.decimals);
  const rightUnits = right.units * 10n ** BigInt(left.decimals);
  return leftUnits < rightUnits ? -1 : leftUnits > rightUnits ? 1 : 0;
}

/** What a decimal holds, as text that is the same for equal numbers. */
function shown(value: Decimal): string {
  return `${value.negative ? '-' : ''}0.${Array.from(value.digits.subarray(0, value.length)).join('')}e${value.exponent}`;
}

const digits = fc.oneof(
  fc.string({ unit: fc.constantFrom('0', '0', '1', '9', '5'), maxLength: 30 }),
  fc.string({ unit: fc.constantFrom('0', '7'), minLength: 250, maxLength: 300 }),
);
const decimalTexts = fc
  .tuple(fc.constantFrom('', '', '+', '-'), digits, fc.constantFrom('', '.', '.'), digits)
  .map((parts) => parts.join(''));

test('decimal text parses by the grammar and compares exactly', () => {
  fc.assert(
    fc.property(decimalTexts, decimalTexts, (a, b) => {
      const left = decimal(a);
      const right = decimal(b);
      expect(left !== undefined).toBe(obviousDecimal(a) !== undefined);
      expect(right !== undefined).toBe(obviousDecimal(b) !== undefined);
      if (left === undefined || right === undefined) return;
      expect(orderDecimals(left, right)).toBe(obviousOrder(a, b));
      expect(shown(left) === shown(right)).toBe(obviousOrder(a, b) === 0);
    }),
    { seed: 5, numRuns: 5_000 },
  );
});

test('what is almost a decimal does not parse', () => {
  for (const text of [
    '',
    '.',
    '+',
    '-',
    '+.',
    '1.',
    '-1.',
    '1e5',
    ' 1',
    '1 ',
    '1,5',
    '0x1',
    '--1',
    '1.2.3',
    '٣',
    '1_0',
  ]) {
    expect(decimal(text), text).toBeUndefined();
  }
});

test('512 digits parse and 513 do not, leading zeros counted, whatever the sign and the point', () => {
  for (const [sign, point] of [
    ['', 512],
    ['-', 511],
    ['+', 1],
    ['-', 0],
  ] as const) {
    const withPoint = (length: number): string => {
      const all = '0'.repeat(length - 1) + '1';
      return sign + (point === 512 ? all : `${all.slice(0, point)}.${all.slice(point)}`);
    };
    expect(decimal(withPoint(512))).toBeDefined();
    expect(decimal(withPoint(513))).toBeUndefined();
  }
  expect(decimal('9'.repeat(100_000))).toBeUndefined();
});

test('an integer is its own decimal text', () => {
  const integers = fc.oneof(
    fc.bigInt({ min: INTEGER_MIN, max: INTEGER_MAX }),
    fc.maxSafeInteger().map(BigInt),
    fc.constantFrom(
      INTEGER_MIN,
      INTEGER_MAX,
      0n,
      10n,
      -10n,
      2n ** 53n,
      -(2n ** 53n),
      2n ** 53n - 1n,
      2n ** 32n * 10n ** 6n,
    ),
  );
  fc.assert(
    fc.property(integers, (value) => {
      const out = new Decimal();
      if (Number.isSafeInteger(Number(value))) decimalOfInteger(Float64Array.of(Number(value)), 0, out);
      else
        decimalOfWideInteger(
          value < 0n,
          Number(BigInt.asUintN(64, value) >> 32n),
          Number(BigInt.asUintN(32, value)),
          out,
        );
      expect(shown(out)).toBe(shown(decimal(String(value))!));
      expect(shown(decimalLiteral({ kind: 'integer', value })!)).toBe(shown(out));
    }),
    { seed: 6, numRuns: 5_000 },
  );
});

/** The text of a double without an exponent. */
function plainText(value: number): string {
  const [mantissa, power = '0'] = String(Math.abs(value)).split('e');
  const [whole, fraction = ''] = mantissa!.split('.');
  const exponent = Number(power);
  const all = whole! + fraction;
  const point = whole!.length + exponent;
  const text =
    point <= 0 ? `0.${'0'.repeat(-point)}${all}` : `${all.padEnd(point, '0').slice(0, point)}.${all.slice(point)}0`;
  return (value < 0 ? '-' : '') + text;
}

test('a double is the shortest decimal that round-trips it', () => {
  const random = new Seeded(8);
  const bits = new DataView(new ArrayBuffer(8));
  const anyDouble = (): number => {
    bits.setUint32(0, random.below(2 ** 32));
    bits.setUint32(4, random.below(2 ** 32));
    return bits.getFloat64(0);
  };
  const shortDouble = (): number => Number(`${random.below(10 ** (1 + random.below(9)))}e${random.below(30) - 25}`);
  const specials = [
    0,
    -0,
    0.1,
    0.1 + 0.2,
    1e21,
    1e22,
    1e23,
    5e-324,
    1.7976931348623157e308,
    2 ** 64,
    123456789012345.6,
    1e-22,
  ];
  const out = new Decimal();
  for (let round = 0; round < 20_000; round++) {
    const value = specials[round] ?? (random.chance(0.5) ? anyDouble() : shortDouble());
    if (!Number.isFinite(value)) continue;
    decimalOfDouble(value, out);
    expect(shown(out), String(value)).toBe(shown(decimal(plainText(value))!));
  }
});

test('literals coerce as values do, doubles not at all', () => {
  expect(decimalLiteral({ kind: 'double', value: 1 })).toBeUndefined();
  expect(instantLiteral({ kind: 'double', value: 1 }, 'epoch_seconds')).toBeUndefined();
  expect(literalCoerces({ kind: 'string', value: '12.50' }, { kind: 'number' })).toBe(true);
  expect(literalCoerces({ kind: 'string', value: '1e3' }, { kind: 'number' })).toBe(false);
  expect(literalCoerces({ kind: 'integer', value: 1n }, { kind: 'timestamp', format: 'rfc3339' })).toBe(false);
  expect(literalCoerces({ kind: 'integer', value: -1n }, { kind: 'timestamp', format: 'epoch_millis' })).toBe(true);
  expect(literalCoerces({ kind: 'string', value: '+7' }, { kind: 'timestamp', format: 'epoch_micros' })).toBe(true);
  expect(literalCoerces({ kind: 'boolean', value: true }, { kind: 'number' })).toBe(false);
  expect(literalCoerces({ kind: 'null' }, { kind: 'timestamp', format: 'epoch_seconds' })).toBe(false);
});

/** Microseconds since 1970. */
function microsOf({ seconds, micros }: Instant): bigint {
  return BigInt(seconds) * 1_000_000n + BigInt(micros);
}

function instant(text: string, format: TimestampFormat): bigint | undefined {
  const utf8 = new TextEncoder().encode(`9${text}9`);
  const out = new Instant();
  return parseInstant(utf8, 1, utf8.length - 1, format, out) ? microsOf(out) : undefined;
}

const UNITS = { epoch_seconds: 1_000_000n, epoch_millis: 1_000n, epoch_micros: 1n } as const;

test.each(['epoch_seconds', 'epoch_millis', 'epoch_micros'] as const)(
  '%s scales integers and integer text exactly and refuses what overflows',
  (format) => {
    const edges = [0n, 2n ** 53n, 2n ** 63n, 2n ** 63n / UNITS[format], 2n ** 64n - 5n]
      .flatMap((edge) => [-2n, -1n, 0n, 1n, 2n].map((by) => edge + by))
      .flatMap((value) => [value, -value]);
    const counts = fc.oneof(
      fc.bigInt({ min: INTEGER_MIN, max: INTEGER_MAX }),
      fc.maxSafeInteger().map(BigInt),
      fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }),
      fc.constantFrom(...edges),
    );
    fc.assert(
      fc.property(counts, fc.nat(3), fc.constantFrom('', '+'), (count, zeros, plus) => {
        const micros = count * UNITS[format];
        const expected = micros === BigInt.asIntN(64, micros) ? micros : undefined;
        const sign = count < 0n ? '-' : plus;
        const magnitude = count < 0n ? -count : count;
        expect(instant(`${sign}${'0'.repeat(zeros)}${magnitude}`, format)).toBe(expected);
        if (count < INTEGER_MIN || count > INTEGER_MAX) return;
        const out = new Instant();
        const parses = Number.isSafeInteger(Number(count))
          ? instantOfInteger(Float64Array.of(Number(count)), 0, format, out)
          : instantOfWideInteger(
              count < 0n,
              Number(BigInt.asUintN(64, count) >> 32n),
              Number(BigInt.asUintN(32, count)),
              format,
              out,
            );
        expect(parses ? microsOf(out) : undefined).toBe(expected);
      }),
      { seed: 9, numRuns: 5_000 },
    );
    for (const text of ['', '+', '-', '1.0', '1e3', ' 1', '1 ', 'x', '--1', '٣']) {
      expect(instant(text, format), text).toBeUndefined();
    }
    expect(instant('1'.repeat(40), format)).toBeUndefined();
    expect(instant(`${'0'.repeat(500)}7`, format)).toBe(7n * UNITS[format]);
  },
);

test('rfc 3339 instants are those of the calendar', () => {
  fc.assert(
    fc.property(
      fc.date({
        min: new Date('0000-01-01T00:00:00Z'),
        max: new Date('9999-12-31T23:59:59.999Z'),
        noInvalidDate: true,
      }),
      fc.integer({ min: -1439, max: 1439 }),
      fc.nat(999),
      (date, offset, extra) => {
        const local = new Date(date.getTime() + offset * 60_000);
        const year = local.getUTCFullYear();
        if (year < 0 || year > 9999) return;
        const minutes = Math.abs(offset);
        const zone = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
        const micros = String(extra).padStart(3, '0');
        const text = local.toISOString().replace('Z', `${micros}${offset < 0 ? '-' : '+'}${zone}`);
        expect(instant(text, 'rfc3339'), text).toBe(BigInt(date.getTime()) * 1000n + BigInt(extra));
      },
    ),
    { seed: 10, numRuns: 5_000 },
  );
});

test.each([
  ['2031-03-09T14:15:16Z', true],
  ['2031-03-09t14:15:16z', true],
  ['2031-03-09T14:15:16.1Z', true],
  ['2031-03-09T14:15:16.123456000Z', true],
  ['2031-03-09T14:15:16.1234567Z', false],
  ['2031-03-09T14:15:16.0000000000Z', false],
  ['2031-03-09T14:15:16.Z', false],
  ['2031-03-09T14:15:16,5Z', false],
  ['2031-03-09 14:15:16Z', false],
  ['2031-03-09T14:15:16', false],
  ['2031-03-09T14:15Z', false],
  ['2031-3-09T14:15:16Z', false],
  ['02031-03-09T14:15:16Z', false],
  ['2031-03-09T24:00:00Z', false],
  ['2031-03-09T23:60:00Z', false],
  ['2031-03-09T23:59:60Z', false],
  ['2031-00-09T14:15:16Z', false],
  ['2031-13-09T14:15:16Z', false],
  ['2031-04-31T14:15:16Z', false],
  ['2031-04-00T14:15:16Z', false],
  ['2028-02-29T00:00:00Z', true],
  ['2023-02-29T00:00:00Z', false],
  ['1900-02-29T00:00:00Z', false],
  ['2000-02-29T00:00:00Z', true],
  ['0000-02-29T00:00:00Z', true],
  ['0000-01-01T00:00:00+23:59', true],
  ['9999-12-31T23:59:59-23:59', true],
  ['2031-03-09T14:15:16-00:00', true],
  ['2031-03-09T14:15:16+24:00', false],
  ['2031-03-09T14:15:16+01:60', false],
  ['2031-03-09T14:15:16+0100', false],
  ['2031-03-09T14:15:16+1:00', false],
  ['2031-03-09T14:15:16*01:00', false],
  ['2031-03-09T14:15:16ZZ', false],
  ['2031-03-09T14:15:16.5', false],
  ['2031-0３-09T14:15:16Z', false],
])('rfc 3339: %s', (text, parses) => {
  expect(instant(text, 'rfc3339') !== undefined).toBe(parses);
});

test('instants are ordered by their microseconds', () => {
  const texts = [
    '1969-12-31T23:59:59.999999Z',
    '1970-01-01T00:00:00Z',
    '1970-01-01T00:00:00.000001Z',
    '1970-01-01T00:00:01Z',
  ];
  const instants = texts.map((value) => instantLiteral({ kind: 'string', value }, 'rfc3339')!);
  for (const [i, a] of instants.entries()) {
    for (const [j, b] of instants.entries()) expect(orderInstants(a, b)).toBe(Math.sign(i - j) || 0);
  }
});

test('coercing values allocates nothing', () => {
  const utf8 = new TextEncoder().encode('2031-03-09T14:15:16.123Z -00123.4500 1700000000123');
  const one = new Decimal();
  const other = new Decimal();
  const at = new Instant();
  const numbers = Float64Array.of(0, -7, 1_700_000_000_123, Number.MAX_SAFE_INTEGER);
  const run = (times: number): void => {
    for (let i = 0; i < times; i++) {
      parseInstant(utf8, 0, 24, 'rfc3339', at);
      parseDecimal(utf8, 25, 36, one);
      parseInstant(utf8, 37, 50, 'epoch_millis', at);
      decimalOfInteger(numbers, i & 3, other);
      instantOfInteger(numbers, i & 3, 'epoch_millis', at);
      decimalOfWideInteger(false, 0x20_0000 + (i & 0xfff), i, other);
      orderDecimals(one, other);
    }
  };
  expect(heapGrowth(() => run(20_000))).toBeLessThan(32 * 1024);
});
