/**
 * Decodes a record's user header block into values (contract: formats §3).
 *
 * It builds objects, so it serves replies, inspection and the obvious evaluator; the scan loop walks the same bytes
 * without it. Grammar, entries back to back to the end of the block:
 *
 *     key kind u8 (not 0) | key length u32 LE (1…255) | key | value kind u8 (not 0) | value length u32 LE (1…255) | value
 *
 * Invariants: no length is trusted before the bytes are there; a block is decoded whole or is malformed, never in part.
 */
import { CONTENT_TYPE_KEY } from '../core/header-value.js';
import type { HeaderValue } from '../core/header-value.js';

/** Key kind of entries that filters can name. */
export const TEXT_KEY_KIND = 2;

const FIELD_BYTES_MAX = 255;
const LENGTH_BYTES = 4;

/**
 * One entry as stored. Under `keyKind` 2 `key` is text and the value has been checked; under any other the entry is
 * opaque to filters: `key` is its bytes, and a value that does not fit its kind reads as `raw`.
 */
export interface StoredHeader {
  readonly keyKind: number;
  readonly key: string | Uint8Array;
  readonly value: HeaderValue;
}

/**
 * All entries of the block `bytes[start, end)` in order, repeats included; undefined if the block is malformed: a cut
 * or lying length, a kind of 0, or under a text key text that is not UTF-8, a wrong width or a bool other than 0 and 1.
 */
export function decodeHeaderBlock(bytes: Uint8Array, start: number, end: number): StoredHeader[] | undefined {
  const entries: StoredHeader[] = [];
  for (let at = start; at < end;) {
    const entry = entryAt(bytes, at, end);
    if (entry === undefined) return undefined;
    const { key, value } = entry;
    const decoded = decodeValue(value.kind, value.content);
    if (key.kind === TEXT_KEY_KIND) {
      const text = utf8Text(key.content);
      if (text === undefined || decoded === undefined) return undefined;
      entries.push({ keyKind: key.kind, key: text, value: decoded });
    } else {
      entries.push({ keyKind: key.kind, key: key.content, value: decoded ?? { kind: 'raw', value: value.content } });
    }
    at = value.end;
  }
  return entries;
}

/**
 * Only the content type of the block, for filters that need nothing else: every entry is stepped over, other keys and
 * values go unchecked, and any text-keyed `agdx.ct` that does not decode makes the block malformed. Holds at most the
 * last `agdx.ct`; undefined if malformed.
 */
export function decodeContentType(
  bytes: Uint8Array,
  start: number,
  end: number,
): ReadonlyMap<string, HeaderValue> | undefined {
  const found = new Map<string, HeaderValue>();
  for (let at = start; at < end;) {
    const entry = entryAt(bytes, at, end);
    if (entry === undefined) return undefined;
    const { key, value } = entry;
    if (key.kind === TEXT_KEY_KIND && utf8Text(key.content) === CONTENT_TYPE_KEY) {
      const decoded = decodeValue(value.kind, value.content);
      if (decoded === undefined) return undefined;
      found.set(CONTENT_TYPE_KEY, decoded);
    }
    at = value.end;
  }
  return found;
}

/** The headers that filters can name: text keys only, the last of each repeated key. */
export function textHeaders(entries: readonly StoredHeader[]): ReadonlyMap<string, HeaderValue> {
  const headers = new Map<string, HeaderValue>();
  for (const { key, value } of entries) if (typeof key === 'string') headers.set(key, value);
  return headers;
}

interface Field {
  readonly kind: number;
  readonly content: Uint8Array;
  readonly end: number;
}

/** The key and value at `at`, or undefined if they do not fit before `end` or break the grammar. */
function entryAt(bytes: Uint8Array, at: number, end: number): { key: Field; value: Field } | undefined {
  const key = fieldAt(bytes, at, end);
  if (key === undefined) return undefined;
  const value = fieldAt(bytes, key.end, end);
  return value === undefined ? undefined : { key, value };
}

/** The kind, length and content at `at`, or undefined if they do not fit before `end`. */
function fieldAt(bytes: Uint8Array, at: number, end: number): Field | undefined {
  const contentStart = at + 1 + LENGTH_BYTES;
  if (contentStart > end) return undefined;
  const kind = bytes[at]!;
  const length = viewOf(bytes).getUint32(at + 1, true);
  if (kind === 0 || length === 0 || length > FIELD_BYTES_MAX || length > end - contentStart) return undefined;
  const contentEnd = contentStart + length;
  // A copy (`slice` of a Buffer would be a view): values outlive the buffer, which is reused for other records.
  return { kind, content: new Uint8Array(bytes.subarray(contentStart, contentEnd)), end: contentEnd };
}

/** The value of a stored kind; undefined for a wrong width, a bool other than 0 and 1, or text that is not UTF-8. */
function decodeValue(kind: number, content: Uint8Array): HeaderValue | undefined {
  const width = WIDTHS[kind];
  if (width !== undefined && width !== content.length) return undefined;
  const view = viewOf(content);
  switch (kind) {
    case 2: {
      const text = utf8Text(content);
      return text === undefined ? undefined : { kind: 'string', value: text };
    }
    case 3:
      return content[0]! > 1 ? undefined : { kind: 'bool', value: content[0] === 1 };
    case 4:
      return { kind: 'int', value: BigInt(view.getInt8(0)) };
    case 5:
      return { kind: 'int', value: BigInt(view.getInt16(0, true)) };
    case 6:
      return { kind: 'int', value: BigInt(view.getInt32(0, true)) };
    case 7:
      return { kind: 'int', value: view.getBigInt64(0, true) };
    case 9:
      return { kind: 'uint', value: BigInt(view.getUint8(0)) };
    case 10:
      return { kind: 'uint', value: BigInt(view.getUint16(0, true)) };
    case 11:
      return { kind: 'uint', value: BigInt(view.getUint32(0, true)) };
    case 12:
      return { kind: 'uint', value: view.getBigUint64(0, true) };
    case 14:
      return { kind: 'float', value: view.getFloat32(0, true) };
    case 15:
      return { kind: 'float', value: view.getFloat64(0, true) };
    default:
      return { kind: 'raw', value: content };
  }
}

/** Bytes of each kind that has a fixed width: bool, i8 … i64, i128, u8 … u64, u128, f32, f64. */
const WIDTHS: Readonly<Record<number, number>> = {
  3: 1,
  4: 1,
  5: 2,
  6: 4,
  7: 8,
  8: 16,
  9: 1,
  10: 2,
  11: 4,
  12: 8,
  13: 16,
  14: 4,
  15: 8,
};

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Strict UTF-8 to text, a byte order mark kept; undefined if it is not UTF-8. */
function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (thrown) {
    if (thrown instanceof TypeError) return undefined;
    throw thrown;
  }
}
