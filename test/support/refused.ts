/** What a call refuses, for tests that look at the problem. */
import { Refusal, type Problem } from '../../src/core/error-codes.js';

/** The problem of the `Refusal` that `run` throws; anything else thrown, or nothing, fails the test. */
export function problemFrom(run: () => unknown): Problem {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown.problem;
    throw thrown;
  }
  throw new Error('nothing was refused');
}
