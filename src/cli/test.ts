/**
 * `winnow test FILTER --payload FILE`: runs a filter on one record and explains every node.
 *
 * Exit code 0: selected, 1: rejected, 2: the record is a fault for this filter, or the command could not run.
 */
import type { Command } from 'commander';
import { refuse } from '../core/error-codes.js';
import type { TestReply } from '../wire/filter-request.js';
import { type CommandOutput, EXIT_TROUBLE, guarded, readWhole, STANDARD_OUTPUT } from './command-output.js';
import { explanationLines } from './explanation-text.js';
import { type SchemasArgument, schemasOf, schemasOption } from './schemas-option.js';

const EXIT_SELECTED = 0;
const EXIT_REJECTED = 1;

const HEADER_KINDS = ['string', 'int', 'uint', 'float', 'bool'] as const;

interface TestArguments extends SchemasArgument {
  readonly payload?: string;
  readonly header: readonly string[];
  readonly json?: boolean;
}

/** Adds the command to the program. */
export function register(program: Command): void {
  schemasOption(program.command('test'))
    .description('run a filter on one record and explain every node')
    .argument('<filter>', 'filter document (JSON)')
    .option('--payload <file>', "the record's payload, - for standard input; empty without it")
    .option('--header <key[:kind]=value>', `a header; kinds ${HEADER_KINDS.join(', ')}, default string`, collect, [])
    .option('--json', 'print the reply as one JSON object')
    .action(async (file: string, options: TestArguments) => {
      process.exitCode = await guarded('test', STANDARD_OUTPUT, () => runTest(file, options, STANDARD_OUTPUT));
    });
}

/** Runs the command and returns its exit code. */
export async function runTest(file: string, options: TestArguments, output: CommandOutput): Promise<number> {
  const record = {
    payload: options.payload === undefined ? '' : readWhole(options.payload).toString('base64'),
    headers: options.header.map(headerOf),
  };
  const request = { filter_text: readWhole(file).toString('utf8'), record: JSON.stringify(record) };
  const { withLocalEngine } = await import('./local-engine.js');
  const reply = await withLocalEngine({ schemas: schemasOf(options) }, ({ runner, clock }) =>
    runner.test(request, 'cli', clock.nowMs(), new AbortController().signal),
  );
  for (const line of options.json === true ? [JSON.stringify(reply)] : replyLines(reply)) output.out(line);
  return { selected: EXIT_SELECTED, rejected: EXIT_REJECTED, fault: EXIT_TROUBLE }[reply.explanation.verdict];
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

/** `key=value` or `key:kind=value`. Numbers stay text, so that 64-bit values arrive exactly. */
function headerOf(text: string): { key: string; value: { kind: string; value: string | boolean | number } } {
  const equals = text.indexOf('=');
  if (equals < 1) refuse('invalid_request', `--header takes key=value or key:kind=value, not ${JSON.stringify(text)}.`);
  const name = text.slice(0, equals);
  const value = text.slice(equals + 1);
  const kind = HEADER_KINDS.find((known) => name.endsWith(`:${known}`));
  const key = kind === undefined ? name : name.slice(0, -kind.length - 1);
  switch (kind) {
    case 'bool':
      if (value !== 'true' && value !== 'false') refuse('invalid_request', `--header ${name} takes true or false.`);
      return { key, value: { kind, value: value === 'true' } };
    case 'float': {
      const number = Number(value);
      if (value.trim() === '' || !Number.isFinite(number)) return { key, value: { kind, value } };
      return { key, value: { kind, value: Object.is(number, -0) ? '-0.0' : number } };
    }
    default:
      return { key, value: { kind: kind ?? 'string', value } };
  }
}

function replyLines({ policy, explanation }: TestReply): string[] {
  const reason = explanation.fault === undefined ? '' : ` (${explanation.fault})`;
  const lines = [`${explanation.verdict}${reason}  digest ${policy.digest}`];
  return [...lines, ...explanationLines(explanation.root)];
}
