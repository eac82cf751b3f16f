/**
 * Telling exhausted memory from every other fault. The heap of a thread has a limit of its own and ends the thread; what
 * lives outside it (segment windows, page buffers, pattern instances) fails as an ordinary exception instead.
 */

/**
 * True for the exceptions of the runtime that say that no memory could be had for a buffer or a WebAssembly instance.
 * Whatever threw one is half done, and so is everything that it held: the thread that meets one is to be given up.
 */
export function isMemoryExhausted(thrown: unknown): boolean {
  return thrown instanceof RangeError && /allocat|out of memory/i.test(thrown.message);
}
