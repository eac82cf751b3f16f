/** The program's own promises: one walk for many filters, lazy reading, the order of checks. */
import { describe, expect, it } from 'vitest';
import { DEPTH_MAX, PAYLOAD_BYTES_MAX, REGEX_SUBJECT_BYTES_MAX } from '../../src/core/limits.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import type { LoweredFilter, Predicate } from '../../src/filter/ir.js';
import { compileProgram, type Program } from '../../src/filter/program.js';
import { programInputs } from '../../src/scan/program-inputs.js';
import { encodeHeaders, type HeaderInput } from '../../src/segment/header-encode.js';
import { beginRecord, DEFAULT_LIMITS, programOf, shown } from '../support/program.js';
import { cachedRegexEngine } from '../support/regex-engine.js';

const utf8 = new TextEncoder();

function document(expr: unknown, more: Record<string, unknown> = {}): string {
  return JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json', ...more });
}

function eq(field: string, value: unknown, kind = 'string') {
  return { pred: { field, op: 'eq', value: { kind, value } } };
}

function headerEq(key: string, value: unknown, kind = 'string') {
  return { header: { key, op: 'eq', value: { kind, value } } };
}

/** The program of `texts` with its inputs watched: what was read is written into the list. */
function watched(...texts: string[]): { program: Program; reads: string[]; wanted: string[] } {
  const reads: string[] = [];
  const wanted: string[] = [];
  const inputs = programInputs(cachedRegexEngine, DEFAULT_LIMITS);
  const filters = texts.map((text) => compileLaser(text, { strict: true, regex: cachedRegexEngine }).lowered);
  const program = compileProgram(filters, {
    ...inputs,
    makeWalker(codec, paths, limits) {
      wanted.push(`${codec} ${JSON.stringify(paths)}`);
      const walker = inputs.makeWalker(codec, paths, limits);
      const walk = walker.walk.bind(walker);
      walker.walk = (...range) => {
        reads.push('payload');
        return walk(...range);
      };
      return walker;
    },
    makeHeaders(keys) {
      wanted.push(`headers ${keys.join()}`);
      const headers = inputs.makeHeaders(keys);
      return {
        slots: headers.slots,
        readAll(...range) {
          reads.push('all headers');
          return headers.readAll(...range);
        },
        readOnly(slot, ...range) {
          reads.push(keys[slot]!);
          return headers.readOnly(slot, ...range);
        },
      };
    },
  });
  return { program, reads, wanted };
}

function evaluate(program: Program, payload: string, headers: HeaderInput[] = []): string[] {
  beginRecord(program, utf8.encode(payload), encodeHeaders(headers));
  return Array.from({ length: program.count }, (_, index) => {
    const { verdict, reason } = shown(program.evaluate(index));
    return reason === null ? verdict : `${verdict} ${reason}`;
  });
}

const UNIT: HeaderInput = { key: 'unit', value: { kind: 'string', value: 'thruster' } };
/** Text that is not UTF-8 under a key nobody asks for: malformed for whoever reads all headers. */
const BAD_ENTRY: HeaderInput = { key: 'other', value: { kind: 'code', code: 2, value: Uint8Array.of(0xff) } };

