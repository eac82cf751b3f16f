/**
 * How long the random tests of engines run. `npm test` takes the short mode, the same inputs every time; `npm run fuzz`
 * (`WINNOW_FUZZ=long`) takes many more, from a seed of its own unless `WINNOW_SEED` names one. Every test that uses the
 * seed says it in its name.
 */

export const isLongFuzz = process.env['WINNOW_FUZZ'] === 'long';

/** For suites that grow with the mode. A walk that does not come back is the watchdog's, not the timeout's. */
export const FUZZ_SUITE = { timeout: isLongFuzz ? 3_600_000 : 240_000 };

const chosenSeed = process.env['WINNOW_SEED'];

/** `usual` in the short mode, where nothing else is asked for. */
export function fuzzSeed(usual: number): number {
  if (chosenSeed !== undefined) return Number(chosenSeed);
  return isLongFuzz ? Date.now() % 2 ** 31 : usual;
}

/** `short` or `long`, by the mode. */
export function fuzzScale(short: number, long: number): number {
  return isLongFuzz ? long : short;
}
