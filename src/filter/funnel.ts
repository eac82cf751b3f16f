/**
 * The funnel (contract: scan-protocol §2 "preview"): what became of records at each node of an expression, counted over
 * the short-circuit evaluation that decides about delivery. It answers "why did nothing match?".
 *
 * It is a visitor of the oracle's evaluation and evaluates nothing itself. A record is judged first and counted
 * afterwards, because a record that stops a page is in no count.
 *
 * Invariants: at every node match + no match + unknown + unjudged + not reached is the number of records counted;
 * mismatches are among the unknown; a rejected record that had a truth is rejected by exactly one node. Memory is
 * bounded by the nodes of a filter and `EXAMPLE_OFFSETS_MAX`, whatever the number of records.
 */
import { EXAMPLE_OFFSETS_MAX } from '../core/limits.js';
import { MATCH, NO_MATCH, UNKNOWN } from '../core/truth.js';
import type { Truth } from '../core/truth.js';
import {
  type Outcome,
  type Reason,
  REASON_NAMES,
  reasonOf,
  REJECTED,
  TYPE_MISMATCH,
  verdictOf,
} from '../core/verdict.js';
import { NO_REASON } from '../core/verdict.js';
import type { DecoderLimits } from '../codec/walker.js';
import { isUnjudged } from './evaluate.js';
import type { EvaluatedRecord, Evaluator } from './evaluate.js';
import { headerFirst } from './ir.js';
import type { Predicate } from './ir.js';
import { labelOf } from './labels.js';

/** Counts of one node. */
export interface NodeCounts {
  match: number;
  noMatch: number;
  unknown: number;
  /** Of `unknown`: where a leaf at or below the node saw a type it cannot compare. */
  mismatch: number;
  /** The node was reached, and the record could not be judged there (a broken payload, another codec). */
  unjudged: number;
  /** A sibling had decided, or the record could not be judged before. */
  notReached: number;
  /** Records that this node rejected; see {@link Funnel.count}. */
  rejected: number;
  /** Offsets of the first records that it rejected. */
  readonly examples: number[];
}

/** Records that could not be judged for one reason. */
export interface UnjudgedCounts {
  readonly reason: string;
  records: number;
  readonly examples: number[];
}

/** A funnel as plain data, to go on with on another worker; `nodes` are in written order, parents first. */
export interface FunnelState {
  records: number;
  readonly unjudged: UnjudgedCounts[];
  readonly nodes: NodeCounts[];
}

/** A node of the finished funnel, mirroring the expression. */
export interface FunnelNode {
  readonly label: string;
  readonly counts: NodeCounts;
  /** Of `all`, `any` and `not`, in written order; undefined for leaves. */
  readonly children: readonly FunnelNode[] | undefined;
}

/** What a node came to for the record that was judged last. */
const NOT_REACHED = -1;
const UNJUDGED = 3;
type Result = Truth | typeof UNJUDGED | typeof NOT_REACHED;

export class Funnel {
  readonly state: FunnelState;
  readonly #evaluator: Evaluator;
  readonly #places = new Map<Predicate, number>();
  readonly #results: Result[];
  readonly #mismatched: boolean[];
  #outcome: Outcome = 0;

