/** `validate` and `test` as a worker answers them (scan-protocol §2): replies, records in every form, and refusals. */
import { describe, expect, test } from 'vitest';
import { problemOf as problemOfThrown } from '../../src/core/error-codes.js';
import { testFilter, validateFilter } from '../../src/scan/filter-tasks.js';
import { planTest, planValidate } from '../../src/scan/plan-filter.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { checked } from '../../src/wire/check.js';
import { TestReplySchema, type TestRequest, ValidateReplySchema } from '../../src/wire/filter-request.js';
import { newRunner } from '../support/scan-harness.js';
import { filterText } from '../support/scan-requests.js';

const { compiler } = newRunner();

function explained(record: object, more: Partial<TestRequest> = {}) {
  const task = planTest({ filter: filterText(), ...more, record: JSON.stringify(record) });
  return checked(TestReplySchema, testFilter(compiler, task)).explanation;
}

function problemFrom(run: () => unknown) {
  try {
    run();
  } catch (thrown) {
    return problemOfThrown(thrown);
  }
  throw new Error('nothing was refused');
}

const headerFilter = (key: string, value: object) =>
  filterText({ expr: { header: { key, op: 'eq', value } }, codec: 'headers_only' });

function blockOf(bytes: Uint8Array): object {
  return { header_block: Buffer.from(bytes).toString('base64') };
}

