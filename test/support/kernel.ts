/**
 * The kernel for tests: the binary that `npm test` builds before it runs, compiled once per test file; and which engine
 * the tests of this run are to use, which the project says (test/vitest.config.ts).
 */
import { Kernel } from '../../src/core/kernel.js';
import { ENGINE_NAMES } from '../../src/core/engine.js';
import type { WorkerModules } from '../../src/scan/task.js';
import { loadKernelModule } from '../../workers/kernel-module.js';
import { loadRegexModule } from '../../workers/regex-module.js';

/** Beside the compiled tree, of which this file is one where a test is a program of its own. */
const BINARY = import.meta.url.endsWith('.ts') ? '../../dist/workers/kernel.wasm' : '../../workers/kernel.wasm';

export const kernelModule = loadKernelModule(new URL(BINARY, import.meta.url));

/** What the service hands to its workers by default. */
export const workerModules: WorkerModules = { regex: loadRegexModule(), kernel: kernelModule };

/** An instance of its own, as a worker has it. */
export function newKernel(): Kernel {
  return new Kernel(kernelModule);
}

/** The engine of this run of the tests. */
export const testEngine = ENGINE_NAMES.find((name) => name === (process.env['WINNOW_TEST_ENGINE'] ?? 'kernel'))!;

/** Instances that runners of one test file share: each reserves much address space, and files make many runners. */
const SHARED_KERNELS = 8;
const sharedKernels: Kernel[] = [];
let turns = 0;

/**
 * What a runner of this run is to read records with: `undefined` for the walker. A runner that is made much later may
 * get the same instance, which has to change nothing: whoever uses the kernel loads what it needs.
 */
export function engineKernel(): Kernel | undefined {
  if (testEngine === 'walker') return undefined;
  const turn = turns++ % SHARED_KERNELS;
  return (sharedKernels[turn] ??= newKernel());
}
