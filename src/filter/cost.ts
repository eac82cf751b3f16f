/**
 * What a filter costs per record, estimated from its shape alone (contract: scan-protocol §2, `cost`).
 *
 * The estimate is a worst case: every leaf is counted, as if nothing decided early. It ranks filters and says which
 * ones never touch a payload; it does not predict a rate, which depends on the records.
 */
import { forEachLeaf, readsPayload, type Leaf, type Predicate } from './ir.js';

/**
 * `headers`: decided without the payload. `indexed`: reads the payload, but a match requires a literal text that a
 * search could look for first. `decode`: every payload has to be walked. `heavy`: as `decode`, and some text is matched
 * by a regex or has to be lowercased.
 */
export type CostClass = 'headers' | 'indexed' | 'decode' | 'heavy';

export interface FilterCost {
  readonly class: CostClass;
  /**
   * Units of work per record: 1 is one typed comparison of an extracted value (tens of nanoseconds). Whole, at least 1.
   */
  readonly score: number;
  /** A record can match only if it holds a known literal text, outside any negation, in every way to match. */
  readonly indexable: boolean;
}

/** Validating and walking one payload of some hundred bytes, in comparisons. */
const DECODE_UNITS = 50;
/** Following one more path through the payload. */
const PATH_UNITS = 2;
const COERCION_UNITS = 3;
const TEXT_UNITS = 2;
const LOWERCASE_UNITS = 20;
const GLOB_UNITS = 5;
const REGEX_UNITS = 10;

/** The cost of a predicate tree. */
export function filterCost(root: Predicate): FilterCost {
  let score = readsPayload(root) ? DECODE_UNITS : 0;
  forEachLeaf(root, (leaf) => {
    score += leafUnits(leaf) + (leaf.source.from === 'payload' ? PATH_UNITS : 0);
  });
  return { class: filterClass(root), score, indexable: requiresText(root) };
}

/** The class alone. */
export function filterClass(root: Predicate): CostClass {
  if (!readsPayload(root)) return 'headers';
  let isHeavy = false;
  forEachLeaf(root, (leaf) => {
    isHeavy ||= isHeavyLeaf(leaf);
  });
  return isHeavy ? 'heavy' : requiresText(root) ? 'indexed' : 'decode';
}

/** True for a leaf whose cost grows with the text it looks at far beyond a comparison. */
export function isHeavyLeaf(leaf: Leaf): boolean {
  return leaf.node === 'text' && (leaf.kind === 'regex' || leaf.caseInsensitive);
}

function leafUnits(leaf: Leaf): number {
  switch (leaf.node) {
    case 'compare':
      return leaf.literals.length;
    case 'coerce':
      return COERCION_UNITS * leaf.literals.length;
    case 'presence':
      return 1;
    case 'text':
      if (leaf.kind === 'regex') return REGEX_UNITS;
      return (leaf.kind === 'glob' ? GLOB_UNITS : TEXT_UNITS) + (leaf.caseInsensitive ? LOWERCASE_UNITS : 0);
  }
}

/**
 * True where no record can match without holding one of a known set of texts: one conjunct of `all` is enough, every
 * arm of `any` is needed, and nothing under `not` counts. Numbers never count: they have many spellings.
 */
function requiresText(predicate: Predicate): boolean {
  switch (predicate.node) {
    case 'all':
      return predicate.children.some(requiresText);
    case 'any':
      return predicate.children.every(requiresText);
    case 'compare':
      return (
        (predicate.op === 'eq' || predicate.op === 'in' || predicate.op === 'contains' || predicate.op === 'prefix') &&
        predicate.literals.every((literal) => literal.kind === 'string' && literal.value !== '')
      );
    case 'text':
      return (
        predicate.kind !== 'glob' &&
        predicate.kind !== 'regex' &&
        !predicate.caseInsensitive &&
        predicate.pattern !== ''
      );
    default:
      return false;
  }
}