describe('validate', () => {
  test('says what a filter reads, and warns of what it ignored', () => {
    const filter = filterText({
      expr: { all: [{ present: 'a.b' }, { header: { key: 'h', op: 'eq', value: { kind: 'int', value: 1 } } }] },
      colour: 'red',
    });
    const reply = checked(ValidateReplySchema, validateFilter(compiler, planValidate({ filter })));
    expect(reply).toMatchObject({ reads_payload: true, reads_headers: true, paths: ['a.b'], header_keys: ['h'] });
    expect(reply.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(reply.canonical).not.toContain('colour');
    expect(reply.warnings).toEqual([expect.objectContaining({ pointer: '/colour', reason: 'unknown_member' })]);
  });

  test('warns of what is probably a mistake, and says what makes a filter heavy', () => {
    const never = { all: [{ present: 'a' }, { absent: 'a' }] };
    const heavy = { text: { field: 'a', kind: 'regex', pattern: '^x+' } };
    const reply = (expr: object) =>
      checked(ValidateReplySchema, validateFilter(compiler, planValidate({ filter: filterText({ expr }) })));
    expect(reply(never).warnings).toEqual([
      expect.objectContaining({
        pointer: '/expr/all/1',
        reason: 'never_true',
        hint: expect.stringContaining('/expr/all/0'),
      }),
    ]);
    expect(reply(heavy)).toMatchObject({ cost: { class: 'heavy', indexable: false }, warnings: [{ reason: 'heavy' }] });
  });

  test('accepts every codec', () => {
    const filter = filterText({ codec: 'avro', schema_refs: [7] });
    expect(validateFilter(compiler, planValidate({ filter })).canonical).toContain('avro');
  });

  test('refuses with a pointer, and with a position where the filter was text', () => {
    expect(problemFrom(() => validateFilter(compiler, planValidate({ filter_text: '{"v": }' })))).toMatchObject({
      code: 'invalid_request',
      field: '/filter_text',
      position: 6,
    });
    expect(problemFrom(() => validateFilter(compiler, planValidate({ filter: filterText({ v: 9 }) })))).toMatchObject({
      code: 'version_skew',
      field: '/filter/v',
    });
  });
});

describe('test', () => {
  test('takes the payload as text or bytes, and none as empty', () => {
    expect(explained({ payload_text: '{"n":1}' })).toEqual({
      verdict: 'selected',
      root: { label: 'n eq 1', truth: 'match' },
    });
    expect(explained({ payload: Buffer.from('{"n":2}').toString('base64') }).verdict).toBe('rejected');
    expect(explained({})).toMatchObject({ verdict: 'fault', fault: 'malformed', root: { label: 'n eq 1' } });
    expect(explained({}).root).not.toHaveProperty('truth');
  });

  test('a rejection under a reject policy keeps its reason', () => {
    expect(explained({ payload_text: '{"n":"1"}' })).toMatchObject({
      verdict: 'rejected',
      fault: 'type_mismatch',
      root: { truth: 'unknown' },
    });
  });

  test.each([
    [
      { kind: 'int', value: -7 },
      { kind: 'int', value: -7 },
    ],
    [
      { kind: 'int', value: '-9223372036854775808' },
      { kind: 'long', value: -(2 ** 63) },
    ],
    [
      { kind: 'uint', value: 7 },
      { kind: 'int', value: 7 },
    ],
    [
      { kind: 'float', value: 1.5 },
      { kind: 'double', value: 1.5 },
    ],
    [
      { kind: 'float', value: '-0.0' },
      { kind: 'double', value: 0 },
    ],
    [
      { kind: 'string', value: 'x' },
      { kind: 'string', value: 'x' },
    ],
    [
      { kind: 'bool', value: true },
      { kind: 'boolean', value: true },
    ],
    [
      { kind: 'raw', value: [120] },
      { kind: 'string', value: 'x' },
    ],
    [
      { kind: 'raw', value: 'eA==' },
      { kind: 'string', value: 'x' },
    ],
  ])('takes the header value %j', (value, literal) => {
    const filter = headerFilter('h', literal).replace('-9223372036854776000', '-9223372036854775808');
    const headers = [
      { key: 'h', value: { kind: 'string', value: 'earlier' } },
      { key: 'h', value },
    ];
    expect(explained({ headers }, { filter }).verdict).toBe('selected');
  });

  test('keeps integers of 64 bits exact', () => {
    const filter = headerFilter('h', { kind: 'long', value: 1 }).replace('"value":1}', '"value":9007199254740993}');
    const verdict = (value: string) =>
      testFilter(
        compiler,
        planTest({ filter, record: `{"headers":[{"key":"h","value":{"kind":"int","value":${value}}}]}` }),
      ).explanation.verdict;
    expect(verdict('9007199254740993')).toBe('selected');
    expect(verdict('"9007199254740993"')).toBe('selected');
    expect(verdict('9007199254740992')).toBe('rejected');
  });

  test('takes a stored header block, and finds it malformed', () => {
    const filter = headerFilter('h', { kind: 'int', value: 3 });
    const block = encodeHeaders([{ key: 'h', value: { kind: 'u8', value: 3 } }]);
    expect(explained(blockOf(block), { filter }).verdict).toBe('selected');
    expect(explained(blockOf(block.subarray(0, -1)), { filter })).toMatchObject({
      verdict: 'fault',
      fault: 'malformed',
    });
  });

  test('lowers the limits of the decoder', () => {
    const deep = { payload_text: '{"n":[[1]]}' };
    expect(explained(deep, { limits: { max_depth: 2 } })).toMatchObject({ verdict: 'fault', fault: 'too_deep' });
    expect(explained(deep, { limits: { max_payload_bytes: 3 } })).toMatchObject({
      verdict: 'fault',
      fault: 'too_large',
    });
    expect(explained(deep, { limits: { max_depth: 3 } }).verdict).toBe('rejected');
  });

  test.each([
    [[], '/record'],
    [{ colour: 1 }, '/record/colour'],
    [{ payload: 'x', payload_text: 'x' }, '/record/payload_text'],
    [{ payload: 'not base64' }, '/record/payload'],
    [{ payload_text: 7 }, '/record/payload_text'],
    [{ headers: {} }, '/record/headers'],
    [{ headers: [], header_block: '' }, '/record/header_block'],
    [{ headers: [{ key: 1 }] }, '/record/headers/0/key'],
    [{ headers: [{ key: 'h' }] }, '/record/headers/0'],
    [{ headers: [{ key: 'h', value: { kind: 'date', value: 1 } }] }, '/record/headers/0/value/kind'],
    [{ headers: [{ key: 'h', value: { kind: 'int', value: 1.5 } }] }, '/record/headers/0/value/value'],
    [{ headers: [{ key: 'h', value: { kind: 'uint', value: -1 } }] }, '/record/headers/0/value/value'],
    [{ headers: [{ key: 'h', value: { kind: 'bool', value: 1 } }] }, '/record/headers/0/value/value'],
    [{ headers: [{ key: 'h', value: { kind: 'float', value: 'one' } }] }, '/record/headers/0/value/value'],
    [{ headers: [{ key: 'h', value: { kind: 'raw', value: [256] } }] }, '/record/headers/0/value/value/0'],
  ])('refuses the record %j at %s', (record, field) => {
    expect(problemFrom(() => explained(record))).toMatchObject({ code: 'invalid_request', field });
  });

  test('refuses a schema id that stands for nothing', () => {
    const filter = filterText({ codec: 'avro', schema_refs: [7] });
    expect(problemFrom(() => explained({}, { filter }))).toMatchObject({
      code: 'invalid_request',
      field: '/filter/schema_refs/0',
      given: 7,
    });
  });
});
