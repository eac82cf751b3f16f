/**
 * The one interface behind which every codec's walker stands (JSON now; CBOR, Avro, Protobuf and the kernel later).
 */
import type { Reason } from '../core/verdict.js';
import type { Slots } from './slots.js';

/** Bounds of a payload (contract: laser-filter §4). They travel with a scan, so a test may lower them. */
export interface DecoderLimits {
  /** Largest payload in bytes that a walker looks into. */
  readonly maxPayloadBytes: number;
  /** Deepest nesting, 1…127. */
  readonly maxDepth: number;
}

/**
 * Validates one whole payload and fills the slots of the wanted paths.
 *
 * A walker is made for one list of wanted paths (slot `i` belongs to path `i`) and reused for every record. It reads
 * no byte outside `start`…`end`, allocates nothing for well-formed input of ordinary numbers, never throws, and after
 * a fault leaves the slots undefined.
 */
export interface PayloadWalker {
  readonly slots: Slots;
  /** NO_REASON, or MALFORMED / TOO_LARGE / TOO_DEEP in the order the contract gives them. */
  walk(bytes: Uint8Array, start: number, end: number): Reason;
}
