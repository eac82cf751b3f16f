/** The bounded cache: what goes, what stays. */
import { expect, test } from 'vitest';
import { RecentlyUsed } from '../../src/scan/recently-used.js';

test('the entry that was used least recently goes when there are too many', () => {
  const cache = new RecentlyUsed<number>(2, 100);
  cache.set('a', 1, 1);
  cache.set('b', 2, 1);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3, 1);
  expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.size]).toEqual([1, undefined, 3, 2]);
});

test('entries go until the rest weighs what it may, but the last one stays', () => {
  const cache = new RecentlyUsed<number>(10, 100);
  cache.set('a', 1, 60);
  cache.set('b', 2, 40);
  cache.set('b', 3, 30);
  expect(cache.size).toBe(2);
  cache.set('c', 4, 20);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([undefined, 3, 4]);
  cache.set('d', 5, 500);
  expect([cache.size, cache.get('d')]).toEqual([1, 5]);
  cache.set('e', 6, 1);
  expect([cache.size, cache.get('e')]).toEqual([1, 6]);
});
