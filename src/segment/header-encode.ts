/**
 * Encodes user header blocks (contract: formats §3), for tests, datasets and demos.
 *
 * Entries back to back: key kind u8, key length u32 (1…255), key, value kind u8, value length u32 (1…255), value. A
 * value that the format cannot hold throws a RangeError: it is a mistake of the program that writes.
 */

/** Stored code of each value kind. */
export const HEADER_KIND_CODES = {
  raw: 1,
  string: 2,
  bool: 3,
  i8: 4,
  i16: 5,
  i32: 6,
  i64: 7,
  i128: 8,
  u8: 9,
  u16: 10,
  u32: 11,
  u64: 12,
  u128: 13,
  f32: 14,
  f64: 15,
} as const;

/** A value with the kind it is stored as; `code` writes any other kind from bytes. */
export type HeaderValueInput =
  | { readonly kind: 'raw'; readonly value: Uint8Array }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'i8' | 'i16' | 'i32' | 'u8' | 'u16' | 'u32' | 'f32' | 'f64'; readonly value: number }
  | { readonly kind: 'i64' | 'u64' | 'i128' | 'u128'; readonly value: bigint }
  | { readonly kind: 'code'; readonly code: number; readonly value: Uint8Array };

export interface HeaderInput {
  /** Text is written as kind 2, bytes as `keyCode`. */
  readonly key: string | Uint8Array;
  /** Kind of a byte key, default 1 (raw). */
  readonly keyCode?: number;
  readonly value: HeaderValueInput;
}

const FIELD_BYTES_MAX = 255;
const utf8 = new TextEncoder();

/** The block of all entries in order. Throws a RangeError for a key or value of 0 or more than 255 bytes. */
export function encodeHeaders(entries: readonly HeaderInput[]): Uint8Array {
  const parts: number[] = [];
  for (const { key, keyCode, value } of entries) {
    if (typeof key === 'string') pushField(parts, HEADER_KIND_CODES.string, utf8.encode(key));
    else pushField(parts, keyCode ?? HEADER_KIND_CODES.raw, key);
    pushField(parts, value.kind === 'code' ? value.code : HEADER_KIND_CODES[value.kind], encodeValue(value));
  }
  return Uint8Array.from(parts);
}

function pushField(parts: number[], code: number, bytes: Uint8Array): void {
  if (bytes.length === 0 || bytes.length > FIELD_BYTES_MAX)
    throw new RangeError(`header field of ${bytes.length} bytes`);
  parts.push(code, bytes.length, 0, 0, 0, ...bytes);
}

function encodeValue(input: HeaderValueInput): Uint8Array {
  switch (input.kind) {
    case 'raw':
    case 'code':
      return input.value;
    case 'string':
      return utf8.encode(input.value);
    case 'bool':
      return Uint8Array.of(input.value ? 1 : 0);
    case 'f32':
    case 'f64': {
      const view = new DataView(new ArrayBuffer(input.kind === 'f32' ? 4 : 8));
      if (input.kind === 'f32') view.setFloat32(0, input.value, true);
      else view.setFloat64(0, input.value, true);
      return new Uint8Array(view.buffer);
    }
    default:
      return encodeInteger(BigInt(input.value), Number(input.kind.slice(1)), input.kind.startsWith('i'));
  }
}

function encodeInteger(value: bigint, bits: number, isSigned: boolean): Uint8Array {
  const fits = value === (isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value));
  if (!fits) throw new RangeError(`${value} does not fit ${bits} bits`);
  const bytes = new Uint8Array(bits / 8);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = Number((value >> BigInt(8 * index)) & 0xffn);
  return bytes;
}
