/**
 * The kernel as the rest sees it: a module that needs nothing, one memory that never grows, and regions that keep clear
 * of each other, with the slack behind them that reading by whole blocks needs.
 */
import { describe, expect, test } from 'vitest';
import { Kernel } from '../../src/core/kernel.js';
import { kernelModule, newKernel } from '../support/kernel.js';

/** Bytes that a read by blocks may go beyond what it looks at. */
const BLOCK_BYTES = 64;

/** Every `NAME_AT` with its `NAME_BYTES`, in the order of memory. */
function regionsOf({ exports }: Kernel): { name: string; at: number; end: number }[] {
  const places = exports as unknown as Record<string, { readonly value: number }>;
  return Object.keys(places)
    .filter((key) => key.endsWith('_AT'))
    .map((key) => {
      const name = key.slice(0, -'_AT'.length);
      const at = places[key]!.value;
      return { name, at, end: at + places[`${name}_BYTES`]!.value };
    })
    .toSorted((a, b) => a.at - b.at);
}

describe('the module', () => {
  test('imports nothing, so that nothing but its memory can be reached from it', () => {
    expect(WebAssembly.Module.imports(kernelModule)).toEqual([]);
  });

  test('exports one memory, and beside it only functions and places', () => {
    const kinds = WebAssembly.Module.exports(kernelModule).map(({ name, kind }) => (kind === 'memory' ? name : kind));
    expect(new Set(kinds)).toEqual(new Set(['memory', 'global', ...kinds.filter((kind) => kind === 'function')]));
  });
});

describe('the memory', () => {
  test('does not grow', () => {
    const { exports, buffer } = newKernel();
    expect(() => exports.memory.grow(1)).toThrow(RangeError);
    expect(exports.memory.buffer).toBe(buffer);
  });

  test('holds regions that do not overlap, aligned for the widest read, with a block of slack at its end', () => {
    const kernel = newKernel();
    const regions = regionsOf(kernel);
    expect(regions.length).toBeGreaterThan(5);
    for (const [index, { name, at, end }] of regions.entries()) {
      expect({ name, rest: at % BLOCK_BYTES }).toEqual({ name, rest: 0 });
      const next = regions[index + 1]?.at ?? kernel.buffer.byteLength - BLOCK_BYTES;
      expect({ name, isClear: end <= next }).toEqual({ name, isClear: true });
    }
  });

  test('is the window and the frame table where the module says', () => {
    const kernel = newKernel();
    const regions = new Map(regionsOf(kernel).map((region) => [region.name, region]));
    const window = regions.get('WINDOW')!;
    expect([kernel.window.byteOffset, kernel.window.byteLength]).toEqual([window.at, window.end - window.at]);
    const { frames } = kernel;
    const last = frames.headerReasons;
    expect(frames.offsets.byteOffset).toBe(regions.get('FRAMES')!.at);
    expect(last.byteOffset + last.byteLength).toBeLessThanOrEqual(regions.get('FRAMES')!.end);
  });

  test('is one for each instance', () => {
    const [one, other] = [newKernel(), newKernel()];
    one.window[0] = 7;
    expect(other.window[0]).toBe(0);
  });
});
