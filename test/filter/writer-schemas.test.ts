/**
 * How a record finds its writer schema, in oracle and program alike (laser-filter §4): content type, size, schema id,
 * then the payload. Schemas here are no more than their family; a payload's first byte is the value of `n`, and 0xff is
 * malformed.
 */
import { describe, expect, it } from 'vitest';
import type { SchemaDecoder } from '../../src/codec/value.js';
import type { SchemaWalker } from '../../src/codec/walker.js';
import type { HeaderValue } from '../../src/core/header-value.js';
import { Slots, SLOT_INTEGER } from '../../src/core/slots.js';
import { MALFORMED, NO_REASON, TOO_LARGE } from '../../src/core/verdict.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { Evaluator } from '../../src/filter/evaluate.js';
import { compileProgram } from '../../src/filter/program.js';
import type { FamilySchema, ProgramDeps } from '../../src/filter/program-deps.js';
import { programInputs } from '../../src/scan/program-inputs.js';
import { headerBlock, type HeaderEntry } from '../support/cases.js';
import { givenRecord } from '../support/oracle.js';
import { beginRecord, shown } from '../support/program.js';
import { cachedRegexEngine } from '../support/regex-engine.js';

const LIMITS = { maxPayloadBytes: 4, maxDepth: 3 };
interface TestSchema extends FamilySchema {
  readonly id: number;
}

const SCHEMAS = new Map<number, TestSchema>([
  [7, { family: 'avro', id: 7 }],
  [8, { family: 'avro', id: 8 }],
  [9, { family: 'protobuf', id: 9 }],
]);

function lowered(schemaRefs: readonly number[], more: object = {}) {
  const expr = { pred: { field: 'n', op: 'eq', value: { kind: 'int', value: 5 } } };
  const text = JSON.stringify({
    v: 1,
    evaluator_version: 1,
    expr,
    codec: 'avro',
    schema_refs: schemaRefs,
    ...more,
  });
  return compileLaser(text, { strict: true, regex: cachedRegexEngine }).lowered;
}

/** A walker that notes the schema of every walk. */
function walkerOf(ids: readonly number[], walks: number[]): SchemaWalker {
  const slots = new Slots(1);
  let chosen = -1;
  return {
    slots,
    elements: { slots, seek: () => never(), open: () => never(), next: () => never() },
    unescaped: new Uint8Array(0),
    isBarren: false,
    unescape: () => never(),
    chooseSchema(index) {
      chosen = ids[index]!;
    },
    walk(bytes, start, end) {
      walks.push(chosen);
      if (end - start > LIMITS.maxPayloadBytes) return TOO_LARGE;
      if (bytes[start] === 0xff) return MALFORMED;
      slots.kinds[0] = SLOT_INTEGER;
      slots.numbers[0] = bytes[start]!;
      return NO_REASON;
    },
  };
}

function never(): never {
  throw new Error('the filter reads an integer');
}

/** What both engines say of a record under one filter for each set of ids, and the schemas that were walked with. */
function judged(
  sets: readonly (readonly number[])[],
  headers: readonly HeaderEntry[],
  payload: number[],
  more?: object,
) {
  const bytes = Uint8Array.from(payload);
  const walks: number[] = [];
  const filters = sets.map((ids) => lowered(ids, more));
  const deps: ProgramDeps<TestSchema> = {
    ...programInputs(cachedRegexEngine, LIMITS),
    makeSchemaWalker: (_codec, _paths, _limits, schemas) =>
      walkerOf(
        schemas.map(({ id }) => id),
        walks,
      ),
  };
  const program = compileProgram(filters, deps, { schemas: SCHEMAS });
  beginRecord(program, bytes, headerBlock(headers));
  const found = filters.map((_filter, i) => shown(program.evaluate(i)));
  const decoders = new Map<number, SchemaDecoder>(
    [...SCHEMAS].map(([id, { family }]) => [
      id,
      {
        family,
        decode: (given) =>
          given[0] === 0xff
            ? { ok: false, reason: MALFORMED }
            : { ok: true, value: new Map([['n', BigInt(given[0] ?? 0)]]) },
      },
    ]),
  );
  for (const [i, filter] of filters.entries()) {
    const oracle = new Evaluator(filter, decoders, cachedRegexEngine);
    expect(shown(oracle.evaluate(givenRecord(headers, bytes), LIMITS))).toEqual(found[i]);
  }
  for (let i = 0; i < program.count; i++) program.setActive(i, true);
  const candidates = new Set(program.candidates.subarray(0, program.select()));
  for (const [i, { verdict }] of found.entries()) {
    if (verdict !== 'rejected') expect(candidates).toContain(i);
  }
  return { found: found.map(({ verdict, reason }) => (reason === null ? verdict : `${verdict} ${reason}`)), walks };
}

