/**
 * The obvious Avro decoder: one datum under its writer schema to a `Value`, or the reason why not (contract:
 * laser-filter §4, §5).
 *
 * It is written to be read beside the contract and the specification, and is what the fast walker is compared with: it
 * shares nothing with it but the definition of UTF-8. Size is looked at first; after that the first fault in reading
 * order is the reason.
 *
 * Invariants: recursion is bounded by the depth that is checked where each value begins; what is allocated is bounded by
 * the bytes that were read and the value budget; a fault is a value, never an exception that leaves this file.
 */
import { isUtf8 } from '../../core/utf8.js';
import { MALFORMED, type Reason, TOO_DEEP, TOO_LARGE } from '../../core/verdict.js';
import type { PayloadDecoder, Value } from '../value.js';
import type { DecoderLimits } from '../walker.js';
import type { AvroSchema, AvroType } from './schema.js';

/** A decoder of data written with `schema`. Reasons: `too_large`, `too_deep`, `malformed`. */
export function avroDecoder(schema: AvroSchema): PayloadDecoder {
  return (payload, limits) => {
    if (payload.length > limits.maxPayloadBytes) return { ok: false, reason: TOO_LARGE };
    try {
      return { ok: true, value: new Datum(payload, limits).whole(schema.root) };
    } catch (thrown) {
      if (thrown instanceof Fault) return { ok: false, reason: thrown.reason };
      throw thrown;
    }
  };
}

class Fault extends Error {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super();
    this.reason = reason;
  }
}

const INT_MIN = -(2n ** 31n);
const INT_MAX = 2n ** 31n - 1n;
/** A varint of 64 bits has ten bytes of seven bits. */
const VARINT_BYTES_MAX = 10;

class Datum {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #limits: DecoderLimits;
  #at = 0;
  /** Values counted so far, against the budget. */
  #values = 0;

  constructor(bytes: Uint8Array, limits: DecoderLimits) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#limits = limits;
  }

  whole(type: AvroType): Value {
    const value = this.#value(type, 0, false);
    if (this.#at !== this.#bytes.length) throw new Fault(MALFORMED);
    return value;
  }

  /** `isCounted`: the value is an item of a block, which has counted it. */
  #value(type: AvroType, depth: number, isCounted: boolean): Value {
    if (depth > this.#limits.maxDepth) throw new Fault(TOO_DEEP);
    if (type.kind === 'union') {
      const branch = type.branches[Number(this.#long())];
      if (branch === undefined) throw new Fault(MALFORMED);
      return this.#value(branch, depth + 1, isCounted);
    }
    if (!isCounted) this.#count(1n);
    switch (type.kind) {
      case 'null':
        return null;
      case 'boolean': {
        const byte = this.#take(1n)[0]!;
        if (byte > 1) throw new Fault(MALFORMED);
        return byte === 1;
      }
      case 'int': {
        const value = this.#long();
        if (value < INT_MIN || value > INT_MAX) throw new Fault(MALFORMED);
        return value;
      }
      case 'long':
        return this.#long();
      case 'float':
        this.#take(4n);
        return this.#finite(this.#view.getFloat32(this.#at - 4, true));
      case 'double':
        this.#take(8n);
        return this.#finite(this.#view.getFloat64(this.#at - 8, true));
      case 'bytes':
        return integers(this.#take(this.#long()));
      case 'fixed':
        return integers(this.#take(BigInt(type.size)));
      case 'string':
        return this.#string();
      case 'enum': {
        const symbol = type.symbols[Number(this.#long())];
        if (symbol === undefined) throw new Fault(MALFORMED);
        return symbol;
      }
      case 'record':
        return new Map(type.fields.map((field) => [field.name, this.#value(field.type, depth + 1, false)]));
      case 'array': {
        const items: Value[] = [];
        this.#blocks(() => items.push(this.#value(type.items, depth + 1, true)));
        return items;
      }
      case 'map': {
        const entries = new Map<string, Value>();
        this.#blocks(() => entries.set(this.#string(), this.#value(type.values, depth + 1, true)));
        return entries;
      }
    }
  }

  /** Blocks of items up to the empty one. */
  #blocks(readItem: () => void): void {
    for (;;) {
      const count = this.#long();
      if (count === 0n) return;
      const items = count < 0n ? -count : count;
      this.#count(items);
      let blockEnd;
      if (count < 0n) {
        const size = this.#long();
        if (size < 0n || size > this.#left()) throw new Fault(MALFORMED);
        blockEnd = this.#at + Number(size);
      }
      for (let item = 0n; item < items; item++) readItem();
      if (blockEnd !== undefined && this.#at !== blockEnd) throw new Fault(MALFORMED);
    }
  }

  #count(values: bigint): void {
    if (BigInt(this.#values) + values > BigInt(this.#limits.maxPayloadBytes)) throw new Fault(TOO_LARGE);
    this.#values += Number(values);
  }

  /** A zigzag varint of 64 bits; it may be longer than it needs to be. */
  #long(): bigint {
    let word = 0n;
    for (let index = 0; index < VARINT_BYTES_MAX; index++) {
      const byte = BigInt(this.#take(1n)[0]!);
      word |= (byte & 0x7fn) << BigInt(7 * index);
      if (byte >= 0x80n) continue;
      if (word >= 2n ** 64n) throw new Fault(MALFORMED);
      return word % 2n === 0n ? word / 2n : -(word + 1n) / 2n;
    }
    throw new Fault(MALFORMED);
  }

  #string(): string {
    const bytes = this.#take(this.#long());
    if (!isUtf8(bytes, 0, bytes.length)) throw new Fault(MALFORMED);
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  }

  #finite(value: number): number {
    if (!Number.isFinite(value)) throw new Fault(MALFORMED);
    return value;
  }

  #left(): bigint {
    return BigInt(this.#bytes.length - this.#at);
  }

  /** The next `length` bytes, which have to be there. */
  #take(length: bigint): Uint8Array {
    if (length < 0n || length > this.#left()) throw new Fault(MALFORMED);
    this.#at += Number(length);
    return this.#bytes.subarray(this.#at - Number(length), this.#at);
  }
}

function integers(bytes: Uint8Array): Value[] {
  return Array.from(bytes, BigInt);
}
