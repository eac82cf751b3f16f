/** The corpora are whole: how many cases there are, each under a name of its own, so that a lost case fails. */
import { expect, test } from 'vitest';
import { CASE_FILES, type RawCase } from '../support/cases.js';
import { corpus } from '../support/jsonl.js';

test('there are 1,230 cases in seven files', () => {
  expect(CASE_FILES.map((file) => corpus(file).length)).toEqual([489, 102, 234, 72, 248, 58, 27]);
});

test('no two cases share a name', () => {
  const ids = CASE_FILES.flatMap((file) => corpus<RawCase>(file).map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
});
