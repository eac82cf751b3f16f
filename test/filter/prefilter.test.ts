/**
 * The equality index: what it skips is rejected, it reads no more than evaluation would, and every rule that keeps a
 * filter from being skipped, one by one.
 */
import { describe, expect, it } from 'vitest';
import { REJECTED, verdictOf } from '../../src/core/verdict.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { compileProgram, type Program } from '../../src/filter/program.js';
import { programInputs } from '../../src/scan/program-inputs.js';
import { encodeHeaders, type HeaderInput } from '../../src/segment/header-encode.js';
import { beginRecord, DEFAULT_LIMITS } from '../support/program.js';
import {
  FILTER_HEADER_KEYS,
  FILTER_INTEGERS,
  FILTER_PATHS,
  FILTER_TEXTS,
  randomFilter,
} from '../support/random-filter.js';
import { RANDOM_RECORD_LIMITS, randomRecord } from '../support/random-record.js';
import { cachedRegexEngine } from '../support/regex-engine.js';
import { Seeded } from '../support/seeded.js';

const SEED = Number(process.env['WINNOW_SEED'] ?? 4_096);
const SETS = 100;
const RECORDS_PER_SET = 40;

const utf8 = new TextEncoder();

interface Watched {
  readonly program: Program;
  /** Payloads walked so far. */
  walks(): number;
}

function programOf(texts: readonly string[], isIndexed: boolean, limits = DEFAULT_LIMITS): Watched {
  const filters = texts.map((text) => compileLaser(text, { strict: false, regex: cachedRegexEngine }).lowered);
  const inputs = programInputs(cachedRegexEngine, limits);
  let walks = 0;
  const program = compileProgram(
    filters,
    {
      ...inputs,
      makeWalker(codec, paths, decoderLimits) {
        const walker = inputs.makeWalker(codec, paths, decoderLimits);
        const walk = walker.walk.bind(walker);
        walker.walk = (...range) => {
          walks += 1;
          return walk(...range);
        };
        return walker;
      },
    },
    { isIndexed },
  );
  return { program, walks: () => walks };
}

function document(expr: unknown, more: Record<string, unknown> = {}): string {
  return JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json', ...more });
}

const text = (value: string) => ({ kind: 'string', value });
const long = (value: number) => ({ kind: 'long', value });
const eq = (field: string, value: unknown) => ({ pred: { field, op: 'eq', value } });
const oneOf = (field: string, ...value: unknown[]) => ({ pred: { field, op: 'in', value: { kind: 'list', value } } });
const headerEq = (key: string, value: unknown) => ({ header: { key, op: 'eq', value } });
const headerGte = (key: string, value: number) => ({ header: { key, op: 'gte', value: long(value) } });

/** A filter whose root is or holds equalities over the words that random records are made of. */
function equalityFilter(random: Seeded): string {
  const literal = (kind: string): string => {
    if (kind === 'string') return JSON.stringify({ kind, value: random.pick(FILTER_TEXTS) });
    if (kind === 'boolean') return JSON.stringify({ kind, value: random.chance(0.5) });
    return `{"kind":"long","value":${String(random.pick(FILTER_INTEGERS))}}`;
  };
  const equality = (): string => {
    const kind = random.pick(['string', 'string', 'long', 'boolean']);
    const isIn = random.chance(0.4);
    const items = Array.from({ length: 1 + random.below(4) }, () => literal(random.chance(0.9) ? kind : 'string'));
    const tail = `"op":"${isIn ? 'in' : 'eq'}","value":${isIn ? `{"kind":"list","value":[${items.join()}]}` : literal(kind)}`;
    return random.chance(0.45)
      ? `{"header":{"key":${JSON.stringify(random.pick(FILTER_HEADER_KEYS))},${tail}}}`
      : `{"pred":{"field":${JSON.stringify(random.pick(FILTER_PATHS))},${tail}}}`;
  };
  const other = (): string => exprOf(randomFilter(random, { codec: 'json', depthMax: 2 }));
  const children = Array.from({ length: 1 + random.below(3) }, equality);
  while (random.chance(0.4)) children.splice(random.below(children.length + 1), 0, other());
  const expr = children.length === 1 && random.chance(0.5) ? children[0]! : `{"all":[${children.join()}]}`;
  const policies = ['foreign_policy', 'mismatch_policy']
    .filter(() => random.chance(0.4))
    .map((name) => `,"${name}":"pass"`);
  return `{"v":1,"evaluator_version":1,"expr":${expr},"codec":"json"${policies.join('')}}`;
}

/** The text of a filter's expression: numbers in it must not go through a double. */
function exprOf(filter: string): string {
  const start = filter.indexOf('"expr":') + '"expr":'.length;
  return filter.slice(start, filter.indexOf(',"codec":'));
}

/** The filters that are found on a record, in ascending order. */
function found(program: Program): number[] {
  const count = program.select();
  return [...program.candidates.subarray(0, count)].sort((a, b) => a - b);
}

