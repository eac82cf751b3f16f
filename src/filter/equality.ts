/**
 * Which top-level equalities of a filter decide that it cannot match (used by `prefilter.ts`).
 *
 * An equality is an `eq` or `in` leaf with literals of one kind that is the root or a child of a root `all`. Where the
 * slot holds another value of that kind, the leaf does not match, and then the root does not either, whatever its
 * siblings say: `all` hands on the first no match, and neither an unknown sibling nor the mismatch flag changes it. So
 * the record is rejected, unless a fault would have come before the leaf:
 *
 * - Children that read no payload run first and cannot fault, so an equality on a header decides behind any of them.
 * - Of the payload, only a `regex` can fault once the payload was read well (its text may be too long); an equality
 *   behind one in evaluation order is therefore left out.
 * - The header block and the payload themselves are judged by whoever uses this.
 */
import { MATCH } from '../core/truth.js';
import {
  forEachLeaf,
  headerFirst,
  type LoweredFilter,
  type Predicate,
  type Scalar,
  type Undecided,
  type ValueSource,
} from './ir.js';

export type LiteralKind = 'string' | 'integer' | 'boolean';

/** A conjunct that the index can look up: the value has to be one of `literals`, which are distinct. */
export interface Equality {
  readonly source: ValueSource;
  readonly kind: LiteralKind;
  readonly literals: readonly Scalar[];
}

/** What the index has to know of one filter. */
export interface FilterEqualities {
  readonly onHeaders: readonly Equality[];
  readonly onPayload: readonly Equality[];
  /** Leaves that read a header: where there are none but an equality's own, reaching the payload depends on it alone. */
  readonly headerLeaves: number;
  /** Whether the whole header block is judged before anything else of this filter. */
  readonly judgesHeaders: boolean;
  /** Whether an equality on a header that is not decided still rejects: nothing behind it can fault or flag. */
  readonly headerUndecidedRejects: boolean;
  /** The same of an equality on a payload that was read well. */
  readonly payloadUndecidedRejects: boolean;
  /** Whether a payload of another codec is delivered by policy instead of rejected. */
  readonly passesForeign: boolean;
}

export function equalitiesOf(filter: LoweredFilter): FilterEqualities {
  const { root } = filter;
  const onHeaders: Equality[] = [];
  const onPayload: Equality[] = [];
  let isBehindBound = false;
  for (const child of root.node === 'all' ? headerFirst(root.children) : [root]) {
    const equality = equalityOf(child);
    if (equality?.source.from === 'header') onHeaders.push(equality);
    else if (equality !== undefined && !isBehindBound) onPayload.push(equality);
    isBehindBound ||= hasBoundedText(child);
  }
  let headerLeaves = 0;
  let payloadLeaves = 0;
  forEachLeaf(root, ({ source }) => {
    if (source.from === 'header') headerLeaves += 1;
    else payloadLeaves += 1;
  });
  // A record whose root is at best unknown is rejected, unless a mismatch is flagged and the policy lets that pass.
  const rejectsUnknown = filter.mismatchPolicy === 'reject';
  return {
    onHeaders,
    onPayload,
    headerLeaves,
    judgesHeaders: headerLeaves > 0 || filter.schemaRefs.length > 0,
    headerUndecidedRejects: rejectsUnknown && payloadLeaves === 0,
    payloadUndecidedRejects: rejectsUnknown && !hasBoundedText(root),
    passesForeign: filter.foreignPolicy === 'pass',
  };
}

/** Two literals with the same key are the same. */
export function literalKey({ kind, ...rest }: Scalar): string {
  return `${kind} ${'value' in rest ? String(rest.value) : ''}`;
}

function equalityOf(node: Predicate): Equality | undefined {
  if (node.node !== 'compare' || (node.op !== 'eq' && node.op !== 'in') || mayMatchUndecided(node.undecided))
    return undefined;
  const kind = node.literals[0]!.kind;
  if (kind !== 'string' && kind !== 'integer' && kind !== 'boolean') return undefined;
  if (node.literals.some((literal) => literal.kind !== kind)) return undefined;
  const literals = new Map(node.literals.map((literal) => [literalKey(literal), literal]));
  return { source: node.source, kind, literals: [...literals.values()] };
}

/** True for a language in which a missing or unlike value can satisfy the leaf. */
export function mayMatchUndecided({ missing, nullValue, incomparable }: Undecided): boolean {
  return missing === MATCH || nullValue === MATCH || incomparable === MATCH;
}

/** True where a leaf of the subtree may find a text of the payload too long; header values are always short enough. */
function hasBoundedText(node: Predicate): boolean {
  let found = false;
  forEachLeaf(node, (leaf) => {
    found ||= leaf.node === 'text' && leaf.kind === 'regex' && leaf.source.from === 'payload';
  });
  return found;
}
