/**
 * The record of `POST /v1/filters/test` (contract: scan-protocol §2), read exactly from its JSON text:
 * `{payload? | payload_text?, headers?: [{key, value: {kind, value}}] | header_block?}`.
 *
 * Headers given as values are taken as they are; a block is decoded as a stored one, as far as the filter needs it.
 * Every refusal points into the request, below `/record`.
 */
import { readJson } from '../core/exact-json.js';
import { refuse } from '../core/error-codes.js';
import type { HeaderValue } from '../core/header-value.js';
import { pointerToken } from '../core/json-pointer.js';
import { plainJson, type PlainJson } from '../core/plain-json.js';
import type { EvaluatedRecord } from '../filter/evaluate.js';
import { decodeContentType, decodeHeaderBlock, textHeaders } from '../segment/header-block.js';

const ROOT = '/record';

type Members = { readonly [key: string]: PlainJson };

/** The record to evaluate. Throws `invalid_request` with `field`. */
export function readTestRecord(text: string): EvaluatedRecord {
  const document = readJson(text);
  const record = members(plainJson(document, document.root, undefined, ROOT), ROOT, [
    'payload',
    'payload_text',
    'headers',
    'header_block',
  ]);
  return { payload: payloadOf(record), headers: headersOf(record) };
}

function payloadOf({ payload, payload_text: text }: Members): Uint8Array {
  if (payload !== undefined && text !== undefined) {
    refuse('invalid_request', 'A record has payload or payload_text, not both.', { field: `${ROOT}/payload_text` });
  }
  if (payload !== undefined) return bytesOf(payload, `${ROOT}/payload`);
  if (text === undefined) return new Uint8Array(0);
  if (typeof text !== 'string') refuse('invalid_request', 'payload_text is text.', { field: `${ROOT}/payload_text` });
  return Buffer.from(text, 'utf8');
}

function headersOf({ headers, header_block: block }: Members): EvaluatedRecord['headers'] {
  if (headers !== undefined && block !== undefined) {
    refuse('invalid_request', 'A record has headers or header_block, not both.', { field: `${ROOT}/header_block` });
  }
  if (block !== undefined) {
    const bytes = bytesOf(block, `${ROOT}/header_block`);
    return (need) => {
      if (need === 'content_type') return decodeContentType(bytes, 0, bytes.length);
      const entries = decodeHeaderBlock(bytes, 0, bytes.length);
      return entries && textHeaders(entries);
    };
  }
  if (headers !== undefined && !Array.isArray(headers)) {
    refuse('invalid_request', 'headers is a list.', { field: `${ROOT}/headers` });
  }
  // The last entry of a repeated key counts.
  const given = new Map((headers ?? []).map((entry, i) => headerOf(entry, `${ROOT}/headers/${i}`)));
  return () => given;
}

function headerOf(entry: PlainJson, field: string): [string, HeaderValue] {
  const { key, value } = members(entry, field, ['key', 'value']);
  if (typeof key !== 'string') refuse('invalid_request', 'A header key is text.', { field: `${field}/key` });
  if (value === undefined) refuse('invalid_request', 'A header needs a value {kind, value}.', { field });
  return [key, headerValueOf(value, `${field}/value`)];
}

function headerValueOf(input: PlainJson, field: string): HeaderValue {
  const { kind, value } = members(input, field, ['kind', 'value']);
  const at = `${field}/value`;
  switch (kind) {
    case 'bool':
      if (typeof value !== 'boolean') break;
      return { kind, value };
    case 'string':
      if (typeof value !== 'string') break;
      return { kind, value };
    case 'int':
      return { kind, value: integerOf(value, -(2n ** 63n), 2n ** 63n - 1n, at) };
    case 'uint':
      return { kind, value: integerOf(value, 0n, 2n ** 64n - 1n, at) };
    case 'float':
      return { kind, value: floatOf(value, at) };
    case 'raw':
      return { kind, value: Array.isArray(value) ? byteListOf(value, at) : bytesOf(value, at) };
    default:
      refuse('invalid_request', 'A header value has one of the kinds bool, int, uint, float, string, raw.', {
        field: `${field}/kind`,
      });
  }
  return refuse('invalid_request', `The value of a ${kind} header has another type.`, { field: at });
}

function integerOf(value: PlainJson | undefined, min: bigint, max: bigint, field: string): bigint {
  const isInteger =
    typeof value === 'bigint' ||
    (typeof value === 'number' && Number.isInteger(value)) ||
    (typeof value === 'string' && /^-?\d{1,20}$/.test(value));
  if (!isInteger) {
    refuse('invalid_request', 'An integer header value is an integer, or decimal text of one.', { field });
  }
  const integer = BigInt(value);
  if (integer < min || integer > max) {
    const limit = String(integer < min ? min : max);
    refuse('invalid_request', 'An integer header value is beyond 64 bits.', { field, limit, given: String(integer) });
  }
  return integer;
}

const SPECIAL_FLOATS: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
  '-0.0': -0,
};

function floatOf(value: PlainJson | undefined, field: string): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string' && Object.hasOwn(SPECIAL_FLOATS, value)) return SPECIAL_FLOATS[value]!;
  const names = Object.keys(SPECIAL_FLOATS).join(', ');
  return refuse('invalid_request', `A float header value is a number or one of ${names}.`, { field });
}

function byteListOf(list: readonly PlainJson[], field: string): Uint8Array {
  list.forEach((byte, i) => {
    if (typeof byte !== 'number' || !Number.isInteger(byte) || byte < 0 || byte > 255) {
      refuse('invalid_request', 'A byte is a number of 0…255.', { field: `${field}/${i}` });
    }
  });
  return Uint8Array.from(list as readonly number[]);
}

function bytesOf(value: PlainJson | undefined, field: string): Uint8Array {
  if (typeof value !== 'string' || value.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) {
    refuse('invalid_request', 'Bytes are base64 text in JSON and bin in MessagePack.', { field });
  }
  return Buffer.from(value, 'base64');
}

/** The members of an object that knows no others than `known`. */
function members(value: PlainJson, field: string, known: readonly string[]): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    refuse('invalid_request', `An object of ${known.join(', ')} is needed here.`, { field });
  }
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) {
      refuse('invalid_request', `${name} is not a member known here.`, { field: `${field}/${pointerToken(name)}` });
    }
  }
  return value;
}
