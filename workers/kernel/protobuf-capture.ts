/**
 * Single Protobuf values from their bytes into slots. The bytes have been validated by the walk.
 */
import { WINDOW_AT } from './layout';
import { afterVarint, varintAt } from './protobuf-wire';
import {
  putKind,
  putNumber,
  putRange,
  putWords,
  SLOT_ARRAY,
  SLOT_DOUBLE,
  SLOT_FALSE,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_NEGATIVE_WIDE,
  SLOT_STRING,
  SLOT_TRUE,
} from './slots';

// Types of values: `src/codec/protobuf/capture.ts`.
export const RAW_BYTE: i32 = 0;
const DOUBLE: i32 = 1;
const FLOAT: i32 = 2;
const UINT64: i32 = 4;
const INT32: i32 = 5;
const FIXED64: i32 = 6;
const FIXED32: i32 = 7;
const BOOL: i32 = 8;
export const STRING: i32 = 9;
export const MESSAGE: i32 = 11;
export const BYTES: i32 = 12;
const UINT32: i32 = 13;
const SFIXED32: i32 = 15;
const SFIXED64: i32 = 16;
const SINT32: i32 = 17;
const SINT64: i32 = 18;

const SAFE_MAX: i64 = 9007199254740991;

/** Fills `slot` with the value of type `type`, no message, that starts at `from`, behind its tag, and ends before `past`. */
export function capture(type: i32, from: usize, past: usize, slot: i32): void {
  switch (type) {
    case STRING:
    case BYTES:
      putKind(slot, type == STRING ? SLOT_STRING : SLOT_ARRAY);
      putRange(slot, afterVarint(from) - WINDOW_AT, past - WINDOW_AT);
      return;
    case DOUBLE:
      putDouble(slot, load<f64>(from));
      return;
    case FLOAT:
      putDouble(slot, <f64>load<f32>(from));
      return;
    case FIXED32:
      putSmall(slot, <f64>load<u32>(from));
      return;
    case SFIXED32:
      putSmall(slot, <f64>load<i32>(from));
      return;
    case FIXED64:
      putUnsigned(slot, load<u64>(from));
      return;
    case SFIXED64:
      putSigned(slot, load<i64>(from));
      return;
    case RAW_BYTE:
      putSmall(slot, <f64>load<u8>(from));
      return;
    default:
      putVarint(type, varintAt(from), slot);
  }
}

function putVarint(type: i32, value: u64, slot: i32): void {
  const low = <u32>value;
  switch (type) {
    case INT32:
      putSmall(slot, <f64>(<i32>low));
      return;
    case UINT32:
      putSmall(slot, <f64>low);
      return;
    case SINT32:
      putSmall(slot, <f64>((<i32>(low >> 1)) ^ -(<i32>(low & 1))));
      return;
    case BOOL:
      putKind(slot, value == 0 ? SLOT_FALSE : SLOT_TRUE);
      return;
    case UINT64:
      putUnsigned(slot, value);
      return;
    case SINT64:
      putSigned(slot, (<i64>(value >> 1)) ^ -(<i64>(value & 1)));
      return;
    default:
      putSigned(slot, <i64>value);
  }
}

/** Fills `slot` with the default of type `type`, which for an enum is `number`; texts are empty at `origin`. */
export function captureDefault(type: i32, number: i32, origin: usize, slot: i32): void {
  putNumber(slot, <f64>number);
  putRange(slot, origin - WINDOW_AT, origin - WINDOW_AT);
  let kind = SLOT_INTEGER;
  if (type == DOUBLE || type == FLOAT) kind = SLOT_DOUBLE;
  else if (type == BOOL) kind = SLOT_FALSE;
  else if (type == STRING) kind = SLOT_STRING;
  else if (type == BYTES) kind = SLOT_ARRAY;
  putKind(slot, kind);
}

/** Where the value of type `type`, which may stand packed, ends that starts at `from`. */
export function elementEnd(type: i32, from: usize): usize {
  if (type == DOUBLE || type == FIXED64 || type == SFIXED64) return from + 8;
  if (type == FLOAT || type == FIXED32 || type == SFIXED32) return from + 4;
  return afterVarint(from);
}

function putDouble(slot: i32, value: f64): void {
  putKind(slot, SLOT_DOUBLE);
  putNumber(slot, value);
}
function putSmall(slot: i32, value: f64): void {
  putKind(slot, SLOT_INTEGER);
  putNumber(slot, value);
}
function putSigned(slot: i32, value: i64): void {
  if (value >= -SAFE_MAX && value <= SAFE_MAX) {
    putSmall(slot, <f64>value);
    return;
  }
  putKind(slot, value < 0 ? SLOT_NEGATIVE_WIDE : SLOT_INTEGER_WIDE);
  putWords(slot, <u64>value);
}
function putUnsigned(slot: i32, value: u64): void {
  if (value <= <u64>SAFE_MAX) {
    putSmall(slot, <f64>value);
    return;
  }
  putKind(slot, SLOT_INTEGER_WIDE);
  putWords(slot, value);
}
