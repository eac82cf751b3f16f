/**
 * Zigzag varints of 64 bits as Avro writes `int` and `long`, lengths and counts, without BigInt.
 *
 * Up to ten bytes, of which the tenth holds the last of the 64 bits; longer than needed is allowed. Invariant: nothing at
 * or past `end` is read and nothing is allocated.
 */
const TWO_32 = 4294967296;
const BYTES_MAX = 10;
const HIGH_BITS = 0x80808080 | 0;

export class Varint {
  /** The last integer that was read, in two's complement. */
  low = 0;
  high = 0;

  /** Reads the integer at `from` and returns what is past it, or −1 where none is. */
  read(view: DataView, from: number, end: number): number {
    let p = from;
    // 28 bits, 28 bits and 8 bits.
    let first = 0;
    let second = 0;
    let third = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (p >= end) return -1;
      const byte = view.getUint8(p);
      p = (p + 1) | 0;
      const bits = byte & 0x7f;
      if (shift < 28) first |= bits << shift;
      else if (shift < 56) second |= bits << (shift - 28);
      else third |= bits << (shift - 56);
      if (byte < 0x80) {
        if (shift === 63 && byte > 1) return -1;
        const low = first | (second << 28);
        const high = (second >>> 4) | (third << 24);
        const sign = -(low & 1);
        this.low = ((low >>> 1) | (high << 31)) ^ sign;
        this.high = (high >>> 1) ^ sign;
        return p;
      }
    }
    return -1;
  }

  /** True if the last integer has 32 bits: the high word does nothing but repeat the sign. */
  isInt(): boolean {
    return this.high === this.low >> 31;
  }

  /** The last integer as a double: exact within ±2^53. */
  asNumber(): number {
    return this.high * TWO_32 + (this.low >>> 0);
  }

  /** The last integer where it is a length or a place of 31 bits, which are all that a buffer can have; else −1. */
  asLength(): number {
    return this.high === 0 ? Math.max(this.low, -1) : -1;
  }
}

/** What is past the integer at `from`, or −1 where none is. */
export function skipVarint(view: DataView, from: number, end: number): number {
  const start = from | 0;
  const after = end | 0;
  if (start <= ((after - 8) | 0)) {
    let ends = ~view.getInt32(start, true) & HIGH_BITS;
    if (ends !== 0) return (start + 1 + ((31 - Math.clz32(ends & -ends)) >>> 3)) | 0;
    ends = ~view.getInt32((start + 4) | 0, true) & HIGH_BITS;
    if (ends !== 0) return (start + 5 + ((31 - Math.clz32(ends & -ends)) >>> 3)) | 0;
  }
  const last = Math.min(after, (start + BYTES_MAX) | 0);
  let p = start;
  while (p < last && view.getUint8(p) >= 0x80) p = (p + 1) | 0;
  return p >= last || (p === ((start + BYTES_MAX - 1) | 0) && view.getUint8(p) > 1) ? -1 : (p + 1) | 0;
}
