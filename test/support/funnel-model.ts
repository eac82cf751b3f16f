/**
 * The funnel worked out another way: every leaf is asked on its own, the tree is put together by the truth tables, and
 * the rejecting node is found by trying, for every node, whether the root could still have matched.
 *
 * It shares no code with `filter/funnel.ts`: no visitor, no short-circuit and no descent; only the judgement of a single
 * leaf is the oracle's.
 */
import type { DecoderLimits } from '../../src/codec/walker.js';
import { REASON_NAMES, reasonOf, REJECTED, verdictOf } from '../../src/core/verdict.js';
import { type EvaluatedRecord, type Evaluator, isUnjudged } from '../../src/filter/evaluate.js';
import type { Predicate } from '../../src/filter/ir.js';
import { labelOf } from '../../src/filter/labels.js';

type Truth = 'match' | 'no_match' | 'unknown';

/** A node for one record. `result` is undefined where a sibling made it needless. */
interface Judged {
  readonly node: Predicate;
  readonly result: Truth | 'unjudged' | undefined;
  readonly isMismatched: boolean;
  readonly children: readonly Judged[];
}

/** A node of the recount, in the shape of the reply. */
export interface RecountedNode {
  label: string;
  match: number;
  no_match: number;
  unknown: number;
  mismatch: number;
  unjudged: number;
  not_reached: number;
  rejected: number;
  examples: number[];
  children?: RecountedNode[];
}

export interface Recount {
  unjudged: { reason: string; records: number; examples: number[] }[];
  root: RecountedNode;
}

/** Recounts the funnel of these records. */
export function recountFunnel(
  evaluator: Evaluator,
  records: readonly { readonly offset: number; readonly record: EvaluatedRecord }[],
  limits: DecoderLimits,
): Recount {
  const recount: Recount = { unjudged: [], root: emptyNode(evaluator.filter.root) };
  for (const { offset, record } of records) {
    const outcome = evaluator.evaluate(record, limits);
    const tree = judged(evaluator, evaluator.filter.root, record, limits);
    add(recount.root, tree);
    if (tree.result === 'unjudged') {
      const reason = REASON_NAMES[reasonOf(outcome)];
      let of = recount.unjudged.find((known) => known.reason === reason);
      if (of === undefined) recount.unjudged.push((of = { reason, records: 0, examples: [] }));
      of.records += 1;
      if (of.examples.length < 10) of.examples.push(offset);
    } else if (verdictOf(outcome) === REJECTED) {
      const rejecter = inOrder(tree).find((one) => !possible(tree, one).has('match'))!;
      const place = places(tree).indexOf(rejecter);
      const counted = nodes(recount.root)[place]!;
      counted.rejected += 1;
      if (counted.examples.length < 10) counted.examples.push(offset);
    }
  }
  return recount;
}

/** The nodes of a recounted (or replied) tree in written order, parents first. */
export function nodes<T extends { readonly children?: readonly T[] }>(root: T): T[] {
  return [root, ...(root.children ?? []).flatMap((child) => nodes(child))];
}

function places(tree: Judged): Judged[] {
  return [tree, ...tree.children.flatMap(places)];
}

/** The nodes that were evaluated, in the order in which each was done: header-first, children before parents. */
function inOrder(tree: Judged): Judged[] {
  if (tree.result === undefined) return [];
  const ofHeaders = tree.children.filter(({ node }) => !reads(node));
  const ofPayload = tree.children.filter(({ node }) => reads(node));
  return [...[...ofHeaders, ...ofPayload].flatMap(inOrder), tree];
}

function reads(node: Predicate): boolean {
  if (node.node === 'not') return reads(node.child);
  if (node.node === 'all' || node.node === 'any') return node.children.some(reads);
  return node.source.from === 'payload';
}

