/**
 * `winnow preview FILE --filter F.json`: why did nothing match? The expression as a tree, with what became of the
 * records at each node and the node that rejected most.
 *
 * It asks the same runner as the service. Exit codes are those of `winnow scan`. 0: some record would be delivered, 1:
 * none would, 2: the preview could not go to its end (a fault under `stop`, damage, a bad filter).
 */
import type { Command } from 'commander';
import { PREVIEW_RECORDS_MAX } from '../core/limits.js';
import type { PreviewRecord, PreviewReply } from '../wire/preview.js';
import { type CommandOutput, countOf, EXIT_TROUBLE, guarded, readWhole, STANDARD_OUTPUT } from './command-output.js';
import { explanationLines } from './explanation-text.js';
import { funnelLines } from './funnel-text.js';
import { rangeLine, rangeOf, type RangeArguments, rangeCommand, troubleOf } from './range.js';
import { schemasOf } from './schemas-option.js';
import { storeOf } from './segment-argument.js';
import { cut, figure, shown } from './terminal-text.js';

const EXIT_DELIVERS = 0;
const EXIT_NONE = 1;

const PAYLOAD_WIDTH = 96;

interface PreviewArguments extends RangeArguments {
  readonly filter: string;
  readonly records: string;
  readonly explain?: boolean;
  readonly json?: boolean;
}

/** Adds the command to the program. */
export function register(program: Command): void {
  rangeCommand(program, 'preview')
    .description('why nothing matched: what became of the records at each node of a filter')
    .requiredOption('--filter <file>', 'filter document (JSON), - for standard input')
    .option('--records <count>', `show so many records too, at most ${PREVIEW_RECORDS_MAX}`, '0')
    .option('--explain', 'explain every record that is shown')
    .option('--json', 'print the reply as one JSON object')
    .action(async (file: string, options: PreviewArguments) => {
      process.exitCode = await guarded('preview', STANDARD_OUTPUT, () => runPreview(file, options, STANDARD_OUTPUT));
    });
}

/** Runs the command and returns its exit code. */
export async function runPreview(file: string, options: PreviewArguments, output: CommandOutput): Promise<number> {
  const request = {
    filter_text: readWhole(options.filter).toString('utf8'),
    ...rangeOf(file, options),
    max_records: Math.min(countOf(options.records, '--records'), PREVIEW_RECORDS_MAX),
    explain: options.explain === true,
  };
  const { withLocalEngine } = await import('./local-engine.js');
  const reply = await withLocalEngine({ stores: storeOf(file), schemas: schemasOf(options) }, ({ runner, clock }) => {
    const asker = { shard: 'cli', arrivedAtMs: clock.nowMs(), requestId: 'cli' };
    return runner.preview(request, asker, new AbortController().signal);
  });
  if (options.json === true) output.out(jsonText(reply));
  else for (const line of replyLines(reply)) output.out(line);
  const trouble = troubleOf(reply);
  if (trouble !== undefined) {
    output.error(trouble);
    return EXIT_TROUBLE;
  }
  return reply.matched + reply.unevaluated_count > 0 ? EXIT_DELIVERS : EXIT_NONE;
}

/** One JSON object; a timestamp beyond 2^53 is decimal text, as in the service's JSON. */
function jsonText(reply: PreviewReply): string {
  return JSON.stringify(reply, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

function replyLines(reply: PreviewReply): string[] {
  const { matched, rejected, unevaluated_count: unevaluated, dropped } = reply;
  const outcomes = [
    `${figure(matched)} matched`,
    `${figure(rejected)} rejected`,
    `${figure(unevaluated)} unevaluated`,
    `${figure(dropped)} dropped`,
  ];
  return [
    `examined ${figure(reply.examined)} = ${outcomes.join(' + ')}`,
    `looked ${rangeLine(reply)}`,
    '',
    ...funnelLines(reply.funnel, reply.examined),
    ...reply.records.flatMap((record) => ['', ...recordLines(record)]),
  ];
}

function recordLines({ offset, verdict, fault, payload_text: text, explanation }: PreviewRecord): string[] {
  const reason = fault === undefined ? '' : ` (${fault})`;
  return [
    `offset ${offset}  ${verdict}${reason}  ${cut(shown(text), PAYLOAD_WIDTH)}`,
    ...(explanation === undefined ? [] : explanationLines(explanation.root, 1)),
  ];
}
