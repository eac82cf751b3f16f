/**
 * The value model that all codecs produce (contract: laser-filter §5), as the oracle sees it.
 *
 * A `bigint` is an integer in −2^63 … 2^64−1, a `number` always a finite double (so `5n` and `5` are different kinds
 * that may compare equal), a `Map` an object in insertion order with one entry per key (codecs decide about repeats).
 */
export type Value = null | boolean | bigint | number | string | Value[] | Map<string, Value>;
