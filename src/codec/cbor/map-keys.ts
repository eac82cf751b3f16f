/**
 * The keys of the maps that are open while a payload is walked, so that a repeated one is found (contract: laser-filter
 * §5: the keys of a map are unique).
 *
 * A map on some level of depth has cells for its keys' hashes there, and places for where its keys stand. A cell holds the
 * stamp of the map that filled it last, no two maps the same, so that nothing is cleared for the next map; a key whose cell
 * has the map's stamp already is compared with those before it. Maps of more than SMALL_MAP_KEYS keys have a list
 * instead that is looked through once, at its end or where the walk stops.
 *
 * PERF: keys of up to eight bytes, which most are, take no branch that depends on their length; wrong guesses of the processor
 * cost more than the work itself.
 *
 * Invariants: one walk at a time uses all this, and nothing of it is called back from here; the list grows with the keys
 * that were read, never with what a head claims, and stays as large as it became.
 */
import { DEPTH_CEILING } from '../../core/limits.js';
import { isUtf8Text } from '../utf8-text.js';
import { BAD_ITEM, contentAt, pastText, TEXT } from './head.js';
import { orderOf, RepeatedKey } from './repeated-key.js';

/**
 * Most keys of a map that has cells. A key whose cell is taken is compared with all before it: 64 keys in 256 cells
 * meet some eight times by chance, and 2,016 times where somebody chose them so, which is 32 comparisons a key.
 */
export const SMALL_MAP_KEYS = 64;
const PLACE_BITS = 6;
const CELL_BITS = 8;
/** What is left of a hash of 32 bits. */
const HASH_SHIFT = 32 - CELL_BITS;
// PERF: see `walker.ts`.
const FIRST_TEXT = 0x60;
const BAD = -1;

/** Maps stand on the levels up to the deepest, the root's included. */
const LEVELS = DEPTH_CEILING + 1;
const stampOf = new Int32Array(LEVELS << CELL_BITS);
const keyAt = new Int32Array(LEVELS << PLACE_BITS);
const countOf = new Int32Array(LEVELS);
/** One number, in an array because the compiler folds that. Long enough not to stand on the heap. */
const lastStamp = new Int32Array(32);
const STAMPS_MAX = 2 ** 30;

const HIGH_BITS = 0x80808080;
/** Keys that are read as two words, whatever follows them. */
const WORDS_BYTES = 8;
/** By head, the bits of each word behind it that belong to the key. */
const FIRST_MASK = new Int32Array(256);
const SECOND_MASK = new Int32Array(256);
for (let length = 0; length <= WORDS_BYTES; length++) {
  for (let at = 0; at < length; at++) {
    const mask = at < 4 ? FIRST_MASK : SECOND_MASK;
    mask[TEXT + length]! |= 0xff << ((at & 3) * 8);
  }
}

/** Makes a map of `count` keys, 1…SMALL_MAP_KEYS, the open one on `level` and gives its stamp. */
export function openSmallMap(level: number, count: number): number {
  countOf[level] = count;
  const stamp = (lastStamp[0]! + 1) | 0;
  lastStamp[0] = stamp;
  return stamp;
}

/**
 * Past the key whose head stands at `p`, before `end`; BAD_ITEM if it is no text, not UTF-8, cut short or repeated. It is
 * one of the `left` keys that are left in the small map on `level`. `view` covers the same bytes.
 */
export function takeKey(
  bytes: Uint8Array,
  view: DataView,
  p: number,
  end: number,
  level: number,
  left: number,
  stamp: number,
): number {
  const head = view.getUint8(p);
  const length = (head - FIRST_TEXT) | 0;
  if (length >>> 0 > WORDS_BYTES || p >= ((end - WORDS_BYTES) | 0))
    return takeOddKey(bytes, view, p, end, level, left, stamp);
  const first = view.getInt32((p + 1) | 0, true) & FIRST_MASK[head]!;
  const second = view.getInt32((p + 5) | 0, true) & SECOND_MASK[head]!;
  if (((first | second) & HIGH_BITS) !== 0) return takeOddKey(bytes, view, p, end, level, left, stamp);
  const cell = (level << CELL_BITS) | (hashOf(first, second, length) >>> HASH_SHIFT);
  if (stampOf[cell] === stamp && isRepeated(bytes, view, p, end, level, left)) return BAD;
  stampOf[cell] = stamp;
  keyAt[((level << PLACE_BITS) + left - 1) | 0] = p;
  return (p + 1 + length) | 0;
}

