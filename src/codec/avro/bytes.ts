/**
 * Stretches of an Avro datum that are checked and stepped over without being taken apart.
 *
 * Invariant: nothing at or past `end` is read and nothing is allocated.
 */
import { isUtf8 } from '../../core/utf8.js';

/** Past a zigzag varint of 64 bits at `from`, or −1. */
export function skipLong(bytes: Uint8Array, from: number, end: number): number {
  const last = Math.min(end, from + 10);
  let p = from;
  while (p < last && bytes[p]! >= 0x80) p = (p + 1) | 0;
  if (p >= last || (p === from + 9 && bytes[p]! > 1)) return -1;
  return p + 1;
}

/** True if the bytes are UTF-8: eight at a time while they are ASCII. */
export function isText(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
  let p = start;
  const lastPair = end - 8;
  while (p <= lastPair) {
    if (((view.getInt32(p, true) | view.getInt32(p + 4, true)) & 0x80808080) !== 0) return isUtf8(bytes, p, end);
    p = (p + 8) | 0;
  }
  while (p < end) {
    if (bytes[p]! >= 0x80) return isUtf8(bytes, p, end);
    p = (p + 1) | 0;
  }
  return true;
}
