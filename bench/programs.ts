/**
 * The engines and the programs of this process, as a worker has and compiles them.
 */
import type { FilterDocument } from './datasets/orbit-filters.js';
import { ORBIT_SCHEMAS } from './datasets/orbit-schemas.js';
import { type Engine, once } from './harness.js';
import type { DecoderLimits } from '../src/codec/walker.js';
import { compileSchema, type WriterSchema } from '../src/codec/writer-schema.js';
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

/** The writer schemas of `orbit` that filters refer to, compiled, by id. */
export function orbitSchemasOf(filters: readonly FilterDocument[]): ReadonlyMap<number, WriterSchema> {
  const ids = new Set(filters.flatMap((filter) => filter.schema_refs ?? []));
  const referred = ORBIT_SCHEMAS.filter(({ id }) => ids.has(id));
  return new Map(referred.map(({ id, source }) => [id, compileSchema(source())]));
}

/** What a program of the engine is given. */
export function kernelOf(engine: Engine): Kernel | undefined {
  return engine === 'kernel' ? theKernel() : undefined;
}

/** The program of one filter, or of several; those of Avro and Protobuf know the schemas of `orbit`. */
export function programOf(engine: Engine, ...filters: readonly FilterDocument[]): Program {
  const lowered = filters.map((filter) => compileLaser(JSON.stringify(filter), { strict: true, regex }).lowered);
  return compileProgram(lowered, programInputs(regex, LIMITS, kernelOf(engine)), { schemas: orbitSchemasOf(filters) });
}

/** The cost of one filter, as validation states it. */
export function costOf(filter: FilterDocument): FilterCost {
  return compileLaser(JSON.stringify(filter), { strict: true, regex }).summary.cost;
}
