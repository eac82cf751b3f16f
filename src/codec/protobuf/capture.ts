/**
 * Single Protobuf values from their bytes into slots, without BigInt (slots: `core/slots.ts`).
 *
 * The bytes have been validated by the walk. Nothing is allocated.
 */
import {
  type Slots,
  SLOT_ARRAY,
  SLOT_DOUBLE,
  SLOT_FALSE,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_NEGATIVE_WIDE,
  SLOT_OBJECT,
  SLOT_STRING,
  SLOT_TRUE,
} from '../../core/slots.js';
import type { ProtobufField } from './message.js';

// PERF: a constant of another module is looked up and checked at each use, one of this module is part of the code.
const ARRAY_KIND = SLOT_ARRAY;
const DOUBLE_KIND = SLOT_DOUBLE;
const FALSE_KIND = SLOT_FALSE;
const INTEGER_KIND = SLOT_INTEGER;
const WIDE_KIND = SLOT_INTEGER_WIDE;
const NEGATIVE_KIND = SLOT_NEGATIVE_WIDE;
const OBJECT_KIND = SLOT_OBJECT;
const STRING_KIND = SLOT_STRING;
const TRUE_KIND = SLOT_TRUE;

/** Types of values as the walk knows them; RAW_BYTE is what stands in a field of bytes. */
const RAW_TYPE = 0;
const DOUBLE = 1;
const FLOAT = 2;
const INT64 = 3;
const UINT64 = 4;
const INT32 = 5;
const FIXED64 = 6;
const FIXED32 = 7;
const BOOL_TYPE = 8;
const STRING_TYPE = 9;
const MESSAGE_TYPE = 11;
const BYTES_TYPE = 12;
const UINT32 = 13;
const SFIXED32 = 15;
const SFIXED64 = 16;
const SINT32 = 17;
const SINT64 = 18;

export { BOOL_TYPE as BOOL, BYTES_TYPE as BYTES, MESSAGE_TYPE as MESSAGE, RAW_TYPE as RAW_BYTE, STRING_TYPE as STRING };

/** An enum is read like an `int32`. */
export const TYPE_CODES: Readonly<Record<ProtobufField['type'], number>> = {
  double: DOUBLE,
  float: FLOAT,
  int64: INT64,
  uint64: UINT64,
  int32: INT32,
  fixed64: FIXED64,
  fixed32: FIXED32,
  bool: BOOL_TYPE,
  string: STRING_TYPE,
  message: MESSAGE_TYPE,
  bytes: BYTES_TYPE,
  uint32: UINT32,
  enum: INT32,
  sfixed32: SFIXED32,
  sfixed64: SFIXED64,
  sint32: SINT32,
  sint64: SINT64,
};

/** What a value of a type is that has its default. */
export const DEFAULT_KINDS = new Uint8Array(SINT64 + 1).fill(INTEGER_KIND);
DEFAULT_KINDS[DOUBLE] = DOUBLE_KIND;
DEFAULT_KINDS[FLOAT] = DOUBLE_KIND;
DEFAULT_KINDS[BOOL_TYPE] = FALSE_KIND;
DEFAULT_KINDS[STRING_TYPE] = STRING_KIND;
DEFAULT_KINDS[BYTES_TYPE] = ARRAY_KIND;

/** By type: bytes of a value, 0 where they differ from value to value. */
const FIXED_SIZES = new Uint8Array(SINT64 + 1);
for (const type of [DOUBLE, FIXED64, SFIXED64]) FIXED_SIZES[type] = 8;
for (const type of [FLOAT, FIXED32, SFIXED32]) FIXED_SIZES[type] = 4;

const TWO_32 = 2 ** 32;
/** High words of the integers that a double holds exactly, but −2^53. */
const SAFE_HIGH = 0x200000;

/** Fills `slot` with the default of type `type`, a number or a bool. */
export function captureDefault(type: number, slots: Slots, slot: number): void {
  slots.kinds[slot] = DEFAULT_KINDS[type]!;
  slots.numbers[slot] = 0;
}

/** Fills `slot` with the value of type `type` that starts at `from`, behind its tag, and ends before `past`. */
export function capture(
  bytes: Uint8Array,
  view: DataView,
  type: number,
  from: number,
  past: number,
  slots: Slots,
  slot: number,
): void {
  switch (type) {
    case STRING_TYPE:
    case BYTES_TYPE:
    case MESSAGE_TYPE:
      slots.kinds[slot] = type === STRING_TYPE ? STRING_KIND : type === BYTES_TYPE ? ARRAY_KIND : OBJECT_KIND;
      slots.starts[slot] = afterVarint(bytes, from);
      slots.ends[slot] = past;
      return;
    case DOUBLE:
      putDouble(slots, slot, view.getFloat64(from, true));
      return;
    case FLOAT:
      putDouble(slots, slot, view.getFloat32(from, true));
      return;
    case FIXED32:
      putInteger(slots, slot, view.getUint32(from, true));
      return;
    case SFIXED32:
      putInteger(slots, slot, view.getInt32(from, true));
      return;
    case FIXED64:
      putUnsigned(slots, slot, view.getUint32(from + 4, true), view.getUint32(from, true));
      return;
    case SFIXED64:
      putSigned(slots, slot, view.getInt32(from + 4, true), view.getUint32(from, true));
      return;
    case RAW_TYPE:
      putInteger(slots, slot, bytes[from]!);
      return;
    default:
      putVarint(type, lowWord(bytes, from), highWord(bytes, from), slots, slot);
  }
}

