/** The kernel for tests: the binary that `npm test` builds before it runs, compiled once per test file. */
import { Kernel } from '../../src/core/kernel.js';
import type { WorkerModules } from '../../src/scan/task.js';
import { loadKernelModule } from '../../workers/kernel-module.js';
import { loadRegexModule } from '../../workers/regex-module.js';

export const kernelModule = loadKernelModule(new URL('../../dist/workers/kernel.wasm', import.meta.url));

/** What the service hands to its workers by default. */
export const workerModules: WorkerModules = { regex: loadRegexModule(), kernel: kernelModule };

/** An instance of its own, as a worker has it. */
export function newKernel(): Kernel {
  return new Kernel(kernelModule);
}
