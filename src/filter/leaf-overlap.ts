/**
 * Whether two leaves can match one record at once: the ground of warnings about predicates that are never true.
 *
 * An answer of "never" is a proof: kinds of value that have nothing in common, an equality whose every value fails the
 * other leaf (asked of the evaluator's own judges), ranges that do not meet, prefixes or suffixes that differ. Anything
 * else counts as possible, so what depends on more than two leaves, or on what lies between two numbers, is not found.
 */
import type { Value } from '../codec/value.js';
import type { Path } from '../core/path.js';
import { MATCH } from '../core/truth.js';
import { leafJudge } from './evaluate-leaf.js';
import type { CoerceLeaf, CompareLeaf, Leaf, Scalar, TextLeaf, ValueSource } from './ir.js';
import type { RegexEngine } from './regex.js';

/** Kinds of value as bits; a header's raw bytes count as an object. */
const KIND_MISSING = 1;
const KIND_NULL = 2;
const KIND_BOOLEAN = 4;
export const KIND_NUMBER = 8;
export const KIND_TEXT = 16;
const KIND_ARRAY = 32;
const KIND_OBJECT = 64;
/** Every kind: a missing field, null, and all values. */
export const ALL_KINDS = 127;

/** Kinds of value that are there, as {@link kindsMatched} gives them; `all` of them. */
export const VALUE_KINDS = {
  null: KIND_NULL,
  boolean: KIND_BOOLEAN,
  number: KIND_NUMBER,
  text: KIND_TEXT,
  array: KIND_ARRAY,
  object: KIND_OBJECT,
  all: ALL_KINDS & ~KIND_MISSING,
} as const;

/** Integers that a payload can hold (laser-filter §3). */
const INTEGER_LEAST = -(2n ** 63n);
const INTEGER_MOST = 2n ** 64n - 1n;

/** The kinds of value that the leaf can match, as bits. */
export function kindsMatched(leaf: Leaf): number {
  switch (leaf.node) {
    case 'presence':
      return leaf.wanted ? ALL_KINDS & ~KIND_MISSING : KIND_MISSING;
    case 'text':
      return KIND_TEXT | undecidedKinds(leaf, KIND_TEXT);
    case 'coerce': {
      const isTextOnly = leaf.coercion.kind === 'timestamp' && leaf.coercion.format === 'rfc3339';
      const read = isTextOnly ? KIND_TEXT : KIND_TEXT | KIND_NUMBER;
      return read | undecidedKinds(leaf, read);
    }
    case 'compare': {
      let read = 0;
      for (const literal of leaf.literals) read |= kindsCompared(leaf, literal);
      return read | undecidedKinds(leaf, read);
    }
  }
}

/** True if the leaf can match a record that has no such field or header. */
export function matchesMissing(leaf: Leaf): boolean {
  return (kindsMatched(leaf) & KIND_MISSING) !== 0;
}

/** True if the leaf is never unknown: presence, and comparison with null. */
export function isAlwaysDecided(leaf: Leaf): boolean {
  return leaf.node === 'presence' || (leaf.node === 'compare' && leaf.literals.every(({ kind }) => kind === 'null'));
}

/** The kinds of value that a leaf compares with one of its literals, as bits; none with null, which decides them all. */
export function kindsCompared({ op }: CompareLeaf, { kind }: Scalar): number {
  if (kind === 'null') return 0;
  if (op === 'contains') return kind === 'string' ? KIND_TEXT | KIND_ARRAY : KIND_ARRAY;
  return kind === 'string' ? KIND_TEXT : kind === 'boolean' ? KIND_BOOLEAN : KIND_NUMBER;
}

/** What the leaf matches without comparing, as its table of the undecided says. */
function undecidedKinds({ undecided }: Exclude<Leaf, { node: 'presence' }>, read: number): number {
  const missing = undecided.missing === MATCH ? KIND_MISSING : 0;
  const nullValue = undecided.nullValue === MATCH ? KIND_NULL : 0;
  const others = ALL_KINDS & ~(KIND_MISSING | KIND_NULL | read);
  return missing | nullValue | (undecided.incomparable === MATCH ? others : 0);
}

/**
 * Why two leaves can never both match one record: `kinds` (they need different kinds of value, or one needs a member of
 * what the other needs as a plain value), `values` (no value of the kind fits both); undefined where they might.
 */
export function exclusionOf(a: Leaf, b: Leaf, regex: RegexEngine): 'kinds' | 'values' | undefined {
  if (!isSameSource(a.source, b.source)) {
    return excludesMember(a, b) || excludesMember(b, a) ? 'kinds' : undefined;
  }
  if ((kindsMatched(a) & kindsMatched(b)) === 0) return 'kinds';
  const isExcluded =
    noneMatches(witnessesOf(a), b, regex) ||
    noneMatches(witnessesOf(b), a, regex) ||
    coercedApart(a, b, regex) ||
    rangesApart(a, b, regex) ||
    affixesApart(a, b);
  return isExcluded ? 'values' : undefined;
}

function isSameSource(a: ValueSource, b: ValueSource): boolean {
  if (a.from === 'header') return b.from === 'header' && a.key === b.key;
  return b.from === 'payload' && a.path.length === b.path.length && startsWith(a.path, b.path);
}

function startsWith(path: Path, start: Path): boolean {
  return start.every((step, index) => path[index] === step);
}

