/**
 * Spearman's ρ: how well one order of things agrees with another, 1 the same order, −1 the opposite.
 */

/** ρ of two lists of equal length, at least two long and neither all ties; ties take the mean of their ranks. */
export function rankCorrelation(left: readonly number[], right: readonly number[]): number {
  const [a, b] = [ranksOf(left), ranksOf(right)];
  const middle = (left.length + 1) / 2;
  let both = 0;
  let leftSquares = 0;
  let rightSquares = 0;
  for (const [index, rank] of a.entries()) {
    const [x, y] = [rank - middle, b[index]! - middle];
    both += x * y;
    leftSquares += x * x;
    rightSquares += y * y;
  }
  return both / Math.sqrt(leftSquares * rightSquares);
}

function ranksOf(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((a, b) => values[a]! - values[b]!);
  const ranks: number[] = values.map(() => 0);
  for (let from = 0; from < order.length;) {
    let to = from + 1;
    while (to < order.length && values[order[to]!] === values[order[from]!]) to += 1;
    // Ranks count from 1, and equal values share the mean of from+1 … to.
    for (let at = from; at < to; at++) ranks[order[at]!] = (from + 1 + to) / 2;
    from = to;
  }
  return ranks;
}
