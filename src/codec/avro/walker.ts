/**
 * The Avro walker: one pass over a datum that validates all of it under its writer schema and fills the slots of the
 * wanted paths, building no value (contract: laser-filter §5).
 *
 * Everything that schemas and paths say is compiled into one plan when the walker is made; a walk is one run of a machine
 * through it. Symbols of an enum do not stand in the payload: their slots point into a table of the plan's, out of which
 * `unescape` brings them.
 */
import { DEPTH_CEILING } from '../../core/limits.js';
import type { Path } from '../../core/path.js';
import { Slots, SLOT_MISSING } from '../../core/slots.js';
import { MALFORMED, NO_REASON, type Reason, TOO_LARGE } from '../../core/verdict.js';
import { PathTrie } from '../path-trie.js';
import type { DecoderLimits, SchemaWalker } from '../walker.js';
import { AvroElements } from './elements.js';
import { avroImage } from './kernel-image.js';
import { AvroMachine } from './machine.js';
import { type AvroPlan, planWalk } from './plan.js';
import type { AvroSchema } from './schema.js';

export class AvroWalker implements SchemaWalker {
  /** It looks for no needles. */
  readonly isBarren = false;
  readonly slots: Slots;
  readonly elements: AvroElements;
  readonly unescaped: Uint8Array;
  private readonly trie: PathTrie;
  private readonly plan: AvroPlan;
  private readonly machine: AvroMachine;
  private readonly maxDepth: number;
  private readonly maxPayloadBytes: number;
  private entry: number;

  /**
   * `paths` as the interface wants them; `schemas` at least one, the first is chosen; `limits.maxDepth` 0…127. Throws a
   * `Refusal` (`invalid_request` with `limit`) where schemas and paths are too many together.
   */
  constructor(paths: readonly Path[], limits: DecoderLimits, schemas: readonly AvroSchema[]) {
    this.trie = new PathTrie(paths);
    this.maxDepth = Math.min(limits.maxDepth, DEPTH_CEILING);
    this.maxPayloadBytes = limits.maxPayloadBytes;
    this.plan = planWalk(this.trie, schemas, this.maxDepth);
    this.slots = new Slots(paths.length);
    this.machine = new AvroMachine(this.plan, this.trie, this.slots, this.maxDepth, this.maxPayloadBytes);
    this.elements = this.elementsOf(this.slots);
    this.unescaped = new Uint8Array(longestSymbol(this.plan.symbolStarts));
    this.entry = this.plan.entries[0]!;
  }

  /** A cursor for arrays in `slots`, which the plan of this walker has filled. */
  elementsOf(slots: Slots): AvroElements {
    return new AvroElements(this.plan, this.trie, slots, this.maxDepth, this.maxPayloadBytes);
  }

  /** What the kernel walks by, the same as this walker. */
  kernelImage(): Uint8Array {
    const { plan, trie, maxDepth, maxPayloadBytes } = this;
    return avroImage(plan, trie, { maxDepth, maxPayloadBytes }, this.slots.count);
  }

  chooseSchema(index: number): void {
    this.entry = this.plan.entries[index]!;
  }

  walk(bytes: Uint8Array, start: number, end: number): Reason {
    if (end - start > this.maxPayloadBytes) return TOO_LARGE;
    const { machine, slots } = this;
    machine.use(bytes);
    for (let slot = 0; slot < slots.count; slot++) slots.kinds[slot] = SLOT_MISSING;
    const past = machine.run(this.entry, start, end);
    if (past === end) return NO_REASON;
    return past < 0 ? (-past as Reason) : MALFORMED;
  }

  unescape(_bytes: Uint8Array, start: number, end: number): number {
    const { symbols } = this.plan;
    for (let at = start; at < end; at++) this.unescaped[at - start] = symbols[at]!;
    return end - start;
  }
}

function longestSymbol(starts: Int32Array): number {
  let longest = 0;
  for (let place = 1; place < starts.length; place++) longest = Math.max(longest, starts[place]! - starts[place - 1]!);
  return longest;
}
