/**
 * `npm run bench`: every case in turn, Markdown tables on stdout, the same as JSON with `--json FILE`.
 *
 * Each part runs in a process of its own, because what one case has made of the machine code is not what the next one
 * would have made of it, and a service runs one engine, not all. `--smoke` runs everything on tiny data in this one
 * process with one round, so that a benchmark cannot rot; its ratios mean nothing and no bar is judged.
 *
 * `--only TEXT` keeps what has the text in its name, `--engine NAME` the cases of one engine, `--rounds N` sets the
 * measured rounds. A missed bar is printed, not an exit code: a busy machine is no fault of the code. A checksum that
 * differs is one.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureFairness } from './macro/fairness.js';
import { measureCostRank } from './micro/cost-rank.js';
import { type Part, type PartResult, partsAt } from './parts.js';
import { type BenchReport, reportMarkdown } from './report.js';

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    engine: { type: 'string', default: '' },
    json: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    /** For the processes started here: the one part to run; its result goes to `--json`. */
    part: { type: 'string' },
  },
});

const scale = options.smoke ? 0.002 : 1;
const run = {
  scale,
  rounds: options.smoke ? 1 : Number(options.rounds),
  warmups: options.smoke ? 0 : 2,
  only: options.only,
};
const parts = partsAt(scale);

if (options.part !== undefined) {
  const part = parts.find(({ key }) => key === options.part)!;
  writeFileSync(options.json!, JSON.stringify(await part.run(run)));
} else {
  const report = await runAll();
  console.log(reportMarkdown(report));
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
}

async function runAll(): Promise<BenchReport> {
  const done: PartResult[] = [];
  for (const part of parts) {
    if (!part.names.some((name) => name.includes(options.only)) || !part.key.startsWith(options.engine)) continue;
    const result = options.smoke ? unjudged(await part.run(run)) : inOwnProcess(part);
    done.push(result);
    for (const { name, engine, ratio } of result.results) {
      process.stderr.write(`${name} (${engine}): ${ratio.median.toFixed(2)}×\n`);
    }
  }
  return {
    node: process.version,
    processor: cpus()[0]?.model ?? 'unknown processor',
    rounds: run.rounds,
    smoke: options.smoke,
    results: done.flatMap(({ results }) => results),
    figures: done.flatMap(({ figures }) => figures),
    costRank: isWanted('cost score, rank correlation')
      ? measureCostRank(scale, options.smoke ? 1 : 3 * run.rounds, 2 * run.warmups)
      : null,
    fairness: isWanted('fairness, narrow beside wide') ? await measureFairness(scale) : null,
  };
}

/** What is about the default engine alone. */
function isWanted(name: string): boolean {
  return name.includes(options.only) && options.engine === '';
}

function inOwnProcess({ key }: Part): PartResult {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-bench-part-'));
  try {
    const json = join(folder, 'part.json');
    const args = ['--part', key, '--only', options.only, '--rounds', options.rounds, '--json', json];
    execFileSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return JSON.parse(readFileSync(json, 'utf8')) as PartResult;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function unjudged({ results, figures }: PartResult): PartResult {
  return {
    results: results.map((result) => ({ ...result, met: null })),
    figures: figures.map((figure) => ({ ...figure, met: null })),
  };
}
