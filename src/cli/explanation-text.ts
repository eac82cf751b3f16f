/**
 * An explanation as lines for a person: a mark, the node's label, its truth; children are indented.
 */
import type { ExplainNode } from '../wire/filter-request.js';
import { shown } from './terminal-text.js';

const TRUTH_MARKS: Readonly<Record<string, string>> = { match: '✓', no_match: '✗', unknown: '?' };

/** The lines of a node and everything below it. */
export function explanationLines(node: ExplainNode, depth = 0): string[] {
  const mark = node.truth === undefined ? '·' : TRUTH_MARKS[node.truth]!;
  const truth = node.truth === undefined ? '' : `  ${node.truth}`;
  const line = `${'  '.repeat(depth)}${mark} ${shown(node.label)}${truth}`;
  return [line, ...(node.children ?? []).flatMap((child) => explanationLines(child, depth + 1))];
}
