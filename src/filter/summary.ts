/**
 * What a filter reads, gathered from its tree once (contract: scan-protocol §2, `validate`).
 */
import type { Path } from '../core/path.js';
import type { FilterSummary } from './compiled-filter.js';
import { filterCost } from './cost.js';
import { forEachLeaf, type Predicate } from './ir.js';
import { pathText } from './paths.js';

/** The paths and header keys of a predicate tree, each once, in written order, and its cost. */
export function summarize(root: Predicate): FilterSummary {
  const paths = new Map<string, Path>();
  const headerKeys = new Set<string>();
  forEachLeaf(root, ({ source }) => {
    if (source.from === 'header') headerKeys.add(source.key);
    else if (!paths.has(pathText(source.path))) paths.set(pathText(source.path), source.path);
  });
  return {
    readsPayload: paths.size > 0,
    readsHeaders: headerKeys.size > 0,
    paths: [...paths.keys()],
    wantedPaths: [...paths.values()],
    headerKeys: [...headerKeys],
    cost: filterCost(root),
  };
}
