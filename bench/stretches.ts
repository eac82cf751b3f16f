/**
 * Stretches of bytes (payloads, header blocks, or payloads with a header block each) laid out for in-process benchmarks, and how they are brought before an
 * engine: to the walker where they stand, to the kernel through its window, piece by piece and in batches of its frame
 * table, as segment bytes come. The copy into the window is part of what is timed.
 */
import type { Engine } from './harness.js';
import type { Utf8Bytes } from './naive.js';
import { theKernel } from './programs.js';
import type { Kernel } from '../src/core/kernel.js';

/** Back to back; stretch `i` stands at `positions[2i]`…`positions[2i+1]`. */
export interface Stretches {
  readonly bytes: Utf8Bytes;
  readonly positions: Int32Array;
  readonly count: number;
}

export function stretchesOf(parts: readonly Uint8Array[]): Stretches {
  const positions = new Int32Array(parts.length * 2);
  let at = 0;
  for (const [index, part] of parts.entries()) {
    positions[index * 2] = at;
    at += part.length;
    positions[index * 2 + 1] = at;
  }
  return { bytes: Buffer.concat(parts) as Utf8Bytes, positions, count: parts.length };
}

/** Learns the number of a stretch and where it stands. */
export type Take = (index: number, bytes: Uint8Array, start: number, end: number) => void;

/** What stretches are; `headerBytes`: payloads, each with a header block of so many bytes at its end. */
export type StretchPart = 'payloads' | 'header blocks' | { readonly headerBytes: number };

/** What brings all stretches before `take` in order; for the kernel each is that part of the current row. */
export function bringerOf(engine: Engine, stretches: Stretches, part: StretchPart = 'payloads'): (take: Take) => void {
  if (engine === 'kernel') {
    const pieces = new WindowPieces(theKernel(), stretches);
    return (take) => pieces.forEachStretch(part, take);
  }
  const { bytes, positions, count } = stretches;
  return (take) => {
    for (let index = 0; index < count; index++) take(index, bytes, positions[index * 2]!, positions[index * 2 + 1]!);
  };
}

/** One fill of the window: stretches from number `first` on, which are bytes `from`…`to`. */
interface Piece {
  readonly first: number;
  readonly from: number;
  readonly to: number;
  /** Where each stands in the window. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

export class WindowPieces {
  private readonly kernel: Kernel;
  private readonly bytes: Uint8Array;
  private readonly pieces: readonly Piece[];

  /** Every stretch fits in the window. */
  constructor(kernel: Kernel, stretches: Stretches) {
    this.kernel = kernel;
    this.bytes = stretches.bytes;
    this.pieces = piecesOf(stretches, kernel.window.length);
  }

  /** Fills the window with one piece after another; `take` learns how many bytes of it are in use. */
  forEachPiece(take: (bytes: number) => void): void {
    for (const { from, to } of this.pieces) {
      this.kernel.window.set(this.bytes.subarray(from, to));
      take(to - from);
    }
  }

  forEachStretch(part: StretchPart, take: Take): void {
    const { window, frames } = this.kernel;
    const { payloadStarts, payloadEnds, frameEnds } = frames;
    const startColumn = part === 'header blocks' ? payloadEnds : payloadStarts;
    const endColumn = part === 'payloads' ? payloadEnds : frameEnds;
    for (const { first, from, to, starts, ends } of this.pieces) {
      window.set(this.bytes.subarray(from, to));
      for (let batch = 0; batch < starts.length; batch += frames.rows) {
        const rows = Math.min(frames.rows, starts.length - batch);
        startColumn.set(starts.subarray(batch, batch + rows));
        endColumn.set(ends.subarray(batch, batch + rows));
        if (typeof part === 'object') {
          for (let row = 0; row < rows; row++) payloadEnds[row] = frameEnds[row]! - part.headerBytes;
        }
        frames.begin(rows);
        for (let row = 0; row < rows; row++) {
          frames.row = row;
          take(first + batch + row, window, startColumn[row]!, endColumn[row]!);
        }
      }
    }
  }
}

function piecesOf({ positions, count }: Stretches, windowBytes: number): Piece[] {
  const pieces: Piece[] = [];
  for (let first = 0; first < count;) {
    const from = positions[first * 2]!;
    let last = first;
    while (last < count && positions[last * 2 + 1]! - from <= windowBytes) last++;
    if (last === first) throw new Error(`stretch ${first} does not fit in the window`);
    const places = positions.subarray(first * 2, last * 2).map((at) => at - from);
    const starts = places.filter((_, index) => index % 2 === 0);
    const ends = places.filter((_, index) => index % 2 === 1);
    pieces.push({ first, from, to: from + ends.at(-1)!, starts, ends });
    first = last;
  }
  return pieces;
}
