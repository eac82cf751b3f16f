/**
 * The payload paths that a program reads, as the host has written them to `PATH_IMAGE_AT` (`src/codec/kernel-paths.ts`
 * writes what this file reads): a tree of keys and indexes, and where the values found there go.
 *
 * Header, 32-bit words: largest payload in bytes, deepest nesting, slots of one record, rows of slots, then the places
 * (from the start of the image) of the table of keys and the bytes of keys; then the nodes. Node 0 is the root value; the
 * paths come sorted, so what is below a node is one range of slots.
 */
import { PATH_IMAGE_AT, PATH_SLOTS_AT } from './layout';
import { openRow } from './slots';

/** No node, no slot. */
export const NONE: i32 = -1;

/** Bytes of the header, and of a node. */
const HEADER_BYTES: usize = 32;
const NODE_BYTES: usize = 56;
/** Spreads the last two bytes of a key over 64 marks; `src/codec/kernel-paths.ts` sets what is asked for here. */
const MARK_FACTOR: u32 = 40503;

export function payloadBytesMax(): usize {
  return load<u32>(PATH_IMAGE_AT);
}
export function depthMax(): i32 {
  return load<i32>(PATH_IMAGE_AT, 4);
}
export function slotCount(): usize {
  return load<u32>(PATH_IMAGE_AT, 8);
}
function rowCount(): usize {
  return load<u32>(PATH_IMAGE_AT, 12);
}

/** Where a node stands, to be handed to the functions below. */
export function nodeAt(node: i32): usize {
  return PATH_IMAGE_AT + HEADER_BYTES + <usize>node * NODE_BYTES;
}
/** Slot of the value at a node, or NONE. */
export function slotOf(node: usize): i32 {
  return load<i32>(node);
}
/** The slots strictly below a node: the first, and one past the last. */
export function belowOf(node: usize): i32 {
  return load<i32>(node, 4);
}
export function belowEndOf(node: usize): i32 {
  return load<i32>(node, 8);
}
/** The child at the lowest index, or NONE; the next one along; and its index. */
export function firstIndexOf(node: usize): i32 {
  return load<i32>(node, 12);
}
export function nextIndexOf(node: usize): i32 {
  return load<i32>(node, 16);
}
export function indexOf(node: usize): u32 {
  return load<u32>(node, 20);
}
/** Which last bytes the keys under a node have, 64 marks; 0 where it has none. */
export function keyMarksOf(node: usize): u64 {
  return load<u64>(node, 24);
}

/** False where no key that ends before the quote at `end` is among those of `marks`; true says nothing. */
export function isMarked(marks: u64, end: usize): bool {
  const mark = <u64>((<u32>load<u16>(end - 2) * MARK_FACTOR) >> 10);
  return ((marks >> (mark & 63)) & 1) != 0;
}

/** The child of `node` under the key of `length` bytes at `key`, or NONE. May read up to 7 bytes past the key. */
export function childByKey(node: usize, key: usize, length: usize): i32 {
  let hash: u32 = 0;
  if (length != 0) hash = <u32>length + <u32>load<u8>(key) * 3 + <u32>load<u8>(key + length - 1) * 5;
  const bucket = load<u32>(node, 32) + (hash & load<u32>(node, 36));
  let child = load<i32>(PATH_IMAGE_AT + load<u32>(PATH_IMAGE_AT, 16) + ((<usize>bucket) << 2));
  while (child != NONE) {
    const at = nodeAt(child);
    if (<usize>load<u32>(at, 48) == length) {
      const known = PATH_IMAGE_AT + load<u32>(PATH_IMAGE_AT, 20) + <usize>load<u32>(at, 44);
      if (areEqual(known, key, length)) return child;
    }
    child = load<i32>(at, 40);
  }
  return NONE;
}

/** True if the two keys of `length` bytes are the same. May read up to 7 bytes past both. */
export function areEqual(known: usize, key: usize, length: usize): bool {
  let at: usize = 0;
  for (; at + 8 <= length; at += 8) if (load<u64>(known + at) != load<u64>(key + at)) return false;
  const rest = length - at;
  if (rest == 0) return true;
  const mask = ((<u64>1) << ((<u64>rest) << 3)) - 1;
  return ((load<u64>(known + at) ^ load<u64>(key + at)) & mask) == 0;
}

/** Goes to row `row` of the slots, which all become missing. */
export function openPathRow(row: usize): void {
  openRow(PATH_SLOTS_AT, rowCount(), slotCount(), row);
}
