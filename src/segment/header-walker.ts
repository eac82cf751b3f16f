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
const FIELD_BYTES_MAX = 255;
const NONE = -1;

export class HeaderWalker {
  /**
   * Slot `i` belongs to key `i`: text is SLOT_STRING, bytes that are neither text nor a number SLOT_OBJECT. Only the
   * first row is filled.
   */
  readonly slots: Slots;
  /** All keys behind each other; key `i` from `keyStarts[i]` to `keyStarts[i + 1]`. */
  private readonly keyBytes: Uint8Array;
  private readonly keyStarts: Int32Array;
  /** Which classes of keys (see `markOf`) hold a wanted one, as bits; and the keys of each class, chained. */
  private readonly marks: number;
  private readonly firstMarked = new Int32Array(32).fill(NONE);
  private readonly nextMarked: Int32Array;
  private bytes: Uint8Array = new Uint8Array(0);
  /** Covers `bytes`; made again only when another buffer comes. */
  private view: DataView = new DataView(new ArrayBuffer(0));
  private readonly floatBytes = new DataView(new ArrayBuffer(8));

  /** `keys` are distinct and not empty; `slots` has one for each. */
  constructor(keys: readonly string[], slots: Slots = new Slots(keys.length)) {
    const encoder = new TextEncoder();
    const encoded = keys.map((key) => encoder.encode(key));
    this.slots = slots;
    this.keyStarts = new Int32Array(keys.length + 1);
    this.nextMarked = new Int32Array(keys.length).fill(NONE);
    let marks = 0;
    for (const [slot, key] of encoded.entries()) {
      this.keyStarts[slot + 1] = this.keyStarts[slot]! + key.length;
      const mark = markOf(key[0]!, key.length);
      marks |= 1 << mark;
      this.nextMarked[slot] = this.firstMarked[mark]!;
      this.firstMarked[mark] = slot;
    }
    this.marks = marks;
    this.keyBytes = new Uint8Array(this.keyStarts[keys.length]!);
    for (const [slot, key] of encoded.entries()) this.keyBytes.set(key, this.keyStarts[slot]!);
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
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    const { view } = this;
    const { count, kinds } = this.slots;
    const onlyLength = only === NONE ? 0 : this.keyStarts[only + 1]! - this.keyStarts[only]!;
    for (let slot = 0; slot < count; slot++) kinds[slot] = SLOT_MISSING;
    let p = start;
    while (p < end) {
      const keyStart = p + PREFIX_BYTES;
      if (keyStart > end) return false;
      const keyKind = bytes[p]!;
      const keyLength = view.getInt32(p + 1, true);
      const keyEnd = keyStart + keyLength;
      const valueStart = keyEnd + PREFIX_BYTES;
      if (keyKind === 0 || !isFieldLength(keyLength) || valueStart > end) return false;
      const valueKind = bytes[keyEnd]!;
      const valueLength = view.getInt32(keyEnd + 1, true);
      const valueEnd = valueStart + valueLength;
      if (valueKind === 0 || !isFieldLength(valueLength) || valueEnd > end) return false;
      if (keyKind === TEXT_KIND) {
        if (only === NONE) {
          const slot = this.slotOf(bytes, keyStart, keyEnd);
          if (slot === NONE && !this.isText(keyStart, keyEnd)) return false;
          if (!this.readValue(slot, valueKind, bytes, valueStart, valueEnd)) return false;
        } else if (keyLength === onlyLength && this.slotOf(bytes, keyStart, keyEnd) === only) {
          if (!this.readValue(only, valueKind, bytes, valueStart, valueEnd)) return false;
        }
      }
      p = valueEnd;
    }
    return true;
  }

  /** True for UTF-8; ASCII, which keys and values mostly are, is seen four bytes at a time. */
  private isText(start: number, end: number): boolean {
    const { bytes, view } = this;
    const lastWord = end - 4;
    if (lastWord < start) return isUtf8(bytes, start, end);
    // The last word may overlap the one before it, so that no single bytes are left over.
    let seen = view.getInt32(lastWord, true);
    for (let p = start; p < lastWord; p += 4) seen |= view.getInt32(p, true);
    return (seen & 0x80808080) === 0 || isUtf8(bytes, start, end);
  }

