/** The Winnow-Shard header. */
import { expect, it } from 'vitest';
import { shardOf } from '../../src/admission/shard.js';

it('an absent header is the default shard', () => {
  expect(shardOf(undefined)).toBe('default');
});

it.each(['a', 'broker-7/eu.west:1_x', 'A'.repeat(64)])('%s is a shard', (name) => {
  expect(shardOf(name)).toBe(name);
});

it.each([[''], ['a b'], ['a,b'], ['ä'], ['A'.repeat(65)], [['a', 'b']]])('%j is refused', (value) => {
  expect(() => shardOf(value)).toThrow(/Winnow-Shard/);
});
