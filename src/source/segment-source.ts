/**
 * Where segment bytes come from, as the scan sees it: one open segment of a fixed length.
 *
 * Invariant: `length` is taken once, at open. Bytes appended later do not exist for this source; bytes that went away
 * show as a short read, which the frame cursor reports as damage.
 */

/** One open segment. Positions and lengths are bytes, exact to 2^53. */
export interface SegmentSource {
  /** Visible bytes, taken at open. */
  readonly length: number;
  /** The same text for the same stored file, another after it was replaced; empty for inline bytes. */
  readonly identity: string;
  /** The whole segment where it is in memory already, to be read in place by whoever can. */
  readonly resident: Uint8Array | null;
  /**
   * Copies `length` bytes from `position` to `into[at…]` and returns how many there were: fewer only where the
   * segment is shorter than its `length` by now. Refuses `unavailable` when the store fails.
   */
  read(position: number, into: Uint8Array, at: number, length: number): number;
  /** Frees what is held; more than once does nothing. No call may follow. */
  close(): void;
}

/** What an earlier slice of the same scan saw of a stored segment, as plain data. */
export interface OpenedBefore {
  readonly length: number;
  readonly identity: string;
}
