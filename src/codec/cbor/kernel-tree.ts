/**
 * The wanted paths of a program in the form that the kernel's CBOR walker reads (`workers/kernel/cbor-tree.ts` reads what
 * this file writes): the tree of `PathTrie` as one image, whose nodes and tables refer to each other by their places in
 * the kernel's memory.
 */
import { DEPTH_CEILING } from '../../core/limits.js';
import { NONE, type PathTrie } from '../path-trie.js';
import type { DecoderLimits } from '../walker.js';

const HEADER_WORDS = 4;
const NODE_WORDS = 12;
/** In place of a node that is not there. */
const NO_NODE = 0;
// As in `workers/kernel/cbor-tree.ts`.
const SECOND_FACTOR = 0x9e3779b97f4a7c15n;
const HASH_FACTOR = 0xff51afd7ed558ccdn;
const SHORT_TEXT_BYTES = 16;
const LOW_32 = 0xffff_ffffn;
/** The kernel compares keys eight bytes at a time. */
const PADDING_BYTES = 8;

/** The image of `trie` as it reads at `imageAt`, for slots of `count` paths. */
export function cborTree(trie: PathTrie, limits: DecoderLimits, count: number, imageAt: number): Uint8Array {
  const nodes = trie.slotOf.length;
  const tableAt = (HEADER_WORDS + nodes * NODE_WORDS) * 4;
  const keysAt = tableAt + trie.table.length * 4;
  const image = new Uint8Array(keysAt + trie.keyBytes.length + PADDING_BYTES);
  const view = new DataView(image.buffer);
  const put = (at: number, words: readonly number[]) => {
    for (const [place, word] of words.entries()) view.setUint32(at + place * 4, word, true);
  };
  const placeOf = (node: number) => (node === NONE ? NO_NODE : imageAt + (HEADER_WORDS + node * NODE_WORDS) * 4);
  const { table, marks, nextInBucket } = keyTable(trie);
  put(0, [limits.maxPayloadBytes, Math.min(limits.maxDepth, DEPTH_CEILING), count]);
  for (let node = 0; node < nodes; node++) {
    put((HEADER_WORDS + node * NODE_WORDS) * 4, [
      trie.slotOf[node]!,
      placeOf(trie.firstIndex[node]!),
      placeOf(trie.nextIndex[node]!),
      trie.indexAt[node]!,
      Number(marks[node]! & LOW_32),
      Number(marks[node]! >> 32n),
      imageAt + tableAt + trie.tableStart[node]! * 4,
      trie.tableMask[node]!,
      placeOf(nextInBucket[node]!),
      imageAt + keysAt + trie.keyStart[node]!,
      trie.keyLength[node]!,
    ]);
  }
  put(tableAt, Array.from(table, placeOf));
  image.set(trie.keyBytes, keysAt);
  return image;
}

/** The children by key of all nodes, in the tables of `trie` by the kernel's hash; and 64 marks of their hashes by node. */
function keyTable(trie: PathTrie) {
  const table = new Int32Array(trie.table.length).fill(NONE);
  const nextInBucket = new Int32Array(trie.nextInBucket.length).fill(NONE);
  const marks = new BigUint64Array(trie.slotOf.length);
  for (let node = 0; node < marks.length; node++) {
    const start = trie.tableStart[node]!;
    const mask = trie.tableMask[node]!;
    for (let bucket = start; bucket <= start + mask; bucket++) {
      for (let child = trie.table[bucket]!; child !== NONE; child = trie.nextInBucket[child]!) {
        const keyStart = trie.keyStart[child]!;
        const hash = hashOfText(trie.keyBytes.subarray(keyStart, keyStart + trie.keyLength[child]!));
        marks[node]! |= 1n << ((hash >> 50n) & 63n);
        const place = start + (Number(hash >> 32n) & mask);
        nextInBucket[child] = table[place]!;
        table[place] = child;
      }
    }
  }
  return { table, nextInBucket, marks };
}

function hashOfText(text: Uint8Array): bigint {
  const words = new DataView(new ArrayBuffer(SHORT_TEXT_BYTES));
  new Uint8Array(words.buffer).set(text.subarray(0, SHORT_TEXT_BYTES));
  let first = words.getBigUint64(0, true);
  if (text.length > SHORT_TEXT_BYTES) {
    first ^= new DataView(text.buffer, text.byteOffset, text.length).getBigUint64(text.length - 8, true);
  }
  const sum = first + words.getBigUint64(8, true) * SECOND_FACTOR + BigInt(text.length);
  return BigInt.asUintN(64, sum * HASH_FACTOR);
}