/** True where `outer` looks at a container of what `inner` needs, and can match only what holds no such member. */
function excludesMember(outer: Leaf, inner: Leaf): boolean {
  if (outer.source.from !== 'payload' || inner.source.from !== 'payload' || matchesMissing(inner)) return false;
  const { path } = outer.source;
  const step = inner.source.path[path.length];
  if (step === undefined || !startsWith(inner.source.path, path)) return false;
  return (kindsMatched(outer) & (typeof step === 'number' ? KIND_ARRAY : KIND_OBJECT)) === 0;
}

/** Every value that the leaf can match, where that is a short list; undefined where it is not. */
function witnessesOf(leaf: Leaf): readonly Value[] | undefined {
  if (leaf.node === 'text') return leaf.kind === 'equals' && !leaf.caseInsensitive ? [leaf.pattern] : undefined;
  if (leaf.node !== 'compare' || matchesMissing(leaf)) return undefined;
  const [first] = leaf.literals;
  if (leaf.op === 'ne' && first?.kind === 'boolean') return [!first.value];
  return leaf.op === 'eq' || leaf.op === 'in' ? leaf.literals.flatMap(valuesEqualTo) : undefined;
}

/** An integer and a double may be equal, and other leaves tell them apart. */
function valuesEqualTo(literal: Scalar): readonly Value[] {
  switch (literal.kind) {
    case 'null':
      return [null];
    case 'integer': {
      const double = Number(literal.value);
      return BigInt(double) === literal.value ? [literal.value, double] : [literal.value];
    }
    case 'double': {
      if (!Number.isInteger(literal.value)) return [literal.value];
      const integer = BigInt(literal.value);
      return integer >= INTEGER_LEAST && integer <= INTEGER_MOST ? [literal.value, integer] : [literal.value];
    }
    default:
      return [literal.value];
  }
}

function noneMatches(values: readonly Value[] | undefined, leaf: Leaf, regex: RegexEngine): boolean {
  if (values === undefined) return false;
  const judge = leafJudge(leaf, regex);
  return values.every((value) => isNo(judge(value)));
}

/** Anything but a match: of two leaves that both have to match, unknown is as good as no. */
function isNo(judgement: ReturnType<ReturnType<typeof leafJudge>>): boolean {
  return typeof judgement !== 'symbol' && judgement.truth !== MATCH;
}

/** Under one coercion equal values are alike, so an equality's own literals stand for all that equal them. */
function coercedApart(a: Leaf, b: Leaf, regex: RegexEngine): boolean {
  if (a.node !== 'coerce' || b.node !== 'coerce' || !isSameCoercion(a, b)) return false;
  const one = a.op === 'eq' || a.op === 'in' ? a : b;
  if (one.op !== 'eq' && one.op !== 'in') return false;
  return noneMatches(one.literals.map(plainValue), one === a ? b : a, regex);
}

function isSameCoercion({ coercion: a }: CoerceLeaf, { coercion: b }: CoerceLeaf): boolean {
  if (a.kind === 'number') return b.kind === 'number';
  return b.kind === 'timestamp' && a.format === b.format;
}

function plainValue(literal: Scalar): Value {
  return literal.kind === 'null' ? null : literal.value;
}

type Range = CompareLeaf | CoerceLeaf;

/** A lower bound above an upper one, or at it where one of them leaves the bound itself out. */
function rangesApart(a: Leaf, b: Leaf, regex: RegexEngine): boolean {
  if (isLower(a) && isUpper(b)) return isEmptyRange(a, b, regex);
  return isLower(b) && isUpper(a) && isEmptyRange(b, a, regex);
}

function isLower(leaf: Leaf): leaf is Range {
  return (leaf.node === 'compare' || leaf.node === 'coerce') && (leaf.op === 'gt' || leaf.op === 'gte');
}

function isUpper(leaf: Leaf): leaf is Range {
  return (leaf.node === 'compare' || leaf.node === 'coerce') && (leaf.op === 'lt' || leaf.op === 'lte');
}

function isEmptyRange(lower: Range, upper: Range, regex: RegexEngine): boolean {
  if (lower.node !== upper.node) return false;
  if (lower.node === 'coerce' && upper.node === 'coerce' && !isSameCoercion(lower, upper)) return false;
  // The lower bound is judged by the upper leaf's own rules; unordered bounds are unknown under both and prove nothing.
  const bound = plainValue(lower.literals[0]!);
  const holds = (op: 'gt' | 'eq'): boolean => {
    const judgement = leafJudge({ ...upper, op }, regex)(bound);
    return typeof judgement !== 'symbol' && judgement.truth === MATCH;
  };
  return holds('gt') || ((lower.op === 'gt' || upper.op === 'lt') && holds('eq'));
}

/** Two beginnings, or two ends, of which neither continues the other. */
function affixesApart(a: Leaf, b: Leaf): boolean {
  const [start, otherStart] = [affixOf(a, 'prefix'), affixOf(b, 'prefix')];
  if (start !== undefined && otherStart !== undefined) {
    return !start.startsWith(otherStart) && !otherStart.startsWith(start);
  }
  const [end, otherEnd] = [affixOf(a, 'suffix'), affixOf(b, 'suffix')];
  return end !== undefined && otherEnd !== undefined && !end.endsWith(otherEnd) && !otherEnd.endsWith(end);
}

function affixOf(leaf: Leaf, side: 'prefix' | 'suffix'): string | undefined {
  if (leaf.node === 'text') return isLiteral(leaf, side) ? leaf.pattern : undefined;
  const [literal] = leaf.node === 'compare' && leaf.op === side ? leaf.literals : [];
  return literal?.kind === 'string' ? literal.value : undefined;
}

function isLiteral({ kind, caseInsensitive }: TextLeaf, wanted: 'prefix' | 'suffix'): boolean {
  return kind === wanted && !caseInsensitive;
}