  /** A new funnel, or one that goes on with what was counted before. */
  constructor(evaluator: Evaluator, state: FunnelState | null) {
    this.#evaluator = evaluator;
    forEachNode(evaluator.filter.root, (node) => this.#places.set(node, this.#places.size));
    const places = [...this.#places.values()];
    this.#results = places.map(() => NOT_REACHED);
    this.#mismatched = places.map(() => false);
    this.state = state ?? { records: 0, unjudged: [], nodes: places.map(() => noCounts()) };
  }

  /** Judges a record as delivery does, and remembers what each node came to. Counts nothing. */
  judge(record: EvaluatedRecord, limits: DecoderLimits): Outcome {
    this.#results.fill(NOT_REACHED);
    this.#mismatched.fill(false);
    this.#outcome = this.#evaluator.evaluate(record, limits, (node, result, isMismatched) => {
      const place = this.#places.get(node)!;
      this.#results[place] = isUnjudged(result) ? UNJUDGED : result;
      this.#mismatched[place] = isMismatched;
    });
    // A header block that does not parse stops the evaluation before its first node.
    if (this.#results[0] === NOT_REACHED) this.#results[0] = UNJUDGED;
    return this.#outcome;
  }

  /**
   * Counts the record that was judged last.
   *
   * A rejected record is put down to one node: the first in evaluation order whose value alone settled that the root
   * cannot match, whatever the nodes beside it say. Children come before parents, so it is the deepest such node: a
   * leaf under `all`; `any` itself where each of its arms failed; the other way round below a `not`. A record that was
   * rejected because it could not be judged (another codec) is put down to its reason.
   */
  count(offset: number): void {
    const { state } = this;
    state.records += 1;
    state.nodes.forEach((counts, place) => this.#countNode(counts, place));
    const reason = reasonOf(this.#outcome);
    if (this.#results[0] === UNJUDGED) {
      this.#countUnjudged(reason, offset);
    } else if (verdictOf(this.#outcome) === REJECTED && (reason === NO_REASON || reason === TYPE_MISMATCH)) {
      const counts = state.nodes[this.#places.get(this.#rejecter(this.#evaluator.filter.root, false))!]!;
      counts.rejected += 1;
      addExample(counts.examples, offset);
    }
  }

  /** What was counted so far, as a tree with labels. */
  tree(): FunnelNode {
    return this.#node(this.#evaluator.filter.root);
  }

  #node(predicate: Predicate): FunnelNode {
    const children = childrenOf(predicate)?.map((child) => this.#node(child));
    return { label: labelOf(predicate), counts: this.state.nodes[this.#places.get(predicate)!]!, children };
  }

  #countNode(counts: NodeCounts, place: number): void {
    switch (this.#results[place]!) {
      case MATCH:
        counts.match += 1;
        break;
      case NO_MATCH:
        counts.noMatch += 1;
        break;
      case UNKNOWN:
        counts.unknown += 1;
        if (this.#mismatched[place]!) counts.mismatch += 1;
        break;
      case UNJUDGED:
        counts.unjudged += 1;
        break;
      default:
        counts.notReached += 1;
    }
  }

  #countUnjudged(reason: Reason, offset: number): void {
    const name = REASON_NAMES[reason];
    let counts = this.state.unjudged.find((known) => known.reason === name);
    if (counts === undefined) this.state.unjudged.push((counts = { reason: name, records: 0, examples: [] }));
    counts.records += 1;
    addExample(counts.examples, offset);
  }

  /** The node that rejected the record, at or below one that kept the root from matching; see {@link count}. */
  #rejecter(predicate: Predicate, isNegated: boolean): Predicate {
    const children = childrenOf(predicate);
    if (children === undefined) return predicate;
    if (predicate.node === 'not') return this.#rejecter(children[0]!, !isNegated);
    // One failing child settles `all`, one that does not fail settles a negated `any`; else all children are needed.
    const oneSettles = (predicate.node === 'all') !== isNegated || children.length === 1;
    if (!oneSettles) return predicate;
    const wanted = isNegated ? NO_MATCH : MATCH;
    const settling = headerFirst(children).find((child) => this.#results[this.#places.get(child)!] !== wanted)!;
    return this.#rejecter(settling, isNegated);
  }
}

function noCounts(): NodeCounts {
  return {
    match: 0,
    noMatch: 0,
    unknown: 0,
    mismatch: 0,
    unjudged: 0,
    notReached: 0,
    rejected: 0,
    examples: [],
  };
}

/** Adds an offset to the examples while there is room for one more. */
export function addExample(examples: number[], offset: number): void {
  if (examples.length < EXAMPLE_OFFSETS_MAX) examples.push(offset);
}

/** Calls `visit` on every node in written order, parents first. */
function forEachNode(predicate: Predicate, visit: (node: Predicate) => void): void {
  visit(predicate);
  for (const child of childrenOf(predicate) ?? []) forEachNode(child, visit);
}

function childrenOf(predicate: Predicate): readonly Predicate[] | undefined {
  switch (predicate.node) {
    case 'all':
    case 'any':
      return predicate.children;
    case 'not':
      return [predicate.child];
    default:
      return undefined;
  }
}
