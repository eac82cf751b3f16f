/**
 * What the host has written to `AVRO_IMAGE_AT` for one walker (`src/codec/avro/kernel-image.ts` writes what this file reads):
 * the program of a walk plan, its symbols, and the keys that maps are searched for.
 *
 * 32-bit words; places are bytes from the start of the image:
 *
 *     largest payload and value budget | deepest level | slots | entries at | symbol starts at | nodes at | keys at | 0
 *     | the program | entries, a word of the program for each schema | symbol starts | nodes | buckets | bytes of keys
 *
 * A node of the path tree: place of its buckets, their number less one, next node in its bucket or NONE, place of its
 * key from `keys at`, length of the key, its ordinal, twice 0. A bucket is its first node or NONE.
 */
import { AVRO_IMAGE_AT } from './layout';
import { areEqual } from './paths';

/** No node, no slot, no program. */
export const NONE: i32 = -1;

/** Where the program stands: its first word is word 0. */
export const CODE_AT: usize = AVRO_IMAGE_AT + 32;

const NODE_BYTES_LOG2: usize = 5;

export function budget(): i32 {
  return load<i32>(AVRO_IMAGE_AT);
}
export function depthMax(): i32 {
  return load<i32>(AVRO_IMAGE_AT, 4);
}
export function slotCount(): usize {
  return load<u32>(AVRO_IMAGE_AT, 8);
}
/** The program of a schema. */
export function entryOf(schema: i32): usize {
  return codeAt(load<u32>(AVRO_IMAGE_AT + load<u32>(AVRO_IMAGE_AT, 12) + ((<usize>schema) << 2)));
}
/** Where a word of the program stands. */
export function codeAt(word: u32): usize {
  return CODE_AT + ((<usize>word) << 2);
}
/** Where the start of a symbol stands, and behind it the start of the next, in bytes of the host's table. */
export function symbolAt(symbol: i32): usize {
  return AVRO_IMAGE_AT + load<u32>(AVRO_IMAGE_AT, 16) + ((<usize>symbol) << 2);
}

/** The ordinal of the child of `node` under the key of `length` bytes at `key`, or NONE. May read 7 bytes past the key. */
export function ordinalByKey(node: i32, key: usize, length: u32): i32 {
  const nodes = AVRO_IMAGE_AT + load<u32>(AVRO_IMAGE_AT, 20);
  const parent = nodes + ((<usize>node) << NODE_BYTES_LOG2);
  let hash: u32 = 0;
  if (length != 0) hash = length + <u32>load<u8>(key) * 3 + <u32>load<u8>(key + <usize>length - 1) * 5;
  const bucket = <usize>(hash & load<u32>(parent, 4));
  let child = load<i32>(AVRO_IMAGE_AT + load<u32>(parent) + (bucket << 2));
  while (child != NONE) {
    const at = nodes + ((<usize>child) << NODE_BYTES_LOG2);
    if (load<u32>(at, 16) == length) {
      const known = AVRO_IMAGE_AT + load<u32>(AVRO_IMAGE_AT, 24) + load<u32>(at, 12);
      if (areEqual(known, key, <usize>length)) return load<i32>(at, 20);
    }
    child = load<i32>(at, 8);
  }
  return NONE;
}
