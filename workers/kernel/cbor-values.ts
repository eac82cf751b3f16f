/**
 * From valid CBOR items to slots: integers exact to 64 bits, floats of every size as doubles, byte strings as arrays
 * (contract: laser-filter §5).
 */
import { argumentAt, ARRAY, BYTES, contentAt, MAP, NEGATIVE, SIMPLE, TEXT } from './cbor-heads';
import { firstIndexOf, indexOf, NO_NODE, nextIndexOf, slotOf } from './cbor-tree';
import { WINDOW_AT } from './layout';
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
  SLOT_NULL,
  SLOT_OBJECT,
  SLOT_STRING,
  SLOT_TRUE,
} from './slots';

/** 2^53 − 1. */
const SAFE_MAX: u64 = 0x1fffffffffffff;

/** Fills the slots of `node`, and of the wanted bytes below it, from the item `from`…`past` that holds no others. */
export function putItem(node: usize, from: usize, past: usize): void {
  const slot = slotOf(node);
  const head = <u32>load<u8>(from);
  if (slot >= 0) putValue(slot, head, from, past);
  if (head < BYTES || head >= TEXT) return;
  const start = contentAt(from);
  for (let child = firstIndexOf(node); child != NO_NODE; child = nextIndexOf(child)) {
    const index = <usize>indexOf(child);
    if (index >= past - start) return;
    const slotOfByte = slotOf(child);
    if (slotOfByte >= 0) putInteger(slotOfByte, false, load<u8>(start + index));
  }
}

function putValue(slot: i32, head: u32, from: usize, past: usize): void {
  if (head >= SIMPLE) putSimple(slot, head, from);
  else if (head < BYTES) putInteger(slot, head >= NEGATIVE, argumentAt(from));
  else if (head >= TEXT && head < ARRAY) {
    putKind(slot, SLOT_STRING);
    putRange(slot, contentAt(from) - WINDOW_AT, past - WINDOW_AT);
  } else {
    putKind(slot, head >= MAP ? SLOT_OBJECT : SLOT_ARRAY);
    putRange(slot, from - WINDOW_AT, past - WINDOW_AT);
  }
}

/** Of a negative integer `argument` is one less than how far it stands below zero. */
function putInteger(slot: i32, isNegative: bool, argument: u64): void {
  if (argument > SAFE_MAX - u64(isNegative)) {
    putKind(slot, isNegative ? SLOT_NEGATIVE_WIDE : SLOT_INTEGER_WIDE);
    putWords(slot, isNegative ? ~argument : argument);
    return;
  }
  putKind(slot, SLOT_INTEGER);
  putNumber(slot, <f64>(isNegative ? ~(<i64>argument) : <i64>argument));
}

function putSimple(slot: i32, head: u32, from: usize): void {
  if (head >= 0xf8) {
    putKind(slot, SLOT_DOUBLE);
    putNumber(slot, head == 0xfb ? reinterpret<f64>(argumentAt(from)) : shortFloat(head, <u32>argumentAt(from)));
    return;
  }
  putKind(slot, head == 0xf4 ? SLOT_FALSE : head == 0xf5 ? SLOT_TRUE : SLOT_NULL);
}

/** A finite float of 32 or 16 bits as the double that it is exactly. */
function shortFloat(head: u32, bits: u32): f64 {
  if (head == 0xfa) return <f64>reinterpret<f32>(bits);
  // A bit of sign, five of exponent, ten of fraction; 2^−24 is the least, and below exponent 1 there is no hidden bit.
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const value = <f64>(exponent == 0 ? fraction : (1024 + fraction) << (exponent - 1)) / 16777216;
  return bits >= 0x8000 ? -value : value;
}
