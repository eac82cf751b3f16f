/**
 * The canonical text of a `laser` filter, which its digest covers (contract: laser-filter §1).
 *
 * Compact; members in the order of the contract; `fault_policy` always written, the record policies only when `pass`,
 * `schema_refs` only when there are any, `case_insensitive` only when true. Nothing is simplified: filters that mean
 * the same but are written differently keep different texts.
 */
import { domainDigest } from '../../../core/digest.js';
import type { Comparison, LaserFilter, LaserNode, Literal, TextMatch } from './tree.js';
import { LASER_EVALUATOR_VERSION, LASER_VERSION } from './parse.js';

/** Keeps these digests apart from those of every other kind of text. */
const DIGEST_DOMAIN = 'agdx.consumer-filter.v1';

/** The one text of a filter. Reading it again gives the same text. */
export function canonicalText(filter: LaserFilter): string {
  const members = [
    `"v":${LASER_VERSION}`,
    `"evaluator_version":${LASER_EVALUATOR_VERSION}`,
    `"expr":${nodeText(filter.expr)}`,
    `"codec":${quoted(filter.codec)}`,
    `"fault_policy":${quoted(filter.faultPolicy)}`,
  ];
  if (filter.foreignPolicy === 'pass') members.push('"foreign_policy":"pass"');
  if (filter.mismatchPolicy === 'pass') members.push('"mismatch_policy":"pass"');
  if (filter.schemaRefs.length > 0) members.push(`"schema_refs":[${filter.schemaRefs.join(',')}]`);
  return `{${members.join(',')}}`;
}

/** SHA-256 of a canonical text under this dialect's domain, lower-case hex. */
export function laserDigest(canonical: string): string {
  return domainDigest(DIGEST_DOMAIN, canonical);
}

/**
 * A finite double as the canonical text writes it: the shortest digits that read back, always with a decimal point or
 * an exponent (`1.0`, `-0.0`), and an exponent from 1e16 up and below 1e-5 (`1e+16`, `1e-6`, `0.00001`).
 */
export function doubleText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude >= 1e16 || magnitude < 1e-5)) return value.toExponential();
  const text = String(value);
  return text.includes('.') ? text : `${text}.0`;
}

/** A node as the canonical text writes it: nodes with the same text say the same. */
export function nodeText(node: LaserNode): string {
  switch (node.node) {
    case 'all':
    case 'any':
      return `{"${node.node}":[${node.children.map(nodeText).join(',')}]}`;
    case 'not':
      return `{"not":${nodeText(node.child)}}`;
    case 'pred':
      return `{"pred":${predicateText(node.field.text, node.comparison)}}`;
    case 'pred_as': {
      const { coercion } = node;
      const format = coercion.kind === 'timestamp' ? `,"format":${quoted(coercion.format)}` : '';
      const coerce = `{"kind":${quoted(coercion.kind)}${format}}`;
      return `{"pred_as":{"pred":${predicateText(node.field.text, node.comparison)},"coerce":${coerce}}}`;
    }
    case 'present':
    case 'absent':
      return `{"${node.node}":${quoted(node.field.text)}}`;
    case 'header':
      return `{"header":{"key":${quoted(node.key)},${comparisonText(node.comparison)}}}`;
    case 'text':
      return `{"text":${matchText(node.field.text, node.match)}}`;
    case 'header_text':
      return `{"header_text":${matchText(node.key, node.match)}}`;
  }
}

function predicateText(field: string, comparison: Comparison): string {
  return `{"field":${quoted(field)},${comparisonText(comparison)}}`;
}

function comparisonText({ op, value }: Comparison): string {
  return `"op":"${op}","value":${literalText(value)}`;
}

function matchText(field: string, { kind, pattern, caseInsensitive }: TextMatch): string {
  const flag = caseInsensitive ? ',"case_insensitive":true' : '';
  return `{"field":${quoted(field)},"kind":"${kind}","pattern":${quoted(pattern)}${flag}}`;
}

function literalText(literal: Literal): string {
  switch (literal.kind) {
    case 'null':
      return '{"kind":"null"}';
    case 'list':
      return `{"kind":"list","value":[${literal.items.map(literalText).join(',')}]}`;
    case 'double':
      return `{"kind":"double","value":${doubleText(literal.value)}}`;
    case 'string':
      return `{"kind":"string","value":${quoted(literal.value)}}`;
    default:
      return `{"kind":"${literal.kind}","value":${literal.value}}`;
  }
}

/** `JSON.stringify` of text without unpaired surrogates is exactly the contract's escaping (laser-filter §1). */
function quoted(text: string): string {
  return JSON.stringify(text);
}
