/**
 * The `laser` dialect's own tree: a filter document as the user wrote it, typed, with the place of every part.
 *
 * It keeps what the IR drops but the canonical text needs (the difference of `int` and `long`, the order of children,
 * path texts) and the places that refusals point at. Built by `parse`, checked by `validate`, read by `canonical` and
 * `lower`.
 */
import type { JsonNode } from '../../../core/json-node.js';
import type { Path } from '../../../core/path.js';
import type { CodecName, Coercion, CompareOp, FaultPolicy, RecordPolicy, TextKind } from '../../ir.js';

/** Where a part stands: its JSON value and its pointer from the filter document. */
export interface Spot {
  readonly json: JsonNode;
  readonly pointer: string;
}

/** A literal of one value. `int` is 32-bit, `long` 64-bit, both checked; a double is finite; a string has UTF-8. */
export type ScalarLiteral = { readonly spot: Spot } & (
  | { readonly kind: 'null' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'int' | 'long'; readonly value: bigint }
  | { readonly kind: 'double'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
);

export interface ListLiteral {
  readonly kind: 'list';
  readonly spot: Spot;
  readonly items: readonly ScalarLiteral[];
}

export type Literal = ScalarLiteral | ListLiteral;

/** A path in its text form, which is also its canonical form, and parsed. */
export interface PathRef {
  readonly text: string;
  readonly path: Path;
}

/** An operator and its literal, as `pred`, `pred_as` and `header` hold them. */
export interface Comparison {
  readonly op: CompareOp;
  readonly opSpot: Spot;
  readonly value: Literal;
}

/** A text match, as `text` and `header_text` hold it. */
export interface TextMatch {
  readonly kind: TextKind;
  readonly pattern: string;
  readonly patternSpot: Spot;
  readonly caseInsensitive: boolean;
}

export type LaserNode = { readonly spot: Spot } & (
  | { readonly node: 'all' | 'any'; readonly children: readonly LaserNode[] }
  | { readonly node: 'not'; readonly child: LaserNode }
  | { readonly node: 'pred'; readonly field: PathRef; readonly comparison: Comparison }
  | {
      readonly node: 'pred_as';
      readonly field: PathRef;
      readonly comparison: Comparison;
      readonly coercion: Coercion;
    }
  | { readonly node: 'present' | 'absent'; readonly field: PathRef }
  | { readonly node: 'header'; readonly key: string; readonly comparison: Comparison }
  | { readonly node: 'text'; readonly field: PathRef; readonly match: TextMatch }
  | { readonly node: 'header_text'; readonly key: string; readonly match: TextMatch }
);

/** A whole document. `v` and `evaluator_version` are both 1, or it would have been refused. */
export interface LaserFilter {
  readonly expr: LaserNode;
  readonly codec: CodecName;
  readonly codecSpot: Spot;
  readonly faultPolicy: FaultPolicy;
  readonly foreignPolicy: RecordPolicy;
  readonly mismatchPolicy: RecordPolicy;
  /** Strictly ascending u32. */
  readonly schemaRefs: readonly number[];
  /** Of `schema_refs`, or of the document where it is left out. */
  readonly schemaRefsSpot: Spot;
}
