/** Refusals of request bodies: each names the member that is wrong, its limit and what was given. */
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../src/core/error-codes.js';
import { checked } from '../../src/wire/check.js';
import { ScanRequestSchema } from '../../src/wire/scan-request.js';

const GOOD = {
  v: 1,
  source: { stream: 's', topic: 't' },
  partition_id: 0,
  segments: [{ format: 'iggy', store: 'data', path: 'a/0.log' }],
  filters: [{ id: 'f', filter: {} }],
};

function problemFrom(body: unknown): Problem {
  try {
    checked(ScanRequestSchema, body);
  } catch (thrown) {
    return (thrown as { problem: Problem }).problem;
  }
  throw new Error('the body was accepted');
}

describe('a checked body', () => {
  test('passes when it has the wanted shape', () => {
    expect(checked(ScanRequestSchema, GOOD)).toBe(GOOD);
  });

  test.each([
    [{ ...GOOD, cuont: 5 }, '/cuont'],
    [{ ...GOOD, source: { stream: 's', topic: 't', extra: 1 } }, '/source/extra'],
    [{ ...GOOD, segments: [{ format: 'parquet', store: 'd', path: 'p' }] }, '/segments/0/format'],
    [{ ...GOOD, partition_id: -1 }, '/partition_id'],
    [{ ...GOOD, count: 0 }, '/count'],
    [{ ...GOOD, filters: [] }, '/filters'],
    [{ ...GOOD, filters: [{ id: 'f', filter: {}, colour: 1 }] }, '/filters/0/colour'],
    [{ ...GOOD, start: 'middle' }, '/start'],
    [{ ...GOOD, start: { offset: -1 } }, '/start/offset'],
    [{ ...GOOD, start: { offset: 1, also: 2 } }, '/start/also'],
    [{ ...GOOD, start: { timestamp: 'x' } }, '/start/timestamp'],
    [{ ...GOOD, start: {} }, '/start'],
    [{ ...GOOD, reply: 'everything' }, '/reply'],
  ])('%j is refused at %s', (body, field) => {
    expect(problemFrom(body)).toMatchObject({ code: 'invalid_request', field });
  });

  test('a passed bound names the limit and what was given', () => {
    expect(problemFrom({ ...GOOD, count: 0 })).toMatchObject({ limit: 1, given: 0 });
    expect(problemFrom({ ...GOOD, source: { stream: 'x'.repeat(256), topic: 't' } })).toMatchObject({
      field: '/source/stream',
      limit: 255,
      given: 256,
    });
  });

  test('several faults stand in errors, the first also by itself', () => {
    const problem = problemFrom({ ...GOOD, count: 0, partition_id: 'x' });
    expect(problem.errors?.map((one) => one.field).toSorted()).toEqual(['/count', '/partition_id']);
  });
});
