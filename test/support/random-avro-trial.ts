/**
 * The Avro walkers, in TypeScript and over the kernel, against the obvious decoder: the same reason, and the same value at every wanted path.
 */
import { isDeepStrictEqual } from 'node:util';
import { avroDecoder } from '../../src/codec/avro/decode.js';
import { AvroKernelWalker } from '../../src/codec/avro/kernel-walker.js';
import { type AvroSchema, compileAvro } from '../../src/codec/avro/schema.js';
import { AvroWalker } from '../../src/codec/avro/walker.js';
import type { Decoded, PayloadDecoder, Value } from '../../src/codec/value.js';
import type { DecoderLimits, PayloadWalker, SchemaWalker } from '../../src/codec/walker.js';
import { comparePaths, type Path } from '../../src/core/path.js';
import { SLOT_ARRAY, SLOT_OBJECT, type Slots } from '../../src/core/slots.js';
import { NO_REASON, REASON_NAMES, type Reason } from '../../src/core/verdict.js';
import { newKernel } from './kernel.js';
import { randomAvroDatum, randomAvroSchema } from './random-avro.js';
import type { Seeded } from './seeded.js';
import { slotValue, valueAt } from './slot-value.js';
import { placeAmid, SURROUNDINGS } from './surroundings.js';

const STEPS: readonly (string | number)[] = ['a', 'b', 'c', 'mode', 'k_1', 'é', '', '键🛰', 0, 1, 2];

/** Paths that random schemas may have, in order, each once; the root among them now and then. */
export function randomAvroPaths(random: Seeded): Path[] {
  const paths: Path[] = random.chance(0.3) ? [[]] : [];
  for (let count = random.below(12); count > 0; count--) {
    paths.push(Array.from({ length: 1 + random.below(4) }, () => random.pick(STEPS)));
  }
  const sorted = paths.sort(comparePaths);
  return sorted.filter((path, index) => index === 0 || comparePaths(sorted[index - 1]!, path) !== 0);
}

const HEX_MAX = 2000;

/** One instance for all, as a worker has: whoever comes next finds what the one before left. */
const kernel = newKernel();
/** Where payloads stand in the window, so that words meet in each of their bytes; with room for what stands around. */
const PLACES = 23;
const BEHIND_BYTES = 64;
const placeIn = (turn: number) => 192 + (turn % PLACES);

export class AvroTrial {
  private readonly portable: AvroWalker;
  private readonly overKernel: AvroKernelWalker;
  private readonly paths: readonly Path[];
  private readonly limits: DecoderLimits;
  private readonly decoders: readonly PayloadDecoder[];
  private turn = 0;

  constructor(schemas: readonly AvroSchema[], paths: readonly Path[], limits: DecoderLimits) {
    this.portable = new AvroWalker(paths, limits, schemas);
    this.overKernel = new AvroKernelWalker(kernel, paths, limits, schemas);
    this.paths = paths;
    this.limits = limits;
    this.decoders = schemas.map(avroDecoder);
  }

  /**
   * Decodes `start`…`end`, and walks it with both walkers: where it stands, and in the kernel's window between bytes that
   * mean something. Throws an `Error` where they differ.
   */
  check(bytes: Uint8Array, start = 0, end = bytes.length, schema = 0): Reason {
    const payload = bytes.subarray(start, end);
    try {
      const decoded = this.decoders[schema]!(payload, this.limits);
      this.compare(this.portable, bytes, start, end, schema, decoded);
      const place = placeIn(this.turn);
      if (place + payload.length + BEHIND_BYTES <= kernel.window.length) {
        const before = SURROUNDINGS[this.turn % SURROUNDINGS.length]!;
        const after = SURROUNDINGS[(this.turn * 7) % SURROUNDINGS.length]!;
        placeAmid(kernel.window, payload, place, before, after);
        this.compare(this.overKernel, kernel.window, place, place + payload.length, schema, decoded);
        if (decoded.ok) this.compareContainers(place - start);
      } else {
        this.compare(this.overKernel, bytes, start, end, schema, decoded);
      }
      this.turn++;
      return decoded.ok ? NO_REASON : decoded.reason;
    } catch (thrown) {
      const hex = Buffer.from(payload).toString('hex').slice(0, HEX_MAX);
      const about = JSON.stringify({ limits: this.limits, paths: this.paths });
      throw new Error(`${(thrown as Error).message}: ${hex} ${about}`, { cause: thrown });
    }
  }

