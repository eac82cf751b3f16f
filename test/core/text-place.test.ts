/** Byte offsets and carets: what a user sees of a place in a text. */
import { describe, expect, it } from 'vitest';
import { byteOffset, caretLines } from '../../src/core/text-place.js';

describe('a place in a text', () => {
  it('is counted in UTF-8 bytes', () => {
    expect([0, 1, 2, 4, 9].map((index) => byteOffset('aé🚢b', index))).toEqual([0, 1, 3, 7, 8]);
  });

  it('shows as a caret under its character, wide and control characters as one column', () => {
    expect(caretLines('é🚢\tx', 4)).toBe('é🚢 x\n   ^');
    expect(caretLines('', 0)).toBe('\n^');
    expect(caretLines('ab', 2)).toBe('ab\n  ^');
  });

  it('shows only its own line, and only a stretch of it', () => {
    expect(caretLines('one\ntwo\nthree', 5)).toBe('two\n ^');
    const [shown, caret] = caretLines(`${'x'.repeat(5_000)}y${'z'.repeat(5_000)}`, 5_000).split('\n');
    expect(shown).toHaveLength(80);
    expect(caret!.indexOf('^')).toBe(shown!.indexOf('y'));
  });
});