function judged(evaluator: Evaluator, node: Predicate, record: EvaluatedRecord, limits: DecoderLimits): Judged {
  if (evaluator.read(record, limits) === undefined) return unreached(node, 'unjudged');
  switch (node.node) {
    case 'not': {
      const child = judged(evaluator, node.child, record, limits);
      const opposite = { match: 'no_match', no_match: 'match', unknown: 'unknown', unjudged: 'unjudged' } as const;
      return { node, result: opposite[child.result!], isMismatched: child.isMismatched, children: [child] };
    }
    case 'all':
    case 'any': {
      const ends: readonly unknown[] = ['unjudged', node.node === 'all' ? 'no_match' : 'match'];
      const first = node.children.filter((child) => !reads(child));
      const order = [...first, ...node.children.filter(reads)];
      const done = new Map<Predicate, Judged>();
      for (const child of order) {
        const one = judged(evaluator, child, record, limits);
        done.set(child, one);
        if (ends.includes(one.result)) break;
      }
      const results = [...done.values()].map(({ result }) => result!);
      const last = results.at(-1)!;
      const result = ends.includes(last)
        ? last
        : results.includes('unknown')
          ? 'unknown'
          : node.node === 'all'
            ? 'match'
            : 'no_match';
      return {
        node,
        result,
        isMismatched: [...done.values()].some(({ isMismatched }) => isMismatched),
        children: node.children.map((child) => done.get(child) ?? unreached(child, undefined)),
      };
    }
    default: {
      // A reading of its own: its flag then speaks of this leaf alone.
      const reading = evaluator.read(record, limits)!;
      const truth = evaluator.truthOfLeaf(node, reading);
      const result = isUnjudged(truth) ? 'unjudged' : (['no_match', 'match', 'unknown'] as const)[truth];
      return { node, result, isMismatched: reading.mismatched, children: [] };
    }
  }
}

function unreached(node: Predicate, result: 'unjudged' | undefined): Judged {
  const children = node.node === 'not' ? [node.child] : 'children' in node ? node.children : [];
  return { node, result, isMismatched: false, children: children.map((child) => unreached(child, undefined)) };
}

/** What `tree` may come to if all that is known is what `fixed` came to. */
function possible(tree: Judged, fixed: Judged): ReadonlySet<Truth> {
  if (tree === fixed) return new Set([tree.result as Truth]);
  if (tree.children.length === 0) return new Set(['match', 'no_match', 'unknown']);
  const sets = tree.children.map((child) => [...possible(child, fixed)]);
  let combined: Truth[][] = [[]];
  for (const set of sets) {
    const longer = combined.flatMap((before) => set.map((one) => [...before, one]));
    // Only which truths occur matters, so equal sets of them are one.
    combined = [...new Map(longer.map((list) => [[...new Set(list)].toSorted().join(), [...new Set(list)]])).values()];
  }
  return new Set(combined.map((truths) => together(tree.node, truths)));
}

function together({ node }: Predicate, truths: readonly Truth[]): Truth {
  if (node === 'not') return truths[0] === 'unknown' ? 'unknown' : truths[0] === 'match' ? 'no_match' : 'match';
  const [decisive, otherwise] = node === 'all' ? (['no_match', 'match'] as const) : (['match', 'no_match'] as const);
  return truths.includes(decisive) ? decisive : truths.includes('unknown') ? 'unknown' : otherwise;
}

function emptyNode(node: Predicate): RecountedNode {
  const children = node.node === 'not' ? [node.child] : 'children' in node ? node.children : undefined;
  return {
    label: labelOf(node),
    match: 0,
    no_match: 0,
    unknown: 0,
    mismatch: 0,
    unjudged: 0,
    not_reached: 0,
    rejected: 0,
    examples: [],
    ...(children === undefined ? {} : { children: children.map(emptyNode) }),
  };
}

function add(counted: RecountedNode, { result, isMismatched, children }: Judged): void {
  counted[result ?? 'not_reached'] += 1;
  if (result === 'unknown' && isMismatched) counted.mismatch += 1;
  children.forEach((child, i) => add(counted.children![i]!, child));
}
