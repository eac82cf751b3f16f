/** Repeated texts among many: found by the table, and by sorting where somebody made the table useless. */
import { describe, expect, it } from 'vitest';
import { hashOf, RepeatedKey } from '../../../src/codec/cbor/repeated-key.js';
import { Seeded } from '../../support/seeded.js';

/** Texts one behind the other. */
class Texts {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly starts: Int32Array;
  readonly ends: Int32Array;

  constructor(texts: readonly Uint8Array[]) {
    this.bytes = new Uint8Array(Buffer.concat(texts));
    this.view = new DataView(this.bytes.buffer);
    this.starts = new Int32Array(texts.length);
    this.ends = new Int32Array(texts.length);
    let at = 0;
    for (const [index, text] of texts.entries()) {
      this.starts[index] = at;
      at += text.length;
      this.ends[index] = at;
    }
  }

  hasRepeated(finder: RepeatedKey, from = 0, to = this.starts.length): boolean {
    return finder.isAmong(this.bytes, this.view, this.starts, this.ends, from, to);
  }
}

/** Texts of eight bytes with one hash: the second word undoes what the first did. */
function alikeTexts(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => {
    let hash = Math.imul(8 ^ (index * 7919), 0x9e3779b1);
    hash ^= hash >>> 15;
    const text = Buffer.alloc(8);
    text.writeInt32LE(index * 7919, 0);
    text.writeInt32LE(hash ^ 0x1234567, 4);
    return text;
  });
}

describe('repeated texts', () => {
  it('are found by comparing each with each', () => {
    const random = new Seeded(2);
    const finder = new RepeatedKey();
    let found = 0;
    for (let round = 0; round < 2_000; round++) {
      const texts = Array.from({ length: 2 + random.below(40) }, () =>
        Uint8Array.from({ length: random.below(random.chance(0.5) ? 3 : 12) }, () => random.below(256)),
      );
      const wanted = new Set(texts.map((text) => text.join())).size < texts.length;
      expect(new Texts(texts).hasRepeated(finder)).toBe(wanted);
      if (wanted) found++;
    }
    expect(found).toBeGreaterThan(300);
    expect(found).toBeLessThan(1_700);
  });

  it('are looked for only where asked', () => {
    const texts = new Texts(['a', 'b', 'a', 'c', 'b'].map((text) => Buffer.from(text)));
    const finder = new RepeatedKey();
    expect(texts.hasRepeated(finder)).toBe(true);
    expect(texts.hasRepeated(finder, 1)).toBe(true);
    expect(texts.hasRepeated(finder, 2)).toBe(false);
    expect(texts.hasRepeated(finder, 0, 2)).toBe(false);
    expect(texts.hasRepeated(finder, 2, 3)).toBe(false);
    expect(texts.hasRepeated(finder, 2, 2)).toBe(false);
  });

  it('are found in n log n steps where every text has one hash', () => {
    const texts = alikeTexts(100_000);
    const unique = new Texts(texts);
    expect(new Set([0, 1, 2, 99_999].map((at) => hashOf(unique.bytes, unique.view, at * 8, at * 8 + 8))).size).toBe(1);
    const finder = new RepeatedKey();
    const from = performance.now();
    expect(unique.hasRepeated(finder)).toBe(false);
    for (const [first, second] of [
      [0, 99_999],
      [50_000, 50_001],
    ] as const) {
      const repeated = [...texts];
      repeated[second] = texts[first]!;
      expect(new Texts(repeated).hasRepeated(finder)).toBe(true);
    }
    // Each with each would be five thousand million comparisons.
    expect(performance.now() - from).toBeLessThan(5_000);
  });
});
