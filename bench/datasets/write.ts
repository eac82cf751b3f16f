/**
 * Writes records of a dataset as segments: whole in memory, or streamed to a file.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { iggyFrameBytes, writeIggyFrame, type IggyRecord } from '../../src/segment/iggy-writer.js';
import type { Dataset } from './dataset.js';

export interface SegmentOptions {
  /** Record `firstIndex` of the dataset comes first. Default 0. */
  readonly firstIndex?: number;
  /** Offset of the first record; default `firstIndex`. For `ndjson` it is the `base_offset` to ask with. */
  readonly firstOffset?: number;
  /** `iggy`: write checksums. Default false. */
  readonly hasChecksums?: boolean;
}

export type WrittenFormat = 'iggy' | 'ndjson';

const CHUNK_BYTES = 1 << 20;

/** The first `count` records as one segment in memory. */
export function segmentBytes(
  dataset: Dataset,
  format: WrittenFormat,
  count: number,
  options: SegmentOptions = {},
): Uint8Array {
  const chunks: Buffer[] = [];
  writeChunks(dataset, format, count, options, (chunk) => chunks.push(Buffer.from(chunk)));
  return Buffer.concat(chunks);
}

/** The same in shared memory, as inline segments reach a worker. */
export function sharedSegmentBytes(
  dataset: Dataset,
  format: WrittenFormat,
  count: number,
  options: SegmentOptions = {},
): SharedArrayBuffer {
  const bytes = segmentBytes(dataset, format, count, options);
  const shared = new SharedArrayBuffer(bytes.length);
  new Uint8Array(shared).set(bytes);
  return shared;
}

/** Streams the records to a file at `path`, replacing it, and returns its bytes. */
export function writeSegmentFile(
  dataset: Dataset,
  format: WrittenFormat,
  count: number,
  path: string,
  options: SegmentOptions = {},
): number {
  const descriptor = openSync(path, 'w');
  let total = 0;
  try {
    writeChunks(dataset, format, count, options, (chunk) => {
      for (let at = 0; at < chunk.length;) at += writeSync(descriptor, chunk, at);
      total += chunk.length;
    });
  } finally {
    closeSync(descriptor);
  }
  return total;
}

/** Hands over the segment in chunks that are valid only during the call. */
function writeChunks(
  dataset: Dataset,
  format: WrittenFormat,
  count: number,
  options: SegmentOptions,
  take: (chunk: Uint8Array) => void,
): void {
  const firstIndex = options.firstIndex ?? 0;
  const firstOffset = options.firstOffset ?? firstIndex;
  let chunk = new Uint8Array(CHUNK_BYTES);
  let at = 0;
  for (let step = 0; step < count; step += 1) {
    const { payload, headers, timestamp } = dataset.record(firstIndex + step);
    const offset = firstOffset + step;
    const record: IggyRecord = {
      offset,
      payload,
      headers,
      id: BigInt(offset) + 1n,
      timestamp,
      originTimestamp: timestamp - 250n,
      hasChecksum: options.hasChecksums === true,
    };
    const needed = format === 'iggy' ? iggyFrameBytes(record) : payload.length + 1;
    if (at + needed > chunk.length) {
      take(chunk.subarray(0, at));
      at = 0;
      if (needed > chunk.length) chunk = new Uint8Array(needed);
    }
    if (format === 'iggy') {
      at = writeIggyFrame(chunk, at, record);
    } else {
      chunk.set(payload, at);
      chunk[at + payload.length] = 0x0a;
      at += needed;
    }
  }
  take(chunk.subarray(0, at));
}
