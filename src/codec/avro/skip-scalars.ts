/**
 * Runs of scalars of one type that nobody wants: checked and stepped over in loops of their own, where a walk spends most
 * of its time. Each function steps over `count` values from `from` on and returns what is past them, or `~i` where value
 * `i`, from 0, is not valid.
 *
 * PERF: lengths are what a processor cannot foresee, so that short texts and integers of every length take the same way.
 * Words are read past a value, but nothing at or past `end`; nothing is allocated.
 */
import { isUtf8Text } from '../utf8-text.js';
import { skipVarint, type Varint } from './varint.js';

const HIGH_BITS = 0x80808080 | 0;
/** The bits that tell ASCII in the first and the second word of a text of 0…8 bytes. */
const FIRST_BITS = Int32Array.of(0, 0x80, 0x8080, 0x808080, HIGH_BITS, HIGH_BITS, HIGH_BITS, HIGH_BITS, HIGH_BITS);
const SECOND_BITS = Int32Array.of(0, 0, 0, 0, 0, 0x80, 0x8080, 0x808080, HIGH_BITS);

/** `varint` is whoever's: it reads the lengths that take more than two bytes. */
export function skipStrings(
  bytes: Uint8Array,
  view: DataView,
  varint: Varint,
  from: number,
  end: number,
  count: number,
): number {
  const last = end | 0;
  const values = count | 0;
  let p = from | 0;
  for (let at = 0; at < values; at = (at + 1) | 0) {
    if (p >= last) return ~at;
    let length = view.getUint8(p);
    if (length < 0x80) {
      p = (p + 1) | 0;
    } else {
      const next = p < ((last - 1) | 0) ? view.getUint8((p + 1) | 0) : 0x80;
      if (next < 0x80) {
        length = (length & 0x7f) | (next << 7);
        p = (p + 2) | 0;
      } else {
        p = varint.read(view, p, last) | 0;
        if (p < 0 || varint.asLength() < 0) return ~at;
        length = varint.asLength() << 1;
      }
    }
    if ((length & 1) !== 0) return ~at;
    length >>>= 1;
    if (length > ((last - p) | 0)) return ~at;
    const past = (p + length) | 0;
    let marks = 0;
    if (length > 8) {
      // The last eight bytes overlap those before, so that no byte has to be looked at alone.
      const lastPair = (past - 8) | 0;
      while (p < lastPair) {
        marks |= view.getInt32(p, true) | view.getInt32((p + 4) | 0, true);
        p = (p + 8) | 0;
      }
      marks = (marks | view.getInt32(lastPair, true) | view.getInt32((lastPair + 4) | 0, true)) & HIGH_BITS;
    } else if (p <= ((last - 8) | 0)) {
      // Words are read past the text and masked, so that short texts of every length take the same way.
      marks =
        (view.getInt32(p, true) & FIRST_BITS[length]!) | (view.getInt32((p + 4) | 0, true) & SECOND_BITS[length]!);
    } else {
      while (p < past) {
        marks |= view.getUint8(p) & 0x80;
        p = (p + 1) | 0;
      }
    }
    if (marks !== 0 && !isUtf8Text(bytes, view, (past - length) | 0, past)) return ~at;
    p = past;
  }
  return p;
}

export function skipLongs(view: DataView, from: number, end: number, count: number): number {
  const values = count | 0;
  let p = from | 0;
  for (let at = 0; at < values; at = (at + 1) | 0) {
    p = skipVarint(view, p, end) | 0;
    if (p < 0) return ~at;
  }
  return p;
}

export function skipInts(view: DataView, varint: Varint, from: number, end: number, count: number): number {
  const values = count | 0;
  let p = from | 0;
  for (let at = 0; at < values; at = (at + 1) | 0) {
    const past = skipVarint(view, p, end) | 0;
    if (past < 0) return ~at;
    // Four bytes are 28 bits.
    if (((past - p) | 0) > 4) {
      varint.read(view, p, end);
      if (!varint.isInt()) return ~at;
    }
    p = past;
  }
  return p;
}

export function skipDoubles(view: DataView, from: number, end: number, count: number): number {
  const lastPlace = ((end | 0) - 8) | 0;
  const values = count | 0;
  let p = from | 0;
  for (let at = 0; at < values; at = (at + 1) | 0) {
    // All ones in the exponent is infinite or no number.
    if (p > lastPlace || (~view.getInt32((p + 4) | 0, true) & 0x7ff00000) === 0) return ~at;
    p = (p + 8) | 0;
  }
  return p;
}

export function skipFloats(view: DataView, from: number, end: number, count: number): number {
  const lastPlace = ((end | 0) - 4) | 0;
  const values = count | 0;
  let p = from | 0;
  for (let at = 0; at < values; at = (at + 1) | 0) {
    if (p > lastPlace || (~view.getInt32(p, true) & 0x7f800000) === 0) return ~at;
    p = (p + 4) | 0;
  }
  return p;
}

export function skipBooleans(view: DataView, from: number, end: number, count: number): number {
  const last = end | 0;
  const values = count | 0;
  let p = from | 0;
  for (let at = 0; at < values; at = (at + 1) | 0) {
    if (p >= last || view.getUint8(p) > 1) return ~at;
    p = (p + 1) | 0;
  }
  return p;
}