describe('the index on random filters and records', () => {
  it('skips only filters that reject, names each once, and changes no outcome', () => {
    const random = new Seeded(SEED);
    let skipped = 0;
    let evaluated = 0;
    let unskippable = 0;
    for (let set = 0; set < SETS; set += 1) {
      const texts = Array.from({ length: 1 + random.below(24) }, () =>
        random.chance(0.8) ? equalityFilter(random) : randomFilter(random),
      ).filter(
        // The generator knows nothing of the few filters that the language refuses.
        (one) => compiles(one),
      );
      if (texts.length === 0) continue;
      const plain = programOf(texts, false, RANDOM_RECORD_LIMITS).program;
      const { program } = programOf(texts, true, RANDOM_RECORD_LIMITS);
      const isActive = texts.map(() => random.chance(0.8));
      isActive.forEach((value, i) => program.setActive(i, value));
      for (let at = 0; at < RECORDS_PER_SET; at += 1) {
        const { payload, headerBlock } = randomRecord(random);
        beginRecord(program, payload, headerBlock);
        beginRecord(plain, payload, headerBlock);
        const candidates = found(program);
        if (new Set(candidates).size < candidates.length) throw new Error(`seed ${SEED}: ${candidates.join()}`);
        texts.forEach((filter, i) => {
          const outcome = plain.evaluate(i);
          const isCandidate = candidates.includes(i);
          const isWrong =
            program.evaluate(i) !== outcome ||
            (isCandidate ? !isActive[i]! : isActive[i]! && verdictOf(outcome) !== REJECTED);
          if (isWrong) throw new Error(`seed ${SEED}: ${filter} on ${Buffer.from(payload).toString('latin1')}`);
          if (!isActive[i]) return;
          if (isCandidate) evaluated += 1;
          else skipped += 1;
          if (verdictOf(outcome) !== REJECTED) unskippable += 1;
        });
      }
    }
    expect(skipped).toBeGreaterThan(5_000);
    expect(evaluated).toBeGreaterThan(5_000);
    expect(unskippable).toBeGreaterThan(2_000);
  });
});

function compiles(filter: string): boolean {
  try {
    compileLaser(filter, { strict: false, regex: cachedRegexEngine });
    return true;
  } catch {
    return false;
  }
}

/** Filters over one record: which are found, and how many payloads that took. */
function ask(
  filters: readonly string[],
  payload: string,
  headers: readonly HeaderInput[] | Uint8Array = [],
): { found: number[]; walks: number } {
  const { program, walks } = programOf(filters, true);
  filters.forEach((_, i) => program.setActive(i, true));
  beginRecord(program, utf8.encode(payload), headers instanceof Uint8Array ? headers : encodeHeaders(headers));
  return { found: found(program), walks: walks() };
}

const BROKEN_BLOCK = Uint8Array.from([2, 0, 0, 0, 0]);
const FOREIGN: HeaderInput = { key: 'agdx.ct', value: { kind: 'u8', value: 6 } };

