/** The list of planted mistakes stays applicable; `npm run mutants` tries all of them. */
import { describe, expect, it } from 'vitest';
import { MUTANTS } from './mutants.js';

/** The compiled runner, since it works in copies of the built tree. */
const runner = import('../../dist/test/mutants/run.js' as string) as Promise<typeof import('./run.js')>;

describe('planted mistakes', () => {
  it('are at least thirty, spread over program and walkers', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(30);
    expect(new Set(MUTANTS.map(({ file }) => file)).size).toBeGreaterThanOrEqual(10);
  });

  it('each still have one place to be planted', async () => {
    const { plant } = await runner;
    for (const mutant of MUTANTS) expect(plant(mutant)).toContain(mutant.to);
  });

  it('are caught where a few are tried, and the tree as it is passes', { timeout: 240_000 }, async () => {
    const { runMutants } = await runner;
    // None of these makes a check run for ever: one that does takes the checks' whole time limit to be caught.
    const tried = MUTANTS.filter((_, index) => index % 30 === 8);
    const results = await runMutants([null, ...tried], 2, () => undefined);
    const seen = new Map(results.map(({ name, caught }) => [name, caught]));
    expect(seen.get('the tree as it is')).toBe(false);
    expect([...seen.values()].filter(Boolean)).toHaveLength(tried.length);
  });
});
