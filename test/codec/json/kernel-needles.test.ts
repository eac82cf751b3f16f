/** The kernel's search for needles, against the obvious one: every place, every length, every way across its blocks. */
import { describe, expect, it } from 'vitest';
import { KernelNeedles } from '../../../src/codec/json/kernel-needles.js';
import { newKernel } from '../../support/kernel.js';
import { Seeded } from '../../support/seeded.js';

const kernel = newKernel();
const { window, frames, exports } = kernel;

/** Which needles the kernel finds in the bytes `start`…`end` of its window. */
function found(start: number, end: number): number {
  frames.payloadStarts[0] = start;
  frames.payloadEnds[0] = end;
  return exports.findNeedles(0);
}

function seeks(...needles: readonly Uint8Array[]): void {
  new KernelNeedles(kernel, { payloadBytesMax: 1000, choices: needles.map((needle) => [[needle]]) }).load();
}

function isIn(needle: Uint8Array, start: number, end: number): boolean {
  return Buffer.from(window.subarray(start, end)).includes(Buffer.from(needle.subarray(-16)));
}

describe('a needle', () => {
  it.each(['x', '"u"', 'safe', '"exactly 16 byte', 'one that is longer than the kernel compares'])(
    '%s is found wherever it stands whole, and nowhere else',
    (text) => {
      const needle = Buffer.from(text);
      seeks(needle);
      for (const start of [0, 1, 63, 64, 77]) {
        for (let length = needle.length; length < needle.length + 140; length++) {
          const end = start + length;
          // Copies that stick out at both ends of the payload are not in it.
          window.fill(0x2e, 0, 600);
          window.set(needle, end - needle.length + 1);
          if (start > 0) window.set(needle.subarray(-16), start - 1);
          expect(found(start, end) === 1).toBe(isIn(needle, start, end));
          for (const at of [0, 1, 62 - needle.length, length - needle.length - 1, length - needle.length]) {
            if (at < 0 || at + needle.length > length) continue;
            window.fill(0x2e, 0, 600);
            window.set(needle, start + at);
            if (found(start, end) !== 1) throw new Error(`${text} not found at ${at} of ${length}`);
          }
        }
      }
    },
  );

  it('is found in random texts of few letters exactly where the obvious search finds it', () => {
    const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 9));
    let standing = 0;
    for (let round = 0; round < 300; round++) {
      const letters = random.pick(['ab', 'ab"', 'abcdefgh']);
      const word = (length: number) => Uint8Array.from({ length }, () => random.pick([...Buffer.from(letters)]));
      const needles = Array.from({ length: 32 }, () => word(1 + random.below(9)));
      const distinct = [...new Map(needles.map((needle) => [needle.join(), needle])).values()];
      seeks(...distinct);
      for (let turn = 0; turn < 10; turn++) {
        window.set(word(400), 0);
        const start = random.below(70);
        const end = start + random.below(300);
        const bits = found(start, end);
        for (const [index, needle] of distinct.entries()) {
          const isThere = isIn(needle, start, end);
          if (isThere) standing += 1;
          if (((bits >>> index) & 1) !== (isThere ? 1 : 0)) throw new Error(`round ${round}, needle ${needle.join()}`);
        }
      }
    }
    expect(standing).toBeGreaterThan(10_000);
  });
});

describe('needles of many readers', () => {
  it('are not sought where they do not fit the table', () => {
    const words = Array.from({ length: 33 }, (_, i) => Buffer.from(`word${i}`));
    seeks(...words);
    window.set(Buffer.from('word1word2'), 0);
    expect(found(0, 10)).toBe(0);
    seeks(...words.slice(0, 32));
    expect(found(0, 10)).toBe(0b110);
  });
});
