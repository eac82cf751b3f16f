/** Spearman's ρ against values worked out by hand. */
import { describe, expect, it } from 'vitest';
import { rankCorrelation } from '../../bench/rank-correlation.js';

describe('the rank correlation', () => {
  it.each([
    ['the same order', [1, 2, 3, 4], [10, 200, 201, 9000], 1],
    ['the opposite order', [1, 2, 3, 4], [4, 3, 2, 1], -1],
    // 1 − 6·Σd² ÷ n(n²−1) with d = 0, 1, 1, 0.
    ['one neighbouring pair swapped', [1, 2, 3, 4], [1, 3, 2, 4], 0.8],
    // Ranks 1, 2½, 2½, 4 against 1, 2, 3, 4: 4½ ÷ √(4½ · 5).
    ['a tie', [1, 2, 2, 3], [1, 2, 3, 4], Math.sqrt(0.9)],
    ['an order that has nothing to do with it', [1, 2, 3, 4], [2, 4, 1, 3], 0],
  ])('of %s', (_, left, right, rho) => {
    expect(rankCorrelation(left, right)).toBeCloseTo(rho, 12);
  });
});
