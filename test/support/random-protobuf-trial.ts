/**
 * The Protobuf walker against the obvious decoder: the same reason, and the same value at every wanted path, elements of
 * arrays included.
 *
 * A trial has one walker for several schemas, which it goes between, so what one payload or schema leaves behind would
 * show in the next.
 */
import { isDeepStrictEqual } from 'node:util';
import { protobufDecoder } from '../../src/codec/protobuf/decode.js';
import type { ProtobufSchema } from '../../src/codec/protobuf/schema.js';
import { ProtobufWalker } from '../../src/codec/protobuf/walker.js';
import type { PayloadDecoder, Value } from '../../src/codec/value.js';
import type { DecoderLimits } from '../../src/codec/walker.js';
import type { Path } from '../../src/core/path.js';
import { SLOT_ARRAY, SLOT_OBJECT, type Slots } from '../../src/core/slots.js';
import { NO_REASON, REASON_NAMES, type Reason } from '../../src/core/verdict.js';
import { MISSING, slotValue, valueAt } from './slot-value.js';

/** Between what a payload stands: nothing, or bytes that would go on with anything. */
const SURROUNDINGS = [0x00, 0x80, 0x0a, 0xff];
const AROUND_BYTES = 12;

export class ProtobufTrial {
  readonly paths: readonly Path[];
  readonly limits: DecoderLimits;
  private readonly decoders: readonly PayloadDecoder[];
  private readonly walker: ProtobufWalker;
  private turn = 0;

  /** `paths` in order, without repeats. */
  constructor(schemas: readonly ProtobufSchema[], paths: readonly Path[], limits: DecoderLimits) {
    this.paths = paths;
    this.limits = limits;
    this.decoders = schemas.map(protobufDecoder);
    this.walker = new ProtobufWalker(paths, limits, schemas);
  }

  /** The walker says what the decoder says; throws an `Error` that shows the payload otherwise. */
  check(payload: Uint8Array, schema = 0): Reason {
    const { walker, paths } = this;
    const decoded = this.decoders[schema]!(payload, this.limits);
    const around = SURROUNDINGS[this.turn++ % SURROUNDINGS.length]!;
    const start = this.turn % AROUND_BYTES;
    const bytes = new Uint8Array(start + payload.length + (this.turn % 2 === 0 ? AROUND_BYTES : 0)).fill(around);
    bytes.set(payload, start);
    walker.chooseSchema(schema);
    const reason = walker.walk(bytes, start, start + payload.length);
    const wanted = decoded.ok ? NO_REASON : decoded.reason;
    if (reason !== wanted) {
      throw this.difference(payload, `walker ${REASON_NAMES[reason]}, decoder ${REASON_NAMES[wanted]}`);
    }
    if (!decoded.ok) return reason;
    for (const [slot, path] of paths.entries()) {
      const value = valueAt(decoded.value, path);
      if (!this.isValue(walker.slots, slot, bytes, value) || !this.hasElements(slot, bytes, value)) {
        throw this.difference(payload, `another value at ${JSON.stringify(path)}, kind ${walker.slots.kinds[slot]}`);
      }
    }
    return reason;
  }

  private difference(payload: Uint8Array, what: string): Error {
    return new Error(`${what}: ${Buffer.from(payload.subarray(0, 2000)).toString('hex')}`);
  }

  /** What an array or an object holds stands elsewhere. */
  private isValue(slots: Slots, slot: number, bytes: Uint8Array, value: Value | typeof MISSING): boolean {
    if (value instanceof Map) return slots.kinds[slot] === SLOT_OBJECT;
    if (Array.isArray(value)) return slots.kinds[slot] === SLOT_ARRAY;
    // An array or object in the slot could not be read back as a value.
    if (slots.kinds[slot]! >= SLOT_ARRAY) return false;
    return isDeepStrictEqual(slotValue(this.walker, slots, slot, bytes), value);
  }

  private hasElements(slot: number, bytes: Uint8Array, value: Value | typeof MISSING): boolean {
    if (!Array.isArray(value)) return true;
    const { elements, slots } = this.walker;
    elements.open(bytes, slots.starts[slot]!, slots.ends[slot]!, null, slot);
    for (const element of value) {
      if (!elements.next() || !this.isValue(elements.slots, 0, bytes, element)) return false;
    }
    return !elements.next() && !elements.next();
  }
}
