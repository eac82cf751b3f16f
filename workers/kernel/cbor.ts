/**
 * The CBOR walker: one pass over a payload that validates all of it and fills the slots of the wanted paths (contract:
 * laser-filter §5; `src/codec/cbor/walker.ts` does the same).
 *
 * Invariants: what stands at or past the payload's end is loaded at most, and decides nothing; the walk is one loop, whose
 * stack has a place for each level of nesting. The reason is that of the first error in reading order, where a repeated
 * key stands before its value, and a value is too deep before its first byte is looked at.
 */
import {
  ARRAY,
  contentAt,
  countAt,
  INLINE_ARGUMENTS,
  isDoubtful,
  MAP,
  pastOdd,
  pastText,
  plainSize,
  shortText,
  SHORT_TEXT_BYTES,
  TEXT,
} from './cbor-heads';
import { beginMaps, cellOf, freeCell, isTaken, LEVEL_BYTES_LOG, nextStamp, putKey, SMALL_MAP_KEYS } from './cbor-keys';
import {
  childByKey,
  depthMax,
  firstIndexOf,
  hashOf,
  hashOfText,
  indexOf,
  isMarked,
  keyMarksOf,
  nextIndexOf,
  NO_NODE,
  payloadBytesMax,
  ROOT,
  slotCount,
  slotOf,
} from './cbor-tree';
import { putItem } from './cbor-values';
import { ASKS_WALKER } from './json';
import { CBOR_CELLS_AT, CBOR_SLOTS_AT, WINDOW_AT } from './layout';
import { openRow, putEnd, putKind, putRange, SLOT_ARRAY, SLOT_OBJECT } from './slots';
import { isText } from './texts';

// Reasons: `src/core/verdict.ts`.
const NO_REASON: i32 = 0;
const MALFORMED: i32 = 6;
const TOO_LARGE: i32 = 7;
const TOO_DEEP: i32 = 8;

const INFO: u32 = 31;
const NO_SLOT: i32 = -1;

/** By level, what the walk goes on with when the container there ends: its slot, and the state of the one around it. */
const LEVELS: usize = memory.data(128 * 32, 16);
const LEVEL_BYTES: usize = 32;
const LEVEL_BYTES_BITS: usize = 5;

/** Instead of cells, in an array. */
const IN_ARRAY: usize = 0;

/**
 * Walks the payload `start`…`end` of the window: a reason, or ASKS_WALKER where a map has more keys than are looked at
 * here. Without a reason the row of slots is filled.
 */
export function walkCbor(start: i32, end: i32): i32 {
  if (<usize>(end - start) > payloadBytesMax()) return TOO_LARGE;
  openRow(CBOR_SLOTS_AT, 1, slotCount(), 0);
  beginMaps();
  return walk(WINDOW_AT + <usize>start, WINDOW_AT + <usize>end);
}

