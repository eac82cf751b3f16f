/**
 * What a test has to know of an engine that walks payloads: how to make its walkers, and where payloads have to stand so
 * that the engine itself reads them.
 */
import { JsonWalker } from '../../src/codec/json/walker.js';
import type { DecoderLimits, PayloadWalker } from '../../src/codec/walker.js';
import { PAYLOAD_BYTES_MAX } from '../../src/core/limits.js';
import type { Path } from '../../src/core/path.js';

export interface WalkerEngine {
  /** As test names and failures spell it. */
  readonly name: string;
  /** What payloads are copied into; one that does not fit is walked where it is. */
  readonly stage: Uint8Array;
  makeWalker(paths: readonly Path[], limits: DecoderLimits): PayloadWalker;
  /** Told where the records of a batch stand in `stage`, in order, where the engine may look ahead. */
  announce?(places: readonly RecordPlace[]): void;
}

/** Where one record stands: its payload, then its header block. */
export interface RecordPlace {
  readonly payloadStart: number;
  readonly payloadEnd: number;
  readonly headersStart: number;
  readonly headersEnd: number;
}

/** The portable engine. */
export const TYPESCRIPT_ENGINE: WalkerEngine = {
  name: 'TypeScript walker',
  stage: new Uint8Array(PAYLOAD_BYTES_MAX),
  makeWalker: (paths, limits) => new JsonWalker(paths, limits),
};
