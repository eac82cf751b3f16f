/** "Did you mean": what counts as near, and that it stays cheap. */
import { expect, it } from 'vitest';
import { nearestWord } from '../../src/filter/nearest-word.js';

it.each([
  ['moed', ['table', 'mode'], 'mode'],
  ['Mode', ['mod', 'mode'], 'mode'],
  ['batery', ['battery', 'bat'], 'battery'],
  ['leafScan', ['leaf_scan', 'stage'], 'leaf_scan'],
  ['x', ['mode', 'table'], undefined],
  ['colour', ['species', 'count', 'ring'], undefined],
  ['a', ['b'], 'b'],
  ['anything', [], undefined],
])('of %s among %j is %s', (given, words, nearest) => {
  expect(nearestWord(given, words)).toBe(nearest);
});

it('takes the first of those that are equally near', () => {
  expect(nearestWord('mode', ['node', 'made'])).toBe('node');
});

it('looks at no more than a thousand words, none of them long', () => {
  const far = Array.from({ length: 1_000 }, (_, i) => `field_${i}_of_many`);
  expect(nearestWord('mode', [...far, 'mode'])).toBeUndefined();
  expect(nearestWord('m'.repeat(65), ['m'.repeat(65)])).toBeUndefined();
});
