/**
 * Reads the wanted entries of a user header block into slots without building values (contract: formats §3).
 *
 * The scan loop's reader of header blocks: the bytes are judged exactly as the decoder of whole blocks judges them, but
 * nothing is allocated. Grammar, entries back to back:
 *
 *     key kind u8 (not 0) | key length u32 LE (1…255) | key | value kind u8 (not 0) | value length u32 LE (1…255) | value
 *
 * Invariants: no length is trusted before the bytes are there; the last entry of a repeated key counts; a fault leaves
 * the slots undefined.
 */
import {
  Slots,
  SLOT_DOUBLE,
  SLOT_FALSE,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_MISSING,
  SLOT_NEGATIVE_WIDE,
  SLOT_OBJECT,
  SLOT_STRING,
  SLOT_TRUE,
} from '../core/slots.js';
import { isUtf8 } from '../core/utf8.js';
import { readU32 } from './little-endian.js';

const TEXT_KIND = 2;
/** Kind and length in front of every key and value. */
const PREFIX_BYTES = 5;
const NONE = -1;

export class HeaderWalker {
  /** Slot `i` belongs to key `i`: text is SLOT_STRING, bytes that are neither text nor a number SLOT_OBJECT. */
  readonly slots: Slots;
  private readonly keys: readonly Uint8Array[];
  // Buckets of keys by length, first and last byte.
  private readonly firstInBucket: Int32Array;
  private readonly nextInBucket: Int32Array;
  private readonly floatBytes = new DataView(new ArrayBuffer(8));

  /** `keys` are distinct and not empty. */
  constructor(keys: readonly string[]) {
    const encoder = new TextEncoder();
    this.slots = new Slots(keys.length);
    this.keys = keys.map((key) => encoder.encode(key));
    let size = 1;
    while (size < keys.length * 4) size *= 2;
    this.firstInBucket = new Int32Array(size).fill(NONE);
    this.nextInBucket = new Int32Array(keys.length).fill(NONE);
    for (const [slot, key] of this.keys.entries()) {
      const bucket = this.bucketOf(key, 0, key.length);
      this.nextInBucket[slot] = this.firstInBucket[bucket]!;
      this.firstInBucket[bucket] = slot;
    }
  }

  /** Reads the whole block `bytes[start, end)`; false if any of it is malformed. */
  readAll(bytes: Uint8Array, start: number, end: number): boolean {
    return this.read(bytes, start, end, NONE);
  }

  /**
   * Reads only the key of `slot`: other entries are stepped over and their keys and values not looked at, and their
   * slots become missing. False if the structure or any entry under that key is malformed.
   */
  readOnly(slot: number, bytes: Uint8Array, start: number, end: number): boolean {
    return this.read(bytes, start, end, slot);
  }

  private read(bytes: Uint8Array, start: number, end: number, only: number): boolean {
    const kinds = this.slots.kinds;
    for (let slot = 0; slot < kinds.length; slot++) kinds[slot] = SLOT_MISSING;
    let p = start;
    while (p < end) {
      if (!prefixFits(bytes, p, end)) return false;
      const keyKind = bytes[p]!;
      const keyStart = p + PREFIX_BYTES;
      const keyEnd = keyStart + bytes[p + 1]!;
      if (!prefixFits(bytes, keyEnd, end)) return false;
      const valueStart = keyEnd + PREFIX_BYTES;
      const valueEnd = valueStart + bytes[keyEnd + 1]!;
      if (keyKind === TEXT_KIND) {
        const slot = this.slotOf(bytes, keyStart, keyEnd);
        if (only === NONE) {
          if (slot === NONE && !isUtf8(bytes, keyStart, keyEnd)) return false;
          if (!this.readValue(slot, bytes[keyEnd]!, bytes, valueStart, valueEnd)) return false;
        } else if (slot === only) {
          if (!this.readValue(slot, bytes[keyEnd]!, bytes, valueStart, valueEnd)) return false;
        }
      }
      p = valueEnd;
    }
    return true;
  }