const sid = (value: HeaderValue): HeaderEntry => ({ key: 'agdx.sid', value });
const unsigned = (value: bigint) => sid({ kind: 'uint', value });
const contentType = (value: bigint): HeaderEntry => ({ key: 'agdx.ct', value: { kind: 'uint', value } });

describe('the schema of a record', () => {
  it('is the one its header names', () => {
    expect(judged([[7, 8]], [unsigned(8n)], [5])).toEqual({ found: ['selected'], walks: [8] });
    expect(judged([[7, 8]], [unsigned(7n)], [6])).toEqual({ found: ['rejected'], walks: [7] });
  });

  it('is the last one that is named', () => {
    expect(judged([[7]], [unsigned(8n), unsigned(7n)], [5]).walks).toEqual([7]);
    expect(judged([[7]], [unsigned(7n), sid({ kind: 'string', value: '7' })], [5]).found).toEqual([
      'rejected missing_schema',
    ]);
  });

  it.each<[string, HeaderEntry[]]>([
    ['no header', []],
    ['a signed integer', [sid({ kind: 'int', value: 7n })]],
    ['text', [sid({ kind: 'string', value: '7' })]],
    ['a float', [sid({ kind: 'float', value: 7 })]],
    ['bytes', [sid({ kind: 'raw', value: Uint8Array.of(7) })]],
    ['an id beyond 32 bits', [unsigned(2n ** 32n + 7n)]],
    ['an id beyond 53 bits', [unsigned(2n ** 60n)]],
  ])('is missing under %s', (_what, headers) => {
    expect(judged([[7]], headers, [5])).toEqual({ found: ['rejected missing_schema'], walks: [] });
  });

  it('is not allowed where the filter does not refer to it', () => {
    expect(judged([[7]], [unsigned(8n)], [5])).toEqual({ found: ['rejected schema_not_allowed'], walks: [] });
    expect(judged([[7]], [unsigned(0xffff_ffffn)], [5]).found).toEqual(['rejected schema_not_allowed']);
  });

  it('does not fit where it belongs to another codec', () => {
    expect(judged([[7, 9]], [unsigned(9n)], [5])).toEqual({ found: ['rejected schema_mismatch'], walks: [] });
  });

  it('decides for each filter by its own ids, and the payload is walked once', () => {
    expect(judged([[7], [8], [7, 8]], [unsigned(7n)], [5])).toEqual({
      found: ['selected', 'rejected schema_not_allowed', 'selected'],
      walks: [7],
    });
  });
});

describe('the order of checks', () => {
  it('is content type, size, schema, payload', () => {
    expect(judged([[7]], [contentType(1n)], [5, 0, 0, 0, 0]).found).toEqual(['rejected foreign_codec']);
    expect(judged([[7]], [contentType(5n)], [5, 0, 0, 0, 0]).found).toEqual(['fault too_large']);
    expect(judged([[7]], [], [0xff]).found).toEqual(['rejected missing_schema']);
    expect(judged([[7]], [unsigned(7n)], [0xff]).found).toEqual(['fault malformed']);
  });

  it('lets foreign records through where the policy says so, whatever their schema', () => {
    const pass = { foreign_policy: 'pass' };
    expect(judged([[7]], [], [5], pass).found).toEqual(['fault missing_schema']);
    expect(judged([[7]], [unsigned(8n)], [5], pass).found).toEqual(['fault schema_not_allowed']);
    expect(judged([[7, 9]], [unsigned(9n)], [5], pass).found).toEqual(['fault schema_mismatch']);
    expect(judged([[7]], [contentType(6n)], [5], pass).found).toEqual(['fault foreign_codec']);
  });
});
