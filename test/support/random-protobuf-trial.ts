/**
 * The Protobuf walkers, in TypeScript and over the kernel, against the obvious decoder: the same reason, and the same
 * value at every wanted path, elements of arrays included.
 *
 * A trial has one walker of each kind for several schemas, which it goes between, so what one payload or schema leaves
 * behind would show in the next.
 */
import { isDeepStrictEqual } from 'node:util';
import { protobufDecoder } from '../../src/codec/protobuf/decode.js';
import { ProtobufKernelWalker } from '../../src/codec/protobuf/kernel-walker.js';
import { compileProtobuf, type ProtobufSchema } from '../../src/codec/protobuf/schema.js';
import { ProtobufWalker } from '../../src/codec/protobuf/walker.js';
import type { Decoded, PayloadDecoder, Value } from '../../src/codec/value.js';
import type { DecoderLimits, SchemaWalker } from '../../src/codec/walker.js';
import type { Path } from '../../src/core/path.js';
import { SLOT_ARRAY, SLOT_OBJECT, type Slots } from '../../src/core/slots.js';
import { NO_REASON, REASON_NAMES, type Reason } from '../../src/core/verdict.js';
import { newKernel } from './kernel.js';
import { fittingProtobufPaths, randomDescriptorSet, randomPayload, randomProtobufPaths } from './random-protobuf.js';
import { Seeded } from './seeded.js';
import { MISSING, slotValue, valueAt } from './slot-value.js';
import { placeAmid, SURROUNDINGS } from './surroundings.js';

/** Between what a payload stands for the portable walker: nothing, or bytes that would go on with anything. */
const FILLERS = [0x00, 0x80, 0x0a, 0xff];
const AROUND_BYTES = 12;

/** One instance for all, as a worker has: whoever comes next finds what the one before left. */
const kernel = newKernel();
/** Where payloads stand in the window, so that words meet in each of their bytes; with room for what stands around. */
const PLACES = 23;
const BEHIND_BYTES = 64;
const placeIn = (turn: number) => 192 + (turn % PLACES);

export class ProtobufTrial {
  readonly paths: readonly Path[];
  readonly limits: DecoderLimits;
  private readonly decoders: readonly PayloadDecoder[];
  private readonly portable: ProtobufWalker;
  private readonly overKernel: ProtobufKernelWalker;
  private turn = 0;

  /** `paths` in order, without repeats. */
  constructor(schemas: readonly ProtobufSchema[], paths: readonly Path[], limits: DecoderLimits) {
    this.paths = paths;
    this.limits = limits;
    this.decoders = schemas.map(protobufDecoder);
    this.portable = new ProtobufWalker(paths, limits, schemas);
    this.overKernel = new ProtobufKernelWalker(kernel, paths, limits, schemas);
  }

  /** The walkers say what the decoder says; throws an `Error` that shows the payload otherwise. */
  check(payload: Uint8Array, schema = 0): Reason {
    const decoded = this.decoders[schema]!(payload, this.limits);
    const turn = this.turn++;
    const start = this.turn % AROUND_BYTES;
    const bytes = new Uint8Array(start + payload.length + (this.turn % 2 === 0 ? AROUND_BYTES : 0));
    bytes.fill(FILLERS[turn % FILLERS.length]!).set(payload, start);
    this.compare(this.portable, bytes, start, payload, schema, decoded);
    const place = placeIn(turn);
    if (place + payload.length + BEHIND_BYTES <= kernel.window.length) {
      const before = SURROUNDINGS[turn % SURROUNDINGS.length]!;
      const after = SURROUNDINGS[(turn * 7) % SURROUNDINGS.length]!;
      placeAmid(kernel.window, payload, place, before, after);
      this.compare(this.overKernel, kernel.window, place, payload, schema, decoded);
      if (decoded.ok) this.compareContainers(payload, place - start);
    } else {
      this.compare(this.overKernel, bytes, start, payload, schema, decoded);
    }
    return decoded.ok ? NO_REASON : decoded.reason;
  }

