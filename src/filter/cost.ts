/**
 * What a filter costs per record, estimated from its shape alone (contract: scan-protocol §2, `cost`).
 *
 * The score follows the short-circuit evaluation: header tests first, then payload tests in written order, each reached
 * with a chance that depends on what stands before it. It ranks filters that run alone over records like each other; it
 * does not predict a rate, because it knows neither how long texts are nor what they hold. In a scan of several filters
 * the payload is validated once for all, so their scores do not add up.
 */
import {
  forEachLeaf,
  headerFirst,
  readsPayload,
  type CompareLeaf,
  type Leaf,
  type Predicate,
  type Scalar,
  type TextLeaf,
} from './ir.js';
import { pathText } from './paths.js';

/**
 * `headers`: decided without the payload. `indexed`: reads the payload, but an equality at the top rules most records
 * out by a look-up that many filters share. `decode`: the filter's own tests run on every payload. `heavy`: reads the
 * payload, and some text is matched by a regex or has to be lowered, at a cost that grows with the text.
 */
export type CostClass = 'headers' | 'indexed' | 'decode' | 'heavy';

export interface FilterCost {
  readonly class: CostClass;
  /**
   * Expected work per record in thousandths of what it takes to validate one JSON payload of 600 bytes. Whole, at least
   * 1; a filter over headers stands near 150, one payload comparison near 1,100.
   */
  readonly score: number;
  /** An equality at the top finds the filter's records without evaluating it (laser: `eq` or `in`, alone or in `all`). */
  readonly indexable: boolean;
}

/**
 * The table, in the score's own unit. Measured with `bench/micro/cost-rank.ts` over `orbit` (Node 20, one thread, the
 * fastest of 21 rounds, 1,340 ns for a walk that reads nothing): each entry is the difference between two filters of
 * `COST_FILTERS` that differ in that one thing, rounded, and turned into thousandths of the walk. Only their ratios
 * travel between machines; the benchmark prints how well the order still holds.
 */
const VALIDATE_UNITS = 1000;
/** Reading the whole header block; the content type alone is part of VALIDATE_UNITS. */
const HEADERS_UNITS = 120;
/** One more object member or element to look for, counted once where paths share it: `after.mode` has two. */
const PATH_STEP_UNITS = 60;
const PRESENCE_UNITS = 8;
const TEXT_LITERAL_UNITS = 15;
const INTEGER_LITERAL_UNITS = 25;
/** A literal beyond ±(2^53−1): values like it are compared as two words. */
const WIDE_LITERAL_UNITS = 80;
const DOUBLE_LITERAL_UNITS = 60;
const DECIMAL_UNITS = 60;
const INSTANT_UNITS = 90;
/** Looking through a text or an array for something: of the length of an `orbit` remark, about 150 bytes. */
const SEARCH_UNITS = 250;
/** The same in a header, which is short. */
const HEADER_SEARCH_UNITS = 50;
/** A glob that begins at the start of the text. */
const GLOB_UNITS = 40;
/** Handing a text to the regex engine, and the engine's search where nothing anchors it. */
const REGEX_UNITS = 180;
const REGEX_SEARCH_UNITS = 350;
/** Lowering as one goes: of an anchored match, and of a text that is searched. */
const LOWER_UNITS = 30;
const LOWER_SEARCH_UNITS = 400;

/**
 * How often a leaf is taken to match. Nobody knows before the records are seen; an equality is written to pick out
 * few, a bound to halve. A tenth more or less moves no rank in the benchmark.
 */
const MATCHES = { eq: 0.2, in: 0.4, ne: 0.8, range: 0.5, text: 0.3, present: 0.8 } as const;

/** Least chance of reaching a node: what stands before it may decide less than was thought. */
const REACH_LEAST = 1 / 8;

/** The cost of a predicate tree. */
export function filterCost(root: Predicate): FilterCost {
  const estimate = new Estimate();
  estimate.visit(root, 1);
  return { class: filterClass(root), score: Math.ceil(estimate.total(root)), indexable: isIndexable(root) };
}

/** The class alone. */
export function filterClass(root: Predicate): CostClass {
  if (!readsPayload(root)) return 'headers';
  let isHeavy = false;
  forEachLeaf(root, (leaf) => {
    isHeavy ||= isHeavyLeaf(leaf);
  });
  return isHeavy ? 'heavy' : isIndexable(root) ? 'indexed' : 'decode';
}

/** True for a leaf whose cost grows with the text it looks at far beyond a comparison. */
export function isHeavyLeaf(leaf: Leaf): boolean {
  return leaf.node === 'text' && (leaf.kind === 'regex' || leaf.caseInsensitive);
}

/** Sums what is expected of each node over one evaluation. */
class Estimate {
  private leafUnits = 0;
  /** How often some leaf asks for the payload, which is then validated once. */
  private payloadReach = 0;

