/**
 * The value model that all codecs produce (contract: laser-filter §5), as the obvious evaluator sees it.
 */
import type { Reason } from '../core/verdict.js';
import type { DecoderLimits } from './walker.js';

/**
 * A `bigint` is an integer in −2^63 … 2^64−1, a `number` always a finite double (so `5n` and `5` are different kinds
 * that may compare equal), a `Map` an object in insertion order with one entry per key (codecs decide about repeats).
 */
export type Value = null | boolean | bigint | number | string | Value[] | Map<string, Value>;

/** What an obvious decoder makes of one whole payload. */
export type Decoded = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly reason: Reason };

/** Decodes a whole payload; reasons are `too_large`, `too_deep`, `malformed`, in the codec's order of checks. */
export type PayloadDecoder = (payload: Uint8Array, limits: DecoderLimits) => Decoded;

/** The families of schemas that payloads are written with; each is also the name of its codec. */
export type SchemaFamily = 'avro' | 'protobuf';

/** The decoder of payloads that one schema wrote. */
export interface SchemaDecoder {
  readonly family: SchemaFamily;
  readonly decode: PayloadDecoder;
}

/** How the payloads of a codec are decoded: all alike, or each by the schema it was written with, found by its id. */
export type PayloadDecoders = PayloadDecoder | ReadonlyMap<number, SchemaDecoder>;
