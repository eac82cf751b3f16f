/**
 * Second stage of the JSON kernel: from the bitmaps of a valid payload to the slots of the wanted paths (design: kernel,
 * slots).
 *
 * It goes from bracket to bracket and, where an object holds something wanted, from key to key in between; what nobody
 * wants is stepped over by counting brackets, block by block. Containers with something wanted inside are kept on a stack
 * that is no deeper than the longest wanted path.
 *
 * Invariants: the payload is valid, so nothing is checked again; taking a value first clears what is below it, so of a
 * repeated key the last one counts.
 */
import { BACKSLASHES, BRACKETS, COMMAS, hasBackslash, KEYS, OPENS, origin, QUOTES, ROW_BYTES } from './json-bitmaps';
import { KEY_AT, unescapeKey } from './json-keys';
import { putJsonNumber } from './json-numbers';
import { BITMAPS_AT, WINDOW_AT } from './layout';
import {
  belowEndOf,
  belowOf,
  childByKey,
  clearSlots,
  firstIndexOf,
  indexOf,
  isMarked,
  keyMarksOf,
  nextIndexOf,
  nodeAt,
  NONE,
  putKind,
  putRange,
  SLOT_ARRAY,
  SLOT_FALSE,
  SLOT_NULL,
  SLOT_OBJECT,
  SLOT_STRING,
  SLOT_STRING_ESCAPED,
  SLOT_TRUE,
  slotOf,
} from './paths';

const OBJECT_OPEN: u32 = 0x7b;
const ARRAY_OPEN: u32 = 0x5b;
const ARRAY_CLOSE: u32 = 0x5d;
const QUOTE: u32 = 0x22;
const EVERY_BIT: u64 = u64.MAX_VALUE;

// The containers around the current one: node, where it starts, kind, and in an array the next wanted child and the index.
const LEVEL_BYTES: usize = 20;
const STACK: usize = memory.data(128 * 20);

/** The node whose value is the container that opens next, or NONE. */
let pending: i32 = NONE;

/** Fills the current row of slots from the payload whose bitmaps were made last. */
export function findValues(): void {
  // The container that is being gone through: none yet, and the root opens first.
  let level = STACK;
  let node: usize = 0;
  let start: usize = 0;
  let marks: u32 = 0;
  let nextChild: i32 = NONE;
  let index: u32 = 0;
  // How many containers that nobody wants are open, and the slot that gets the range of the outermost.
  let depth = 0;
  let skippedSlot: i32 = NONE;
  let skippedStart: usize = 0;
  let row = BITMAPS_AT;
  let base = origin;
  take(0, origin);
  for (; ; row += ROW_BYTES, base += 64) {
    let brackets = load<u64>(row, BRACKETS);
    const opens = load<u64>(row, OPENS);
    if (depth != 0) {
      // PERF: where it cannot close, one look at the whole block.
      const closes = <i32>popcnt(brackets ^ opens);
      if (closes < depth) {
        depth += <i32>popcnt(opens) - closes;
        continue;
      }
    }
    let todo = EVERY_BIT;
    for (;;) {
      const bracket = brackets & (0 - brackets);
      if (depth == 0) {
        // All of this lies directly in the current container.
        const between = todo & (bracket - 1);
        if (marks != 0) {
          let keys = load<u64>(row, KEYS) & between;
          for (; keys != 0; keys &= keys - 1) {
            const end = base + <usize>ctz(keys);
            const quotes = load<u64>(row, QUOTES) & ((keys & (0 - keys)) - 1);
            const key = (quotes != 0 ? base + 63 - <usize>clz(quotes) : openingQuote(row, base)) + 1;
            // PERF: this is all that most keys cost. An escaped key has another length than it seems to have.
            if (isMarked(marks, load<u8>(key), end - key) || hasBackslash) takeMember(node, marks, key, end);
          }
        } else if (nextChild != NONE) {
          let commas = load<u64>(row, COMMAS) & between;
          for (; commas != 0 && nextChild != NONE; commas &= commas - 1) {
            index++;
            const child = nodeAt(nextChild);
            if (indexOf(child) == index) {
              take(nextChild, skipSpace(base + <usize>ctz(commas) + 1));
              nextChild = nextIndexOf(child);
            }
          }
        }
      }
      if (bracket == 0) break;
      brackets ^= bracket;
      todo = ~(bracket | (bracket - 1));
      const opensHere = (opens & bracket) != 0;
      if (depth != 0) {
        depth += opensHere ? 1 : -1;
        if (depth != 0) continue;
        if (skippedSlot != NONE) {
          putRange(skippedSlot, skippedStart - WINDOW_AT, base + <usize>ctz(bracket) + 1 - WINDOW_AT);
          skippedSlot = NONE;
        }
        if (level == STACK) return;
        continue;
      }
      const at = base + <usize>ctz(bracket);
      if (opensHere) {
        const child = nodeAt(pending);
        const isObject = load<u8>(at) == OBJECT_OPEN;
        if (pending == NONE || (isObject ? keyMarksOf(child) == 0 : firstIndexOf(child) == NONE)) {
          depth = 1;
          if (pending != NONE) {
            skippedSlot = slotOf(child);
            skippedStart = at;
            pending = NONE;
          }
          continue;
        }
        pending = NONE;
        store<u32>(level, <u32>node);
        store<u32>(level, <u32>start, 4);
        store<u32>(level, marks, 8);
        store<i32>(level, nextChild, 12);
        store<u32>(level, index, 16);
        level += LEVEL_BYTES;
        node = child;
        start = at;
        marks = isObject ? keyMarksOf(child) : 0;
        nextChild = NONE;
        if (!isObject) {
          index = 0;
          const first = skipSpace(at + 1);
          if (load<u8>(first) != ARRAY_CLOSE) {
            nextChild = firstIndexOf(child);
            if (indexOf(nodeAt(nextChild)) == 0) {
              take(nextChild, first);
              nextChild = nextIndexOf(nodeAt(nextChild));
            }
          }
        }
      } else {
        const slot = slotOf(node);
        if (slot != NONE) putRange(slot, start - WINDOW_AT, at + 1 - WINDOW_AT);
        level -= LEVEL_BYTES;
        if (level == STACK) return;
        node = load<u32>(level);
        start = load<u32>(level, 4);
        marks = load<u32>(level, 8);
        nextChild = load<i32>(level, 12);
        index = load<u32>(level, 16);
      }
    }
  }
}

