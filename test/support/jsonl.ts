/** Reads the conformance corpora, which stand beside the tests as JSON Lines. */
import { readFileSync } from 'node:fs';

/** Every case of `test/conformance/NAME.jsonl`, in order. Integers in `filter` objects lose precision here: use `filter_text`. */
export function corpus<Case>(name: string): Case[] {
  const text = readFileSync(new URL(`../conformance/${name}.jsonl`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Case);
}
