/**
 * The obvious Protobuf decoder: one whole message to a `Value`, or the reason why not (contract: laser-filter §4, §5).
 *
 * It is written to be read beside the contract, and is what the fast walker is compared with: it shares nothing with it
 * but the schema. The payload is read in order into messages that merge; only then is it looked at what is required,
 * and what is not there gets its default.
 *
 * Invariants: recursion is bounded by the depth limit; a fault is a value, never an exception.
 */
import { MALFORMED, type Reason, TOO_DEEP, TOO_LARGE } from '../../core/verdict.js';
import type { Decoded, PayloadDecoder, Value } from '../value.js';
import type { DecoderLimits } from '../walker.js';
import type { ProtobufField, ProtobufMessage, ProtobufSchema } from './message.js';

/** The decoder of payloads that hold one root message. Reasons: `too_large`, then the first of the others in reading order. */
export function protobufDecoder(schema: ProtobufSchema): PayloadDecoder {
  return (payload, limits) => decodePayload(schema.root, payload, limits);
}

function decodePayload(root: ProtobufMessage, payload: Uint8Array, limits: DecoderLimits): Decoded {
  if (payload.length > limits.maxPayloadBytes) return { ok: false, reason: TOO_LARGE };
  const message = new Message(root);
  try {
    new Reader(payload, limits.maxDepth).readMessage(message, payload.length, 0);
    return { ok: true, value: finish(message) };
  } catch (thrown) {
    if (thrown instanceof Fault) return { ok: false, reason: thrown.reason };
    throw thrown;
  }
}

class Fault extends Error {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super('the payload is at fault');
    this.reason = reason;
  }
}

/** A field's value while messages may still merge. */
type Part = Exclude<Value, Value[] | Map<string, Value>> | Message | Part[] | Map<string, Part>;

/** A message of which more may come. */
class Message {
  readonly type: ProtobufMessage;
  /** What has been set, by number of the field. */
  readonly parts = new Map<number, Part>();
  /** By place of the oneof: which of its members is set. */
  private readonly chosen = new Map<number, ProtobufField>();

  constructor(type: ProtobufMessage) {
    this.type = type;
  }

  /** Setting a member of a oneof clears the member that was set before. */
  choose(member: ProtobufField): void {
    const before = this.chosen.get(member.oneof);
    if (before !== undefined && before !== member) this.parts.delete(before.number);
    this.chosen.set(member.oneof, member);
  }
}

const WIRE_VARINT = 0;
const WIRE_64 = 1;
const WIRE_BYTES = 2;
const WIRE_32 = 5;

const WIRE_TYPES: Readonly<Record<ProtobufField['type'], number>> = {
  double: WIRE_64,
  float: WIRE_32,
  int64: WIRE_VARINT,
  uint64: WIRE_VARINT,
  int32: WIRE_VARINT,
  fixed64: WIRE_64,
  fixed32: WIRE_32,
  bool: WIRE_VARINT,
  string: WIRE_BYTES,
  message: WIRE_BYTES,
  bytes: WIRE_BYTES,
  uint32: WIRE_VARINT,
  enum: WIRE_VARINT,
  sfixed32: WIRE_32,
  sfixed64: WIRE_64,
  sint32: WIRE_VARINT,
  sint64: WIRE_VARINT,
};

/** Throws `Fault`. */
class Reader {
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly maxDepth: number;
  private at = 0;

