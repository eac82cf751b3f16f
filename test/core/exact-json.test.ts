/**
 * The exact reader against `JSON.parse` (which agrees on what is valid text, except that it repairs nothing here) and
 * against stated places, bounds and exact numbers.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJson, readJsonBytes, type JsonDocument } from '../../src/core/exact-json.js';
import type { JsonNode } from '../../src/core/json-node.js';
import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from '../../src/core/limits.js';
import { plainJson } from '../../src/core/plain-json.js';
import { problemFrom } from '../support/refused.js';
import { Seeded } from '../support/seeded.js';

/** What `JSON.parse` would give: repeats keep the last, every number is a double. */
function lossy(document: JsonDocument, node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.members.map(({ key, value }) => [key.value, lossy(document, value)]));
    case 'array':
      return node.items.map((item) => lossy(document, item));
    case 'string':
    case 'boolean':
      return node.value;
    case 'number':
      return document.doubleOf(node);
    case 'null':
      return null;
  }
}

function agrees(text: string): void {
  let expected: unknown;
  let isValid = true;
  try {
    expected = JSON.parse(text);
  } catch {
    isValid = false;
  }
  if (!isValid) {
    const problem = problemFrom(() => readJson(text));
    expect(problem.code).toBe('invalid_request');
    expect(problem.position).toBeGreaterThanOrEqual(0);
    expect(problem.position).toBeLessThanOrEqual(Buffer.byteLength(text));
    return;
  }
  const document = readJson(text);
  expect(lossy(document, document.root)).toEqual(expected);
}

const unpaired = (text: string): boolean => {
  const { root } = readJson(text);
  return root.kind === 'string' && root.isUnpaired;
};

const number = (literal: string): { integer: bigint | undefined; double: number } => {
  const document = readJson(literal);
  if (document.root.kind !== 'number') throw new Error('not a number');
  return { integer: document.integerOf(document.root), double: document.doubleOf(document.root) };
};

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

const items = (count: number): string => `[${'0,'.repeat(count - 1)}0]`;

const plain = (text: string): unknown => {
  const document = readJson(text);
  return plainJson(document, document.root);
};

describe('reading', () => {
  it('agrees with JSON.parse on random values in any layout', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 6, stringUnit: 'binary' }),
        fc.constantFrom('', ' ', '\t', '  '),
        (text, space) => {
          agrees(text);
          agrees(JSON.stringify(JSON.parse(text), undefined, space));
        },
      ),
      { numRuns: 2_000, seed: 20_261_130 },
    );
  });

  it('agrees with JSON.parse on which mutated texts are valid', () => {
    const seeded = new Seeded(7);
    const alphabet = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      'u',
      '0',
      '1',
      '-',
      '+',
      '.',
      'e',
      't',
      'n',
      ' ',
      '\n',
      '\0',
      'é',
      '/',
    ];
    const bases = [
      '{"a":[1,-0,2.5e+3,true,false,null],"b":{"c":"d\\u00e9\\n"},"":[]}',
      '[[[]],{},"\\ud83d\\udea2",0.1,1E5,-12]',
      ' {"v":1,"evaluator_version":1,"expr":{"present":"a"},"codec":"json"} ',
    ];
    for (let round = 0; round < 20_000; round += 1) {
      let text = seeded.pick(bases);
      for (let edits = 1 + seeded.below(3); edits > 0; edits -= 1) {
        const at = seeded.below(text.length + 1);
        text = text.slice(0, at) + (seeded.chance(0.7) ? seeded.pick(alphabet) : '') + text.slice(at + seeded.below(2));
      }
      agrees(text);
    }
  });

  it('keeps members in order with their repeats', () => {
    const { root } = readJson('{"b":1,"a":2,"b":3}');
    expect(root.kind === 'object' && root.members.map((member) => member.key.value)).toEqual(['b', 'a', 'b']);
  });

  it('gives the source of a subtree exactly as written', () => {
    const document = readJson('{"filter": { "x" : 9007199254740993 , "é":1.0} }');
    expect(document.root.kind === 'object' && document.sourceOf(document.root.members[0]!.value)).toBe(
      '{ "x" : 9007199254740993 , "é":1.0}',
    );
  });

  it('finds the character of a string value behind its escapes', () => {
    const document = readJson('"a\\u00e9\\n\\\\z"');
    if (document.root.kind !== 'string') throw new Error('not a string');
    const places = [0, 1, 2, 3, 4, 5].map((index) => document.indexInString(document.root as never, index));
    expect(places).toEqual([1, 2, 8, 10, 12, 13]);
  });

  it('marks a string whose escapes leave a surrogate unpaired, keys too', () => {
    expect(unpaired('"\\ud800"')).toBe(true);
    expect(unpaired('"\\udc00\\ud800"')).toBe(true);
    expect(unpaired('"\\ud83d\\udea2"')).toBe(false);
    expect(unpaired('"🚢"')).toBe(false);
    const { root } = readJson('{"\\udfff":1}');
    expect(root.kind === 'object' && root.members[0]!.key.isUnpaired).toBe(true);
  });

  it('reads a body of one long base64 string without copying it character by character', () => {
    const long = 'QUJD'.repeat(2 * 1024 * 1024);
    const startedAt = performance.now();
    const { root } = readJsonBytes(Buffer.from(`{"bytes":"${long}"}`));
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    const value = root.kind === 'object' ? root.members[0]!.value : root;
    expect(value.kind === 'string' && value.value === long).toBe(true);
  });
});

