/**
 * From a valid CBOR item to a slot: integers exact to 64 bits, floats of every size as doubles, byte strings as arrays
 * (contract: laser-filter §5). Allocates nothing.
 */
import {
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
  type Slots,
} from '../../core/slots.js';
import {
  argumentAt,
  ARRAY,
  BYTES,
  contentAt,
  DOUBLE,
  FALSE,
  HALF,
  MAP,
  NEGATIVE,
  SIMPLE,
  SINGLE,
  TEXT,
  TRUE,
} from './head.js';

const TWO_32 = 4294967296;
/** High words below this leave an integer below 2^53. */
const SAFE_HIGH = 0x200000;
/** A head with eight bytes of argument. */
const EIGHT_BYTES = 27;

/** Fills `slot` from the valid item whose head stands at `from` and that ends at `past`. */
export function captureItem(
  bytes: Uint8Array,
  view: DataView,
  from: number,
  past: number,
  slots: Slots,
  slot: number,
): void {
  const byte = bytes[from]!;
  const { kinds, starts, ends } = slots;
  switch (byte & 0xe0) {
    case TEXT:
      kinds[slot] = SLOT_STRING;
      starts[slot] = contentAt(bytes, from);
      ends[slot] = past;
      return;
    case BYTES:
    case ARRAY:
    case MAP:
      kinds[slot] = byte >= MAP ? SLOT_OBJECT : SLOT_ARRAY;
      starts[slot] = from;
      ends[slot] = past;
      return;
    case SIMPLE:
      captureSimple(byte, view, from, slots, slot);
      return;
    default:
      captureInteger(bytes, view, from, past, slots, slot);
  }
}

function captureInteger(
  bytes: Uint8Array,
  view: DataView,
  from: number,
  past: number,
  slots: Slots,
  slot: number,
): void {
  const byte = bytes[from]!;
  const isNegative = byte >= NEGATIVE;
  if ((byte & 31) === EIGHT_BYTES) {
    const high = view.getUint32(from + 1);
    const low = view.getUint32(from + 5);
    // The argument of a negative integer is one less than how far it stands below zero: −2^53 has a safe one.
    if (high >= SAFE_HIGH || (isNegative && high === SAFE_HIGH - 1 && low === TWO_32 - 1)) {
      slots.kinds[slot] = isNegative ? SLOT_NEGATIVE_WIDE : SLOT_INTEGER_WIDE;
      slots.high[slot] = isNegative ? ~high : high;
      slots.low[slot] = isNegative ? ~low : low;
      return;
    }
  }
  const argument = argumentAt(bytes, view, from, past);
  slots.kinds[slot] = SLOT_INTEGER;
  slots.numbers[slot] = isNegative ? -1 - argument : argument;
}

function captureSimple(byte: number, view: DataView, from: number, slots: Slots, slot: number): void {
  const { kinds, numbers } = slots;
  switch (byte) {
    case FALSE:
      kinds[slot] = SLOT_FALSE;
      return;
    case TRUE:
      kinds[slot] = SLOT_TRUE;
      return;
    case DOUBLE:
      kinds[slot] = SLOT_DOUBLE;
      numbers[slot] = view.getFloat64(from + 1);
      return;
    case SINGLE:
      kinds[slot] = SLOT_DOUBLE;
      numbers[slot] = view.getFloat32(from + 1);
      return;
    case HALF:
      kinds[slot] = SLOT_DOUBLE;
      numbers[slot] = halfToDouble(view.getUint16(from + 1));
      return;
    default:
      kinds[slot] = SLOT_NULL;
  }
}

/** A finite IEEE 754 binary16 (a bit of sign, five of exponent, ten of fraction) as the double that it is exactly. */
function halfToDouble(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  // 2^−24 is the least there is; below exponent 1 there is no hidden bit.
  const value = (exponent === 0 ? fraction : (1024 + fraction) * (1 << (exponent - 1))) / 16777216;
  return bits >= 0x8000 ? -value : value;
}
