/**
 * A walk plan and the wanted paths in the form that the kernel reads (`workers/kernel/avro-image.ts` reads what this file
 * writes and says how it is laid out).
 */
import type { PathTrie } from '../path-trie.js';
import type { DecoderLimits } from '../walker.js';
import type { AvroPlan } from './plan.js';

const HEADER_WORDS = 8;
const NODE_WORDS = 8;
/** The kernel compares keys eight bytes at a time. */
const PADDING_BYTES = 8;

/** The image of `plan` and `trie`, for `count` slots. */
export function avroImage(plan: AvroPlan, trie: PathTrie, limits: DecoderLimits, count: number): Uint8Array {
  const nodes = trie.slotOf.length;
  const entriesAt = HEADER_WORDS + plan.code.length;
  const symbolStartsAt = entriesAt + plan.entries.length;
  const nodesAt = symbolStartsAt + plan.symbolStarts.length;
  const bucketsAt = nodesAt + nodes * NODE_WORDS;
  const keysAt = (bucketsAt + trie.table.length) * 4;
  const words = new Int32Array(Math.ceil((keysAt + trie.keyBytes.length + PADDING_BYTES) / 4));
  words.set([limits.maxPayloadBytes, limits.maxDepth, count, entriesAt * 4, symbolStartsAt * 4, nodesAt * 4, keysAt]);
  words.set(plan.code, HEADER_WORDS);
  words.set(plan.entries, entriesAt);
  words.set(plan.symbolStarts, symbolStartsAt);
  for (let node = 0; node < nodes; node++) {
    words.set(
      [
        (bucketsAt + trie.tableStart[node]!) * 4,
        trie.tableMask[node]!,
        trie.nextInBucket[node]!,
        trie.keyStart[node]!,
        trie.keyLength[node]!,
        plan.ordinals[node]!,
      ],
      nodesAt + node * NODE_WORDS,
    );
  }
  words.set(trie.table, bucketsAt);
  const image = new Uint8Array(words.buffer);
  image.set(trie.keyBytes, keysAt);
  return image;
}
