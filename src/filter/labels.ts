/**
 * Short texts for the nodes of an explanation (contract: laser-filter §6): `after.mode eq "safe"`,
 * `number(amount) gte 12.5`, `header priority gte 2`, `fields.mode is present`, `name glob "a*" ignoring case`.
 *
 * They are for people; no program reads them.
 */
import { pathText } from './paths.js';
import type { CoerceLeaf, CompareLeaf, Predicate, Scalar, ValueSource } from './ir.js';

export function labelOf(predicate: Predicate): string {
  switch (predicate.node) {
    case 'all':
    case 'any':
    case 'not':
      return predicate.node;
    case 'presence':
      return `${sourceText(predicate.source)} is ${predicate.wanted ? 'present' : 'absent'}`;
    case 'compare':
      return `${sourceText(predicate.source)} ${predicate.op} ${literalsText(predicate, scalarText)}`;
    case 'coerce':
      return coerceLabel(predicate);
    case 'text': {
      const ignoring = predicate.caseInsensitive ? ' ignoring case' : '';
      return `${sourceText(predicate.source)} ${predicate.kind} ${JSON.stringify(predicate.pattern)}${ignoring}`;
    }
  }
}

function coerceLabel(leaf: CoerceLeaf): string {
  const { coercion } = leaf;
  const name = coercion.kind === 'number' ? 'number' : coercion.format;
  // A coerced literal is a number or an instant whatever it was written as, so it stands without quotes.
  return `${name}(${sourceText(leaf.source)}) ${leaf.op} ${literalsText(leaf, bareText)}`;
}

function sourceText(source: ValueSource): string {
  return source.from === 'header' ? `header ${source.key}` : pathText(source.path);
}

function literalsText(leaf: CompareLeaf | CoerceLeaf, text: (scalar: Scalar) => string): string {
  return leaf.op === 'in' ? `[${leaf.literals.map(text).join(', ')}]` : text(leaf.literals[0]!);
}

function bareText(scalar: Scalar): string {
  return scalar.kind === 'string' ? scalar.value : scalarText(scalar);
}

function scalarText(scalar: Scalar): string {
  switch (scalar.kind) {
    case 'null':
      return 'null';
    case 'string':
      return JSON.stringify(scalar.value);
    case 'double':
      return doubleText(scalar.value);
    default:
      return String(scalar.value);
  }
}

/** A double never looks like an integer: `1.0`, `-0.0`. */
function doubleText(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