describe('one program of many filters', () => {
  it('asks for the union of paths and keys once, and walks a payload once per record', () => {
    const { program, reads, wanted } = watched(
      document({ all: [eq('b', 'x'), eq('a.c', 'y')] }),
      document({ any: [eq('a.b', 'x'), eq('b', 'z'), headerEq('unit', 'thruster')] }),
    );
    expect(wanted).toEqual(['headers agdx.ct,unit', 'json [["a","b"],["a","c"],["b"]]']);
    expect(evaluate(program, '{"a":{"c":"y"},"b":"x"}')).toEqual(['selected', 'rejected']);
    expect(reads).toEqual(['all headers', 'payload']);
    expect(evaluate(program, '{"b":"z"}', [UNIT])).toEqual(['rejected', 'selected']);
    expect(reads).toEqual(['all headers', 'payload', 'all headers', 'payload']);
  });

  it('judges one broken header block differently for filters that read more or less of it', () => {
    const readsAll = document({ any: [headerEq('unit', 'x'), eq('a', 1, 'int')] });
    const readsPayload = document(eq('a', 1, 'int'));
    const headersOnly = document(headerEq('unit', 'thruster'), { codec: 'headers_only' });
    const texts = [readsAll, readsPayload, headersOnly];
    const wanted = new Map([
      [readsAll, 'fault malformed'],
      [readsPayload, 'selected'],
      [headersOnly, 'fault malformed'],
    ]);
    for (const order of [texts, texts.toReversed(), [readsPayload], [readsAll, readsPayload, readsAll]]) {
      expect(evaluate(programOf(order), '{"a":1}', [UNIT, BAD_ENTRY])).toEqual(order.map((text) => wanted.get(text)));
    }
  });

  it('keeps the content type that one reading gave when a later one fails', () => {
    const contentType: HeaderInput = { key: 'agdx.ct', value: { kind: 'u8', value: 3 } };
    const program = programOf([
      document(eq('a', 1, 'int')),
      document({ any: [headerEq('unit', 'x'), eq('a', 1, 'int')] }),
      document(eq('a', 2, 'int')),
    ]);
    const foreign = 'rejected foreign_codec';
    expect(evaluate(program, '{"a":1}', [contentType, BAD_ENTRY])).toEqual([foreign, 'fault malformed', foreign]);
    expect(evaluate(program, '{"a":1}', [BAD_ENTRY, contentType])).toEqual([foreign, 'fault malformed', foreign]);
  });

  it('reads nothing but headers for a headers_only filter, and only the content type beside a payload', () => {
    const headersOnly = watched(document(headerEq('unit', 'thruster'), { codec: 'headers_only' }));
    expect(evaluate(headersOnly.program, 'not JSON', [UNIT])).toEqual(['selected']);
    expect(headersOnly.reads).toEqual(['all headers']);
    expect(headersOnly.wanted).toEqual(['headers agdx.ct,unit']);
    const payloadOnly = watched(document(eq('a', 1, 'int')));
    expect(evaluate(payloadOnly.program, '{"a":1}', [UNIT])).toEqual(['selected']);
    expect(payloadOnly.reads).toEqual(['agdx.ct', 'payload']);
  });

  it('leaves the payload alone where a header decides, written before or after', () => {
    const { program, reads } = watched(document({ all: [eq('a', 'x'), headerEq('unit', 'other')] }));
    expect(evaluate(program, '{"a":', [UNIT])).toEqual(['rejected']);
    expect(reads).toEqual(['all headers']);
  });

  it('forgets mismatch and fault between filters and between records', () => {
    const program = programOf([document(eq('a', 1, 'int')), document(eq('b', 1, 'int')), document(eq('a', 'x'))]);
    expect(evaluate(program, '{"a":"x"}')).toEqual(['rejected type_mismatch', 'rejected', 'selected']);
    expect(evaluate(program, '{"a":')).toEqual(['fault malformed', 'fault malformed', 'fault malformed']);
    expect(evaluate(program, '{}')).toEqual(['rejected', 'rejected', 'rejected']);
    expect(evaluate(program, '{"a":1}')).toEqual(['selected', 'rejected', 'rejected type_mismatch']);
  });

  it('may hold no filter', () => {
    const program = programOf([]);
    expect(evaluate(program, '{}')).toEqual([]);
    expect(program.count).toBe(0);
  });
});

describe('values that are not written as they are read', () => {
  it('compare after unescaping, in arrays too, and longer than any before', () => {
    const long = 'é\n'.repeat(6000);
    const program = programOf([
      document(eq('a', 'tab\tend')),
      document({ pred: { field: 'a', op: 'contains', value: { kind: 'string', value: '\tend' } } }),
      document({ pred: { field: 'list', op: 'contains', value: { kind: 'string', value: 'a"b' } } }),
      document({ pred: { field: 'list', op: 'contains', value: { kind: 'double', value: 1.5 } } }),
      document({ text: { field: 'long', kind: 'suffix', pattern: '\né\n' } }),
    ]);
    const payload = JSON.stringify({ a: 'tab\tend', list: [[1.5], 'x', 'a"b'], long });
    expect(evaluate(program, payload)).toEqual(['selected', 'selected', 'selected', 'rejected', 'selected']);
  });
});

