/**
 * The payload paths that a program reads, as the host has written them to `CBOR_IMAGE_AT` (`src/codec/cbor/kernel-tree.ts`
 * writes what this file reads): a tree of keys and indexes whose nodes are known by their places in memory.
 *
 * Header, 32-bit words: largest payload in bytes, deepest nesting, slots of one record. The root's node stands behind it.
 * A node's children by key stand in a table of chains, by their keys' hashes.
 */
import { shortText, SHORT_TEXT_BYTES } from './cbor-heads';
import { CBOR_IMAGE_AT } from './layout';

/** No node. */
export const NO_NODE: usize = 0;
/** The node of the whole payload. */
export const ROOT: usize = CBOR_IMAGE_AT + 16;

/** As in `src/codec/cbor/kernel-tree.ts`, which puts keys where these find them. */
const SECOND_FACTOR: u64 = ((<u64>0x9e3779b9) << 32) | 0x7f4a7c15;
const HASH_FACTOR: u64 = ((<u64>0xff51afd7) << 32) | 0xed558ccd;

export function payloadBytesMax(): usize {
  return load<u32>(CBOR_IMAGE_AT);
}
export function depthMax(): usize {
  return load<u32>(CBOR_IMAGE_AT, 4);
}
export function slotCount(): usize {
  return load<u32>(CBOR_IMAGE_AT, 8);
}

/** Slot of the value at a node, or a negative number. */
export function slotOf(node: usize): i32 {
  return load<i32>(node);
}
/** The child at the lowest index, or NO_NODE; the next one along; and its index. */
export function firstIndexOf(node: usize): usize {
  return load<u32>(node, 4);
}
export function nextIndexOf(node: usize): usize {
  return load<u32>(node, 8);
}
export function indexOf(node: usize): u32 {
  return load<u32>(node, 12);
}
/** Which hashes the keys under a node have, 64 marks; 0 where it has none. */
export function keyMarksOf(node: usize): u64 {
  return load<u64>(node, 16);
}

/** False where no key of this hash is among those of `marks`; true says nothing. */
export function isMarked(marks: u64, hash: u64): bool {
  return ((marks >> ((hash >> 50) & 63)) & 1) != 0;
}

/** The hash of a short text: its content as `shortText` gives it, and its length. */
export function hashOf(content: v128, length: u32): u64 {
  const first = v128.extract_lane<u64>(content, 0);
  const second = v128.extract_lane<u64>(content, 1);
  return (first + second * SECOND_FACTOR + <u64>length) * HASH_FACTOR;
}

/** The hash of a text of any length, of its ends alone where it is not short. */
export function hashOfText(start: usize, length: u32): u64 {
  if (length <= SHORT_TEXT_BYTES) return hashOf(shortText(start, length), length);
  const first = load<u64>(start) ^ load<u64>(start + <usize>length - 8);
  return (first + load<u64>(start, 8) * SECOND_FACTOR + <u64>length) * HASH_FACTOR;
}

/** The child of `node`, which has some, under the text of `length` bytes at `key` with `hash`, or NO_NODE. */
export function childByKey(node: usize, hash: u64, key: usize, length: u32): usize {
  const bucket = (<usize>(hash >> 32)) & (<usize>load<u32>(node, 28));
  let child: usize = load<u32>(<usize>load<u32>(node, 24) + (bucket << 2));
  while (child != NO_NODE) {
    if (load<u32>(child, 40) == length && isSame(load<u32>(child, 36), key, length)) return child;
    child = load<u32>(child, 32);
  }
  return NO_NODE;
}

/** True where the same `length` bytes stand at both places. May read up to 7 bytes past them. */
export function isSame(known: usize, key: usize, length: u32): bool {
  let at: usize = 0;
  for (; at + 8 <= <usize>length; at += 8) if (load<u64>(known + at) != load<u64>(key + at)) return false;
  const rest = (<u64>length) & 7;
  const mask = ((<u64>1) << (rest << 3)) - 1;
  return ((load<u64>(known + at) ^ load<u64>(key + at)) & mask) == 0;
}
