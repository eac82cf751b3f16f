/**
 * Steps over one CBOR item that nobody wants, checking all of it: the inner loop of the CBOR walker, where most of a
 * payload is spent (contract: laser-filter §5).
 *
 * PERF: one flat loop; additions end in `| 0` so that positions stay plain 32-bit integers, which buffers of up to 1 GiB
 * allow.
 *
 * Invariants: nothing at or past `end` is read, the call stack does not grow with nesting, and nothing is allocated but
 * room for keys of maps larger than any before.
 */
import { DEPTH_CEILING } from '../../core/limits.js';
import { isUtf8Text } from '../utf8-text.js';
import {
  argumentAt,
  ARRAY,
  BAD_ITEM,
  BYTES,
  contentAt,
  DOUBLE,
  FALSE,
  HALF,
  MAP,
  NEGATIVE,
  pastContent,
  pastText,
  SIMPLE,
  SINGLE,
  TAG,
  TEXT,
  TOO_MANY_LEVELS,
  UNDEFINED,
} from './head.js';
import { largeMaps, openSmallMap, SMALL_MAP_KEYS, takeKey } from './map-keys.js';

const IN_ARRAY = 0;
const IN_SMALL_MAP = 1;
const IN_LARGE_MAP = 2;

/** Around each open level: what it is, the items that are left in it, and its stamp. */
const outerKind = new Uint8Array(DEPTH_CEILING + 1);
const outerLeft = new Int32Array(DEPTH_CEILING + 1);
const outerStamp = new Int32Array(DEPTH_CEILING + 1);

/** Bytes behind a head that are looked at as four words, whatever they belong to. */
const WORDS_BYTES = 16;
/** By head: bytes of the whole item, 0 where the head does not say them, or they are more than one and WORDS_BYTES. */
const PLAIN_BYTES = new Uint8Array(256);
/** By head, of each word behind it: bits that are set only in text that is not ASCII. */
const TEXT_BITS = new Int32Array(256 * 4);
/** By head: the bits of the first word that are all set where a float is not finite or an integer is below −2^63. */
const EXCESS_BITS = new Int32Array(256);
const EXCESS = new Int32Array(256).fill(1);

for (let info = 0; info < 24; info++) {
  PLAIN_BYTES[info] = 1;
  PLAIN_BYTES[NEGATIVE + info] = 1;
  if (info > WORDS_BYTES) continue;
  PLAIN_BYTES[BYTES + info] = 1 + info;
  PLAIN_BYTES[TEXT + info] = 1 + info;
  for (let at = 0; at < info; at++) TEXT_BITS[(TEXT + info) * 4 + (at >> 2)]! |= 0x80 << ((at & 3) * 8);
}
for (const [place, size] of [2, 3, 5, 9].entries()) {
  PLAIN_BYTES[24 + place] = size;
  PLAIN_BYTES[NEGATIVE + 24 + place] = size;
}
for (let byte = FALSE; byte <= UNDEFINED; byte++) PLAIN_BYTES[byte] = 1;
for (const [byte, size, bits] of [
  [HALF, 3, 0x7c],
  [SINGLE, 5, 0x807f],
  [DOUBLE, 9, 0xf07f],
  [NEGATIVE + 27, 9, 0x80],
] as const) {
  PLAIN_BYTES[byte] = size;
  EXCESS_BITS[byte] = bits;
  EXCESS[byte] = bits;
}

/**
 * Past the item on `level` whose head stands at `from`; or BAD_ITEM, or TOO_MANY_LEVELS where something stands deeper
 * than `maxLevel` in it. `view` covers the same bytes as `bytes`.
 */