describe('a text over the bound of regex', () => {
  const regex = { text: { field: 'a', kind: 'regex', pattern: 'x$' } };

  it('is a fault too_large, measured after unescaping', () => {
    const program = programOf([document(regex, { fault_policy: 'drop' })]);
    const fits = `${'y'.repeat(REGEX_SUBJECT_BYTES_MAX - 1)}x`;
    expect(evaluate(program, JSON.stringify({ a: fits }))).toEqual(['selected']);
    expect(evaluate(program, JSON.stringify({ a: `${fits}x` }))).toEqual(['fault too_large']);
    expect(evaluate(program, `{"a":"\\u0079${fits.slice(1)}"}`)).toEqual(['selected']);
    expect(evaluate(program, `{"a":"\\u0079${fits}"}`)).toEqual(['fault too_large']);
  });

  it('ends the evaluation wherever the leaf stands', () => {
    const long = JSON.stringify({ a: 'y'.repeat(REGEX_SUBJECT_BYTES_MAX + 1), b: 'x' });
    for (const expr of [{ not: regex }, { any: [regex, eq('b', 'x')] }, { all: [regex, eq('b', 'z')] }]) {
      expect(evaluate(programOf([document(expr)]), long)).toEqual(['fault too_large']);
    }
    expect(evaluate(programOf([document({ any: [eq('b', 'x'), regex] })]), long)).toEqual(['selected']);
  });
});

describe('what cannot be compiled', () => {
  it('a schema that was not given is a mistake of the caller', () => {
    const avro = document(eq('a', 'x'), { codec: 'avro', schema_refs: [1] });
    expect(() => programOf([avro])).toThrow('no writer schema 1 was given');
  });

  it('a payload leaf without a payload codec is a mistake of the caller', () => {
    const { lowered } = compileLaser(document(eq('a', 'x')), { strict: true, regex: cachedRegexEngine });
    const inputs = programInputs(cachedRegexEngine, DEFAULT_LIMITS);
    expect(() => compileProgram([{ ...lowered, codec: 'headers_only' }], inputs)).toThrow('without a payload codec');
  });
});

describe('leaves that other languages lower to', () => {
  function truthOf(root: Predicate, payload: string, headers: HeaderInput[] = []): string[] {
    const filter: LoweredFilter = {
      dialect: 'laser',
      digest: '',
      codec: 'json',
      faultPolicy: 'stop',
      foreignPolicy: 'reject',
      mismatchPolicy: 'reject',
      schemaRefs: [],
      root,
    };
    const limits = { maxPayloadBytes: PAYLOAD_BYTES_MAX, maxDepth: DEPTH_MAX };
    return evaluate(compileProgram([filter], programInputs(cachedRegexEngine, limits)), payload, headers);
  }
  const twoValued = { missing: 0, nullValue: 0, incomparable: 0, flagsMismatch: false } as const;

  it('may be decided on a missing path and on types that differ', () => {
    const leaf: Predicate = {
      node: 'compare',
      source: { from: 'payload', path: ['a'] },
      op: 'eq',
      literals: [{ kind: 'string', value: 'x' }],
      undecided: twoValued,
    };
    const negated: Predicate = { node: 'not', child: leaf };
    for (const payload of ['{}', '{"a":1}', '{"a":null}', '{"a":{}}']) {
      expect(truthOf(negated, payload)).toEqual(['selected']);
    }
    const member: Predicate = {
      ...leaf,
      op: 'in',
      literals: [
        { kind: 'string', value: 'x' },
        { kind: 'integer', value: 1n },
      ],
    };
    expect(truthOf({ node: 'not', child: member }, '{"a":2}')).toEqual(['selected']);
    expect(truthOf(member, '{"a":1}')).toEqual(['selected']);
  });

  it('may ask for the presence of a header and for the whole payload', () => {
    const present: Predicate = { node: 'presence', source: { from: 'header', key: 'unit' }, wanted: true };
    expect(truthOf(present, '{}', [UNIT])).toEqual(['selected']);
    expect(truthOf(present, '{}')).toEqual(['rejected']);
    const root: Predicate = {
      node: 'compare',
      source: { from: 'payload', path: [] },
      op: 'gte',
      literals: [{ kind: 'integer', value: 5n }],
      undecided: twoValued,
    };
    expect(truthOf(root, ' 7 ')).toEqual(['selected']);
  });
});