/** As `takeKey`, for any key. */
function takeOddKey(
  bytes: Uint8Array,
  view: DataView,
  p: number,
  end: number,
  level: number,
  left: number,
  stamp: number,
): number {
  const past = pastText(bytes, view, p, end);
  if (past < 0) return BAD_ITEM;
  const start = contentAt(bytes, p);
  if (!isUtf8Text(bytes, view, start, past)) return BAD_ITEM;
  const length = past - start;
  const hash =
    length > WORDS_BYTES
      ? hashOf(view.getInt32(start, true) ^ view.getInt32(past - 8, true), view.getInt32(past - 4, true), length)
      : hashOf(wordAt(bytes, start, past), wordAt(bytes, start + 4, past), length);
  const cell = (level << CELL_BITS) | (hash >>> HASH_SHIFT);
  if (stampOf[cell] === stamp && isRepeated(bytes, view, p, end, level, left)) return BAD_ITEM;
  stampOf[cell] = stamp;
  keyAt[(level << PLACE_BITS) + left - 1] = p;
  return past;
}

/** Up to four bytes from `p` on, the first the lowest; zeros from `end` on. */
function wordAt(bytes: Uint8Array, p: number, end: number): number {
  let word = 0;
  for (let at = Math.min(p + 4, end) - 1; at >= p; at--) word = (word << 8) | bytes[at]!;
  return word;
}

function hashOf(first: number, second: number, length: number): number {
  return Math.imul((first + Math.imul(second, 0x85ebca6b) + length) | 0, 0x9e3779b1);
}

/** True if the key at `p` is one of those before it in the small map on `level`. */
function isRepeated(bytes: Uint8Array, view: DataView, p: number, end: number, level: number, left: number): boolean {
  const start = contentAt(bytes, p);
  const past = pastText(bytes, view, p, end);
  const base = level << PLACE_BITS;
  for (let place = base + countOf[level]! - 1; place >= base + left; place--) {
    const other = keyAt[place]!;
    if (orderOf(bytes, contentAt(bytes, other), pastText(bytes, view, other, end), start, past) === 0) return true;
  }
  return false;
}

/** First room for the keys of large maps; it doubles with the keys that come. */
const KEYS_FIRST = 1024;

/** The lists of the large maps that are open, one behind the other. */
class LargeMapKeys {
  private starts = new Int32Array(KEYS_FIRST);
  private ends = new Int32Array(KEYS_FIRST);
  private count = 0;
  /** Where the keys of each open map begin. */
  private readonly bases = new Int32Array(LEVELS);
  private openMaps = 0;
  private readonly repeated = new RepeatedKey();

  open(): void {
    this.bases[this.openMaps++] = this.count;
  }

  /** As `takeKey`, for the map that was opened last; whether the key is repeated is not looked for yet. */
  take(bytes: Uint8Array, view: DataView, p: number, end: number): number {
    const past = pastText(bytes, view, p, end);
    if (past < 0) return BAD_ITEM;
    const start = contentAt(bytes, p);
    if (!isUtf8Text(bytes, view, start, past)) return BAD_ITEM;
    if (this.count === this.starts.length) this.grow();
    this.starts[this.count] = start;
    this.ends[this.count++] = past;
    return past;
  }

  /** Ends the map that was opened last. False if a key is repeated in it. */
  close(bytes: Uint8Array, view: DataView): boolean {
    const base = this.bases[--this.openMaps]!;
    const hasRepeated = this.repeated.isAmong(bytes, view, this.starts, this.ends, base, this.count);
    this.count = base;
    return !hasRepeated;
  }

  /** Ends all maps that are still open. False if a key that was read is repeated in one of them. */
  closeAll(bytes: Uint8Array, view: DataView): boolean {
    while (this.openMaps > 0) if (!this.close(bytes, view)) return false;
    return true;
  }

  /** Forgets what a walk that stopped left. */
  forget(): void {
    this.count = 0;
    this.openMaps = 0;
  }

  private grow(): void {
    const { starts, ends } = this;
    this.starts = new Int32Array(starts.length * 2);
    this.starts.set(starts);
    this.ends = new Int32Array(ends.length * 2);
    this.ends.set(ends);
  }
}

/** Keys of the maps larger than SMALL_MAP_KEYS that are open in the walk under way. */
export const largeMaps = new LargeMapKeys();

/** Before each walk. */
export function beginMaps(): void {
  largeMaps.forget();
  if (lastStamp[0]! < STAMPS_MAX) return;
  // A payload of a GiB, the most there is, holds fewer maps than are left between here and 2^31.
  lastStamp[0] = 0;
  stampOf.fill(0);
}
