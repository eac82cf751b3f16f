/**
 * Measures what a piece of code leaves on the heap, garbage included.
 */

/**
 * Heap growth of the quietest round of `run`, in bytes, with nothing collected within a round. Compilation and other
 * one-time work of the engine falls into some rounds (into more of them on a busy machine), while what the code itself
 * allocates falls into every one; so rounds are repeated until one stays below `quietBytes`, at most `rounds` times.
 */
export function heapGrowth(run: () => void, quietBytes = 16 * 1024, rounds = 60): number {
  let least = Infinity;
  for (let round = 0; round < rounds && least >= quietBytes; round++) {
    globalThis.gc!();
    const before = process.memoryUsage().heapUsed;
    run();
    least = Math.min(least, process.memoryUsage().heapUsed - before);
  }
  return least;
}
