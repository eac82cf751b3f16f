/**
 * From the text of a valid JSON number to a slot: integers exact to 64 bits, other numbers the nearest double where one
 * correctly rounded operation finds it (contract: laser-filter §3).
 *
 * A number without fraction or exponent in −2^63 … 2^64−1 is an integer; all others, and `-0`, are doubles. What takes
 * more than that is left to the host: the slot then is a double that is NaN, and its range the number's text.
 */
import { WINDOW_AT } from './layout';
import {
  putKind,
  putNumber,
  putRange,
  putWords,
  SLOT_DOUBLE,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_NEGATIVE_WIDE,
} from './slots';

const SAFE_MAX: u64 = ((<u64>1) << 53) - 1;

/** True once a number of the payload at hand was left to the host. */
export let numbersLeft: bool = false;

/** To be called before the first number of a payload. */
export function resetNumbers(): void {
  numbersLeft = false;
}

/** Fills `slot` from the number at `start`. The payload is valid, so the number ends at another byte. */
export function putJsonNumber(slot: i32, start: usize): void {
  let at = start;
  const isNegative = load<u8>(at) == 0x2d;
  if (isNegative) at++;
  let value: u64 = 0;
  const first = at;
  for (; ; at++) {
    const digit = <u32>load<u8>(at) - 0x30;
    if (digit > 9) break;
    value = value * 10 + digit;
  }
  let digits = at - first;
  const byte = load<u8>(at);
  if (byte != 0x2e && (byte | 0x20) != 0x65) {
    if (digits <= 19) {
      putInteger(slot, value, isNegative, start, at);
      return;
    }
    leave(slot, start, at);
    return;
  }
  let power = 0;
  if (byte == 0x2e) {
    const point = at + 1;
    at = point;
    for (; ; at++) {
      const digit = <u32>load<u8>(at) - 0x30;
      if (digit > 9) break;
      value = value * 10 + digit;
    }
    digits += at - point;
    power = <i32>(at - point);
    if ((load<u8>(at) | 0x20) != 0x65 && digits <= 19 && power <= 22 && value <= SAFE_MAX) {
      const magnitude = <f64>value / powerOfTen(power);
      putKind(slot, SLOT_DOUBLE);
      putNumber(slot, isNegative ? -magnitude : magnitude);
      return;
    }
  }
  while (isNumberByte(load<u8>(at))) at++;
  leave(slot, start, at);
}

function putInteger(slot: i32, value: u64, isNegative: bool, start: usize, end: usize): void {
  if (value <= SAFE_MAX) {
    const magnitude = <f64>value;
    putKind(slot, isNegative && value == 0 ? SLOT_DOUBLE : SLOT_INTEGER);
    putNumber(slot, isNegative ? -magnitude : magnitude);
  } else if (!isNegative) {
    putKind(slot, SLOT_INTEGER_WIDE);
    putWords(slot, value);
  } else if (value <= (<u64>1) << 63) {
    putKind(slot, SLOT_NEGATIVE_WIDE);
    putWords(slot, 0 - value);
  } else leave(slot, start, end);
}

function leave(slot: i32, start: usize, end: usize): void {
  numbersLeft = true;
  putKind(slot, SLOT_DOUBLE);
  putNumber(slot, NaN);
  putRange(slot, start - WINDOW_AT, end - WINDOW_AT);
}

function isNumberByte(byte: u32): bool {
  return byte - 0x30 <= 9 || byte == 0x2e || byte == 0x2b || byte == 0x2d || (byte | 0x20) == 0x65;
}

/** 10^0 … 10^22, all of which are doubles. */
const POWERS: usize = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
  1e21, 1e22,
]);

function powerOfTen(power: i32): f64 {
  return load<f64>(POWERS + ((<usize>power) << 3));
}