  /** Checks a value under a text key and, unless `slot` is NONE, keeps it. */
  private readValue(slot: number, kind: number, bytes: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    switch (kind) {
      case 2:
        if (!isUtf8(bytes, start, end)) return false;
        if (slot !== NONE) this.putBytes(slot, SLOT_STRING, start, end);
        return true;
      case 3:
        if (length !== 1 || bytes[start]! > 1) return false;
        if (slot !== NONE) this.slots.kinds[slot] = bytes[start] === 1 ? SLOT_TRUE : SLOT_FALSE;
        return true;
      case 4:
        return length === 1 && this.putInteger(slot, (bytes[start]! << 24) >> 24);
      case 5:
        return length === 2 && this.putInteger(slot, ((bytes[start]! | (bytes[start + 1]! << 8)) << 16) >> 16);
      case 6:
        return length === 4 && this.putInteger(slot, readU32(bytes, start) | 0);
      case 7:
        return length === 8 && this.putWide(slot, readU32(bytes, start + 4), readU32(bytes, start), true);
      case 9:
        return length === 1 && this.putInteger(slot, bytes[start]!);
      case 10:
        return length === 2 && this.putInteger(slot, bytes[start]! | (bytes[start + 1]! << 8));
      case 11:
        return length === 4 && this.putInteger(slot, readU32(bytes, start));
      case 12:
        return length === 8 && this.putWide(slot, readU32(bytes, start + 4), readU32(bytes, start), false);
      case 14:
        return length === 4 && this.putFloat(slot, bytes, start, 4);
      case 15:
        return length === 8 && this.putFloat(slot, bytes, start, 8);
      case 8:
      case 13:
        return length === 16 && this.putRaw(slot, bytes, start, end);
      default:
        return this.putRaw(slot, bytes, start, end);
    }
  }

  /** Raw bytes are text where they happen to be UTF-8. */
  private putRaw(slot: number, bytes: Uint8Array, start: number, end: number): true {
    if (slot !== NONE) this.putBytes(slot, isUtf8(bytes, start, end) ? SLOT_STRING : SLOT_OBJECT, start, end);
    return true;
  }

  private putBytes(slot: number, kind: number, start: number, end: number): void {
    this.slots.kinds[slot] = kind;
    this.slots.starts[slot] = start;
    this.slots.ends[slot] = end;
  }

  private putInteger(slot: number, value: number): true {
    if (slot !== NONE) {
      this.slots.kinds[slot] = SLOT_INTEGER;
      this.slots.numbers[slot] = value;
    }
    return true;
  }

  private putWide(slot: number, high: number, low: number, isSigned: boolean): boolean {
    if (slot === NONE) return true;
    const value = (isSigned ? high | 0 : high) * 0x1_0000_0000 + low;
    if (Number.isSafeInteger(value)) return this.putInteger(slot, value);
    this.slots.kinds[slot] = value < 0 ? SLOT_NEGATIVE_WIDE : SLOT_INTEGER_WIDE;
    this.slots.high[slot] = high;
    this.slots.low[slot] = low;
    return true;
  }

  private putFloat(slot: number, bytes: Uint8Array, start: number, width: 4 | 8): true {
    if (slot === NONE) return true;
    const view = this.floatBytes;
    for (let at = 0; at < width; at++) view.setUint8(at, bytes[start + at]!);
    this.slots.kinds[slot] = SLOT_DOUBLE;
    this.slots.numbers[slot] = width === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true);
    return true;
  }

  /** The slot of the key `bytes[start, end)`, or NONE. */
  private slotOf(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    let slot = this.firstInBucket[this.bucketOf(bytes, start, end)]!;
    while (slot !== NONE) {
      const key = this.keys[slot]!;
      if (key.length === length) {
        let at = 0;
        while (at < length && key[at] === bytes[start + at]) at++;
        if (at === length) return slot;
      }
      slot = this.nextInBucket[slot]!;
    }
    return NONE;
  }

  private bucketOf(bytes: Uint8Array, start: number, end: number): number {
    return (end - start + bytes[start]! * 3 + bytes[end - 1]! * 5) & (this.firstInBucket.length - 1);
  }
}

/** True if kind and length at `p` are well-formed and what they announce lies before `end`. */
function prefixFits(bytes: Uint8Array, p: number, end: number): boolean {
  if (end - p < PREFIX_BYTES || bytes[p] === 0) return false;
  const length = bytes[p + 1]!;
  if (length === 0 || (bytes[p + 2]! | bytes[p + 3]! | bytes[p + 4]!) !== 0) return false;
  return length <= end - p - PREFIX_BYTES;
}
