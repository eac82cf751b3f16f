/**
 * What a test has to know of an engine that reads records: how to make its walkers and what programs are composed of,
 * and where records have to stand so that the engine itself reads them.
 */
import { JsonWalker } from '../../src/codec/json/walker.js';
import type { DecoderLimits, PayloadWalker } from '../../src/codec/walker.js';
import type { WriterSchema } from '../../src/codec/writer-schema.js';
import { PAYLOAD_BYTES_MAX } from '../../src/core/limits.js';
import type { Path } from '../../src/core/path.js';
import type { ProgramDeps } from '../../src/filter/program-deps.js';
import { programInputs } from '../../src/scan/program-inputs.js';
import { cachedRegexEngine } from './regex-engine.js';

export interface WalkerEngine {
  /** As test names and failures spell it. */
  readonly name: string;
  /** What records are copied into; one that does not fit is read where it is. */
  readonly stage: Uint8Array;
  makeWalker(paths: readonly Path[], limits: DecoderLimits): PayloadWalker;
  programInputs(limits: DecoderLimits): ProgramDeps<WriterSchema>;
  /** Told that a batch of records stands in the stage, so that the engine may look ahead: 256 at most. */
  announce?(records: readonly StagedRecord[]): void;
  /** Told which record of the batch the next walks are about; −1 for one that is not of it. */
  moveTo?(index: number): void;
}

/** Records in one batch at most. */
export const BATCH_RECORDS_MAX = 256;

/** Where a record stands in `bytes`: its payload from `start`, and its header block behind that, up to `end`. */
export interface StagedRecord {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly payloadEnd: number;
  readonly end: number;
}

/** The portable engine. */
export const TYPESCRIPT_ENGINE: WalkerEngine = {
  name: 'TypeScript walker',
  stage: new Uint8Array(PAYLOAD_BYTES_MAX),
  makeWalker: (paths, limits) => new JsonWalker(paths, limits),
  programInputs: (limits) => programInputs(cachedRegexEngine, limits),
};
