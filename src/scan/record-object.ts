/**
 * One delivered record as an object (contract: scan-protocol §1 "A page", `records`): every record of a JSON page, and
 * of `reply: headers` in both encodings.
 *
 * It reads the stored bytes again, which only delivered records pay for. JSON carries binary as base64 and integers
 * beyond ±(2^53−1) as decimal text; MessagePack carries `bin` and integers. The entries of a header block have one form
 * in both (`segment/header-reply.ts`).
 */
import { replyHeaders } from '../segment/header-reply.js';
import { IGGY_HEADER_BYTES, readIggyIdentity } from '../segment/iggy.js';
import { readU32 } from '../segment/little-endian.js';
import type { ReplyEncoding } from './task.js';

/** Name of stored frames in replies. */
export type FrameFormat = 'iggy' | 'ndjson';

/**
 * The record kept at `bytes[start, end)` as an object. `hasPayload` says that the payload was kept between frame header
 * and header block (`reply: records`); without it the object has none (`reply: headers`).
 */
export function recordObject(
  format: FrameFormat,
  encoding: ReplyEncoding,
  offset: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  hasPayload: boolean,
): Record<string, unknown> {
  if (format === 'ndjson') {
    const payload = hasPayload ? { payload: binary(encoding, bytes.subarray(start, end)) } : {};
    return { offset, timestamp: 0, ...payload };
  }
  const payloadStart = start + IGGY_HEADER_BYTES;
  const payloadEnd = hasPayload ? payloadStart + readU32(bytes, start + 52) : payloadStart;
  const { id, timestamp, originTimestamp } = readIggyIdentity(bytes, start);
  return {
    offset,
    id: String(id),
    timestamp: integer(encoding, timestamp),
    origin_timestamp: integer(encoding, originTimestamp),
    ...headersOf(encoding, bytes, payloadEnd, end),
    ...(hasPayload ? { payload: binary(encoding, bytes.subarray(payloadStart, payloadEnd)) } : {}),
  };
}

/** `headers` in stored order, or `header_block` as it is where it does not parse. */
function headersOf(encoding: ReplyEncoding, bytes: Uint8Array, start: number, end: number): Record<string, unknown> {
  const headers = replyHeaders(bytes, start, end);
  return headers === undefined ? { header_block: binary(encoding, bytes.subarray(start, end)) } : { headers };
}

/** A 64-bit integer: a number where exact, beyond that decimal text in JSON and an integer in MessagePack. */
export function integer(encoding: ReplyEncoding, value: bigint): number | string | bigint {
  const double = Number(value);
  if (Number.isSafeInteger(double)) return double;
  return encoding === 'json' ? String(value) : value;
}

function binary(encoding: ReplyEncoding, bytes: Uint8Array): string | Uint8Array {
  if (encoding === 'msgpack') return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
