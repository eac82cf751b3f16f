/**
 * The one interface behind which every codec's walker stands (TypeScript for each codec, the kernel for JSON).
 */
import type { Slots } from '../core/slots.js';
import type { Reason } from '../core/verdict.js';

/** Bounds of a payload (contract: laser-filter §4). They travel with a scan, so a test may lower them. */
export interface DecoderLimits {
  /** Largest payload in bytes that a walker looks into. */
  readonly maxPayloadBytes: number;
  /** Deepest nesting, 1…127. */
  readonly maxDepth: number;
}

/** A finite double that the elements of arrays are searched for, prepared once per literal by the cursor that will. */
export interface SoughtNumber {
  readonly value: number;
  /** True where `value` is the nearest double of the encoded number at `start`…`end`. Linear in the bytes. */
  isNearest(bytes: Uint8Array, start: number, end: number): boolean;
}

/**
 * Goes over the elements of one array of a payload that has been walked, filling `slots` (a single slot, index 0) with
 * each in turn. One cursor per walker: opening it again abandons the pass before. Allocates nothing but what `seek`
 * gives.
 */
export interface ElementCursor {
  readonly slots: Slots;
  /** Prepares a search for elements that equal `value`, a finite double. */
  seek(value: number): SoughtNumber;
  /**
   * Starts at the SLOT_ARRAY of wanted path `slot`, whose `starts`…`ends` these are, in the buffer that was walked. What
   * payload alone does not tell (item types, parts that stand apart) the walker keeps by slot. A double whose value takes long to find and
   * is not `sought` stands in the slot as NaN, which equals nothing: an array may hold a hundred thousand of them.
   */
  open(bytes: Uint8Array, start: number, end: number, sought: SoughtNumber | null, slot: number): void;
  /** Moves to the next element; false when there is none. */
  next(): boolean;
}

/** UTF-8 texts, none of them empty, one of which stands in every payload that some condition can hold for. */
export type Needles = readonly Uint8Array[];

/**
 * What lets a walker leave the slots of a valid payload unfilled, because nobody who reads them could find anything.
 *
 * Each reader of the slots has a choice of conditions that it cannot do without. A payload of at most `payloadBytesMax`
 * bytes is barren if for every reader there is one none of whose needles stands in it, nor could stand there written
 * with `\u` escapes; needles hold no byte that JSON can escape otherwise.
 */
export interface NeedleGate {
  readonly payloadBytesMax: number;
  /** By reader, at least one choice for each. */
  readonly choices: readonly (readonly Needles[])[];
}

/**
 * Validates one whole payload and fills the slots of the wanted paths.
 *
 * A walker is made for one list of wanted paths (slot `i` belongs to path `i`, the list is in the order of
 * `comparePaths` without repeats) and reused for every record. It reads no byte outside `start`…`end`, allocates
 * nothing, never throws, and after a fault leaves the slots undefined.
 */
export interface PayloadWalker {
  readonly slots: Slots;
  readonly elements: ElementCursor;
  /** Where `unescape` puts its result. Read it after each call: it is replaced when a longer text comes. */
  readonly unescaped: Uint8Array;
  /**
   * After a `walk` without a reason: the payload is valid and barren under the gate that the walker was made with, and
   * the slots are undefined. A walker may find that or not, and never without a gate.
   */
  readonly isBarren: boolean;
  /** NO_REASON, or MALFORMED / TOO_LARGE / TOO_DEEP in the order the contract gives them. */
  walk(bytes: Uint8Array, start: number, end: number): Reason;
  /**
   * Brings the text of a SLOT_STRING_ESCAPED (of a slot or an element) into `unescaped` and returns its length in bytes.
   */
  unescape(bytes: Uint8Array, start: number, end: number): number;
}

/** A walker of payloads that do not describe themselves: each is read by the schema it was written with. */
export interface SchemaWalker extends PayloadWalker {
  /** Chooses the writer schema of the payloads that follow, by its place among those the walker was made with. */
  chooseSchema(index: number): void;
}
