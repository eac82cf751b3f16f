/**
 * What a writer schema says of a path, before any payload is seen: whether something can stand there, and what. Filters
 * are checked against it (contract: laser-filter §5, scan-protocol §2 `validate`).
 */

/** A type of the value model that all codecs share (laser-filter §5); `bytes` and `fixed` are arrays. */
export type ShapeType = 'null' | 'bool' | 'integer' | 'double' | 'string' | 'array' | 'object';

/** What can stand at a path in payloads of one schema. */
export type PathShape =
  /**
   * Nothing, ever: the value that `path[step]` steps into is closed and does not have it. `candidates` are the keys that
   * it has, none where it has none (a scalar, or an array that is asked for a key).
   */
  | { readonly kind: 'closed-missing'; readonly step: number; readonly candidates: readonly string[] }
  /** Whatever: the schema says nothing of what stands there. */
  | { readonly kind: 'open' }
  /** One of these types, or nothing where the value is optional or an array too short. Never empty. */
  | { readonly kind: 'value'; readonly types: ReadonlySet<ShapeType> };
