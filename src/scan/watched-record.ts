/**
 * The record that a pass stands on, as the oracle wants it: headers decoded as far as a filter needs them, the payload
 * a copy of its own, because stored bytes stand in a window that is read over and inline ones in shared memory, which
 * no text decoder takes.
 */
import type { EvaluatedRecord } from '../filter/evaluate.js';
import { decodeContentType, decodeHeaderBlock, textHeaders } from '../segment/header-block.js';
import { SCAN_LIMITS } from './compile.js';

/** The record whose payload and header block stand at these half-open ranges of `bytes`. */
export function watchedRecord(
  bytes: Uint8Array,
  payloadStart: number,
  payloadEnd: number,
  headersStart: number,
  headersEnd: number,
): EvaluatedRecord {
  const payload = bytes.subarray(payloadStart, payloadEnd);
  return {
    // Nobody looks into a payload over the limit: its length is enough.
    payload: payload.length > SCAN_LIMITS.maxPayloadBytes ? payload : copyOf(payload),
    headers(need) {
      if (need === 'content_type') return decodeContentType(bytes, headersStart, headersEnd);
      const entries = decodeHeaderBlock(bytes, headersStart, headersEnd);
      return entries && textHeaders(entries);
    },
  };
}

/** Bytes in memory of their own, which is never shared. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
