/**
 * Writes `iggy` frames and `iggy_polled` bodies (contract: formats §1), for tests, datasets and demos.
 *
 * The service itself never writes segments. A writer trusts its caller: numbers are cut to their width, so tests can
 * also write what no server would.
 */
import { xxh3Of } from './checksum.js';
import { IGGY_HEADER_BYTES } from './iggy.js';
import { POLLED_PREFIX_BYTES } from './iggy-polled.js';
import { writeU32, writeU64 } from './little-endian.js';

/** One record to be written. */
export interface IggyRecord {
  readonly offset: number;
  readonly payload: Uint8Array;
  /** Encoded header block (`header-encode.ts`); default none. */
  readonly headers?: Uint8Array;
  /** u128, default 0. */
  readonly id?: bigint;
  /** Microseconds, default 0. */
  readonly timestamp?: bigint;
  /** Microseconds, default 0. */
  readonly originTimestamp?: bigint;
  /** True: the checksum is computed; default false: zero, "not set". */
  readonly hasChecksum?: boolean;
}

const NO_BYTES = new Uint8Array(0);

/** Bytes of the record's frame. */
export function iggyFrameBytes(record: IggyRecord): number {
  return IGGY_HEADER_BYTES + record.payload.length + (record.headers ?? NO_BYTES).length;
}

/** Writes the record's frame at `at` and returns where it ends. The room must be there. */
export function writeIggyFrame(into: Uint8Array, at: number, record: IggyRecord): number {
  const headers = record.headers ?? NO_BYTES;
  const id = record.id ?? 0n;
  const payloadStart = at + IGGY_HEADER_BYTES;
  const end = payloadStart + record.payload.length + headers.length;
  writeU64(into, at, 0n);
  writeU64(into, at + 8, id);
  writeU64(into, at + 16, id >> 64n);
  writeU32(into, at + 24, record.offset);
  writeU32(into, at + 28, Math.floor(record.offset / 0x1_0000_0000));
  writeU64(into, at + 32, record.timestamp ?? 0n);
  writeU64(into, at + 40, record.originTimestamp ?? 0n);
  writeU32(into, at + 48, headers.length);
  writeU32(into, at + 52, record.payload.length);
  writeU64(into, at + 56, 0n);
  into.set(record.payload, payloadStart);
  into.set(headers, payloadStart + record.payload.length);
  if (record.hasChecksum === true) writeU64(into, at, xxh3Of(into, at + 8, end));
  return end;
}

/** All records as one `iggy` segment. */
export function encodeIggySegment(records: readonly IggyRecord[]): Uint8Array {
  return encodeAfter(0, records);
}

/** All records as one `iggy_polled` body; `count` may lie, default the number of records. */
export function encodePolledBody(
  partitionId: number,
  currentOffset: number,
  records: readonly IggyRecord[],
  count: number = records.length,
): Uint8Array {
  const bytes = encodeAfter(POLLED_PREFIX_BYTES, records);
  writeU32(bytes, 0, partitionId);
  writeU64(bytes, 4, BigInt(currentOffset));
  writeU32(bytes, 12, count);
  return bytes;
}

function encodeAfter(prefixBytes: number, records: readonly IggyRecord[]): Uint8Array {
  let total = prefixBytes;
  for (const record of records) total += iggyFrameBytes(record);
  const bytes = new Uint8Array(total);
  let at = prefixBytes;
  for (const record of records) at = writeIggyFrame(bytes, at, record);
  return bytes;
}