  /** Checks a value under a text key and, unless `slot` is NONE, keeps it. */
  private readValue(slot: number, kind: number, bytes: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    switch (kind) {
      case 2:
        if (!this.isText(start, end)) return false;
        if (slot !== NONE) this.putBytes(slot, SLOT_STRING, start, end);
        return true;
      case 3:
        if (length !== 1 || bytes[start]! > 1) return false;
        if (slot !== NONE) this.slots.kinds[slot] = bytes[start] === 1 ? SLOT_TRUE : SLOT_FALSE;
        return true;
      case 4:
        return length === 1 && this.putInteger(slot, (bytes[start]! << 24) >> 24, 0);
      case 5:
        return length === 2 && this.putInteger(slot, ((bytes[start]! | (bytes[start + 1]! << 8)) << 16) >> 16, 0);
      case 6:
        return length === 4 && this.putInteger(slot, readU32(bytes, start) | 0, 0);
      case 7:
        return length === 8 && this.putWide(slot, readU32(bytes, start + 4), readU32(bytes, start), true);
      case 9:
        return length === 1 && this.putInteger(slot, bytes[start]!, 1);
      case 10:
        return length === 2 && this.putInteger(slot, bytes[start]! | (bytes[start + 1]! << 8), 1);
      case 11:
        return length === 4 && this.putInteger(slot, readU32(bytes, start), 1);
      case 12:
        return length === 8 && this.putWide(slot, readU32(bytes, start + 4), readU32(bytes, start), false);
      case 14:
        return length === 4 && this.putFloat(slot, bytes, start, 4);
      case 15:
        return length === 8 && this.putFloat(slot, bytes, start, 8);
      case 8:
      case 13:
        return length === 16 && this.putRaw(slot, start, end);
      default:
        return this.putRaw(slot, start, end);
    }
  }

  /** Raw bytes are text where they happen to be UTF-8. */
  private putRaw(slot: number, start: number, end: number): true {
    if (slot !== NONE) this.putBytes(slot, this.isText(start, end) ? SLOT_STRING : SLOT_OBJECT, start, end);
    return true;
  }

  private putBytes(slot: number, kind: number, start: number, end: number): void {
    this.slots.kinds[slot] = kind;
    this.slots.starts[slot] = start;
    this.slots.ends[slot] = end;
  }

  /** `isUnsigned`: 1 where the value's kind is an unsigned one, else 0. */
  private putInteger(slot: number, value: number, isUnsigned: 0 | 1): true {
    if (slot !== NONE) {
      this.slots.kinds[slot] = SLOT_INTEGER;
      this.slots.numbers[slot] = value;
      this.slots.high[slot] = isUnsigned;
    }
    return true;
  }

  private putWide(slot: number, high: number, low: number, isSigned: boolean): boolean {
    if (slot === NONE) return true;
    const value = (isSigned ? high | 0 : high) * 0x1_0000_0000 + low;
    if (Number.isSafeInteger(value)) return this.putInteger(slot, value, isSigned ? 0 : 1);
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
    const mark = markOf(bytes[start]!, length);
    // PERF: most unwanted keys share no first byte and length with a wanted one.
    if (((this.marks >>> mark) & 1) === 0) return NONE;
    const { keyBytes, keyStarts } = this;
    let slot = this.firstMarked[mark]!;
    while (slot !== NONE) {
      const keyStart = keyStarts[slot]!;
      if (keyStarts[slot + 1]! - keyStart === length) {
        let at = 0;
        while (at < length && keyBytes[keyStart + at] === bytes[start + at]) at++;
        if (at === length) return slot;
      }
      slot = this.nextMarked[slot]!;
    }
    return NONE;
  }
}

/** One of 32 classes of keys. */
function markOf(firstByte: number, length: number): number {
  return (firstByte + length * 7) & 31;
}

/** True for 1…255, from the four length bytes read as a signed number. */
function isFieldLength(length: number): boolean {
  return (length - 1) >>> 0 < FIELD_BYTES_MAX;
}
