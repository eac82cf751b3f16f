/**
 * The walkers a program is composed of: filters know codecs and header blocks only by interface, and this is where the
 * two meet. A new codec adds its line here.
 */
import { AvroKernelWalker } from '../codec/avro/kernel-walker.js';
import { AvroWalker } from '../codec/avro/walker.js';
import { CborKernelWalker } from '../codec/cbor/kernel-walker.js';
import { CborWalker } from '../codec/cbor/walker.js';
import { KernelWalker } from '../codec/json/kernel-walker.js';
import { JsonWalker } from '../codec/json/walker.js';
import { ProtobufKernelWalker } from '../codec/protobuf/kernel-walker.js';
import { ProtobufWalker } from '../codec/protobuf/walker.js';
import type { DecoderLimits } from '../codec/walker.js';
import type { WriterSchema } from '../codec/writer-schema.js';
import type { Kernel } from '../core/kernel.js';
import type { ProgramDeps } from '../filter/program-deps.js';
import type { RegexEngine } from '../filter/regex.js';
import { headerReader } from '../segment/kernel-headers.js';

/** Everything `compileProgram` asks for; over the kernel where one is given. */
export function programInputs(regex: RegexEngine, limits: DecoderLimits, kernel?: Kernel): ProgramDeps<WriterSchema> {
  return {
    regex,
    limits,
    makeWalker(codec, paths, decoderLimits, gate) {
      if (codec === 'cbor') {
        return kernel === undefined
          ? new CborWalker(paths, decoderLimits)
          : new CborKernelWalker(kernel, paths, decoderLimits);
      }
      return kernel === undefined
        ? new JsonWalker(paths, decoderLimits)
        : new KernelWalker(kernel, paths, decoderLimits, gate);
    },
    makeSchemaWalker(codec, paths, decoderLimits, schemas) {
      if (codec === 'avro') {
        const records = schemas.filter(isOf('avro'));
        return kernel === undefined
          ? new AvroWalker(paths, decoderLimits, records)
          : new AvroKernelWalker(kernel, paths, decoderLimits, records);
      }
      const messages = schemas.filter(isOf('protobuf'));
      return kernel === undefined
        ? new ProtobufWalker(paths, decoderLimits, messages)
        : new ProtobufKernelWalker(kernel, paths, decoderLimits, messages);
    },
    makeHeaders: (keys) => headerReader(keys, kernel),
  };
}

/** Schemas come by family, so that none is left out; this says so to the compiler. */
function isOf<Family extends WriterSchema['family']>(family: Family) {
  return (schema: WriterSchema): schema is WriterSchema & { readonly family: Family } => schema.family === family;
}
