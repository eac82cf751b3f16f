#!/usr/bin/env node
/**
 * The `winnow` command: one file per command, each of which registers itself here.
 */
import { Command } from 'commander';
import { VERSION } from '../core/version.js';
import { register as registerInspect } from './inspect.js';
import { register as registerServe } from './serve.js';

const program = new Command('winnow')
  .description('filters partition segments and says exactly how far it looked')
  .version(VERSION);

for (const register of [registerServe, registerInspect]) register(program);

await program.parseAsync();
