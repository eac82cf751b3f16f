/** Header blocks as the frames of one batch in a kernel's window, read by the kernel and by the decoder of blocks. */
import type { Kernel } from '../../src/core/kernel.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { KernelHeaders, headerReader } from '../../src/segment/kernel-headers.js';
import { compareContentTypeAt, compareWholeAt, RANDOM_HEADER_KEYS } from './random-headers.js';
import type { Seeded } from './seeded.js';

/** A reader of RANDOM_HEADER_KEYS over the kernel. */
export function kernelReader(kernel: Kernel): KernelHeaders {
  const reader = headerReader(RANDOM_HEADER_KEYS, kernel);
  if (!(reader instanceof KernelHeaders)) throw new Error('the keys do not fit the kernel');
  return reader;
}

/** Throws an `Error` where the two differ on a block; some are passed over. Returns how many were well-formed. */
export function compareBatch(
  kernel: Kernel,
  reader: KernelHeaders,
  blocks: readonly Uint8Array[],
  random: Seeded,
): number {
  const { frames } = kernel;
  const payload = new Uint8Array(7).fill(2);
  const bytes = encodeIggySegment(blocks.map((headers, offset) => ({ offset, payload, headers })));
  kernel.window.fill(random.pick([0, 1, 2, 0xff]));
  kernel.window.set(bytes, 5);
  const count = kernel.exports.readFrames(5, 5 + bytes.length, frames.rows);
  if (count !== blocks.length) throw new Error(`${count} frames were read of ${blocks.length}`);
  frames.begin(count);
  return compareRows(kernel, reader, () => random.pick([1, 1, 1, 2, 9]));
}

/**
 * Compares the rows of the batch at hand, `step` apart. One kind of reading after the other: rows are read ahead only
 * where they are asked for in the same way.
 */
export function compareRows(kernel: Kernel, reader: KernelHeaders, step: () => number = () => 1): number {
  const { frames, window } = kernel;
  let good = 0;
  for (let row = 0; row < frames.count; row += step()) {
    frames.row = row;
    if (compareWholeAt(reader, window, frames.payloadEnds[row]!, frames.frameEnds[row]!)) good += 1;
  }
  for (let row = 0; row < frames.count; row += step()) {
    frames.row = row;
    compareContentTypeAt(reader, window, frames.payloadEnds[row]!, frames.frameEnds[row]!);
  }
  return good;
}