/** Looks at the member under the key `start`…`end` in the object of `node`. */
function takeMember(node: usize, marks: u32, start: usize, end: usize): void {
  let child = NONE;
  if (hasBackslash && holdsBackslash(start, end)) {
    const length = unescapeKey(start, end);
    if (length >= 0) child = childByKey(node, KEY_AT, <usize>length);
  } else if (isMarked(marks, load<u8>(start), end - start)) {
    child = childByKey(node, start, end - start);
  }
  if (child == NONE) return;
  const colon = end + 1;
  take(child, load<u8>(colon) == 0x3a && load<u8>(colon, 1) > 0x20 ? colon + 1 : skipSpace(skipSpace(colon) + 1));
}

/** Takes the value that begins at `at` for node `index`; of a container, all but its end, which makes it `pending`. */
function take(index: i32, at: usize): void {
  const node = nodeAt(index);
  const slot = slotOf(node);
  const below = belowOf(node);
  const belowEnd = belowEndOf(node);
  if (below != belowEnd) clearSlots(below, belowEnd);
  const byte = <u32>load<u8>(at);
  if (byte == OBJECT_OPEN || byte == ARRAY_OPEN) {
    pending = index;
    if (slot != NONE) putKind(slot, byte == OBJECT_OPEN ? SLOT_OBJECT : SLOT_ARRAY);
    return;
  }
  if (slot == NONE) return;
  if (byte == QUOTE) {
    const end = closingQuote(at + 1);
    putKind(slot, hasBackslash && holdsBackslash(at + 1, end) ? SLOT_STRING_ESCAPED : SLOT_STRING);
    putRange(slot, at + 1 - WINDOW_AT, end - WINDOW_AT);
  } else if (byte <= 0x39) putJsonNumber(slot, at);
  else if (byte == 0x74) putKind(slot, SLOT_TRUE);
  else if (byte == 0x66) putKind(slot, SLOT_FALSE);
  else putKind(slot, SLOT_NULL);
}

/** Where the string opens that reaches into the block of `row`, which begins at `base`, from a block before. */
function openingQuote(row: usize, base: usize): usize {
  let quotes: u64 = 0;
  while (quotes == 0) {
    row -= ROW_BYTES;
    base -= 64;
    quotes = load<u64>(row, QUOTES);
  }
  return base + 63 - <usize>clz(quotes);
}

/** Where the string closes whose first byte stands at `from`. */
function closingQuote(from: usize): usize {
  const offset = <u64>(from - origin);
  let block = <usize>(offset >> 6);
  let quotes = load<u64>(BITMAPS_AT + block * ROW_BYTES, QUOTES) & (EVERY_BIT << offset);
  while (quotes == 0) quotes = load<u64>(BITMAPS_AT + ++block * ROW_BYTES, QUOTES);
  return origin + (block << 6) + <usize>ctz(quotes);
}

/** True where a backslash stands in `from`…`to`, which lies inside one string. */
function holdsBackslash(from: usize, to: usize): bool {
  const first = <u64>(from - origin);
  const past = <u64>(to - origin);
  let block = <usize>(first >> 6);
  const last = <usize>(past >> 6);
  let found = load<u64>(BITMAPS_AT + block * ROW_BYTES, BACKSLASHES) & (EVERY_BIT << first);
  for (; block < last; found = load<u64>(BITMAPS_AT + ++block * ROW_BYTES, BACKSLASHES)) if (found != 0) return true;
  const one: u64 = 1;
  return (found & ((one << past) - 1)) != 0;
}

function skipSpace(from: usize): usize {
  let at = from;
  while (load<u8>(at) <= 0x20) at++;
  return at;
}