  /** Adds a node that is reached with chance `reach`; returns how often it is taken to match. */
  visit(node: Predicate, reach: number): number {
    switch (node.node) {
      case 'all':
      case 'any': {
        // A conjunction goes on after a match, a disjunction after anything else.
        let goesOn = 1;
        for (const child of headerFirst(node.children)) {
          const matches = this.visit(child, Math.max(reach * goesOn, REACH_LEAST));
          goesOn *= node.node === 'all' ? matches : 1 - matches;
        }
        return node.node === 'all' ? goesOn : 1 - goesOn;
      }
      case 'not':
        return 1 - this.visit(node.child, reach);
      default:
        this.leafUnits += reach * leafUnits(node);
        if (node.source.from === 'payload') this.payloadReach = Math.max(this.payloadReach, reach);
        return matchesOften(node);
    }
  }

  total(root: Predicate): number {
    let readsHeaders = false;
    const steps = new Set<string>();
    forEachLeaf(root, ({ source }) => {
      if (source.from === 'header') readsHeaders = true;
      else
        for (let length = 1; length <= source.path.length; length++) steps.add(pathText(source.path.slice(0, length)));
    });
    const payload = this.payloadReach * (VALIDATE_UNITS + PATH_STEP_UNITS * steps.size);
    return this.leafUnits + payload + (readsHeaders ? HEADERS_UNITS : 0);
  }
}

function leafUnits(leaf: Leaf): number {
  switch (leaf.node) {
    case 'presence':
      return PRESENCE_UNITS;
    case 'coerce': {
      const orders = TEXT_LITERAL_UNITS * (leaf.literals.length - 1);
      return orders + (leaf.coercion.kind === 'number' ? DECIMAL_UNITS : INSTANT_UNITS);
    }
    case 'compare':
      return comparisonUnits(leaf);
    case 'text':
      return textUnits(leaf);
  }
}

function textUnits({ kind, pattern, caseInsensitive, source }: TextLeaf): number {
  const isShort = source.from === 'header';
  const isSearched = kind === 'contains' || (kind === 'glob' && pattern.startsWith('*'));
  if (kind === 'regex') return REGEX_UNITS + (isShort || pattern.startsWith('^') ? 0 : REGEX_SEARCH_UNITS);
  if (isSearched && !isShort) return SEARCH_UNITS + (caseInsensitive ? LOWER_SEARCH_UNITS : 0);
  const units = isSearched ? HEADER_SEARCH_UNITS : kind === 'glob' ? GLOB_UNITS : TEXT_LITERAL_UNITS;
  return units + (caseInsensitive ? LOWER_UNITS : 0);
}

function comparisonUnits({ op, literals, source }: CompareLeaf): number {
  if (op === 'contains') return source.from === 'header' ? HEADER_SEARCH_UNITS : SEARCH_UNITS;
  return literals.reduce((units, literal) => units + literalUnits(literal), 0);
}

function literalUnits(literal: Scalar): number {
  switch (literal.kind) {
    case 'null':
      return PRESENCE_UNITS;
    case 'integer':
      return Number.isSafeInteger(Number(literal.value)) ? INTEGER_LITERAL_UNITS : WIDE_LITERAL_UNITS;
    case 'double':
      return DOUBLE_LITERAL_UNITS;
    default:
      return TEXT_LITERAL_UNITS;
  }
}

function matchesOften(leaf: Leaf): number {
  if (leaf.node === 'presence') return leaf.wanted ? MATCHES.present : 1 - MATCHES.present;
  if (leaf.node === 'text') return MATCHES.text;
  switch (leaf.op) {
    case 'eq':
    case 'in':
    case 'ne':
      return MATCHES[leaf.op];
    case 'contains':
    case 'prefix':
      return MATCHES.text;
    default:
      return MATCHES.range;
  }
}

/**
 * An `eq` or `in` over literals of one kind that can be looked up, which is the root or stands in a root `all`. Behind a
 * regex an equality on the payload decides nothing: a text too long for the regex is a fault that comes first.
 */
function isIndexable(root: Predicate): boolean {
  for (const child of root.node === 'all' ? headerFirst(root.children) : [root]) {
    if (isLookedUp(child)) return true;
    if (readsPayload(child) && holdsRegex(child)) return false;
  }
  return false;
}

function isLookedUp(node: Predicate): boolean {
  if (node.node !== 'compare' || (node.op !== 'eq' && node.op !== 'in')) return false;
  const [first] = node.literals;
  if (first === undefined || first.kind === 'null' || first.kind === 'double') return false;
  return node.literals.every(({ kind }) => kind === first.kind);
}

function holdsRegex(node: Predicate): boolean {
  let found = false;
  forEachLeaf(node, (leaf) => {
    found ||= leaf.node === 'text' && leaf.kind === 'regex' && leaf.source.from === 'payload';
  });
  return found;
}
