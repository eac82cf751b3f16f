/**
 * The results of a run of the benchmarks as one JSON file, which `compare.ts` reads, and as Markdown.
 */
import { readFileSync } from 'node:fs';
import { type Figure, figuresMarkdown } from './figures.js';
import { type CaseResult, toMarkdown } from './harness.js';
import { type Fairness, fairnessText } from './macro/fairness.js';
import { type CostRank, costRankText } from './micro/cost-rank.js';

export interface BenchReport {
  readonly node: string;
  readonly processor: string;
  readonly rounds: number;
  readonly smoke: boolean;
  readonly results: readonly CaseResult[];
  readonly figures: readonly Figure[];
  readonly costRank: CostRank | null;
  readonly fairness: Fairness | null;
}

/** Reads a report from `path`. Throws if the file holds something else. */
export function readReport(path: string): BenchReport {
  const report = JSON.parse(readFileSync(path, 'utf8')) as Partial<BenchReport> | null;
  if (!Array.isArray(report?.results) || !Array.isArray(report.figures)) {
    throw new Error(`${path} holds no results of a benchmark run with figures`);
  }
  return report as BenchReport;
}

export function reportMarkdown({ node, processor, rounds, smoke, ...parts }: BenchReport): string {
  const sections = [`Node ${node}, ${processor}, ${rounds} rounds`];
  if (parts.results.length > 0) sections.push(toMarkdown(parts.results));
  if (parts.figures.length > 0) sections.push(figuresMarkdown(parts.figures));
  if (parts.costRank !== null) sections.push(costRankText(parts.costRank, smoke));
  if (parts.fairness !== null) sections.push(fairnessText(parts.fairness));
  return sections.join('\n\n');
}
