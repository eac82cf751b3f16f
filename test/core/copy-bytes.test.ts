/** Copies between memory that threads share and memory of one thread, at every alignment of either side. */
import { describe, expect, it } from 'vitest';
import { copyBytes } from '../../src/core/copy-bytes.js';

const kinds = {
  plain: (length: number) => new Uint8Array(length),
  shared: (length: number) => new Uint8Array(new SharedArrayBuffer(length)),
};

describe('a copy', () => {
  for (const [fromKind, makeFrom] of Object.entries(kinds)) {
    for (const [intoKind, makeInto] of Object.entries(kinds)) {
      it(`from ${fromKind} to ${intoKind} memory writes the bytes at their place and no others`, () => {
        const whole = makeFrom(64).map((_, i) => i + 1);
        for (let start = 0; start < 9; start += 1) {
          for (const length of [0, 1, 7, 8, 40]) {
            const into = makeInto(64).fill(0xff).subarray(start);
            copyBytes(whole.subarray(3, 3 + length), into, 2);
            const wanted = Array.from({ length: 64 - start }, (_, i) => (i < 2 || i >= 2 + length ? 0xff : i + 2));
            expect([...into]).toEqual(wanted);
          }
        }
      });
    }
  }

  it('that does not fit is refused and writes nothing', () => {
    const into = new Uint8Array(4);
    expect(() => copyBytes(new Uint8Array(3).fill(1), into, 2)).toThrow(RangeError);
    expect([...into]).toEqual([0, 0, 0, 0]);
  });
});
