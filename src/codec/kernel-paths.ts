/**
 * The wanted paths of a program in the form that the kernel reads (`workers/kernel/paths.ts` reads what this file
 * writes): the tree of `PathTrie` as one image, with the bounds of the payload and the shape of the slots in front.
 */
import { DEPTH_CEILING } from '../core/limits.js';
import { NONE, type PathTrie } from './path-trie.js';
import type { DecoderLimits } from './walker.js';

const HEADER_WORDS = 8;
const NODE_WORDS = 14;
/** As in `workers/kernel/paths.ts`. */
const MARK_FACTOR = 40503;
const EVERY_MARK = 2n ** 64n - 1n;
const QUOTE = 0x22;
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
  const marks = endMarks(trie);
  for (let node = 0; node < nodes; node++) {
    const words = [
      trie.slotOf[node]!,
      trie.below[node]!,
      trie.belowEnd[node]!,
      trie.firstIndex[node]!,
      trie.nextIndex[node]!,
      trie.indexAt[node]!,
      Number(marks[node]! & 0xffff_ffffn),
      Number(marks[node]! >> 32n),
      trie.tableStart[node]!,
      trie.tableMask[node]!,
      trie.nextInBucket[node]!,
      trie.keyStart[node]!,
      trie.keyLength[node]!,
      0,
    ];
    words.forEach((word, at) => view.setUint32(nodesAt + (node * NODE_WORDS + at) * 4, word, true));
  }
  trie.table.forEach((child, at) => view.setInt32(tableAt + at * 4, child, true));
  image.set(trie.keyBytes, keysAt);
  return image;
}

/**
 * By node, 64 marks for the last bytes of the keys under it: the kernel looks at the two bytes before the quote that ends
 * a key. What stands before the quotes of an empty key is unknown, so it sets all of them.
 */
function endMarks(trie: PathTrie): BigUint64Array {
  const marks = new BigUint64Array(trie.slotOf.length);
  for (let node = 0; node < marks.length; node++) {
    const start = trie.tableStart[node]!;
    for (let bucket = start; bucket <= start + trie.tableMask[node]!; bucket++) {
      for (let child = trie.table[bucket]!; child !== NONE; child = trie.nextInBucket[child]!) {
        marks[node]! |= endMark(
          trie.keyBytes.subarray(trie.keyStart[child]!, trie.keyStart[child]! + trie.keyLength[child]!),
        );
      }
    }
  }
  return marks;
}

function endMark(key: Uint8Array): bigint {
  const last = key.at(-1);
  if (last === undefined) return EVERY_MARK;
  const pair = (key.at(-2) ?? QUOTE) + last * 256;
  return 1n << BigInt(((pair * MARK_FACTOR) >>> 10) & 63);
}
