/**
 * Payloads brought through the kernel's window piece by piece, as segment bytes are: copied in, then passed over in
 * batches of the frame table. Copying is part of what is timed.
 */
import type { Payloads } from './payloads.js';
import type { Kernel } from '../src/core/kernel.js';

/** One fill of the window: records `first`…`last` (half-open), which are bytes `from`…`to` of the payloads. */
interface Piece {
  readonly first: number;
  readonly last: number;
  readonly from: number;
  readonly to: number;
  /** Where each payload stands in the window. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

export class WindowPieces {
  private readonly kernel: Kernel;
  private readonly payloads: Payloads;
  private readonly pieces: readonly Piece[];

  /** Every payload fits in the window. */
  constructor(kernel: Kernel, payloads: Payloads) {
    this.kernel = kernel;
    this.payloads = payloads;
    this.pieces = piecesOf(payloads, kernel.window.length);
  }

  /** Fills the window with one piece after another; `take` learns how many bytes of it are in use. */
  forEachPiece(take: (bytes: number) => void): void {
    const { window } = this.kernel;
    const { bytes } = this.payloads;
    for (const { from, to } of this.pieces) {
      window.set(bytes.subarray(from, to));
      take(to - from);
    }
  }

  /** Hands over every record: its number and where its payload stands in the window, with its row current. */
  forEachRecord(take: (index: number, start: number, end: number) => void): void {
    const { window, frames } = this.kernel;
    const { bytes } = this.payloads;
    for (const { first, last, from, to, starts, ends } of this.pieces) {
      window.set(bytes.subarray(from, to));
      for (let batch = first; batch < last; batch += frames.rows) {
        const rows = Math.min(frames.rows, last - batch);
        frames.payloadStarts.set(starts.subarray(batch - first, batch - first + rows));
        frames.payloadEnds.set(ends.subarray(batch - first, batch - first + rows));
        frames.begin(rows);
        for (let row = 0; row < rows; row++) {
          frames.row = row;
          take(batch + row, frames.payloadStarts[row]!, frames.payloadEnds[row]!);
        }
      }
    }
  }
}

function piecesOf({ positions, count }: Payloads, windowBytes: number): Piece[] {
  const pieces: Piece[] = [];
  for (let first = 0; first < count;) {
    const from = positions[first * 2]!;
    let last = first;
    while (last < count && positions[last * 2 + 1]! - from <= windowBytes) last++;
    if (last === first) throw new Error(`payload ${first} does not fit in the window`);
    const places = positions.subarray(first * 2, last * 2);
    const starts = places.filter((_, index) => index % 2 === 0).map((at) => at - from);
    const ends = places.filter((_, index) => index % 2 === 1).map((at) => at - from);
    pieces.push({ first, last, from, to: from + ends.at(-1)!, starts, ends });
    first = last;
  }
  return pieces;
}
