/** What capabilities say is built equals what is built. */
import { expect, it } from 'vitest';
import { DIALECTS } from '../../src/filter/dialects.js';
import { SEGMENT_FORMATS } from '../../src/segment/formats.js';
import { DIALECTS_BUILT, FORMATS_BUILT } from '../../src/wire/capabilities.js';

it('the formats are those of the reader table', () => {
  expect([...FORMATS_BUILT]).toEqual(Object.keys(SEGMENT_FORMATS));
});

it('the dialects are those of the compiler table', () => {
  expect([...DIALECTS_BUILT]).toEqual([...DIALECTS.keys()]);
});
