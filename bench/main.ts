/**
 * `npm run bench`: every case in turn, a Markdown table on stdout, the same as JSON with `--json FILE`.
 *
 * `--smoke` runs every case on tiny data with one round, so that a benchmark cannot rot; its ratios mean nothing and no
 * bar is judged. `--only TEXT` keeps the cases whose name holds the text. A missed bar is printed, not an exit code: a
 * busy machine is no fault of the code. A checksum that differs is one.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { type CaseResult, measure, toMarkdown } from './harness.js';
import { type Fairness, fairnessText, measureFairness } from './macro/fairness.js';
import { macroCases } from './macro/scan-cases.js';
import { type CostRank, costRankText, measureCostRank } from './micro/cost-rank.js';
import { headerCases } from './micro/header-cases.js';
import { jsonCases } from './micro/json-cases.js';
import { manyCases } from './micro/many-cases.js';

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
    rounds: { type: 'string', default: '7' },
  },
});

const scale = options.smoke ? 0.002 : 1;
const rounds = options.smoke ? 1 : Number(options.rounds);
const warmups = options.smoke ? 0 : 2;

const results: CaseResult[] = [];
const macro = await macroCases(scale);
try {
  for (const one of [...jsonCases(scale), ...headerCases(scale), ...manyCases(scale), ...macro.cases]) {
    if (!one.name.includes(options.only)) continue;
    const result = await measure(one, rounds, warmups);
    results.push(options.smoke ? { ...result, met: null } : result);
    process.stderr.write(`${one.name}: ${result.ratio.median.toFixed(2)}×\n`);
  }
} finally {
  await macro.close();
}

const costRank: CostRank | null = 'cost score, rank correlation'.includes(options.only)
  ? measureCostRank(scale, options.smoke ? 1 : 3 * rounds, 2 * warmups)
  : null;

const fairness: Fairness | null = 'fairness, narrow beside wide'.includes(options.only)
  ? await measureFairness(scale)
  : null;

console.log(`Node ${process.version}, ${cpus()[0]?.model ?? 'unknown processor'}, ${rounds} rounds\n`);
console.log(toMarkdown(results));
if (costRank !== null) console.log(`\n${costRankText(costRank, options.smoke)}`);
if (fairness !== null) console.log(`\n${fairnessText(fairness)}`);
if (options.json !== undefined) {
  const record = {
    node: process.version,
    processor: cpus()[0]?.model,
    rounds,
    smoke: options.smoke,
    results,
    costRank,
    fairness,
  };
  writeFileSync(options.json, `${JSON.stringify(record, null, 2)}\n`);
}
