/**
 * What a program is composed of, handed in because this room knows codecs, schemas and header blocks only by interface.
 */
import type { SchemaFamily } from '../codec/value.js';
import type { DecoderLimits, NeedleGate, PayloadWalker, SchemaWalker } from '../codec/walker.js';
import type { Path } from '../core/path.js';
import type { HeaderReader } from './program-record.js';
import type { RegexEngine } from './regex.js';

/** A compiled writer schema, of which this room only has to know which codec it belongs to. */
export interface FamilySchema {
  readonly family: SchemaFamily;
}

export interface ProgramDeps<Schema extends FamilySchema = FamilySchema> {
  readonly regex: RegexEngine;
  readonly limits: DecoderLimits;
  /**
   * Called at most once per codec that has no schemas; the paths are distinct and in the order of `comparePaths`. The
   * walker need not heed the gate.
   */
  makeWalker(
    codec: 'json' | 'cbor',
    paths: readonly Path[],
    limits: DecoderLimits,
    gate?: NeedleGate | null,
  ): PayloadWalker;
  /** The same for the other codecs, with the schemas of their family that filters refer to, each once. */
  makeSchemaWalker(
    codec: SchemaFamily,
    paths: readonly Path[],
    limits: DecoderLimits,
    schemas: readonly Schema[],
  ): SchemaWalker;
  /** Called once; the keys are distinct. */
  makeHeaders(keys: readonly string[]): HeaderReader;
}
