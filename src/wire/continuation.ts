/**
 * Continuation tokens (contract: scan-protocol §1 "Continuation"): where one filter's scan goes on, signed.
 *
 * A token is base64url text of a fixed layout, all integers little-endian:
 *
 *     0       version (1)                        98      partition id u32
 *     1       dialect (1 laser, 2 net, 3 iii)   102      start kind (0 offset, 1 first, 2 last, 3 timestamp)
 *     2–33    filter digest                     103–110  start value u64 (offset or microseconds)
 *     34–49   options                           111      1 if a hint follows, else 0
 *     50–65   stream                            112–115  hint: segment u32
 *     66–81   topic                             116–123  hint: position u64
 *     82–97   generation                        124–155  HMAC-SHA256 over bytes 0–123
 *
 * Names and options are never read back, only compared, so they stand as the first 16 bytes of a SHA-256 over a label
 * and the text: every token has 208 characters, however long the names are. Nothing in a token is trusted before its
 * signature holds, and nothing is ever silently restarted.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { refuse } from '../core/error-codes.js';

/** What a token is bound to: it only continues a scan of the same source by the same filter. */
export interface ContinuationBinding {
  readonly stream: string;
  readonly topic: string;
  readonly partitionId: number;
  readonly generation: string;
  readonly dialect: 'laser' | 'net' | 'iii';
  /** Filter digest, 64 hex characters. */
  readonly digest: string;
  /** Canonical text of what else decides a selection: codec, policies, schema hashes, `net_compat`, `document`. */
  readonly options: string;
}

/** Where the scan goes on. A scan that examined nothing carries its start itself. */
export type ContinuationStart =
  | { readonly at: 'offset'; readonly offset: number }
  | { readonly at: 'first' }
  | { readonly at: 'last' }
  /** Microseconds, u64 as decimal text. */
  | { readonly at: 'timestamp'; readonly timestamp: string };

/** Where the frame was; to be used only if the frame there has the wanted offset. */
export interface ContinuationHint {
  readonly segment: number;
  readonly position: number;
}

const VERSION = 1;
const NAME_HASH_BYTES = 16;
const SIGNED_BYTES = 124;
const MAC_BYTES = 32;
const TOKEN_BYTES = SIGNED_BYTES + MAC_BYTES;
const DIALECT_CODES = { laser: 1, net: 2, iii: 3 } as const;
const START_KINDS = ['offset', 'first', 'last', 'timestamp'] as const;

/** Characters of every token of this version; a multiple of four, so that no bit of the text is without meaning. */
export const TOKEN_CHARACTERS = (TOKEN_BYTES / 3) * 4;

/** Writes and signs a token with `key`, the newest of the configured ones. */
export function writeContinuation(
  key: Uint8Array,
  binding: ContinuationBinding,
  start: ContinuationStart,
  hint?: ContinuationHint,
): string {
  const bytes = Buffer.alloc(TOKEN_BYTES);
  bytes[0] = VERSION;
  bytes[1] = DIALECT_CODES[binding.dialect];
  bytes.write(binding.digest, 2, 32, 'hex');
  nameHash('options', binding.options).copy(bytes, 34);
  nameHash('stream', binding.stream).copy(bytes, 50);
  nameHash('topic', binding.topic).copy(bytes, 66);
  nameHash('generation', binding.generation).copy(bytes, 82);
  bytes.writeUInt32LE(binding.partitionId, 98);
  bytes[102] = START_KINDS.indexOf(start.at);
  bytes.writeBigUInt64LE(startValue(start), 103);
  if (hint !== undefined) {
    bytes[111] = 1;
    bytes.writeUInt32LE(hint.segment, 112);
    bytes.writeBigUInt64LE(BigInt(hint.position), 116);
  }
  macOf(key, bytes.subarray(0, SIGNED_BYTES)).copy(bytes, SIGNED_BYTES);
  return bytes.toString('base64url');
}

