/**
 * The CBOR walker: one pass over a payload's bytes that validates all of it and fills the slots of the wanted paths,
 * building no value (contract: laser-filter §5).
 *
 * PERF: one flat loop for wanted and unwanted items alike, whose tables are behind small functions that the compiler
 * folds into it; additions end in `| 0` so that positions stay plain 32-bit integers, which buffers of up to 1 GiB
 * allow (orbit records: 1,710 → 740 ns of processor time without paths, 2026-12-01).
 *
 * Invariants: nothing at or past `end` is read, the call stack does not grow with nesting, and nothing is allocated but
 * room for the keys of maps larger than any before. The reason is that of the first error in reading order, where a
 * repeated key stands before its value, and a value is too deep before its first byte is looked at.
 */
import { DEPTH_CEILING } from '../../core/limits.js';
import type { Path } from '../../core/path.js';
import { Slots, SLOT_ARRAY, SLOT_INTEGER, SLOT_MISSING, SLOT_OBJECT } from '../../core/slots.js';
import { MALFORMED, NO_REASON, type Reason, TOO_DEEP, TOO_LARGE } from '../../core/verdict.js';
import { isMarked, PathTrie } from '../path-trie.js';
import type { DecoderLimits, PayloadWalker } from '../walker.js';
import { captureItem } from './capture.js';
import { CborElements } from './elements.js';
import { argumentAt, BYTES, contentAt, TEXT } from './head.js';
import { beginMaps, largeMaps, openSmallMap, SMALL_MAP_KEYS, takeKey } from './map-keys.js';
import {
  openSlot,
  keepOuter,
  keepWanted,
  outerLeft,
  outerNode,
  outerStamp,
  outerWanted,
  outerWantedLeft,
} from './open-containers.js';
import { plainDoubt, plainSize } from './plain-item.js';
import { deepReason, pastScalar } from './scalar.js';

const ROOT = 0;
/** As `isMarked` wants the empty key. */
const EMPTY_KEY_BYTE = 0x22;
const NOTHING = new Uint8Array(0);
// PERF: constants of the loop are of this file, as imported ones are read from memory each time (5 %, 2026-12-01).
/** No node, no slot. */
const NONE = -1;
/** Heads whose count stands behind them have this information or more. */
const INLINE_COUNTS = 24;
const INFO = 31;
const ARRAY = 0x80;
const MAP = 0xa0;
/** Bytes behind a head that `plainDoubt` looks at. */
const PLAIN_CONTENT_BYTES = 16;