export function skipItem(
  bytes: Uint8Array,
  view: DataView,
  from: number,
  end: number,
  level: number,
  maxLevel: number,
): number {
  let p = from;
  let depth = level;
  let kind = IN_ARRAY;
  let left = 1;
  let stamp = 0;
  // Each turn reads one item, and before it the key that names it in a map.
  for (;;) {
    if (p >= end) return BAD_ITEM;
    if (kind !== IN_ARRAY) {
      p =
        kind === IN_SMALL_MAP
          ? takeKey(bytes, view, p, end, depth - 1, left, stamp)
          : largeMaps.take(bytes, view, p, end);
      if (p < 0 || p >= end) return BAD_ITEM;
    }

    const byte = bytes[p]!;
    const size = PLAIN_BYTES[byte]!;
    const major = byte & 0xe0;
    if (size !== 0 && p < end - WORDS_BYTES) {
      const first = view.getInt32(p + 1, true);
      const inText =
        (first & TEXT_BITS[byte * 4]!) |
        (view.getInt32(p + 5, true) & TEXT_BITS[byte * 4 + 1]!) |
        (view.getInt32(p + 9, true) & TEXT_BITS[byte * 4 + 2]!) |
        (view.getInt32(p + 13, true) & TEXT_BITS[byte * 4 + 3]!);
      if (inText !== 0) {
        if (!isUtf8Text(bytes, view, p + 1, p + size)) return BAD_ITEM;
      } else if ((first & EXCESS_BITS[byte]!) === EXCESS[byte]!) {
        return BAD_ITEM;
      }
      p = (p + size) | 0;
    } else if (major === ARRAY || major === MAP) {
      const count = argumentAt(bytes, view, p, end);
      p = contentAt(bytes, p);
      const items = major === ARRAY ? count : count * 2;
      if (count < 0 || items > end - p) return BAD_ITEM;
      if (count > 0) {
        if (depth >= maxLevel) return major === ARRAY ? TOO_MANY_LEVELS : afterDeepKey(bytes, view, p, end);
        outerKind[depth] = kind;
        outerLeft[depth] = left;
        outerStamp[depth] = stamp;
        left = count | 0;
        if (major === ARRAY) {
          kind = IN_ARRAY;
        } else if (count <= SMALL_MAP_KEYS) {
          kind = IN_SMALL_MAP;
          stamp = openSmallMap(depth, left);
        } else {
          kind = IN_LARGE_MAP;
          largeMaps.open();
        }
        depth = (depth + 1) | 0;
        continue;
      }
    } else {
      p = skipScalar(bytes, view, p, end);
      if (p < 0) return BAD_ITEM;
    }

    // After an item: end what ends here, until something is left to read.
    for (;;) {
      left = (left - 1) | 0;
      if (left !== 0) break;
      if (depth === level) return p;
      if (kind === IN_LARGE_MAP && !largeMaps.close(bytes, view)) return BAD_ITEM;
      depth = (depth - 1) | 0;
      kind = outerKind[depth]!;
      left = outerLeft[depth]!;
      stamp = outerStamp[depth]!;
    }
  }
}

/**
 * What is wrong where a map has entries that would stand too deep: they do, unless the key of the first is bad, which
 * comes before its value.
 */
export function afterDeepKey(bytes: Uint8Array, view: DataView, p: number, end: number): number {
  const past = pastText(bytes, view, p, end);
  return past >= 0 && isUtf8Text(bytes, view, contentAt(bytes, p), past) ? TOO_MANY_LEVELS : BAD_ITEM;
}

/** Past the integer, byte string, text, simple value or float at `p`, or BAD_ITEM. */
export function skipScalar(bytes: Uint8Array, view: DataView, p: number, end: number): number {
  const byte = bytes[p]!;
  if (byte >= SIMPLE) return skipSimple(bytes, p, end);
  if (byte >= TAG) return BAD_ITEM;
  if (byte >= TEXT) {
    const past = pastContent(bytes, view, p, end);
    return past >= 0 && isUtf8Text(bytes, view, contentAt(bytes, p), past) ? past : BAD_ITEM;
  }
  if (byte >= BYTES) return pastContent(bytes, view, p, end);
  if (argumentAt(bytes, view, p, end) < 0) return BAD_ITEM;
  // An integer below −2^63: eight bytes whose first bit is set.
  if (byte === NEGATIVE + 27 && bytes[p + 1]! >= 0x80) return BAD_ITEM;
  return contentAt(bytes, p);
}

/** Past the simple value or finite float at `p`, or BAD_ITEM. */
function skipSimple(bytes: Uint8Array, p: number, end: number): number {
  const byte = bytes[p]!;
  switch (byte) {
    case DOUBLE:
      // Eleven bits of exponent, all set where the float is not finite; they stand in the first two bytes, as those below.
      if (end - p < 9 || ((bytes[p + 1]! & 0x7f) === 0x7f && bytes[p + 2]! >= 0xf0)) return BAD_ITEM;
      return (p + 9) | 0;
    case SINGLE:
      if (end - p < 5 || ((bytes[p + 1]! & 0x7f) === 0x7f && bytes[p + 2]! >= 0x80)) return BAD_ITEM;
      return (p + 5) | 0;
    case HALF:
      if (end - p < 3 || (bytes[p + 1]! & 0x7c) === 0x7c) return BAD_ITEM;
      return (p + 3) | 0;
    default:
      return byte >= FALSE && byte <= UNDEFINED ? (p + 1) | 0 : BAD_ITEM;
  }
}
