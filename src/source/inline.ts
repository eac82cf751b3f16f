/**
 * A segment whose bytes came with the request. They are read where they are, in shared memory or not; only a reader that
 * sees nothing but its own memory, as the kernel, has them copied a piece at a time.
 */
import { copyBytes } from '../core/copy-bytes.js';
import type { SegmentSource } from './segment-source.js';

/** Offers `bytes` as a segment. The caller keeps them unchanged until the source is closed. */
export function inlineSource(bytes: Uint8Array | SharedArrayBuffer): SegmentSource {
  return new InlineSource(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes));
}

class InlineSource implements SegmentSource {
  readonly length: number;
  readonly identity = '';
  readonly resident: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.resident = bytes;
    this.length = bytes.length;
  }

  read(position: number, into: Uint8Array, at: number, length: number): number {
    const part = this.resident.subarray(position, position + length);
    if (part.buffer instanceof SharedArrayBuffer) copyBytes(part, into, at);
    else into.set(part, at);
    return part.length;
  }

  close(): void {}
}