/** In place of the stamp that a small map has. */
const IN_ARRAY = 0;
const IN_LARGE_MAP = -1;

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
    const { kinds, count } = this.slots;
    for (let slot = 0; slot < count; slot++) kinds[slot] = SLOT_MISSING;
    beginMaps();
    const reason = this.run(bytes, this.view, start, end);
    // What repeats a key in a large map stands before what is too deep, but was not looked for yet.
    return reason === TOO_DEEP && !largeMaps.closeAll(bytes, this.view) ? MALFORMED : reason;
  }

  /** The walk itself, without the size. */
  private run(bytes: Uint8Array, view: DataView, start: number, limit: number): Reason {
    const end = limit | 0;
    const plainEnd = (end - PLAIN_CONTENT_BYTES) | 0;
    const maxDepth = this.maxDepth | 0;
    let p = start | 0;
    let depth = 0;
    // The container that is open: entries left in it; its stamp, IN_ARRAY or IN_LARGE_MAP; its node and the marks of the
    // keys wanted in it; the node of the element wanted next, and how many are left when it comes.
    let left = 1;
    let stamp = IN_ARRAY;
    let node = NONE;
    let marks = 0;
    let wanted = NONE;
    let wantedLeft = 0;
    // The node of the item that is read.
    let child = ROOT;
    // Each turn reads one item, and before it the key that names it in a map.
    for (;;) {
      if (p >= end) return MALFORMED;
      if (stamp !== IN_ARRAY) {
        const key = p;
        if (stamp !== IN_LARGE_MAP) p = takeKey(bytes, view, p, end, (depth - 1) | 0, left, stamp) | 0;
        else p = largeMaps.take(bytes, view, p, end) | 0;
        if (p < 0 || p >= end) return MALFORMED;
        if (marks !== 0) child = this.childAt(marks, node, key, p) | 0;
      } else if (left === wantedLeft) {
        child = wanted;
        wanted = this.trie.nextIndex[child]!;
        wantedLeft = this.leftAtNext(child, wanted, left) | 0;
      }

      const head = view.getUint8(p);
      const size = plainSize(head) | 0;
      if (size !== 0 && p < plainEnd) {
        const past = (p + size) | 0;
        if (plainDoubt(view, p, head) !== 0 && pastScalar(bytes, view, p, end) < 0) return MALFORMED;
        if (child !== NONE) this.capture(child, p, past);
        p = past;
      } else if ((head & 0xc0) === ARRAY) {
        const from = p;
        let count = head & INFO;
        if (count < INLINE_COUNTS) {
          p = (p + 1) | 0;
        } else {
          count = this.countAt(p, end) | 0;
          p = contentAt(bytes, p) | 0;
        }
        if (count < 0 || count > (head < MAP ? end - p : (end - p) >> 1)) return MALFORMED;
        if (count > 0) {
          if (depth >= maxDepth) return deepReason(bytes, view, from, p, end);
          keepOuter(depth, left, stamp);
          keepWanted(depth, child === NONE ? NONE : this.open(child, head, from) | 0, node, wanted, wantedLeft);
          left = count;
          node = child;
          child = NONE;
          marks = 0;
          wanted = NONE;
          wantedLeft = 0;
          if (head < MAP) {
            stamp = IN_ARRAY;
            if (node !== NONE) {
              wanted = this.trie.firstIndex[node]!;
              wantedLeft = this.leftAtFirst(wanted, left) | 0;
            }
          } else {
            if (node !== NONE) marks = this.trie.keyMarks[node]!;
            if (count <= SMALL_MAP_KEYS) {
              stamp = openSmallMap(depth, left) | 0;
            } else {
              stamp = IN_LARGE_MAP;
              largeMaps.open();
            }
          }
          depth = (depth + 1) | 0;
          continue;
        }
        if (child !== NONE) this.capture(child, from, p);
      } else {
        const past = pastScalar(bytes, view, p, end) | 0;
        if (past < 0) return MALFORMED;
        if (child !== NONE) this.capture(child, p, past);
        p = past;
      }

      // After an item: end what ends here, until something is left to read.
      child = NONE;
      for (;;) {
        left = (left - 1) | 0;
        if (left !== 0) break;
        if (depth === 0) return p === end ? NO_REASON : MALFORMED;
        if (stamp === IN_LARGE_MAP && !largeMaps.close(bytes, view)) return MALFORMED;
        depth = (depth - 1) | 0;
        left = outerLeft(depth);
        stamp = outerStamp(depth);
        node = outerNode(depth);
        wanted = outerWanted(depth);
        wantedLeft = outerWantedLeft(depth);
        marks = node === NONE ? 0 : this.trie.keyMarks[node]!;
        const slot = openSlot(depth);
        if (slot !== NONE) this.slots.ends[slot] = p;
      }
    }
  }

  /** The count of the array or map at `p` where it stands behind its head, or -1 where it is larger than the bytes left. */
  private countAt(p: number, end: number): number {
    const count = argumentAt(this.bytes, this.view, p, end);
    return count <= end - p ? count : -1;
  }

  /** The node of the key whose head stands at `key` and that ends at `past`, or NONE. */
  private childAt(marks: number, node: number, key: number, past: number): number {
    const { bytes, trie } = this;
    const start = contentAt(bytes, key);
    const first = start < past ? bytes[start]! : EMPTY_KEY_BYTE;
    return isMarked(marks, first, past - start) ? trie.childByKey(node, bytes, start, past) : NONE;
  }

  /** How many elements of `count` are left when the one of node `wanted` comes; nothing that occurs where it never does. */
  private leftAtFirst(wanted: number, count: number): number {
    return wanted === NONE ? 0 : Math.max(count - this.trie.indexAt[wanted]!, 0);
  }

  /** As `leftAtFirst`, where `left` were when that of `child` came. */
  private leftAtNext(child: number, wanted: number, left: number): number {
    return wanted === NONE ? 0 : Math.max(left - (this.trie.indexAt[wanted]! - this.trie.indexAt[child]!), 0);
  }

  /** Fills the slot of `node` from the array or map that begins at `from`, but for its end. Gives the slot or NONE. */
  private open(node: number, head: number, from: number): number {
    const slot = this.trie.slotOf[node]!;
    if (slot === NONE) return NONE;
    this.slots.kinds[slot] = head < MAP ? SLOT_ARRAY : SLOT_OBJECT;
    this.slots.starts[slot] = from;
    return slot;
  }

  /** Fills the slots of `node`, and of the wanted bytes below it, from a valid item that holds no others. */
  private capture(node: number, from: number, past: number): void {
    const { bytes, view, trie, slots } = this;
    const slot = trie.slotOf[node]!;
    if (slot !== NONE) captureItem(bytes, view, from, past, slots, slot);
    if (bytes[from]! < BYTES || bytes[from]! >= TEXT) return;
    const start = contentAt(bytes, from);
    for (let child = trie.firstIndex[node]!; child !== NONE; child = trie.nextIndex[child]!) {
      const at = start + trie.indexAt[child]!;
      if (at >= past) return;
      const slotOfByte = trie.slotOf[child]!;
      if (slotOfByte === NONE) continue;
      slots.kinds[slotOfByte] = SLOT_INTEGER;
      slots.numbers[slotOfByte] = bytes[at]!;
    }
  }
}
