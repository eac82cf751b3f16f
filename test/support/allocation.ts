/**
 * Measures what a piece of code leaves on the heap, garbage included.
 */

/**
 * Heap growth of the quietest of several rounds of `run`, in bytes, with nothing collected in between. Compilation and
 * other one-time work of the engine falls into some round; what the code itself allocates falls into every one.
 */
export function heapGrowth(run: () => void, rounds = 8): number {
  let least = Infinity;
  for (let round = 0; round < rounds; round++) {
    globalThis.gc!();
    const before = process.memoryUsage().heapUsed;
    run();
    least = Math.min(least, process.memoryUsage().heapUsed - before);
  }
  return least;
}
