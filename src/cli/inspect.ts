/**
 * `winnow inspect FILE`: what a segment file holds, and where it is damaged.
 *
 * Exit code 0: whole, 1: damaged, 2: the file cannot be read, its format is unknown, or the command line is wrong. A
 * file counts as sealed unless `--unsealed` says that it is still written to.
 */
import type { Command } from 'commander';
import { problemOf, refuse } from '../core/error-codes.js';
import { checkSegmentFormat } from '../segment/formats.js';
import { openFile } from '../source/store.js';
import { Window } from '../source/window.js';
import { type CommandOutput, countOf, EXIT_TROUBLE, STANDARD_OUTPUT } from './command-output.js';
import { guessSegmentFormat } from './segment-format-guess.js';
import { segmentReportLines } from './segment-report-text.js';
import { inspectSegment, type SegmentReport } from './segment-report.js';

const EXIT_WHOLE = 0;
const EXIT_DAMAGED = 1;
const FRAMES_LISTED = '10';

/** The command's options as the command line gives them. */
export interface InspectArguments {
  readonly format?: string;
  readonly frames?: string;
  readonly baseOffset?: string;
  readonly verify?: boolean;
  readonly unsealed?: boolean;
  readonly json?: boolean;
}

/** Adds the command to the program. */
export function register(program: Command): void {
  program
    .command('inspect')
    .description('show frames, offsets, sizes, header keys and damage of a segment file')
    .argument('<file>', 'segment file')
    .option('--format <name>', 'iggy, iggy_polled or ndjson; guessed from the bytes without it')
    .option('--frames <count>', 'list the first frames', FRAMES_LISTED)
    .option('--base-offset <offset>', 'ndjson: offset of the first line', '0')
    .option('--verify', 'verify checksums that are set')
    .option('--unsealed', 'the file is still written to: an unfinished frame at its end is no damage')
    .option('--json', 'print the report as one JSON object')
    .action((file: string, options: InspectArguments) => {
      process.exitCode = runInspect(file, options, STANDARD_OUTPUT);
    });
}

/** Runs the command and returns its exit code. */
export function runInspect(file: string, options: InspectArguments, output: CommandOutput): number {
  let report: SegmentReport;
  try {
    report = reportOf(file, options);
  } catch (thrown) {
    const problem = problemOf(thrown);
    if (problem.code === 'backend') throw thrown;
    output.error(`winnow inspect: ${file}: ${problem.detail}`);
    return EXIT_TROUBLE;
  }
  if (options.json === true) output.out(JSON.stringify({ file, ...report }));
  else for (const line of [`${'file'.padEnd(14)}${file}`, ...segmentReportLines(report)]) output.out(line);
  return report.damage === undefined ? EXIT_WHOLE : EXIT_DAMAGED;
}

function reportOf(file: string, options: InspectArguments): SegmentReport {
  const framesListed = countOf(options.frames ?? FRAMES_LISTED, '--frames');
  const baseOffset = countOf(options.baseOffset ?? '0', '--base-offset');
  const given = options.format === undefined ? undefined : checkSegmentFormat(options.format, '--format');
  const source = openFile(file);
  try {
    const window = new Window();
    const format = given ?? guessSegmentFormat(source, window);
    if (format === undefined) refuse('invalid_request', 'The format cannot be guessed; name it with --format.');
    return inspectSegment(source, window, {
      format,
      baseOffset,
      sealed: options.unsealed !== true,
      verifyChecksums: options.verify === true,
      framesListed,
    });
  } finally {
    source.close();
  }
}
