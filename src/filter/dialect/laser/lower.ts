/**
 * The `laser` tree to the IR: the surface goes, what a leaf yields where there is nothing to compare is written out.
 *
 * In this language everything undecided is unknown, and a type that cannot be compared flags the record, with one
 * exception: a null literal decides every value (contract: laser-filter §3 "Comparison of a payload field").
 *
 * | literal | missing | explicit null | any other value |
 * |---|---|---|---|
 * | null, `eq` | match | match | no match |
 * | null, `ne` | no match | no match | match |
 * | any other | unknown | unknown | by type; not comparable: unknown, flagged |
 */
import { MATCH, NO_MATCH, UNKNOWN, negate } from '../../../core/truth.js';
import type { LoweredFilter, Predicate, Scalar, Undecided, ValueSource } from '../../ir.js';
import type { Comparison, LaserFilter, LaserNode, PathRef, ScalarLiteral, TextMatch } from './tree.js';

const UNDECIDED: Undecided = { missing: UNKNOWN, nullValue: UNKNOWN, incomparable: UNKNOWN, flagsMismatch: true };
const EQUALS_NULL: Undecided = { missing: MATCH, nullValue: MATCH, incomparable: NO_MATCH, flagsMismatch: false };
const DIFFERS_FROM_NULL: Undecided = {
  missing: negate(MATCH),
  nullValue: negate(MATCH),
  incomparable: negate(NO_MATCH),
  flagsMismatch: false,
};

/** The runnable form of a validated filter. */
export function lowerLaser(filter: LaserFilter, digest: string): LoweredFilter {
  return {
    dialect: 'laser',
    digest,
    codec: filter.codec,
    faultPolicy: filter.faultPolicy,
    foreignPolicy: filter.foreignPolicy,
    mismatchPolicy: filter.mismatchPolicy,
    schemaRefs: filter.schemaRefs,
    root: lowerNode(filter.expr),
  };
}

/** A literal without the width of its integer. */
export function scalarOf(literal: ScalarLiteral): Scalar {
  switch (literal.kind) {
    case 'int':
    case 'long':
      return { kind: 'integer', value: literal.value };
    case 'null':
      return { kind: 'null' };
    case 'boolean':
      return { kind: 'boolean', value: literal.value };
    case 'double':
      return { kind: 'double', value: literal.value };
    case 'string':
      return { kind: 'string', value: literal.value };
  }
}

/** The predicate of one validated node. */
export function lowerNode(node: LaserNode): Predicate {
  switch (node.node) {
    case 'all':
    case 'any':
      return { node: node.node, children: node.children.map(lowerNode) };
    case 'not':
      return { node: 'not', child: lowerNode(node.child) };
    case 'pred':
      return lowerComparison(payload(node.field), node.comparison);
    case 'pred_as': {
      const { op } = node.comparison;
      // `validate` has refused both under a coercion; this narrows the type.
      if (op === 'contains' || op === 'prefix') throw new Error(`not a coerced operator: ${op}`);
      const literals = literalsOf(node.comparison);
      return {
        node: 'coerce',
        source: payload(node.field),
        op,
        coercion: node.coercion,
        literals,
        undecided: UNDECIDED,
      };
    }
    case 'present':
    case 'absent':
      return { node: 'presence', source: payload(node.field), wanted: node.node === 'present' };
    case 'header':
      return lowerComparison(header(node.key), node.comparison);
    case 'text':
      return lowerText(payload(node.field), node.match);
    case 'header_text':
      return lowerText(header(node.key), node.match);
  }
}

function lowerComparison(source: ValueSource, comparison: Comparison): Predicate {
  const { op, value } = comparison;
  const undecided = value.kind !== 'null' ? UNDECIDED : op === 'eq' ? EQUALS_NULL : DIFFERS_FROM_NULL;
  return { node: 'compare', source, op, literals: literalsOf(comparison), undecided };
}

function lowerText(source: ValueSource, { kind, pattern, caseInsensitive }: TextMatch): Predicate {
  return { node: 'text', source, kind, pattern, caseInsensitive, undecided: UNDECIDED };
}

function literalsOf({ value }: Comparison): readonly Scalar[] {
  return value.kind === 'list' ? value.items.map(scalarOf) : [scalarOf(value)];
}

function payload({ path }: PathRef): ValueSource {
  return { from: 'payload', path };
}

function header(key: string): ValueSource {
  return { from: 'header', key };
}
