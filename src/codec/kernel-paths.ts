/**
 * The wanted paths of a program in the form that the kernel reads (`workers/kernel/paths.ts` reads what this file
 * writes): the tree of `PathTrie` as one image, with the bounds of the payload and the shape of the slots in front.
 */
import { DEPTH_CEILING } from '../core/limits.js';
import type { PathTrie } from './path-trie.js';
import type { DecoderLimits } from './walker.js';

const HEADER_WORDS = 8;
const NODE_WORDS = 12;
/** The kernel compares keys eight bytes at a time. */
const PADDING_BYTES = 8;

/** The image of `trie`, for `rows` rows of `count` slots. */
export function pathImage(trie: PathTrie, limits: DecoderLimits, count: number, rows: number): Uint8Array {
  const nodes = trie.slotOf.length;
  const nodesAt = HEADER_WORDS * 4;
  const tableAt = nodesAt + nodes * NODE_WORDS * 4;
  const keysAt = tableAt + trie.table.length * 4;
  const image = new Uint8Array(keysAt + trie.keyBytes.length + PADDING_BYTES);
  const view = new DataView(image.buffer);
  const header = [limits.maxPayloadBytes, Math.min(limits.maxDepth, DEPTH_CEILING), count, rows, tableAt, keysAt];
  header.forEach((word, at) => view.setUint32(at * 4, word, true));
  for (let node = 0; node < nodes; node++) {
    const words = [
      trie.slotOf[node]!,
      trie.below[node]!,
      trie.belowEnd[node]!,
      trie.firstIndex[node]!,
      trie.nextIndex[node]!,
      trie.indexAt[node]!,
      trie.keyMarks[node]!,
      trie.tableStart[node]!,
      trie.tableMask[node]!,
      trie.nextInBucket[node]!,
      trie.keyStart[node]!,
      trie.keyLength[node]!,
    ];
    words.forEach((word, at) => view.setInt32(nodesAt + (node * NODE_WORDS + at) * 4, word, true));
  }
  trie.table.forEach((child, at) => view.setInt32(tableAt + at * 4, child, true));
  image.set(trie.keyBytes, keysAt);
  return image;
}