describe('numbers', () => {
  it('keeps integers exact, far past 2^53', () => {
    expect(number('9007199254740993').integer).toBe(9007199254740993n);
    expect(number('-9223372036854775808').integer).toBe(-(2n ** 63n));
    expect(number('18446744073709551616').integer).toBe(2n ** 64n);
    expect(number('340282366920938463463374607431768211455').integer).toBe(2n ** 128n - 1n);
  });

  it('reads fractions, exponents and -0 as doubles, never as integers', () => {
    for (const literal of ['1.0', '1e3', '-0', '0.5', '-0.0', '1E+2']) expect(number(literal).integer).toBeUndefined();
    expect(Object.is(number('-0').double, -0)).toBe(true);
    expect(number('1e999').double).toBe(Infinity);
    expect(number('0').integer).toBe(0n);
  });

  it('reads a literal of a million digits in linear time and gives no integer for it', () => {
    expect(number('9'.repeat(1_000_000))).toEqual({ integer: undefined, double: Infinity });
  });
});

describe('refusals', () => {
  it.each([
    ['', 0],
    ['  ', 2],
    ['{"a":1,}', 7],
    ['["é",]', 6],
    ['[1 2]', 3],
    ['{"a" 1}', 5],
    ['"ab', 0],
    ['"a\nb"', 2],
    ['"a\\x"', 2],
    ['"\\u12g4"', 1],
    ['01', 0],
    ['-', 0],
    ['1.', 2],
    ['1e+', 3],
    ['tru', 0],
    ['1 x', 2],
    ['/* c */1', 0],
    ['NaN', 0],
  ])('%j is refused at byte %i', (text, position) => {
    const problem = problemFrom(() => readJson(text));
    expect(problem).toMatchObject({ code: 'invalid_request', position });
  });

  it('shows a caret under the fault', () => {
    expect(problemFrom(() => readJson('{"é": 1,\n "b" 2}')).detail).toBe(
      'Invalid JSON. Expected `:` after the member name.\n "b" 2}\n     ^',
    );
  });

  it('refuses a byte order mark and a raw unpaired surrogate', () => {
    expect(problemFrom(() => readJson('\ufeff{}')).position).toBe(0);
    expect(problemFrom(() => readJsonBytes(Buffer.from('\ufeff{}'))).position).toBe(0);
    expect(problemFrom(() => readJson('["\ud800"]')).position).toBe(2);
  });

  it.each([
    [[0x22, 0xff, 0x22], 1],
    [[0x22, 0xc3, 0xa9, 0xc3, 0x22], 3],
    [[0x22, 0xc0, 0x80, 0x22], 1],
    [[0x22, 0xed, 0xa0, 0x80, 0x22], 1],
    [[0x22, 0xf0, 0x9f, 0x9a], 1],
    [[0x22, 0xf5, 0x80, 0x80, 0x80, 0x22], 1],
  ])('refuses the invalid UTF-8 %j at byte %i', (bytes, position) => {
    expect(problemFrom(() => readJsonBytes(Uint8Array.from(bytes)))).toMatchObject({
      code: 'invalid_request',
      position,
    });
  });

  it('accepts nesting at the bound and refuses one level more', () => {
    expect(readJson(nested(JSON_DEPTH_MAX)).root.kind).toBe('array');
    expect(problemFrom(() => readJson(nested(JSON_DEPTH_MAX + 1)))).toMatchObject({
      limit: JSON_DEPTH_MAX,
      given: JSON_DEPTH_MAX + 1,
      position: JSON_DEPTH_MAX,
    });
    expect(problemFrom(() => readJson('{"a":'.repeat(1_000_000))).limit).toBe(JSON_DEPTH_MAX);
  });

  it('accepts as many values as the bound and refuses one more', () => {
    expect(readJson(items(JSON_VALUES_MAX - 1)).root.kind).toBe('array');
    expect(problemFrom(() => readJson(items(JSON_VALUES_MAX))).limit).toBe(JSON_VALUES_MAX);
  });
});

describe('plain values', () => {
  it('gives safe integers and doubles as numbers and larger integers as bigints', () => {
    expect(plain('[1,1.5,-0.0,9007199254740991,9007199254740992,-9223372036854775808,1e21]')).toEqual([
      1,
      1.5,
      -0,
      9007199254740991,
      9007199254740992n,
      -(2n ** 63n),
      1e21,
    ]);
  });

  it('makes a member named __proto__ a member', () => {
    const value = plain('{"__proto__":{"a":1}}') as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('refuses what JSON leaves open, naming the member', () => {
    expect(problemFrom(() => plain('{"a":{"b/c":1,"b/c":2}}')).field).toBe('/a/b~1c');
    expect(problemFrom(() => plain('[0,"\\ud800"]')).field).toBe('/1');
    expect(problemFrom(() => plain('{"x":1e999}')).field).toBe('/x');
    expect(problemFrom(() => plain(`{"x":${'1'.repeat(40)}}`))).toMatchObject({ field: '/x', limit: 39, given: 40 });
  });

  it('hands a subtree over as its source, unread', () => {
    const document = readJson('{"filters":[{"filter":{"a":1,"a":1e999}}]}');
    const value = plainJson(document, document.root, (pointer, node) =>
      pointer === '/filters/0/filter' ? document.sourceOf(node) : undefined,
    );
    expect(value).toEqual({ filters: [{ filter: '{"a":1,"a":1e999}' }] });
  });
});
