/**
 * `winnow diff FILE --filter A.json --with B.json`: which records of a segment file only one of two filters delivers.
 *
 * It asks the same runner as the service. Exit codes are diff's. 0: both deliver the same records, 1: they differ, 2:
 * the comparison could not go to its end (a fault under `stop`, damage, a bad filter).
 */
import type { Command } from 'commander';
import { refuse } from '../core/error-codes.js';
import type { DiffReply } from '../wire/preview.js';
import { type CommandOutput, EXIT_TROUBLE, guarded, readWhole, STANDARD_OUTPUT } from './command-output.js';
import { rangeCommand, type RangeArguments, rangeLine, rangeOf, troubleOf } from './range.js';
import { schemasOf } from './schemas-option.js';
import { storeOf } from './segment-argument.js';
import { aligned, figure, offsetsText, percent } from './terminal-text.js';

const EXIT_SAME = 0;
const EXIT_DIFFERENT = 1;

interface DiffArguments extends RangeArguments {
  readonly filter: string;
  readonly with: string;
  readonly json?: boolean;
}

/** Adds the command to the program. */
export function register(program: Command): void {
  rangeCommand(program, 'diff')
    .description('which records only one of two filters delivers')
    .requiredOption('--filter <file>', 'filter document A (JSON), - for standard input')
    .requiredOption('--with <file>', 'filter document B (JSON), - for standard input')
    .option('--json', 'print the reply as one JSON object')
    .action(async (file: string, options: DiffArguments) => {
      process.exitCode = await guarded('diff', STANDARD_OUTPUT, () => runDiff(file, options, STANDARD_OUTPUT));
    });
}

/** Runs the command and returns its exit code. */
export async function runDiff(file: string, options: DiffArguments, output: CommandOutput): Promise<number> {
  if (options.filter === '-' && options.with === '-') {
    refuse('invalid_request', 'Only one of --filter and --with can be standard input.');
  }
  const request = {
    a: { filter_text: readWhole(options.filter).toString('utf8') },
    b: { filter_text: readWhole(options.with).toString('utf8') },
    ...rangeOf(file, options),
  };
  const { withLocalEngine } = await import('./local-engine.js');
  const reply = await withLocalEngine({ stores: storeOf(file), schemas: schemasOf(options) }, ({ runner, clock }) => {
    const asker = { shard: 'cli', arrivedAtMs: clock.nowMs(), requestId: 'cli' };
    return runner.diff(request, asker, new AbortController().signal);
  });
  for (const line of options.json === true ? [JSON.stringify(reply)] : replyLines(reply)) output.out(line);
  const trouble = troubleOf(reply);
  if (trouble !== undefined) {
    output.error(`${trouble}, where ${whose(reply)} stops`);
    return EXIT_TROUBLE;
  }
  return reply.only_a.count + reply.only_b.count > 0 ? EXIT_DIFFERENT : EXIT_SAME;
}

const PARTS = [
  ['only_a', 'only A'],
  ['only_b', 'only B'],
  ['both', 'both'],
  ['neither', 'neither'],
] as const;

function replyLines(reply: DiffReply): string[] {
  const { examined } = reply;
  const rows = PARTS.map(([name, title]) => {
    const { count, bytes, examples } = reply[name];
    return [
      title,
      figure(count),
      count === 0 ? '' : percent(count, examined),
      figure(bytes),
      count === 0 ? '' : offsetsText(examples, count),
    ];
  });
  const different = reply.only_a.count + reply.only_b.count;
  return [
    `examined ${figure(examined)} records, ${rangeLine(reply)}`,
    '',
    ...aligned([['delivered by', 'records', '', 'bytes', 'offsets'], ...rows], [0, 4]),
    '',
    different === 0
      ? 'the filters deliver the same records'
      : `the filters differ on ${figure(different)} of ${figure(examined)} records (${percent(different, examined)})`,
  ];
}

function whose({ stopped_by: stoppedBy }: DiffReply): string {
  return stoppedBy === undefined
    ? 'the segment'
    : stoppedBy === 'both'
      ? 'each filter'
      : `filter ${stoppedBy.toUpperCase()}`;
}
