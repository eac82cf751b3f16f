/**
 * Copying bytes from or to memory that threads share, at the speed of any other copy.
 *
 * PERF: `Uint8Array.prototype.set` copies shared memory in small steps, a byte at a time where both sides are not aligned
 * alike (787 bytes: 250 ns against 23; 16 MiB in pieces of 64 KiB: 10.5 ms against 3.2, 2026-12-01). Filling a place with
 * a pattern of its own length copies it at once.
 *
 * Invariant: nobody else writes either side meanwhile; the caller sees to that.
 */

/** Copies `from` to `into`, from position `at` on. Throws a `RangeError` where it does not fit. */
export function copyBytes(from: Uint8Array, into: Uint8Array, at: number): void {
  if (at + from.length > into.length) throw new RangeError(`${from.length} bytes at ${at} of ${into.length}`);
  if (from.length === 0) return;
  Buffer.from(into.buffer, into.byteOffset, into.length).fill(from, at, at + from.length);
}
