/**
 * The walkers a program is composed of: filters know codecs and header blocks only by interface, and this is where the
 * two meet. A new codec adds its line here.
 */
import { KernelWalker } from '../codec/json/kernel-walker.js';
import { JsonWalker } from '../codec/json/walker.js';
import type { DecoderLimits } from '../codec/walker.js';
import type { Kernel } from '../core/kernel.js';
import { refuse } from '../core/error-codes.js';
import type { ProgramDeps } from '../filter/program-deps.js';
import type { RegexEngine } from '../filter/regex.js';
import { headerReader } from '../segment/kernel-headers.js';

/** Everything `compileProgram` asks for; over the kernel where one is given. */
export function programInputs(regex: RegexEngine, limits: DecoderLimits, kernel?: Kernel): ProgramDeps {
  return {
    regex,
    limits,
    makeWalker(codec, paths, decoderLimits, gate) {
      if (codec !== 'json') refuse('unsupported', `Scanning ${codec} payloads is not supported yet.`, { given: codec });
      return kernel === undefined
        ? new JsonWalker(paths, decoderLimits)
        : new KernelWalker(kernel, paths, decoderLimits, gate);
    },
    makeSchemaWalker(codec) {
      return refuse('unsupported', `Scanning ${codec} payloads is not supported yet.`, { given: codec });
    },
    makeHeaders: (keys) => headerReader(keys, kernel),
  };
}
