/**
 * The elements of one JSON array, one at a time, straight from its bytes: what `contains` on an array looks through.
 *
 * The bytes have been validated by the walk, so this pass only finds where each element ends. Nothing is allocated.
 */
import {
  Slots,
  SLOT_ARRAY,
  SLOT_FALSE,
  SLOT_NULL,
  SLOT_OBJECT,
  SLOT_STRING,
  SLOT_STRING_ESCAPED,
  SLOT_TRUE,
} from '../../core/slots.js';
import type { ElementCursor, SoughtNumber } from '../walker.js';
import { NearestDouble } from './decimal-order.js';
import { captureNumber } from './number.js';
import { BACKSLASH, QUOTE } from './plain-text.js';

const NOTHING = new Uint8Array(0);

export class JsonElements implements ElementCursor {
  readonly slots = new Slots(1);
  private readonly kinds = this.slots.kinds;
  private readonly starts = this.slots.starts;
  private readonly ends = this.slots.ends;
  private bytes: Uint8Array = NOTHING;
  private at = 0;
  private end = 0;
  private sought: SoughtNumber | null = null;

  seek(value: number): SoughtNumber {
    return new NearestDouble(value);
  }

  open(bytes: Uint8Array, start: number, end: number, sought: SoughtNumber | null): void {
    this.bytes = bytes;
    this.sought = sought;
    // Between the brackets.
    this.at = start + 1;
    this.end = end - 1;
  }

  next(): boolean {
    const { bytes, end, kinds, starts, ends } = this;
    let p = this.at;
    let byte = 0;
    for (; ; p++) {
      if (p >= end) return false;
      byte = bytes[p]!;
      if (!isBetween(byte)) break;
    }
    const start = p;
    if (byte === QUOTE) {
      let kind = SLOT_STRING;
      for (p++; bytes[p] !== QUOTE; p++) {
        if (bytes[p] === BACKSLASH) {
          kind = SLOT_STRING_ESCAPED;
          p++;
        }
      }
      kinds[0] = kind;
      starts[0] = start + 1;
      ends[0] = p;
      this.at = p + 1;
      return true;
    }
    switch (byte) {
      case 0x7b:
      case 0x5b:
        p = containerEnd(bytes, p);
        kinds[0] = byte === 0x7b ? SLOT_OBJECT : SLOT_ARRAY;
        starts[0] = start;
        ends[0] = p;
        break;
      case 0x74:
        kinds[0] = SLOT_TRUE;
        p += 4;
        break;
      case 0x66:
        kinds[0] = SLOT_FALSE;
        p += 5;
        break;
      case 0x6e:
        kinds[0] = SLOT_NULL;
        p += 4;
        break;
      default:
        while (p < end && !isBetween(bytes[p]!)) p++;
        if (!captureNumber(bytes, start, p, this.slots, 0) && this.sought?.isNearest(bytes, start, p) === true) {
          this.slots.numbers[0] = this.sought.value;
        }
    }
    this.at = p;
    return true;
  }
}

function isBetween(byte: number): boolean {
  return byte === 0x2c || byte <= 0x20;
}

/** Past the closing quote of the string that opens at `p`. */
function stringEnd(bytes: Uint8Array, start: number): number {
  let p = start + 1;
  while (bytes[p] !== QUOTE) p += bytes[p] === BACKSLASH ? 2 : 1;
  return p + 1;
}

/** Past the bracket that closes the one at `p`. */
function containerEnd(bytes: Uint8Array, start: number): number {
  let depth = 0;
  let p = start;
  do {
    const byte = bytes[p]!;
    if (byte === QUOTE) {
      p = stringEnd(bytes, p);
      continue;
    }
    if (byte === 0x7b || byte === 0x5b) depth++;
    else if (byte === 0x7d || byte === 0x5d) depth--;
    p++;
  } while (depth > 0);
  return p;
}
