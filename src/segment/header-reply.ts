/**
 * Header blocks as replies show them (contract: scan-protocol §1 `records`): every entry in stored order, repeats and
 * keys that are not text included.
 *
 * The form is JSON's in both encodings: bytes as base64, integers beyond ±(2^53−1) as decimal text, and the floats
 * that JSON cannot write by name.
 */
import { Buffer } from 'node:buffer';
import type { HeaderValue } from '../core/header-value.js';
import { decodeHeaderBlock } from './header-block.js';

/** One entry of a reply. */
export interface ReplyHeader {
  /** Text for `key_kind` 2, else base64. */
  readonly key: string;
  /** The stored code, 1…255. */
  readonly key_kind: number;
  readonly value: ReplyHeaderValue;
}

export interface ReplyHeaderValue {
  readonly kind: HeaderValue['kind'];
  readonly value: boolean | number | string;
}

/** The entries of the block `bytes[start, end)`; undefined if it does not parse: the reply then carries its bytes. */
export function replyHeaders(bytes: Uint8Array, start: number, end: number): ReplyHeader[] | undefined {
  return decodeHeaderBlock(bytes, start, end)?.map(({ key, keyKind, value }) => ({
    key: typeof key === 'string' ? key : base64Of(key),
    key_kind: keyKind,
    value: { kind: value.kind, value: replyValue(value) },
  }));
}

function replyValue(header: HeaderValue): boolean | number | string {
  switch (header.kind) {
    case 'bool':
    case 'string':
      return header.value;
    case 'int':
    case 'uint': {
      const number = Number(header.value);
      return Number.isSafeInteger(number) ? number : header.value.toString();
    }
    case 'float':
      if (Object.is(header.value, -0)) return '-0.0';
      return Number.isFinite(header.value) ? header.value : String(header.value);
    case 'raw':
      return base64Of(header.value);
  }
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
