/**
 * The CBOR walker: one pass over a payload's bytes that validates all of it and fills the slots of the wanted paths,
 * building no value (contract: laser-filter §5).
 *
 * Only containers with something wanted inside are walked here, entry by entry; everything else is one `skipItem`. A
 * byte string is an array of integers, on the same level as itself.
 *
 * Invariants: calls nest no deeper than the longest wanted path; the reason is that of the first error in reading order,
 * where a repeated key stands before its value, and a value is too deep before its first byte is looked at.
 */
import { DEPTH_CEILING } from '../../core/limits.js';
import type { Path } from '../../core/path.js';
import { Slots, SLOT_INTEGER, SLOT_MISSING } from '../../core/slots.js';
import { MALFORMED, NO_REASON, type Reason, TOO_DEEP, TOO_LARGE } from '../../core/verdict.js';
import { isMarked, NONE, PathTrie } from '../path-trie.js';
import type { DecoderLimits, PayloadWalker } from '../walker.js';
import { captureItem } from './capture.js';
import { CborElements } from './elements.js';
import { argumentAt, ARRAY, BAD_ITEM, BYTES, contentAt, MAP, TOO_MANY_LEVELS } from './head.js';
import { beginMaps, largeMaps, openSmallMap, SMALL_MAP_KEYS, takeKey } from './map-keys.js';
import { afterDeepKey, skipItem } from './skip-item.js';

const ROOT = 0;
const EMPTY_KEY_BYTE = 0x22;
const NOTHING = new Uint8Array(0);

export class CborWalker implements PayloadWalker {
  /** It looks for no needles. */
  readonly isBarren = false;
  readonly slots: Slots;
  readonly elements = new CborElements();
  /** Text stands in the payload as it reads. */
  readonly unescaped: Uint8Array = NOTHING;
  private readonly trie: PathTrie;
  private readonly maxPayloadBytes: number;
  private readonly maxDepth: number;
  private bytes: Uint8Array = NOTHING;
  /** Covers `bytes`; made again only when another buffer comes. */
  private view: DataView = new DataView(NOTHING.buffer);
  private end = 0;

  /** `paths` as the interface wants them; `limits.maxDepth` 0…127. */
  constructor(paths: readonly Path[], limits: DecoderLimits) {
    this.trie = new PathTrie(paths);
    this.slots = new Slots(paths.length);
    this.maxPayloadBytes = limits.maxPayloadBytes;
    this.maxDepth = Math.min(limits.maxDepth, DEPTH_CEILING);
  }

  /** No slot asks for it: there is no other spelling of text. */
  unescape(): number {
    return 0;
  }

  walk(bytes: Uint8Array, start: number, end: number): Reason {
    if (end - start > this.maxPayloadBytes) return TOO_LARGE;
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.end = end;
    const { kinds, count } = this.slots;
    for (let slot = 0; slot < count; slot++) kinds[slot] = SLOT_MISSING;
    beginMaps();
    if (start >= end) return MALFORMED;
    const past = this.item(ROOT, start, 0);
    if (past === end) return NO_REASON;
    // What repeats a key in a large map stands before what is too deep, but was not looked for yet.
    return past === TOO_MANY_LEVELS && largeMaps.closeAll(bytes, this.view) ? TOO_DEEP : MALFORMED;
  }

  /** Past the item of `node` at `from`, its slots filled; or BAD_ITEM or TOO_MANY_LEVELS. */
  private item(node: number, from: number, level: number): number {
    const { bytes, view, end, trie, maxDepth } = this;
    const major = bytes[from]! & 0xe0;
    const isInner = trie.below[node]! < trie.belowEnd[node]!;
    let past;
    if (isInner && major === MAP) past = this.map(node, from, level);
    else if (isInner && major === ARRAY) past = this.array(node, from, level);
    else past = skipItem(bytes, view, from, end, level, maxDepth);
    if (past < 0) return past;
    const slot = trie.slotOf[node]!;
    if (slot !== NONE) captureItem(bytes, view, from, past, this.slots, slot);
    if (isInner && major === BYTES) this.captureBytes(node, from, past);
    return past;
  }

  /** As `item`, for a map under which something is wanted. */
  private map(node: number, from: number, level: number): number {
    const { bytes, view, end, trie, maxDepth } = this;
    const count = argumentAt(bytes, view, from, end);
    let p = contentAt(bytes, from);
    if (count < 0 || count * 2 > end - p) return BAD_ITEM;
    if (count === 0) return p;
    if (level === maxDepth) return afterDeepKey(bytes, view, p, end);
    const marks = trie.keyMarks[node]!;
    const isLarge = count > SMALL_MAP_KEYS;
    let stamp = 0;
    if (isLarge) largeMaps.open();
    else stamp = openSmallMap(level, count);
    for (let left = count | 0; left > 0; left = (left - 1) | 0) {
      if (p >= end) return BAD_ITEM;
      const past = isLarge ? largeMaps.take(bytes, view, p, end) : takeKey(bytes, view, p, end, level, left, stamp);
      if (past < 0 || past >= end) return BAD_ITEM;
      const start = contentAt(bytes, p);
      const first = start < past ? bytes[start]! : EMPTY_KEY_BYTE;
      const child = isMarked(marks, first, past - start) ? trie.childByKey(node, bytes, start, past) : NONE;
      p = child === NONE ? skipItem(bytes, view, past, end, level + 1, maxDepth) : this.item(child, past, level + 1);
      if (p < 0) return p;
    }
    return isLarge && !largeMaps.close(bytes, view) ? BAD_ITEM : p;
  }

  /** As `item`, for an array under which something is wanted. */
  private array(node: number, from: number, level: number): number {
    const { bytes, view, end, trie, maxDepth } = this;
    const count = argumentAt(bytes, view, from, end);
    let p = contentAt(bytes, from);
    if (count < 0 || count > end - p) return BAD_ITEM;
    if (count > 0 && level === maxDepth) return TOO_MANY_LEVELS;
    let child = trie.firstIndex[node]!;
    for (let index = 0; index < count; index++) {
      if (p >= end) return BAD_ITEM;
      if (child !== NONE && trie.indexAt[child] === index) {
        p = this.item(child, p, level + 1);
        child = trie.nextIndex[child]!;
      } else {
        p = skipItem(bytes, view, p, end, level + 1, maxDepth);
      }
      if (p < 0) return p;
    }
    return p;
  }

  /** Fills the slots of the wanted bytes of a valid byte string. */
  private captureBytes(node: number, from: number, past: number): void {
    const { bytes, trie } = this;
    const { kinds, numbers } = this.slots;
    const start = contentAt(bytes, from);
    for (let child = trie.firstIndex[node]!; child !== NONE; child = trie.nextIndex[child]!) {
      const at = start + trie.indexAt[child]!;
      const slot = trie.slotOf[child]!;
      if (at >= past) return;
      if (slot === NONE) continue;
      kinds[slot] = SLOT_INTEGER;
      numbers[slot] = bytes[at]!;
    }
  }
}
