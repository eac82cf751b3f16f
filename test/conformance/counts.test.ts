/** The corpora are whole: how many cases run, how many wait and which, so that a lost case fails. */
import { expect, test } from 'vitest';
import { CASE_FILES, readyCases, WAITING_CASES } from '../support/cases.js';
import type { RawCase } from '../support/cases.js';
import { corpus } from '../support/jsonl.js';

interface FilterCase extends RawCase {
  readonly filter?: { readonly codec?: string };
  readonly filter_text?: string;
}

function codecOf({ filter, filter_text: text }: FilterCase): string | undefined {
  return filter?.codec ?? (text === undefined ? undefined : (JSON.parse(text) as { codec?: string }).codec);
}

test('of 996 cases in six files 989 run and seven wait', () => {
  expect(CASE_FILES.map((file) => corpus(file).length)).toEqual([489, 102, 72, 248, 58, 27]);
  expect(CASE_FILES.flatMap((file) => readyCases(file))).toHaveLength(989);
  expect(WAITING_CASES).toHaveLength(7);
});

test('no two cases share a name', () => {
  const ids = CASE_FILES.flatMap((file) => corpus<RawCase>(file).map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
});

test('a case waits only if its filter names cbor or avro, and every such case of evaluation waits', () => {
  const evaluated = (['laser-eval-json', 'laser-eval-headers', 'laser-explain'] as const).flatMap((file) =>
    corpus<FilterCase>(file),
  );
  const waiting = evaluated.filter(({ id }) => WAITING_CASES.includes(id));
  expect(waiting).toHaveLength(7);
  for (const one of waiting) expect(['cbor', 'avro'], one.id).toContain(codecOf(one));
  const ready = evaluated.filter(({ id }) => !WAITING_CASES.includes(id));
  for (const one of ready) expect(['json', 'headers_only'], one.id).toContain(codecOf(one));
});
