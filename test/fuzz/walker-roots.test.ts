/** Every engine on payloads that go on after their root: a second root, however joined, is no JSON. */
import { expect, it } from 'vitest';
import { MALFORMED, NO_REASON } from '../../src/core/verdict.js';
import { rootTexts } from '../support/root-texts.js';
import { RANDOM_PATHS } from '../support/walker-comparison.js';
import { WalkerTrial } from '../support/walker-trial.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const utf8 = new TextEncoder();

it('a root stands alone, wherever in a block it ends', () => {
  const trials = [RANDOM_PATHS, []].map((paths) => new WalkerTrial(paths, LIMITS));
  const seen = new Map<number, number>();
  for (let length = 0; length < 64; length += 7) {
    for (const text of rootTexts(length)) {
      for (const trial of trials) {
        const reason = trial.check(utf8.encode(text));
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
      }
    }
  }
  expect(seen.get(MALFORMED)).toBeGreaterThan(10_000);
  expect(seen.get(NO_REASON)).toBeGreaterThan(500);
});
