/**
 * What all commands share at their edges: where lines go, exit codes of their troubles, and files that must be there.
 */
import { readFileSync } from 'node:fs';
import { problemOf, refuse, type Problem } from '../core/error-codes.js';
import { OFFSET_MAX } from '../core/limits.js';

/** Exit code of a command that could not do its work, as grep has it. */
export const EXIT_TROUBLE = 2;

/** Where a command writes; lines come without their end. */
export interface CommandOutput {
  readonly out: (line: string) => void;
  readonly error: (line: string) => void;
}

/** The process's own output. */
export const STANDARD_OUTPUT: CommandOutput = {
  out: (line) => process.stdout.write(`${line}\n`),
  error: (line) => process.stderr.write(`${line}\n`),
};

/** The bytes of a file, or of standard input for `-`. Refuses `not_found` with the system's word for why. */
export function readWhole(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? 0 : file);
  } catch (thrown) {
    return refuse('not_found', `${file} cannot be read: ${messageOf(thrown)}`);
  }
}

/** What a thrown value says. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** A refusal as lines for a person: what is wrong, where in the filter, which limit. */
export function problemLines(problem: Problem): string[] {
  const place = problem.filter_field ?? problem.field;
  const lines = problem.detail.split('\n');
  if (place !== undefined && place !== '') lines.push(`  at ${place}`);
  if (problem.limit !== undefined) lines.push(`  limit ${problem.limit}, given ${problem.given ?? 'more'}`);
  return lines;
}

/** Runs a command; a refusal becomes lines on the error output and exit code 2, any other fault of ours is thrown. */
export async function guarded(name: string, output: CommandOutput, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (thrown) {
    const problem = problemOf(thrown);
    if (problem.code === 'backend') throw thrown;
    for (const line of problemLines(problem)) output.error(`winnow ${name}: ${line}`);
    return EXIT_TROUBLE;
  }
}

/** The number an option was given: an integer from 0 to 2^53−1. Refuses anything else, naming the option. */
export function countOf(text: string, option: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > OFFSET_MAX) {
    refuse('invalid_request', `${option} takes an integer from 0 to ${OFFSET_MAX}, not ${JSON.stringify(text)}.`);
  }
  return value;
}
