/** The trie of wanted paths: order of slots, keys as bytes, what lies below a node. */
import { expect, test } from 'vitest';
import { NONE, PathTrie } from '../../src/codec/path-trie.js';
import { comparePaths, type Path } from '../../src/core/path.js';

const utf8 = new TextEncoder();

function child(trie: PathTrie, node: number, key: string): number {
  const bytes = utf8.encode(`x${key}x`);
  return trie.childByKey(node, bytes, 1, bytes.length - 1);
}

test('slots below a node are one range, its own excluded', () => {
  const paths: Path[] = [['a'], ['a', 0], ['a', 'b', 'c'], ['a', 'b', 'd'], ['b', 'c'], ['c']].sort(comparePaths);
  const trie = new PathTrie(paths);
  const a = child(trie, 0, 'a');
  const ab = child(trie, a, 'b');
  const slotsBelow = (node: number) => paths.slice(trie.below[node], trie.belowEnd[node]);
  expect(slotsBelow(0)).toEqual(paths);
  expect(slotsBelow(a)).toEqual([
    ['a', 0],
    ['a', 'b', 'c'],
    ['a', 'b', 'd'],
  ]);
  expect(slotsBelow(ab)).toEqual([
    ['a', 'b', 'c'],
    ['a', 'b', 'd'],
  ]);
  expect(slotsBelow(child(trie, 0, 'c'))).toEqual([]);
  expect([trie.slotOf[0], trie.slotOf[ab], paths[trie.slotOf[a]!]]).toEqual([NONE, NONE, ['a']]);
});

test('a path may be the whole payload', () => {
  const trie = new PathTrie([[], ['a']]);
  expect([trie.slotOf[0], trie.below[0], trie.belowEnd[0]]).toEqual([0, 1, 2]);
});

test('keys are told apart by all their bytes', () => {
  const keys = ['', 'a', 'aa', 'aba', 'aca', 'abcda', 'abdca', 'é', 'e\u0301', '\ud83d\ude80', 'ä'.repeat(100)];
  const trie = new PathTrie(keys.map((key): Path => [key]).sort(comparePaths));
  const found = keys.map((key) => child(trie, 0, key));
  expect(new Set(found).size).toBe(keys.length);
  expect(found).not.toContain(NONE);
  for (const other of ['b', 'ada', 'abcdb', 'A', 'aaa', 'è']) expect(child(trie, 0, other)).toBe(NONE);
});

test('index children come in ascending order up to 2^32 − 1', () => {
  const trie = new PathTrie([[2], [10], [4294967295]]);
  const indexes = [];
  for (let node = trie.firstIndex[0]!; node !== NONE; node = trie.nextIndex[node]!) indexes.push(trie.indexAt[node]);
  expect(indexes).toEqual([2, 10, 4294967295]);
});

test('a prefix orders before what it is a prefix of, indexes before keys', () => {
  const sorted: Path[] = [[], [0], [2], [10], ['a'], ['a', 0], ['a', 'b'], ['ab'], ['b']];
  expect([...sorted].reverse().sort(comparePaths)).toEqual(sorted);
  expect(comparePaths(['a', 1], ['a', 1])).toBe(0);
});
