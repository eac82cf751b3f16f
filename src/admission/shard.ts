/**
 * The caller's unit of isolation, from the `Winnow-Shard` header (contract: scan-protocol §1).
 */
import { refuse } from '../core/error-codes.js';
import { SHARD_NAME_BYTES_MAX } from '../core/limits.js';

/** The shard of a request without the header. */
export const DEFAULT_SHARD = 'default';

const SHARD_PATTERN = /^[A-Za-z0-9._/:-]+$/;

/**
 * Reads the header's value. A repeated header arrives joined by a comma, or as a list, and is refused like any other
 * text outside `[A-Za-z0-9._/:-]`; so is an empty one and one over 64 bytes (`invalid_request`).
 */
export function shardOf(header: string | readonly string[] | undefined): string {
  if (header === undefined) return DEFAULT_SHARD;
  if (typeof header !== 'string' || !SHARD_PATTERN.test(header)) {
    refuse('invalid_request', 'The header Winnow-Shard holds 1…64 characters of [A-Za-z0-9._/:-], once.');
  }
  if (header.length > SHARD_NAME_BYTES_MAX) {
    refuse('invalid_request', `The header Winnow-Shard is longer than ${SHARD_NAME_BYTES_MAX} bytes.`, {
      limit: SHARD_NAME_BYTES_MAX,
      given: header.length,
    });
  }
  return header;
}
