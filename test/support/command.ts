/** Commands as a person runs them: the built program in a process of its own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../dist/src/cli/main.js');

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs `winnow` with these arguments and with `input` on its standard input, in the folder `cwd`, to its end. */
export function winnow(parts: readonly string[], input = '', cwd?: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, ...parts], { timeout: 30_000, cwd }, (fault, out, error) => {
      resolve({ code: fault === null ? 0 : Number(fault.code), out, error });
    });
    child.stdin!.end(input);
  });
}
