/** Pieces of Protobuf payloads, in any spelling that the wire format allows: varints may be padded. */
import type { FieldType } from '../../src/codec/protobuf/declaration.js';
import type { Seeded } from './seeded.js';

/** Wire types by types of fields. */
export const WIRE_TYPES: Readonly<Record<Exclude<FieldType, 'group'>, number>> = {
  double: 1,
  float: 5,
  int64: 0,
  uint64: 0,
  int32: 0,
  fixed64: 1,
  fixed32: 5,
  bool: 0,
  string: 2,
  message: 2,
  bytes: 2,
  uint32: 0,
  enum: 0,
  sfixed32: 5,
  sfixed64: 1,
  sint32: 0,
  sint64: 0,
};

const VARINT_BYTES_MAX = 10;
const CHANCE_PADDED = 0.05;

export class ProtobufBytes {
  private readonly random: Seeded | null;

  /** Spells varints in random ways, or as short as they may be. */
  constructor(random: Seeded | null = null) {
    this.random = random;
  }

  /** `value` in 0…2^64−1. */
  varint(value: bigint): Uint8Array {
    const bytes: number[] = [];
    let rest = value;
    do {
      bytes.push(Number(rest & 0x7fn));
      rest >>= 7n;
    } while (rest > 0n);
    const { random } = this;
    if (random?.chance(CHANCE_PADDED) === true) {
      for (let padding = random.below(VARINT_BYTES_MAX + 1 - bytes.length); padding > 0; padding--) bytes.push(0);
    }
    return Uint8Array.from(bytes, (byte, index) => (index < bytes.length - 1 ? byte | 0x80 : byte));
  }

  tag(number: number, wireType: number): Uint8Array {
    return this.varint((BigInt(number) << 3n) | BigInt(wireType));
  }

  /** Bytes with their length before them. */
  sized(bytes: Uint8Array): Uint8Array {
    return this.joined([this.varint(BigInt(bytes.length)), bytes]);
  }

  fixed32(value: bigint): Uint8Array {
    return fixed(4, (view) => view.setUint32(0, Number(BigInt.asUintN(32, value)), true));
  }

  fixed64(value: bigint): Uint8Array {
    return fixed(8, (view) => view.setBigUint64(0, value, true));
  }

  float(value: number): Uint8Array {
    return fixed(4, (view) => view.setFloat32(0, value, true));
  }

  double(value: number): Uint8Array {
    return fixed(8, (view) => view.setFloat64(0, value, true));
  }

  joined(parts: readonly Uint8Array[]): Uint8Array {
    return Buffer.concat(parts);
  }
}

function fixed(size: number, set: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(size);
  set(new DataView(bytes.buffer));
  return bytes;
}