function putVarint(type: number, low: number, high: number, slots: Slots, slot: number): void {
  switch (type) {
    case INT32:
      putInteger(slots, slot, low | 0);
      return;
    case UINT32:
      putInteger(slots, slot, low >>> 0);
      return;
    case SINT32:
      putInteger(slots, slot, (low >>> 1) ^ -(low & 1));
      return;
    case BOOL_TYPE:
      slots.kinds[slot] = (low | high) === 0 ? FALSE_KIND : TRUE_KIND;
      return;
    case UINT64:
      putUnsigned(slots, slot, high >>> 0, low >>> 0);
      return;
    case SINT64: {
      const sign = -(low & 1);
      putSigned(slots, slot, (high >>> 1) ^ sign, (((low >>> 1) | (high << 31)) ^ sign) >>> 0);
      return;
    }
    default:
      putSigned(slots, slot, high, low >>> 0);
  }
}

/** Where the varint at `from` ends. */
export function afterVarint(bytes: Uint8Array, from: number): number {
  let p = from;
  while (bytes[p]! >= 0x80) p++;
  return p + 1;
}

/** The length that stands at `from`, or the lower part of the tag that does; the walk has seen that it is one. */
export function lengthAt(bytes: Uint8Array, from: number): number {
  return lowWord(bytes, from);
}

/** True for types whose values have a length before them. */
export function hasLength(type: number): boolean {
  return type >= STRING_TYPE && type <= BYTES_TYPE;
}

/** Where the value of type `type` ends that starts at `from`, behind its tag where it has one. */
export function elementEnd(bytes: Uint8Array, type: number, from: number): number {
  const size = FIXED_SIZES[type]!;
  if (size > 0) return from + size;
  const past = afterVarint(bytes, from);
  return hasLength(type) ? past + lengthAt(bytes, from) : past;
}

/** Past the field whose value starts at `from`, behind a tag of that wire type; the walk has seen that it is sound. */
export function skipField(bytes: Uint8Array, wireType: number, from: number): number {
  switch (wireType) {
    case 1:
      return from + 8;
    case 5:
      return from + 4;
    case 2:
      return afterVarint(bytes, from) + lengthAt(bytes, from);
    default:
      return afterVarint(bytes, from);
  }
}

/** Lower 32 bits of the varint at `from`, signed. */
export function lowWord(bytes: Uint8Array, from: number): number {
  let word = 0;
  for (let shift = 0, p = from; shift < 32; shift += 7, p++) {
    const byte = bytes[p]!;
    word |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return word;
}

/** Upper 32 bits of the varint at `from`, signed. */
export function highWord(bytes: Uint8Array, from: number): number {
  let p = from;
  for (let before = 0; before < 4; before++) if (bytes[p++]! < 0x80) return 0;
  let word = (bytes[p]! & 0x7f) >>> 4;
  for (let shift = 3; bytes[p++]! >= 0x80; shift += 7) word |= (bytes[p]! & 0x7f) << shift;
  return word;
}

function putDouble(slots: Slots, slot: number, value: number): void {
  slots.kinds[slot] = DOUBLE_KIND;
  slots.numbers[slot] = value;
}

function putInteger(slots: Slots, slot: number, value: number): void {
  slots.kinds[slot] = INTEGER_KIND;
  slots.numbers[slot] = value;
}

/** `high` signed, `low` not. */
function putSigned(slots: Slots, slot: number, high: number, low: number): void {
  if (high < SAFE_HIGH && (high > -SAFE_HIGH || (high === -SAFE_HIGH && low > 0))) {
    putInteger(slots, slot, high * TWO_32 + low);
    return;
  }
  slots.kinds[slot] = high < 0 ? NEGATIVE_KIND : WIDE_KIND;
  slots.high[slot] = high;
  slots.low[slot] = low;
}

function putUnsigned(slots: Slots, slot: number, high: number, low: number): void {
  if (high < SAFE_HIGH) {
    putInteger(slots, slot, high * TWO_32 + low);
    return;
  }
  slots.kinds[slot] = WIDE_KIND;
  slots.high[slot] = high;
  slots.low[slot] = low;
}