function walk(start: usize, end: usize): i32 {
  const deepest = LEVELS + depthMax() * LEVEL_BYTES;
  let p = start;
  let level = LEVELS;
  // The container that is open: entries left in it; the cells and the stamp of a map; its node and the marks of the keys
  // wanted in it; the node of the element wanted next, and how many are left when it comes.
  let left = 1;
  let cells = IN_ARRAY;
  let stamp: u32 = 0;
  let node = NO_NODE;
  let marks: u64 = 0;
  let wanted = NO_NODE;
  let wantedLeft = 0;
  // The node of the item that is read.
  let child = ROOT;
  // Each turn ends a container, or reads one item, and before it the key that names it in a map.
  while (true) {
    if (left == 0) {
      if (level == LEVELS) return p == end ? NO_REASON : MALFORMED;
      level -= LEVEL_BYTES;
      left = load<i32>(level);
      cells = load<u32>(level, 4);
      stamp = load<u32>(level, 8);
      node = load<u32>(level, 12);
      wanted = load<u32>(level, 16);
      wantedLeft = load<i32>(level, 20);
      marks = node == NO_NODE ? 0 : keyMarksOf(node);
      const slot = load<i32>(level, 24);
      if (slot != NO_SLOT) putEnd(slot, p - WINDOW_AT);
      continue;
    }
    if (p >= end) return MALFORMED;
    if (cells != IN_ARRAY) {
      const key = p;
      const length = <u32>load<u8>(key) - TEXT;
      let hash: u64;
      if (length <= SHORT_TEXT_BYTES) {
        const content = shortText(key + 1, length);
        p = key + 1 + <usize>length;
        if (p >= end || (i8x16.bitmask(content) != 0 && !isText(key + 1, length))) return MALFORMED;
        hash = hashOf(content, length);
      } else {
        p = pastText(key, end);
        if (p == 0 || p >= end) return MALFORMED;
        const from = contentAt(key);
        hash = hashOfText(from, <u32>(p - from));
      }
      let cell = cellOf(cells, hash);
      if (isTaken(cell, stamp)) {
        cell = freeCell(cells, cell, stamp, key, p);
        if (cell == 0) return MALFORMED;
      }
      putKey(cell, stamp, key);
      if (isMarked(marks, hash)) {
        const from = contentAt(key);
        child = childByKey(node, hash, from, <u32>(p - from));
      }
    } else if (left == wantedLeft) {
      child = wanted;
      wanted = nextIndexOf(child);
      wantedLeft = leftAtNext(child, wanted, left);
    }
    left--;

    const head = <u32>load<u8>(p);
    const from = p;
    if (head - ARRAY < 0x40) {
      const info = head & INFO;
      const count = info < INLINE_ARGUMENTS ? <i32>info : countAt(p, end);
      if (count < 0) return MALFORMED;
      p = info < INLINE_ARGUMENTS ? p + 1 : contentAt(p);
      if (<usize>count > (head < MAP ? end - p : (end - p) >> 1)) return MALFORMED;
      if (count != 0) {
        if (level >= deepest) return head >= MAP && pastText(p, end) == 0 ? MALFORMED : TOO_DEEP;
        store<i32>(level, left);
        store<u32>(level, <u32>cells, 4);
        store<u32>(level, stamp, 8);
        store<u32>(level, <u32>node, 12);
        store<u32>(level, <u32>wanted, 16);
        store<i32>(level, wantedLeft, 20);
        store<i32>(level, child == NO_NODE ? NO_SLOT : openSlot(child, head, from), 24);
        left = count;
        node = child;
        child = NO_NODE;
        marks = 0;
        wanted = NO_NODE;
        wantedLeft = 0;
        if (head < MAP) {
          cells = IN_ARRAY;
          if (node != NO_NODE) {
            wanted = firstIndexOf(node);
            wantedLeft = leftAtFirst(wanted, left);
          }
        } else {
          if (count > SMALL_MAP_KEYS) return ASKS_WALKER;
          if (node != NO_NODE) marks = keyMarksOf(node);
          cells = CBOR_CELLS_AT + ((level - LEVELS) << (LEVEL_BYTES_LOG - LEVEL_BYTES_BITS));
          stamp = nextStamp();
        }
        level += LEVEL_BYTES;
        continue;
      }
    } else {
      p = pastItem(p, end, head);
      if (p == 0) return MALFORMED;
    }
    if (child != NO_NODE) {
      putItem(child, from, p);
      child = NO_NODE;
    }
  }
}

/** Past the item at `p`, which is no array or map and has this head, or 0 where it is malformed. */
function pastItem(p: usize, end: usize, head: u32): usize {
  const size = plainSize(head);
  if (size == 0) return pastOdd(p, end);
  const past = p + size;
  return past > end || (isDoubtful(p, head) && pastOdd(p, end) == 0) ? 0 : past;
}

/** Fills the slot of `node` from the array or map that begins at `from`, but for its end. Gives the slot or NO_SLOT. */
function openSlot(node: usize, head: u32, from: usize): i32 {
  const slot = slotOf(node);
  if (slot < 0) return NO_SLOT;
  putKind(slot, head < MAP ? SLOT_ARRAY : SLOT_OBJECT);
  putRange(slot, from - WINDOW_AT, from - WINDOW_AT);
  return slot;
}

/** How many elements of `count` are left when the one of node `wanted` comes; nothing that occurs where it never does. */
function leftAtFirst(wanted: usize, count: i32): i32 {
  if (wanted == NO_NODE || indexOf(wanted) >= <u32>count) return 0;
  return count - <i32>indexOf(wanted);
}

/** As `leftAtFirst`, where `left` were when that of `child` came. */
function leftAtNext(child: usize, wanted: usize, left: i32): i32 {
  if (wanted == NO_NODE) return 0;
  const further = indexOf(wanted) - indexOf(child);
  return further >= <u32>left ? 0 : left - <i32>further;
}
