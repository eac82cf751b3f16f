/**
 * Seeded randomness for datasets: record `index` of seed `seed` draws the same numbers whoever asks, in any order.
 *
 * One generator object is placed on a record with `place`; SplitMix-like mixing makes neighbouring records unrelated.
 */
export class Random {
  #state = 0;

  /** Starts the numbers of record `index` under `seed`; both are taken modulo 2^32. */
  place(seed: number, index: number): void {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
    this.next();
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** Uniform integer in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** Uniform integer in [low, high]. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** Puts `items` in random order. */
  shuffle(items: unknown[]): void {
    for (let last = items.length - 1; last > 0; last -= 1) {
      const other = this.below(last + 1);
      const held = items[last];
      items[last] = items[other];
      items[other] = held;
    }
  }
}
