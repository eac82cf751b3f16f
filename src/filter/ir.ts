/**
 * The one predicate tree that every dialect lowers to, and that both evaluators run.
 *
 * It carries no surface syntax. What differs between languages stands in the leaves: each says what it yields when the
 * path is missing, when the value is an explicit null, and when the value's type cannot be compared.
 *
 * Invariants: `all`/`any` have at least one child and keep the written order (evaluation order is part of the
 * contract: the mismatch flag depends on it); integers are exact `bigint`s in −2^63 … 2^64−1; doubles are finite.
 */
import type { Path } from '../core/path.js';
import type { Truth } from '../core/truth.js';

export type CodecName = 'json' | 'cbor' | 'avro' | 'protobuf' | 'headers_only';
export type FaultPolicy = 'stop' | 'pass' | 'drop';
export type RecordPolicy = 'reject' | 'pass';
export type CompareOp = 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte' | 'in' | 'contains' | 'prefix';
export type TextKind = 'equals' | 'prefix' | 'suffix' | 'contains' | 'glob' | 'regex';
export type TimestampFormat = 'rfc3339' | 'epoch_seconds' | 'epoch_millis' | 'epoch_micros';
export type Coercion = { readonly kind: 'number' } | { readonly kind: 'timestamp'; readonly format: TimestampFormat };

/** A literal without its surface type: 32- and 64-bit integers are one kind here, doubles another. */
export type Scalar =
  | { readonly kind: 'null' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'double'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string };

/** Where a leaf takes its value from. */
export type ValueSource =
  { readonly from: 'payload'; readonly path: Path } | { readonly from: 'header'; readonly key: string };

/**
 * What a leaf yields where there is nothing to compare. `flagsMismatch` marks the record (laser-filter §3). With a null
 * literal the first three are the whole comparison: missing, null, anything else.
 */
export interface Undecided {
  /** The path or header is missing. */
  readonly missing: Truth;
  /** The value is an explicit null. */
  readonly nullValue: Truth;
  /** The value's type cannot be compared with the literal's. */
  readonly incomparable: Truth;
  readonly flagsMismatch: boolean;
}

/** Typed comparison with one literal, or with the items of `in` (1…64). */
export interface CompareLeaf {
  readonly node: 'compare';
  readonly source: ValueSource;
  readonly op: CompareOp;
  readonly literals: readonly Scalar[];
  readonly undecided: Undecided;
}

/** Comparison of decimals or instants; the literals have been checked to parse under the coercion. */
export interface CoerceLeaf {
  readonly node: 'coerce';
  readonly source: ValueSource;
  readonly op: 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte' | 'in';
  readonly coercion: Coercion;
  readonly literals: readonly Scalar[];
  readonly undecided: Undecided;
}

/** `present` (`wanted` true) or `absent`: an explicit null is present. Always decided. */
export interface PresenceLeaf {
  readonly node: 'presence';
  readonly source: ValueSource;
  readonly wanted: boolean;
}

/** Text match (laser-filter §3 "Text matches"). */
export interface TextLeaf {
  readonly node: 'text';
  readonly source: ValueSource;
  readonly kind: TextKind;
  readonly pattern: string;
  readonly caseInsensitive: boolean;
  readonly undecided: Undecided;
}

export type Leaf = CompareLeaf | CoerceLeaf | PresenceLeaf | TextLeaf;

export type Predicate =
  | { readonly node: 'all'; readonly children: readonly Predicate[] }
  | { readonly node: 'any'; readonly children: readonly Predicate[] }
  | { readonly node: 'not'; readonly child: Predicate }
  | Leaf;

/** A validated filter, ready for either evaluator. `digest` is its identity, lower-case hex (laser-filter §1). */
export interface LoweredFilter {
  readonly dialect: 'laser';
  readonly digest: string;
  readonly codec: CodecName;
  readonly faultPolicy: FaultPolicy;
  readonly foreignPolicy: RecordPolicy;
  readonly mismatchPolicy: RecordPolicy;
  readonly schemaRefs: readonly number[];
  readonly root: Predicate;
}

/** True where the subtree reads the payload; header-first evaluation (laser-filter §3) orders children by it. */
export function readsPayload(predicate: Predicate): boolean {
  switch (predicate.node) {
    case 'all':
    case 'any':
      return predicate.children.some(readsPayload);
    case 'not':
      return readsPayload(predicate.child);
    default:
      return predicate.source.from === 'payload';
  }
}

/** Calls `visit` on every leaf, in written order. */
export function forEachLeaf(predicate: Predicate, visit: (leaf: Leaf) => void): void {
  switch (predicate.node) {
    case 'all':
    case 'any':
      for (const child of predicate.children) forEachLeaf(child, visit);
      return;
    case 'not':
      forEachLeaf(predicate.child, visit);
      return;
    default:
      visit(predicate);
  }
}

/** The children in evaluation order: those that read no payload first, each group in written order. */
export function headerFirst(children: readonly Predicate[]): readonly Predicate[] {
  return [...children.filter((child) => !readsPayload(child)), ...children.filter(readsPayload)];
}
