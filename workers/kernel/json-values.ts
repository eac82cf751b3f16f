/**
 * Second stage of the JSON kernel: from the bitmaps of a valid payload to the slots of the wanted paths (design: kernel,
 * slots).
 *
 * In an object it goes from key to key over the ends of keys alone, whatever they belong to: two bytes in front of a
 * key's end turn nearly all of them away, and only a key that passes is asked how deep it stands. Brackets are counted,
 * block by block, where a container that somebody wants has to be stepped over or bounded.
 *
 * Invariants: the payload is valid, so nothing is checked again; taking a value first clears what is below it, so of a
 * repeated key the last one counts. It descends only along wanted paths, so no deeper than the longest of them.
 */
import {
  BACKSLASHES,
  BRACKETS,
  COMMAS,
  hasBackslash,
  KEYS,
  OPENS,
  origin,
  QUOTES,
  rootEnd,
  ROW_BYTES,
} from './json-bitmaps';
import { KEY_AT, unescapeKey } from './json-keys';
import { putJsonNumber } from './json-numbers';
import { BITMAPS_AT, WINDOW_AT } from './layout';
import {
  belowEndOf,
  belowOf,
  childByKey,
  firstIndexOf,
  indexOf,
  isMarked,
  keyMarksOf,
  nextIndexOf,
  nodeAt,
  NONE,
  slotOf,
} from './paths';
import {
  clearSlots,
  putKind,
  putRange,
  SLOT_ARRAY,
  SLOT_FALSE,
  SLOT_NULL,
  SLOT_OBJECT,
  SLOT_STRING,
  SLOT_STRING_ESCAPED,
  SLOT_TRUE,
} from './slots';

const OBJECT_OPEN: u32 = 0x7b;
const ARRAY_OPEN: u32 = 0x5b;
const QUOTE: u32 = 0x22;
const EVERY_BIT: u64 = u64.MAX_VALUE;

/** True where a key of the payload at hand is written with escapes. */
let hasEscapedKey: bool = false;

/** Fills the current row of slots from the payload whose bitmaps were made last. */
export function findValues(): void {
  hasEscapedKey = hasBackslash && isKeyEscaped();
  take(0, origin, 0);
}

/** True where the quote behind a backslash is the end of a key. */
function isKeyEscaped(): bool {
  let carry: u64 = 0;
  const end = rowOf(rootEnd);
  for (let row = BITMAPS_AT; row <= end; row += ROW_BYTES) {
    // Adding a backslash to the bytes that are no quotes carries to the next one that is.
    const others = ~load<u64>(row, QUOTES);
    const backslashes = load<u64>(row, BACKSLASHES);
    const reached = others + (backslashes | carry);
    carry = u64(reached < others);
    if ((reached & load<u64>(row, KEYS)) != 0) return true;
  }
  return false;
}

/**
 * Takes the value that begins at `at` inside `depth` containers for node `index`, and what is wanted inside it. Returns
 * where it ends if it is a container that was gone through, else `at`.
 */
function take(index: i32, at: usize, depth: i32): usize {
  const node = nodeAt(index);
  const slot = slotOf(node);
  const below = belowOf(node);
  const belowEnd = belowEndOf(node);
  if (below != belowEnd) clearSlots(below, belowEnd);
  const byte = <u32>load<u8>(at);
  if (byte == OBJECT_OPEN || byte == ARRAY_OPEN) {
    const isObject = byte == OBJECT_OPEN;
    const isWantedInside = isObject ? keyMarksOf(node) != 0 : firstIndexOf(node) != NONE;
    if (slot == NONE && !isWantedInside) return at;
    const end = at == origin ? rootEnd : closingBracket(at);
    if (slot != NONE) {
      putKind(slot, isObject ? SLOT_OBJECT : SLOT_ARRAY);
      putRange(slot, at - WINDOW_AT, end + 1 - WINDOW_AT);
    }
    if (isWantedInside) {
      if (isObject) takeMembers(node, at, end, depth + 1);
      else takeElements(node, at, end, depth + 1);
    }
    return end;
  }
  if (slot == NONE) return at;
  if (byte == QUOTE) {
    const end = closingQuote(at + 1);
    putKind(slot, hasBackslash && holdsBackslash(at + 1, end) ? SLOT_STRING_ESCAPED : SLOT_STRING);
    putRange(slot, at + 1 - WINDOW_AT, end - WINDOW_AT);
  } else if (byte <= 0x39) putJsonNumber(slot, at);
  else if (byte == 0x74) putKind(slot, SLOT_TRUE);
  else if (byte == 0x66) putKind(slot, SLOT_FALSE);
  else putKind(slot, SLOT_NULL);
  return at;
}

