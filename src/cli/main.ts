#!/usr/bin/env node
/**
 * The `winnow` command: one file per command, each of which registers itself here.
 *
 * A command loads its engine when it runs, not when it registers: help and version answer at once.
 */
import { Command, CommanderError } from 'commander';
import { VERSION } from '../core/version.js';
import { EXIT_TROUBLE } from './command-output.js';
import { register as registerDiff } from './diff.js';
import { register as registerInspect } from './inspect.js';
import { register as registerPreview } from './preview.js';
import { register as registerScan } from './scan.js';
import { register as registerSchema } from './schema.js';
import { register as registerServe } from './serve.js';
import { register as registerTest } from './test.js';
import { register as registerValidate } from './validate.js';

const program = new Command('winnow')
  .description('filters partition segments and says exactly how far it looked')
  .version(VERSION);

// Before the commands are made: they inherit it.
program.exitOverride();
for (const register of [
  registerServe,
  registerScan,
  registerPreview,
  registerDiff,
  registerValidate,
  registerTest,
  registerInspect,
  registerSchema,
]) {
  register(program);
}

// Whoever reads our output may stop before its end (`| head`): that is their success, not our trouble.
process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
  process.exit(fault.code === 'EPIPE' ? 0 : EXIT_TROUBLE);
});

try {
  await program.parseAsync();
} catch (thrown) {
  // Whatever goes wrong is trouble, never exit code 1, which says "no match"; help and version end well.
  const isCommandLine = thrown instanceof CommanderError;
  if (!isCommandLine) process.stderr.write(`winnow: ${thrown instanceof Error ? thrown.stack : String(thrown)}\n`);
  process.exitCode = isCommandLine && thrown.exitCode === 0 ? 0 : EXIT_TROUBLE;
}