  private compare(
    walker: SchemaWalker,
    bytes: Uint8Array,
    start: number,
    payload: Uint8Array,
    schema: number,
    decoded: Decoded,
  ): void {
    const name = walker === this.portable ? 'walker' : 'kernel';
    walker.chooseSchema(schema);
    const reason = walker.walk(bytes, start, start + payload.length);
    const wanted = decoded.ok ? NO_REASON : decoded.reason;
    if (reason !== wanted) {
      throw this.difference(payload, `${name} ${REASON_NAMES[reason]}, decoder ${REASON_NAMES[wanted]}`);
    }
    if (!decoded.ok) return;
    for (const [slot, path] of this.paths.entries()) {
      const value = valueAt(decoded.value, path);
      if (isValue(walker, walker.slots, slot, bytes, value) && hasElements(walker, slot, bytes, value)) continue;
      const what = `another value at ${JSON.stringify(path)}, kind ${walker.slots.kinds[slot]}`;
      throw this.difference(payload, `${name} has ${what}`);
    }
  }

  /** Arrays and objects begin and end at the same bytes for both walkers, `distance` apart. */
  private compareContainers(payload: Uint8Array, distance: number): void {
    const { slots } = this.portable;
    const given = this.overKernel.slots;
    for (let slot = 0; slot < slots.count; slot++) {
      if (slots.kinds[slot] !== SLOT_ARRAY && slots.kinds[slot] !== SLOT_OBJECT) continue;
      const starts = given.starts[slot]! - slots.starts[slot]!;
      const ends = given.ends[slot]! - slots.ends[slot]!;
      if (starts !== distance || ends !== distance) {
        throw this.difference(payload, `kernel has other bytes in slot ${slot}`);
      }
    }
  }

  private difference(payload: Uint8Array, what: string): Error {
    return new Error(`${what}: ${Buffer.from(payload.subarray(0, 2000)).toString('hex')}`);
  }
}

/** What an array or an object holds stands elsewhere. */
function isValue(
  walker: SchemaWalker,
  slots: Slots,
  slot: number,
  bytes: Uint8Array,
  value: Value | typeof MISSING,
): boolean {
  if (value instanceof Map) return slots.kinds[slot] === SLOT_OBJECT;
  if (Array.isArray(value)) return slots.kinds[slot] === SLOT_ARRAY;
  // An array or object in the slot could not be read back as a value.
  if (slots.kinds[slot]! >= SLOT_ARRAY) return false;
  return isDeepStrictEqual(slotValue(walker, slots, slot, bytes), value);
}

function hasElements(walker: SchemaWalker, slot: number, bytes: Uint8Array, value: Value | typeof MISSING): boolean {
  if (!Array.isArray(value)) return true;
  const { elements, slots } = walker;
  elements.open(bytes, slots.starts[slot]!, slots.ends[slot]!, null, slot);
  for (const element of value) {
    if (!elements.next() || !isValue(walker, elements.slots, 0, bytes, element)) return false;
  }
  return !elements.next() && !elements.next();
}

const PAYLOADS = 12;
const PAYLOAD_BYTES_MAX = 6000;

/** Payloads of `count` random schemas and more; how often each reason was agreed on. Throws where the two differ. */
export function runProtobufTrials(seed: number, count: number): Map<Reason, number> {
  const seen = new Map<Reason, number>();
  for (let round = 0; round < count; round++) {
    const random = new Seeded(seed * 1_000_003 + round);
    const makeSchema = () => compileProtobuf(randomDescriptorSet(random, random.pick([0, 0.1, 0.4])), 'r.M0');
    const schemas = random.chance(0.2) ? [makeSchema(), makeSchema()] : [makeSchema()];
    const root = schemas[0]!.root;
    const paths = random.chance(0.2) ? randomProtobufPaths(random) : fittingProtobufPaths(random, root);
    const limits = { maxPayloadBytes: 1 << 20, maxDepth: random.pick([64, 64, 4, 2, 0]) };
    const trial = new ProtobufTrial(schemas, paths, limits);
    const chanceFault = random.pick([0, 0, 0.01, 0.1]);
    const style = { chanceLeft: random.pick([0, 0.2, 0.6]), chanceFault, levelsMax: 2 };
    for (let index = 0; index < PAYLOADS; index++) {
      const schema = index % schemas.length;
      const payload = randomPayload(random, schemas[schema]!.root, style);
      if (payload.length > PAYLOAD_BYTES_MAX) continue;
      try {
        const reason = trial.check(payload, schema);
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
      } catch (thrown) {
        throw new Error(`round ${round}: ${(thrown as Error).message}`, { cause: thrown });
      }
    }
  }
  return seen;
}
