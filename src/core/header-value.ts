/**
 * A decoded user header value (contract: formats §3, laser-filter §3 "Header predicates"), as segments read it and as
 * filters and replies look at it.
 *
 * `int` is a signed and `uint` an unsigned integer of up to 64 bits, exact; `float` any double, NaN and infinities
 * included; `raw` every kind that is kept as bytes: kind 1, 128-bit integers, and kinds without a meaning here.
 */
export type HeaderValue =
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'int' | 'uint'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'raw'; readonly value: Uint8Array };

/** Header keys of records that the service itself reads (laser-filter §4): content type and writer schema id. */
export const CONTENT_TYPE_KEY = 'agdx.ct';
export const SCHEMA_ID_KEY = 'agdx.sid';
/** Largest writer schema id. */
export const SCHEMA_ID_MAX = 0xffff_ffff;

/**
 * Codes of `agdx.ct` that name a codec (laser-filter §4). `255` (any) and every other number name none, so a record
 * that carries them decodes in the filter's codec.
 */
export const CONTENT_TYPE_NAMES: ReadonlyMap<number, string> = new Map([
  [0, 'raw'],
  [1, 'json'],
  [2, 'msgpack'],
  [3, 'cbor'],
  [4, 'bson'],
  [5, 'avro'],
  [6, 'protobuf'],
  [7, 'arrow'],
  [8, 'ref'],
]);
