/**
 * The elements of one CBOR array, or the bytes of a byte string as integers, one at a time, straight from the payload:
 * what `contains` on an array looks through.
 *
 * The bytes have been validated by the walk, so this pass only finds where each element ends. Nothing is allocated.
 */
import { Slots, SLOT_INTEGER } from '../../core/slots.js';
import type { ElementCursor, SoughtNumber } from '../walker.js';
import { captureItem } from './capture.js';
import { argumentAt, ARRAY, BYTES, contentAt, INLINE_ARGUMENTS, MAP, TEXT } from './head.js';

const NOTHING = new Uint8Array(0);

export class CborElements implements ElementCursor {
  readonly slots = new Slots(1);
  private bytes: Uint8Array = NOTHING;
  private view: DataView = new DataView(NOTHING.buffer);
  private at = 0;
  private end = 0;
  private isByteString = false;

  /** Nothing is left open: every float stands in its slot as what it is. */
  seek(value: number): SoughtNumber {
    return { value, isNearest: () => false };
  }

  open(bytes: Uint8Array, start: number, end: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.isByteString = bytes[start]! < TEXT;
    this.at = contentAt(bytes, start);
    this.end = end;
  }

  next(): boolean {
    const { bytes, view, at, end, slots } = this;
    if (at >= end) return false;
    if (this.isByteString) {
      slots.kinds[0] = SLOT_INTEGER;
      slots.numbers[0] = bytes[at]!;
      this.at = at + 1;
    } else {
      this.at = pastItem(bytes, view, at, end);
      captureItem(bytes, view, at, this.at, slots, 0);
    }
    return true;
  }
}

/** Past the valid item at `from`. */
function pastItem(bytes: Uint8Array, view: DataView, from: number, end: number): number {
  let p = from;
  // Items yet to pass; the keys of a map are passed like them.
  for (let left = 1; left > 0; left--) {
    const byte = bytes[p]!;
    const major = byte & 0xe0;
    const info = byte & 31;
    const argument = info < INLINE_ARGUMENTS ? info : argumentAt(bytes, view, p, end);
    p = contentAt(bytes, p);
    if (major === TEXT || major === BYTES) p += argument;
    else if (major === ARRAY) left += argument;
    else if (major === MAP) left += argument * 2;
  }
  return p;
}
