/** Inline segments: the bytes of a request, whole or a piece at a time. */
import { describe, expect, it } from 'vitest';
import { inlineSource } from '../../src/source/inline.js';

const BYTES = Uint8Array.from({ length: 1000 }, (_, index) => (index * 7) % 251);

function shared(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(BYTES.length);
  new Uint8Array(memory).set(BYTES);
  return memory;
}

describe.each([
  ['memory of its own', () => inlineSource(BYTES)],
  ['shared memory', () => inlineSource(shared())],
])('a piece of a segment in %s', (_, open) => {
  it('is copied to its place and nowhere else, from any position and of any length', () => {
    const source = open();
    for (const [position, at, length] of [
      [0, 0, 1000],
      [3, 5, 64],
      [8, 8, 1],
      [999, 1, 1],
      [17, 3, 0],
    ] as const) {
      // A view that does not begin where its memory does.
      const into = new Uint8Array(1100).subarray(50).fill(0xff);
      expect(source.read(position, into, at, length)).toBe(length);
      expect(into.subarray(at, at + length)).toEqual(BYTES.subarray(position, position + length));
      expect(into.subarray(0, at).every((byte) => byte === 0xff)).toBe(true);
      expect(into.subarray(at + length).every((byte) => byte === 0xff)).toBe(true);
    }
  });

  it('is as long as the segment has bytes left', () => {
    const into = new Uint8Array(100);
    expect(open().read(990, into, 0, 100)).toBe(10);
    expect(open().read(1000, into, 0, 100)).toBe(0);
  });
});