/**
 * Reads a token for a scan bound to `binding`.
 *
 * Checks in the contract's order: signature (any of `keys`), version, stream, topic, partition → `invalid_request`;
 * dialect, digest, options → `conflict`; generation → `source_changed`. `field` is the token's pointer in the request.
 */
export function readContinuation(
  keys: readonly Uint8Array[],
  token: string,
  binding: ContinuationBinding,
  field: string,
): { start: ContinuationStart; hint?: ContinuationHint } {
  const bytes = signedBytes(keys, token);
  if (bytes === undefined) {
    refuse('invalid_request', 'The continuation is not one that this service signed.', { field });
  }
  if (bytes[0] !== VERSION || bytes.length !== TOKEN_BYTES) {
    refuse('invalid_request', 'The continuation has a version that is not known here.', {
      field,
      limit: VERSION,
      given: bytes[0]!,
    });
  }
  const sameName = (at: number, label: string, name: string) =>
    bytes.subarray(at, at + NAME_HASH_BYTES).equals(nameHash(label, name));
  if (!sameName(50, 'stream', binding.stream)) {
    refuse('invalid_request', 'The continuation belongs to another stream.', { field });
  }
  if (!sameName(66, 'topic', binding.topic)) {
    refuse('invalid_request', 'The continuation belongs to another topic.', { field });
  }
  if (bytes.readUInt32LE(98) !== binding.partitionId) {
    refuse('invalid_request', 'The continuation belongs to another partition.', { field });
  }
  if (bytes[1] !== DIALECT_CODES[binding.dialect]) {
    refuse('conflict', 'The continuation was made by a filter of another dialect.', { field });
  }
  if (bytes.toString('hex', 2, 34) !== binding.digest) {
    refuse('conflict', 'The continuation was made by another filter: the digests differ.', { field });
  }
  if (!sameName(34, 'options', binding.options)) {
    refuse('conflict', 'The continuation was made under other options: codec, policies or schemas differ.', { field });
  }
  if (!sameName(82, 'generation', binding.generation)) {
    refuse('source_changed', 'The source has another generation than the continuation.', { field });
  }
  const start = startOf(bytes);
  if (bytes[111] === 0) return { start };
  return { start, hint: { segment: bytes.readUInt32LE(112), position: Number(bytes.readBigUInt64LE(116)) } };
}

/** The token's bytes if some key signed them. The text has to be the one canonical spelling of its bytes. */
function signedBytes(keys: readonly Uint8Array[], token: string): Buffer | undefined {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== token) return undefined;
  const signed = bytes.subarray(0, -MAC_BYTES);
  const mac = bytes.subarray(-MAC_BYTES);
  // Every key is tried, also after one fitted, so that the time says nothing about which.
  let fits = false;
  for (const key of keys) fits = timingSafeEqual(macOf(key, signed), mac) || fits;
  return fits ? bytes : undefined;
}

function startOf(bytes: Buffer): ContinuationStart {
  const kind = START_KINDS[bytes[102]!];
  const value = bytes.readBigUInt64LE(103);
  if (kind === 'offset') return { at: 'offset', offset: Number(value) };
  return kind === 'timestamp' ? { at: 'timestamp', timestamp: String(value) } : { at: kind ?? 'first' };
}

function startValue(start: ContinuationStart): bigint {
  if (start.at === 'offset') return BigInt(start.offset);
  return start.at === 'timestamp' ? BigInt(start.timestamp) : 0n;
}

function macOf(key: Uint8Array, bytes: Uint8Array): Buffer {
  return createHmac('sha256', key).update(bytes).digest();
}

/**
 * Hashes made last, by label and name: a scan of thousands of filters writes as many tokens over the same names, and
 * hashing four names costs four times what signing does.
 */
const kept = new Map<string, Buffer>();
const KEPT_MAX = 64;

function nameHash(label: string, name: string): Buffer {
  const key = `${label} ${name}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const hash = createHash('sha256')
    .update(`winnow.continuation.${label}\0`)
    .update(name)
    .digest()
    .subarray(0, NAME_HASH_BYTES);
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(key, hash);
  return hash;
}
