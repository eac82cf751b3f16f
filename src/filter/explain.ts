/**
 * Explanations: the verdict of delivery and the truth of every node (contract: laser-filter §6).
 *
 * The verdict comes from the ordinary evaluation. The tree is evaluated once more without stopping at a decisive child,
 * so it shows what evaluation never reached; the two may differ, and the verdict is not the root's truth.
 *
 * Invariants: the tree mirrors the filter in written order; a node has no truth where a node below it has none.
 */
import { MATCH, negate, NO_MATCH, UNKNOWN } from '../core/truth.js';
import type { Truth } from '../core/truth.js';
import type { Outcome } from '../core/verdict.js';
import type { DecoderLimits } from '../codec/walker.js';
import { isUnjudged } from './evaluate.js';
import type { EvaluatedRecord, Evaluator, Reading } from './evaluate.js';
import { labelOf } from './labels.js';
import type { Predicate } from './ir.js';

export interface ExplainedNode {
  readonly label: string;
  /**
   * Undefined where the node has none: a payload leaf whose payload did not decode, a text over the regex bound, any
   * node of a record whose header block does not parse, and every parent of such a node.
   */
  readonly truth: Truth | undefined;
  /** Of `all`, `any` and `not`, in written order; undefined for leaves. */
  readonly children: readonly ExplainedNode[] | undefined;
}

export interface Explanation {
  /** Verdict and reason, as the evaluation that decides about delivery gives them. */
  readonly outcome: Outcome;
  readonly root: ExplainedNode;
}

export function explain(evaluator: Evaluator, record: EvaluatedRecord, limits: DecoderLimits): Explanation {
  return {
    outcome: evaluator.evaluate(record, limits),
    root: explainNode(evaluator, evaluator.filter.root, evaluator.read(record, limits)),
  };
}

function explainNode(evaluator: Evaluator, predicate: Predicate, reading: Reading | undefined): ExplainedNode {
  const label = labelOf(predicate);
  switch (predicate.node) {
    case 'all':
    case 'any': {
      const children = predicate.children.map((child) => explainNode(evaluator, child, reading));
      const decisive = predicate.node === 'all' ? NO_MATCH : MATCH;
      return { label, truth: groupTruth(children, decisive), children };
    }
    case 'not': {
      const child = explainNode(evaluator, predicate.child, reading);
      return { label, truth: child.truth === undefined ? undefined : negate(child.truth), children: [child] };
    }
    default: {
      const truth = reading && evaluator.truthOfLeaf(predicate, reading);
      return { label, truth: truth === undefined || isUnjudged(truth) ? undefined : truth, children: undefined };
    }
  }
}

function groupTruth(children: readonly ExplainedNode[], decisive: Truth): Truth | undefined {
  const truths = children.map((child) => child.truth);
  if (truths.includes(undefined)) return undefined;
  if (truths.includes(decisive)) return decisive;
  return truths.includes(UNKNOWN) ? UNKNOWN : negate(decisive);
}
