/**
 * The compiled WebAssembly that the threads are started with: chosen and compiled once per process, on the main thread,
 * which loads this file by its URL (`src/pool/modules.ts`).
 */
import type { EngineChoice } from '../src/core/engine.js';
import type { WorkerModules } from '../src/scan/task.js';
import { hasWasmSimd, loadKernelModule } from './kernel-module.js';
import { loadRegexModule } from './regex-module.js';

/**
 * The modules for an engine. Throws an `Error` for the operator where `kernel` is asked for and the runtime has no SIMD,
 * and where a binary of the installation is missing or broken, which `auto` does not pass over in silence.
 */
export function loadModules(choice: EngineChoice): WorkerModules {
  return { regex: loadRegexModule(), kernel: takesKernel(choice) ? loadKernelModule() : null };
}

function takesKernel(choice: EngineChoice): boolean {
  if (choice === 'walker') return false;
  if (hasWasmSimd()) return true;
  if (choice === 'auto') return false;
  throw new Error(
    'pool.engine is "kernel", but this runtime or processor has no WebAssembly SIMD: use "auto" or "walker"',
  );
}
