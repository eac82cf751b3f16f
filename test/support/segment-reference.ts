/**
 * What a segment holds, read the slow and obvious way: the second opinion that the readers are tested against.
 *
 * It shares nothing with them but the hash: a DataView and bigints for frames, text splitting for lines.
 */
import { xxh3Of } from '../../src/segment/checksum.js';

export interface ReferenceOptions {
  readonly sealed: boolean;
  readonly verifyChecksums: boolean;
  readonly partitionId: number;
  readonly baseOffset: number;
}

/** The part of a drained segment that the reference answers for. */
export interface ReferenceResult {
  readonly offsets: number[];
  readonly frames: Uint8Array[];
  readonly ending: string;
}

const FRAME_BYTES_MAX = 64n * 1024n * 1024n;

/** Reads frames from `at` on; `count` is what a prefix announced. */
function readFrames(
  bytes: Uint8Array,
  at: number,
  count: number | undefined,
  options: ReferenceOptions,
): ReferenceResult {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const offsets: number[] = [];
  const frames: Uint8Array[] = [];
  const done = (ending: string): ReferenceResult => ({ offsets, frames, ending });
  let previous = -1n;
  for (;;) {
    const left = bytes.length - at;
    if (left === 0) return count === undefined || count === offsets.length ? done('end') : done(`count at ${at}`);
    if (count === offsets.length) return done(`count at ${at}`);
    const cut = options.sealed ? `torn at ${at}` : `torn ${left}`;
    if (left < 64) return done(cut);
    const size = 64n + BigInt(view.getUint32(at + 48, true)) + BigInt(view.getUint32(at + 52, true));
    if (size > FRAME_BYTES_MAX) return done(`length at ${at}`);
    if (size > BigInt(left)) return done(cut);
    const end = at + Number(size);
    if (view.getBigUint64(at + 56, true) !== 0n) return done(`reserved at ${at}`);
    const offset = view.getBigUint64(at + 24, true);
    if (offset >= 2n ** 53n) return done(`offset at ${at}`);
    const checksum = view.getBigUint64(at, true);
    if (options.verifyChecksums && checksum !== 0n && checksum !== xxh3Of(bytes, at + 8, end)) {
      return done(`checksum at ${at}`);
    }
    if (offset <= previous) return done(`order at ${at}`);
    previous = offset;
    offsets.push(Number(offset));
    frames.push(bytes.slice(at, end));
    at = end;
  }
}

/** `iggy`. */
export function referenceIggy(bytes: Uint8Array, options: ReferenceOptions): ReferenceResult {
  return readFrames(bytes, 0, undefined, options);
}

function refused(fault: string): ReferenceResult {
  return { offsets: [], frames: [], ending: `${fault} at 0` };
}

/** `iggy_polled`, always sealed. */
export function referencePolled(bytes: Uint8Array, options: ReferenceOptions): ReferenceResult {
  if (bytes.length < 16) return refused('prefix');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== options.partitionId) return refused('partition');
  if (view.getBigUint64(4, true) >= 2n ** 53n) return refused('offset');
  return readFrames(bytes, 16, view.getUint32(12, true), { ...options, sealed: true });
}

/** `ndjson`, by splitting the bytes as if they were Latin-1 text. */
export function referenceNdjson(bytes: Uint8Array, options: ReferenceOptions): ReferenceResult {
  const lines = Buffer.from(bytes).toString('latin1').split('\n');
  const open = lines.pop()!;
  const frames = lines.filter((line) => /[^ \t\r]/.test(line)).map((line) => line.replace(/\r$/, ''));
  if (options.sealed && /[^ \t\r]/.test(open)) frames.push(open);
  return {
    offsets: frames.map((_, index) => options.baseOffset + index),
    frames: frames.map((line) => new Uint8Array(Buffer.from(line, 'latin1'))),
    ending: options.sealed || open === '' ? 'end' : `torn ${open.length}`,
  };
}