describe('an equality on the payload', () => {
  const filters = [document(eq('a', text('x'))), document({ all: [oneOf('a', text('y'), text('z'))] })];
  const lenient = filters.map((one) => one.replace('"codec"', '"mismatch_policy":"pass","codec"'));

  it('finds the filters that ask for the value', () => {
    expect(ask(filters, '{"a":"x"}').found).toEqual([0]);
    expect(ask(filters, '{"a":"z"}').found).toEqual([1]);
    expect(ask(filters, '{"a":"\\u0078"}').found).toEqual([0]);
    expect(ask(filters, '{"a":"q"}').found).toEqual([]);
    expect(ask(filters, '{"a":"a text longer than any literal"}').found).toEqual([]);
  });

  it.each(['{}', '{"a":null}', '{"a":1}', '{"a":["x"]}', '{"a":{"x":1}}'])(
    'that %s leaves undecided is evaluated only where a mismatch could deliver the record',
    (payload) => {
      expect(ask(filters, payload).found).toEqual([]);
      expect(ask(lenient, payload).found).toEqual([0, 1]);
    },
  );

  it('of integers finds equal doubles, and everything where a literal is wider than a double', () => {
    const numbers = [document(eq('n', long(5))), document(eq('n', long(0)))];
    expect(ask(numbers, '{"n":5.0}').found).toEqual([0]);
    expect(ask(numbers, '{"n":-0.0}').found).toEqual([1]);
    expect(ask(numbers, '{"n":5.5}').found).toEqual([]);
    expect(ask(numbers, '{"n":18446744073709551615}').found).toEqual([]);
    const wide = document(eq('n', long(0))).replace('"value":0', '"value":9007199254740993');
    expect(ask([...numbers, wide], '{"n":9007199254740993}').found).toEqual([0, 1, 2]);
    expect(ask([...numbers, wide], '{"n":5}').found).toEqual([0]);
  });

  it('of booleans finds the filters of the other value not', () => {
    const flags = [true, false].map((value) => document(eq('f', { kind: 'boolean', value })));
    expect(ask(flags, '{"f":true}').found).toEqual([0]);
    expect(ask(flags, '{"f":false}').found).toEqual([1]);
  });

  it('hides no broken payload, and a foreign one only from filters that reject those', () => {
    const passing = document(eq('a', text('x')), { foreign_policy: 'pass' });
    expect(ask([...filters, passing], '{"a":"q"').found).toEqual([0, 1, 2]);
    expect(ask([...filters, passing], '{"a":"q"}', [FOREIGN]).found).toEqual([2]);
  });

  it('hides no malformed header block from the filters that judge it', () => {
    const both = document({ all: [headerGte('h', 1), eq('a', text('x'))] });
    expect(ask([filters[0]!, both], '{"a":"q"}', BROKEN_BLOCK).found).toEqual([0, 1]);
  });

  it('behind a regex, whose text may be too long, is not used; before one it is', () => {
    const regex = { text: { field: 's', kind: 'regex', pattern: 'x' } };
    const behind = document({ all: [regex, eq('a', text('x'))] });
    const before = document({ all: [eq('a', text('x')), regex] });
    expect(ask([behind, before], '{"a":"q"}').found).toEqual([0]);
    // Undecided, the regex behind it is still asked, and may fault.
    expect(ask([behind, before], '{"a":1}').found).toEqual([0, 1]);
  });

  it('is not used under any, under not, with null, or with literals of several kinds', () => {
    const others = [
      document({ any: [eq('a', text('x')), eq('b', text('x'))] }),
      document({ not: eq('a', text('x')) }),
      document(eq('a', { kind: 'null' })),
      document(oneOf('a', text('x'), long(1))),
      document({ pred: { field: 'a', op: 'ne', value: text('x') } }),
    ];
    expect(ask(others, '{"a":"q"}').found).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('an equality on a header', () => {
  const bare = document(headerEq('h', text('x')), { codec: 'headers_only' });
  const withPayload = document({ all: [eq('a', text('x')), headerEq('h', text('x'))] });
  const header = (value: string): HeaderInput[] => [{ key: 'h', value: { kind: 'string', value } }];

  it('decides before the payload is touched', () => {
    expect(ask([bare, withPayload], '{"a":', header('q'))).toEqual({ found: [], walks: 0 });
    expect(ask([bare], '{"a":', header('x'))).toEqual({ found: [0], walks: 0 });
  });

  it('that is undecided rejects where nothing else can fault', () => {
    expect(ask([bare, withPayload], '{"a":"q"}')).toEqual({ found: [1], walks: 0 });
  });

  it('hides no malformed block', () => {
    expect(ask([bare, withPayload], '{"a":"q"}', BROKEN_BLOCK).found).toEqual([0, 1]);
  });

  it('that many filters share is followed by what they ask of the payload', () => {
    const shared = ['x', 'y', 'z'].map((value) => document({ all: [headerEq('h', text('x')), eq('a', text(value))] }));
    expect(ask(shared, '{"a":"y"}', header('x'))).toEqual({ found: [1], walks: 1 });
    expect(ask(shared, '{"a":"y"}', header('q'))).toEqual({ found: [], walks: 0 });
    expect(ask(shared, '{"a":"y"', header('x')).found).toEqual([0, 1, 2]);
  });
});

describe('reading', () => {
  const guarded = (value: string) => document({ all: [headerGte('h', 5), eq('a', text(value))] });

  it('asks few headers rather than a large payload, and many headers not at all', () => {
    const payload = JSON.stringify({ a: 'v1', pad: 'x'.repeat(500) });
    const few = ['v0', 'v1'].map(guarded);
    expect(ask(few, payload)).toEqual({ found: [0, 1], walks: 0 });
    const many = Array.from({ length: 200 }, (_, i) => guarded(`v${i}`));
    expect(ask(many, payload)).toEqual({ found: [1], walks: 1 });
  });

  it('happens for no filter that is out of the selection', () => {
    const { program, walks } = programOf([document(eq('a', text('x'))), document(headerGte('h', 1))], true);
    program.setActive(1, true);
    beginRecord(program, utf8.encode('{"a":"x"}'), encodeHeaders([]));
    expect([found(program), walks()]).toEqual([[1], 0]);
    program.setActive(0, true);
    program.setActive(0, true);
    program.setActive(0, false);
    beginRecord(program, utf8.encode('{"a":"x"}'), encodeHeaders([]));
    expect([found(program), walks()]).toEqual([[1], 0]);
  });

  it('a thousand equalities leave one filter to evaluate on each record', () => {
    const { program } = programOf(
      Array.from({ length: 1000 }, (_, i) => document(eq('id', long(i)))),
      true,
    );
    for (let i = 0; i < 1000; i += 1) program.setActive(i, true);
    let evaluations = 0;
    for (let i = 0; i < 2000; i += 1) {
      beginRecord(program, utf8.encode(`{"id":${i}}`), encodeHeaders([]));
      evaluations += program.select();
    }
    expect(evaluations).toBe(1000);
  });
});
