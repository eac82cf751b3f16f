/**
 * `winnow validate FILTER`: checks a filter document and says what it is, reads and costs.
 *
 * Exit code 0: accepted, 1: refused, 2: the file cannot be read or the command line is wrong.
 */
import type { Command } from 'commander';
import { problemOf } from '../core/error-codes.js';
import type { ValidateReply } from '../wire/filter-request.js';
import { type CommandOutput, guarded, problemLines, readWhole, STANDARD_OUTPUT } from './command-output.js';
import { type SchemasArgument, schemasOf, schemasOption } from './schemas-option.js';

const EXIT_ACCEPTED = 0;
const EXIT_REFUSED = 1;

interface ValidateArguments extends SchemasArgument {
  readonly strict?: boolean;
  readonly json?: boolean;
}

/** Adds the command to the program. */
export function register(program: Command): void {
  schemasOption(program.command('validate'))
    .description('check a filter: digest, what it reads, cost, warnings')
    .argument('<filter>', 'filter document (JSON), - for standard input')
    .option('--strict', 'refuse unknown members instead of warning')
    .option('--json', 'print the reply, or the problem, as one JSON object')
    .action(async (file: string, options: ValidateArguments) => {
      process.exitCode = await guarded('validate', STANDARD_OUTPUT, () => runValidate(file, options, STANDARD_OUTPUT));
    });
}

/** Runs the command and returns its exit code. */
export async function runValidate(file: string, options: ValidateArguments, output: CommandOutput): Promise<number> {
  const text = readWhole(file).toString('utf8');
  const { withLocalEngine } = await import('./local-engine.js');
  return withLocalEngine({ schemas: schemasOf(options) }, async ({ runner, clock }) => {
    try {
      const request = { filter_text: text, strict: options.strict === true };
      const reply = await runner.validate(request, 'cli', clock.nowMs(), new AbortController().signal);
      for (const line of options.json === true ? [JSON.stringify(reply)] : replyLines(reply)) output.out(line);
      return EXIT_ACCEPTED;
    } catch (thrown) {
      const problem = problemOf(thrown);
      if (problem.code === 'backend') throw thrown;
      if (options.json === true) output.out(JSON.stringify(problem));
      else for (const line of problemLines(problem)) output.error(line);
      return EXIT_REFUSED;
    }
  });
}

function replyLines(reply: ValidateReply): string[] {
  const { cost } = reply;
  return [
    `digest    ${reply.digest}`,
    `reads     ${[...reply.paths, ...reply.header_keys.map((key) => `header ${key}`)].join(', ') || 'nothing'}`,
    `cost      ${cost.class}, score ${cost.score}${cost.indexable ? ', indexable' : ''}`,
    ...reply.warnings.map(({ pointer, reason, hint }) => `warning   ${pointer}: ${reason}. ${hint}`),
  ];
}
