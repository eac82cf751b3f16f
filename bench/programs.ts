/**
 * The engines and the programs of this process, as a worker has and compiles them.
 */
import type { FilterDocument } from './datasets/orbit-filters.js';
import { type Engine, once } from './harness.js';
import type { DecoderLimits } from '../src/codec/walker.js';
import { Kernel } from '../src/core/kernel.js';
import { DEPTH_MAX, PAYLOAD_BYTES_MAX } from '../src/core/limits.js';
import type { FilterCost } from '../src/filter/cost.js';
import { compileLaser } from '../src/filter/dialect/laser/compile.js';
import { compileProgram, type Program } from '../src/filter/program.js';
import { rustRegexEngine } from '../src/filter/rust-regex.js';
import { programInputs } from '../src/scan/program-inputs.js';
import { hasWasmSimd, loadKernelModule } from '../workers/kernel-module.js';
import { loadRegexModule } from '../workers/regex-module.js';

export const regex = rustRegexEngine(loadRegexModule());

/** Those of every scan. */
export const LIMITS: DecoderLimits = { maxPayloadBytes: PAYLOAD_BYTES_MAX, maxDepth: DEPTH_MAX };

/** The engines that this machine can run, the one that serves by default first. */
export const ENGINES: readonly Engine[] = hasWasmSimd() ? ['kernel', 'walker'] : ['walker'];

/** The one kernel of this process. */
export const theKernel = once(() => new Kernel(loadKernelModule()));

/** What a program of the engine is given. */
export function kernelOf(engine: Engine): Kernel | undefined {
  return engine === 'kernel' ? theKernel() : undefined;
}

/** The program of one filter. */
export function programOf(engine: Engine, filter: FilterDocument): Program {
  const { lowered } = compileLaser(JSON.stringify(filter), { strict: true, regex });
  return compileProgram([lowered], programInputs(regex, LIMITS, kernelOf(engine)));
}

/** The cost of one filter, as validation states it. */
export function costOf(filter: FilterDocument): FilterCost {
  return compileLaser(JSON.stringify(filter), { strict: true, regex }).summary.cost;
}