/** Takes the wanted members of the object between the brackets `start` and `end`, whose keys stand in `depth` containers. */
function takeMembers(node: usize, start: usize, end: usize, depth: i32): void {
  // An escaped key has another end than it seems to have, so all keys pass.
  const marks = hasEscapedKey ? EVERY_BIT : keyMarksOf(node);
  let row = rowOf(start);
  let base = baseOf(start);
  let keys = load<u64>(row, KEYS) & bitsFrom(start);
  // How many containers are open where the block of `counted` begins.
  let counted = row;
  let open = depth - nesting(row, ~bitsPast(start));
  while (true) {
    while (keys != 0) {
      const bit = keys & (0 - keys);
      const keyEnd = base + <usize>ctz(keys);
      keys ^= bit;
      // PERF: this is all that most keys cost.
      if (!isMarked(marks, keyEnd)) continue;
      if (keyEnd > end) return;
      for (; counted != row; counted += ROW_BYTES) open += nesting(counted, EVERY_BIT);
      if (open + nesting(row, bit - 1) != depth) continue;
      const quotes = load<u64>(row, QUOTES) & (bit - 1);
      const key = (quotes != 0 ? base + 63 - <usize>clz(quotes) : openingQuote(row, base)) + 1;
      const child = childByWrittenKey(node, key, keyEnd);
      if (child == NONE) continue;
      const colon = keyEnd + 1;
      const at = load<u8>(colon) == 0x3a && load<u8>(colon, 1) > 0x20 ? colon + 1 : skipSpace(skipSpace(colon) + 1);
      const past = take(child, at, depth);
      if (past == at) continue;
      row = rowOf(past);
      base = baseOf(past);
      keys = load<u64>(row, KEYS) & bitsFrom(past);
      counted = row;
      open = depth - nesting(row, ~bitsPast(past));
    }
    row += ROW_BYTES;
    base += 64;
    if (base > end) return;
    keys = load<u64>(row, KEYS);
  }
}

/** How many more containers open than close among the bytes of `mask` in the block of `row`. */
function nesting(row: usize, mask: u64): i32 {
  return ((<i32>popcnt(load<u64>(row, OPENS) & mask)) << 1) - <i32>popcnt(load<u64>(row, BRACKETS) & mask);
}

function childByWrittenKey(node: usize, start: usize, end: usize): i32 {
  if (hasEscapedKey && holdsBackslash(start, end)) {
    const length = unescapeKey(start, end);
    return length < 0 ? NONE : childByKey(node, KEY_AT, <usize>length);
  }
  return childByKey(node, start, end - start);
}

/** Takes the wanted elements of the array between the brackets `start` and `end`, which stand in `depth` containers. */
function takeElements(node: usize, start: usize, end: usize, depth: i32): void {
  const first = skipSpace(start + 1);
  if (first == end) return;
  let next = firstIndexOf(node);
  if (indexOf(nodeAt(next)) == 0) {
    take(next, first, depth);
    next = nextIndexOf(nodeAt(next));
  }
  let index: u32 = 0;
  // Containers that are open inside the array.
  let nested = 0;
  let row = rowOf(start);
  let base = baseOf(start);
  let mask = bitsPast(start);
  while (next != NONE) {
    const opens = load<u64>(row, OPENS) & mask;
    const brackets = load<u64>(row, BRACKETS) & mask;
    let marks = brackets | (load<u64>(row, COMMAS) & mask);
    for (; marks != 0; marks &= marks - 1) {
      const bit = marks & (0 - marks);
      if ((brackets & bit) != 0) {
        nested += (opens & bit) != 0 ? 1 : -1;
        if (nested < 0) return;
      } else if (nested == 0) {
        index++;
        const child = nodeAt(next);
        if (indexOf(child) == index) {
          take(next, skipSpace(base + <usize>ctz(bit) + 1), depth);
          next = nextIndexOf(child);
          if (next == NONE) return;
        }
      }
    }
    row += ROW_BYTES;
    base += 64;
    mask = EVERY_BIT;
  }
}

/** Where the container closes that opens at `at`. */
function closingBracket(at: usize): usize {
  let row = rowOf(at);
  let base = baseOf(at);
  const mask = bitsPast(at);
  let brackets = load<u64>(row, BRACKETS) & mask;
  let opens = load<u64>(row, OPENS) & mask;
  let depth = 1;
  while (depth != 0) {
    const closes = <i32>popcnt(brackets ^ opens);
    // PERF: where it cannot close, one look at the whole block.
    if (closes < depth) {
      depth += <i32>popcnt(opens) - closes;
      brackets = 0;
    }
    for (; brackets != 0; brackets &= brackets - 1) {
      depth += (opens & brackets & (0 - brackets)) != 0 ? 1 : -1;
      if (depth == 0) return base + <usize>ctz(brackets);
    }
    row += ROW_BYTES;
    base += 64;
    brackets = load<u64>(row, BRACKETS);
    opens = load<u64>(row, OPENS);
  }
  return base;
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
  let row = rowOf(from);
  let base = baseOf(from);
  let quotes = load<u64>(row, QUOTES) & bitsFrom(from);
  while (quotes == 0) {
    row += ROW_BYTES;
    base += 64;
    quotes = load<u64>(row, QUOTES);
  }
  return base + <usize>ctz(quotes);
}

/** The row of the block that holds the byte at `at`, and where that block begins. */
function rowOf(at: usize): usize {
  return BITMAPS_AT + ((at - origin) >> 6) * ROW_BYTES;
}
function baseOf(at: usize): usize {
  return origin + ((at - origin) & ~63);
}

/** The bits of a block from the byte at `at` on, and of those behind it. */
function bitsFrom(at: usize): u64 {
  const offset = <u64>(at - origin);
  return EVERY_BIT << offset;
}
function bitsPast(at: usize): u64 {
  return bitsFrom(at) << 1;
}

/** True where a backslash stands in `from`…`to`. */
function holdsBackslash(from: usize, to: usize): bool {
  const backslash = i8x16.splat(0x5c);
  let at = from;
  for (; at + 16 <= to; at += 16) if (v128.any_true(i8x16.eq(v128.load(at), backslash))) return true;
  for (; at < to; at++) if (load<u8>(at) == 0x5c) return true;
  return false;
}

function skipSpace(from: usize): usize {
  let at = from;
  while (load<u8>(at) <= 0x20) at++;
  return at;
}
