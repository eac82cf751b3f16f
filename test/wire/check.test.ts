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

  test.each([
    [{ start: { offset: -1 } }, '/start/offset', 0, -1],
    [{ start: { timestamp: -7 } }, '/start/timestamp', 0, -7],
    [{ start: { continue: 'x'.repeat(1025) } }, '/start/continue', 1024, 1025],
    [{ start: { continue: '' } }, '/start/continue', 1, 0],
    [{ segments: [{ format: 'ndjson', bytes: '', base_offset: -5 }] }, '/segments/0/base_offset', 0, -5],
    [{ filters: [{ id: 'f', filter: {}, start: { offset: -2 } }] }, '/filters/0/start/offset', 0, -2],
    [{ pages: -1 }, '/pages', 0, -1],
    [{ segments: Array.from({ length: 1025 }, () => ({ format: 'ndjson', bytes: '' })) }, '/segments', 1024, 1025],
  ])('%j: also where a member has several forms, and once', (more, field, limit, given) => {
    const problem = problemFrom({ ...GOOD, ...more });
    expect(problem).toMatchObject({ field, limit, given });
    expect(problem.errors).toBeUndefined();
  });

  test('lists and objects out of all bounds are refused without looking at what they hold', () => {
    const segments = Array.from({ length: 300_000 }, () => ({ format: 'ndjson', bytes: '', base_offset: -1 }));
    const members = Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`m/${i}`, i]));
    const startedAt = performance.now();
    expect(problemFrom({ ...GOOD, segments })).toMatchObject({ field: '/segments', limit: 1024, given: 300_000 });
    expect(problemFrom({ ...GOOD, schemas: segments })).toMatchObject({ field: '/schemas', given: 300_000 });
    expect(problemFrom(members)).toMatchObject({ field: '/m~10' });
    expect(problemFrom({ ...GOOD, filters: [members] })).toMatchObject({ field: '/filters/0/m~10' });
    // Item by item it would be some ten seconds.
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test('a value of no allowed kind is told the kinds', () => {
    expect(problemFrom({ ...GOOD, count: 1.5 }).detail).toBe('/count must be integer or string.');
    expect(problemFrom({ ...GOOD, start: 'middle' }).detail).toBe('/start has none of the forms allowed here.');
  });

  test('faults beyond a dozen are still found, and sixteen are told', () => {
    const segments = Array.from({ length: 40 }, () => ({ format: 'ndjson', bytes: '', base_offset: -1 }));
    expect(problemFrom({ ...GOOD, segments }).errors).toHaveLength(16);
  });

  test('several faults stand in errors, the first also by itself', () => {
    const problem = problemFrom({ ...GOOD, count: 0, partition_id: 'x' });
    expect(problem.errors?.map((one) => one.field).toSorted()).toEqual(['/count', '/partition_id']);
  });
});