  constructor(bytes: Uint8Array, maxDepth: number) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.maxDepth = maxDepth;
  }

  /** Reads fields up to `end` into `message`, which stands `depth` messages below the root. */
  readMessage(message: Message, end: number, depth: number): void {
    if (depth > this.maxDepth) throw new Fault(TOO_DEEP);
    const { type, parts } = message;
    while (this.at < end) {
      const { number, wireType } = this.tag(end);
      const field = type.byNumber.get(number);
      if (field === undefined) {
        this.skip(wireType, end);
        continue;
      }
      if (field.oneof >= 0) message.choose(field);
      const before = parts.get(number);
      if (field.shape === 'map') {
        const map = (before ?? new Map()) as Map<string, Part>;
        parts.set(number, map);
        this.expect(wireType, WIRE_BYTES);
        this.readEntry(map, field.message!, this.lengthEnd(end), depth + 1);
      } else if (field.shape === 'repeated') {
        const list = (before ?? []) as Part[];
        parts.set(number, list);
        this.readElements(list, field, wireType, end, depth);
      } else if (field.type === 'message') {
        this.expect(wireType, WIRE_BYTES);
        const nested = (before ?? new Message(field.message!)) as Message;
        parts.set(number, nested);
        this.readMessage(nested, this.lengthEnd(end), depth + 1);
      } else {
        this.expect(wireType, WIRE_TYPES[field.type]);
        parts.set(number, this.scalar(field, end));
      }
    }
  }

  /** The last key and the last value of an entry count; a value does not merge with the one before it. */
  private readEntry(map: Map<string, Part>, entry: ProtobufMessage, end: number, depth: number): void {
    if (depth > this.maxDepth) throw new Fault(TOO_DEEP);
    const keyField = entry.byNumber.get(1)!;
    const valueField = entry.byNumber.get(2)!;
    let key = defaultOf(keyField);
    let value = valueField.message === null ? defaultOf(valueField) : new Message(valueField.message);
    while (this.at < end) {
      const { number, wireType } = this.tag(end);
      if (number === 1) {
        this.expect(wireType, WIRE_TYPES[keyField.type]);
        key = this.scalar(keyField, end);
      } else if (number === 2) {
        this.expect(wireType, WIRE_TYPES[valueField.type]);
        value = this.element(valueField, end, depth);
      } else {
        this.skip(wireType, end);
      }
    }
    map.set(String(key), value);
  }

  /** One element, or the elements that stand packed. */
  private readElements(list: Part[], field: ProtobufField, wireType: number, end: number, depth: number): void {
    const own = WIRE_TYPES[field.type];
    if (wireType === WIRE_BYTES && own !== WIRE_BYTES) {
      const packedEnd = this.lengthEnd(end);
      while (this.at < packedEnd) list.push(this.scalar(field, packedEnd));
      return;
    }
    this.expect(wireType, own);
    list.push(this.element(field, end, depth));
  }

  private element(field: ProtobufField, end: number, depth: number): Part {
    if (field.message === null) return this.scalar(field, end);
    const message = new Message(field.message);
    this.readMessage(message, this.lengthEnd(end), depth + 1);
    return message;
  }

  private expect(wireType: number, wanted: number): void {
    if (wireType !== wanted) throw new Fault(MALFORMED);
  }

  private tag(end: number): { number: number; wireType: number } {
    const tag = this.varint(end);
    const number = tag >> 3n;
    if (number < 1n || number > 2n ** 29n - 1n) throw new Fault(MALFORMED);
    return { number: Number(number), wireType: Number(tag & 7n) };
  }

  /** At most ten bytes, 64 bits. */
  private varint(end: number): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.at >= end) throw new Fault(MALFORMED);
      const byte = this.bytes[this.at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (value >= 2n ** 64n) throw new Fault(MALFORMED);
        return value;
      }
    }
    throw new Fault(MALFORMED);
  }

  /** Reads a length and gives where what has it ends. */
  private lengthEnd(end: number): number {
    const length = this.varint(end);
    if (length > BigInt(end - this.at)) throw new Fault(MALFORMED);
    return this.at + Number(length);
  }

  /** The place of `size` bytes that are stepped over. */
  private take(size: number, end: number): number {
    if (size > end - this.at) throw new Fault(MALFORMED);
    this.at += size;
    return this.at - size;
  }

  private skip(wireType: number, end: number): void {
    switch (wireType) {
      case WIRE_VARINT:
        this.varint(end);
        return;
      case WIRE_64:
        this.take(8, end);
        return;
      case WIRE_BYTES:
        this.at = this.lengthEnd(end);
        return;
      case WIRE_32:
        this.take(4, end);
        return;
      default:
        throw new Fault(MALFORMED);
    }
  }

  private scalar(field: ProtobufField, end: number): Part {
    const { view } = this;
    switch (field.type) {
      case 'double':
        return finite(view.getFloat64(this.take(8, end), true));
      case 'float':
        return finite(view.getFloat32(this.take(4, end), true));
      case 'int64':
        return BigInt.asIntN(64, this.varint(end));
      case 'uint64':
        return this.varint(end);
      case 'int32':
      case 'enum':
        return BigInt.asIntN(32, this.varint(end));
      case 'uint32':
        return BigInt.asUintN(32, this.varint(end));
      case 'sint32':
        return unzigzag(BigInt.asUintN(32, this.varint(end)));
      case 'sint64':
        return unzigzag(this.varint(end));
      case 'bool':
        return this.varint(end) !== 0n;
      case 'fixed32':
        return BigInt(view.getUint32(this.take(4, end), true));
      case 'sfixed32':
        return BigInt(view.getInt32(this.take(4, end), true));
      case 'fixed64':
        return view.getBigUint64(this.take(8, end), true);
      case 'sfixed64':
        return view.getBigInt64(this.take(8, end), true);
      case 'string':
        return text(this.rest(end));
      case 'bytes':
        return Array.from(this.rest(end), BigInt);
      case 'message':
        throw new Error('a message is no scalar');
    }
  }

  private rest(end: number): Uint8Array {
    const past = this.lengthEnd(end);
    const start = this.at;
    this.at = past;
    return this.bytes.subarray(start, past);
  }
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new Fault(MALFORMED);
  return value;
}

function unzigzag(value: bigint): bigint {
  return (value >> 1n) ^ -(value & 1n);
}

function text(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Fault(MALFORMED);
  }
}

/** What stands where a field without presence is not set. */
function defaultOf(field: ProtobufField): Part {
  if (field.shape === 'map') return new Map();
  if (field.shape === 'repeated') return [];
  switch (field.type) {
    case 'double':
    case 'float':
      return 0;
    case 'bool':
      return false;
    case 'string':
      return '';
    case 'bytes':
      return [];
    default:
      return BigInt(field.firstNumber);
  }
}

/** The value of a message that is whole now; a required field that is not set is a fault. */
function finish({ type, parts }: Message): Value {
  const fields = new Map<string, Value>();
  for (const field of type.fields) {
    const part = parts.get(field.number);
    if (part !== undefined) fields.set(field.name, finishPart(part));
    else if (field.presence === 'required') throw new Fault(MALFORMED);
    else if (field.presence === 'implicit') fields.set(field.name, finishPart(defaultOf(field)));
  }
  return fields;
}

function finishPart(part: Part): Value {
  if (part instanceof Message) return finish(part);
  if (Array.isArray(part)) return part.map(finishPart);
  if (part instanceof Map) return new Map(Array.from(part, ([key, value]) => [key, finishPart(value)]));
  return part;
}
