/**
 * The table of formats: what is built, what waits, what is unknown.
 */
import { expect, it } from 'vitest';
import { checkSegmentFormat, SEGMENT_FORMATS } from '../../src/segment/formats.js';
import { problemFrom } from '../support/refused.js';

it('knows the three formats of this version', () => {
  expect(Object.keys(SEGMENT_FORMATS).map((name) => checkSegmentFormat(name, '/f'))).toEqual([
    'iggy',
    'iggy_polled',
    'ndjson',
  ]);
});

it('refuses a format of the contract that is not built as unsupported', () => {
  for (const name of ['iggy_batch', 'kafka']) {
    expect(problemFrom(() => checkSegmentFormat(name, '/segments/0/format'))).toMatchObject({
      code: 'unsupported',
      field: '/segments/0/format',
      given: name,
    });
  }
});

it('refuses any other name as a mistake of the caller, names of object members too', () => {
  for (const name of ['', 'IGGY', 'parquet', 'constructor', '__proto__']) {
    expect(problemFrom(() => checkSegmentFormat(name, '/segments/1/format'))).toMatchObject({
      code: 'invalid_request',
      field: '/segments/1/format',
    });
  }
});
