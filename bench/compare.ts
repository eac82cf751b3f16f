/**
 * `node dist/bench/compare.js A B`: did B get faster or slower than A, or is the difference noise?
 *
 * A and B are two built checkouts (folders), whose benchmarks then run in turn, A B A B …, `--rounds` times (5): the
 * time per record of the judged side is compared, and what A shows against itself from one turn to the next, and B
 * against itself, is the noise. Or they are two results written by `--json`: then only *ratios* are compared, because
 * absolute times of two occasions cannot be, and the noise is the spread of the rounds within each.
 *
 * A difference counts only where it leaves the noise band, which is never less than `--band` percent (5). `--only` and
 * `--engine` choose cases as they do for the benchmarks, `--smoke` runs them on tiny data to show that all of it works.
 * Figures are compared between results only.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchReport, readReport } from './report.js';
import { type Compared, compareReports, compareTurns, comparedMarkdown, type Turn } from './comparison.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    engine: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    band: { type: 'string', default: '5' },
    smoke: { type: 'boolean', default: false },
  },
});

const [a, b] = positionals;
if (a === undefined || b === undefined || positionals.length > 2) {
  throw new Error('give two built checkouts, or two JSON results of the benchmarks');
}
const band = Number(options.band) / 100;
const compared: readonly Compared[] = statSync(a).isDirectory()
  ? compareTurns(turns(a, b, Number(options.rounds)), band)
  : compareReports(readReport(a), readReport(b), band);
console.log(comparedMarkdown(compared));

function turns(first: string, second: string, rounds: number): Turn[] {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-compare-'));
  try {
    return Array.from({ length: rounds }, () => ({ a: reportOf(first, folder), b: reportOf(second, folder) }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** One short run of the benchmarks of a build. */
function reportOf(checkout: string, folder: string): BenchReport {
  const json = join(folder, 'report.json');
  const args = ['--only', options.only, '--engine', options.engine, '--rounds', '3', '--json', json];
  if (options.smoke) args.push('--smoke');
  execFileSync(process.execPath, ['--expose-gc', join(checkout, 'dist/bench/main.js'), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return readReport(json);
}