  private compare(
    walker: SchemaWalker,
    bytes: Uint8Array,
    start: number,
    end: number,
    schema: number,
    decoded: Decoded,
  ): void {
    const name = walker === this.portable ? 'walker' : 'kernel';
    walker.chooseSchema(schema);
    const reason = walker.walk(bytes, start, end);
    const wanted = decoded.ok ? NO_REASON : decoded.reason;
    if (reason !== wanted) throw new Error(`${name} ${REASON_NAMES[reason]}, decoder ${REASON_NAMES[wanted]}`);
    if (!decoded.ok) return;
    for (const [slot, path] of this.paths.entries()) {
      const value = valueAt(decoded.value, path);
      const isHeld = holds(walker, walker.slots, slot, bytes, value);
      if (!isHeld) throw new Error(`${name} has another value at ${JSON.stringify(path)}`);
      if (!Array.isArray(value)) continue;
      if (!holdsElements(walker, slot, bytes, value)) {
        throw new Error(`${name} has other elements at ${JSON.stringify(path)}`);
      }
    }
  }

  /** Arrays and objects begin and end at the same bytes for both walkers, `distance` apart. */
  private compareContainers(distance: number): void {
    const { slots } = this.portable;
    const given = this.overKernel.slots;
    for (let slot = 0; slot < slots.count; slot++) {
      if (slots.kinds[slot] !== SLOT_ARRAY && slots.kinds[slot] !== SLOT_OBJECT) continue;
      const starts = given.starts[slot]! - slots.starts[slot]!;
      const ends = given.ends[slot]! - slots.ends[slot]!;
      if (starts !== distance || ends !== distance) throw new Error(`kernel has other bytes in slot ${slot}`);
    }
  }
}

function holdsElements(walker: PayloadWalker, slot: number, bytes: Uint8Array, value: readonly Value[]): boolean {
  const { elements, slots } = walker;
  // A pass that is abandoned leaves nothing behind.
  elements.open(bytes, slots.starts[slot]!, slots.ends[slot]!, null, slot);
  elements.next();
  elements.open(bytes, slots.starts[slot]!, slots.ends[slot]!, null, slot);
  for (const element of value) {
    if (!elements.next() || !holds(walker, elements.slots, 0, bytes, element)) return false;
  }
  return !elements.next();
}

function holds(walker: PayloadWalker, slots: Slots, slot: number, bytes: Uint8Array, value: Value | symbol): boolean {
  const kind = slots.kinds[slot];
  if (Array.isArray(value)) return kind === SLOT_ARRAY && slots.starts[slot]! <= slots.ends[slot]!;
  if (value instanceof Map) return kind === SLOT_OBJECT && slots.starts[slot]! <= slots.ends[slot]!;
  if (kind === SLOT_ARRAY || kind === SLOT_OBJECT) return false;
  // Object.is inside: −0 is told from 0, an integer from a double by its type.
  return isDeepStrictEqual(slotValue(walker, slots, slot, bytes), value);
}

const LIMITS: readonly DecoderLimits[] = [
  { maxPayloadBytes: 1 << 20, maxDepth: 64 },
  { maxPayloadBytes: 60, maxDepth: 3 },
  { maxPayloadBytes: 20, maxDepth: 5 },
  { maxPayloadBytes: 400, maxDepth: 0 },
];

/** Some data each, in part damaged, of as many random schemas, read for random paths. Returns how often each reason was. */
export function runAvroTrials(random: Seeded, schemas: number): Map<Reason, number> {
  const seen = new Map<Reason, number>();
  for (let round = 0; round < schemas; round++) {
    const text = JSON.stringify(randomAvroSchema(random));
    const schema = compileAvro(text);
    const trial = new AvroTrial([schema], randomAvroPaths(random), random.pick(LIMITS));
    for (let turn = 0; turn < 10; turn++) {
      const bytes = Uint8Array.from(randomAvroDatum(random, schema.root));
      if (bytes.length > 0 && random.chance(0.4)) {
        bytes[random.below(bytes.length)] = random.pick([0, 1, 2, 0x7f, 0x80, 0xff, random.below(256)]);
      }
      const end = random.chance(0.1) ? random.below(bytes.length + 1) : bytes.length;
      try {
        const reason = trial.check(bytes, 0, end);
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
      } catch (thrown) {
        throw new Error(`${(thrown as Error).message} ${text}`, { cause: thrown });
      }
    }
  }
  return seen;
}
