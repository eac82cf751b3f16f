/** Buffers of pages: a page that gets the buffer of an earlier one holds its own bytes and no others. */
import { describe, expect, it } from 'vitest';
import { PAGE_BYTES_FIRST, SPARE_PAGE_BYTES_MAX } from '../../src/core/limits.js';
import { OpenPage, SparePageBuffer } from '../../src/scan/page.js';
import { Frame } from '../../src/segment/frame.js';
import { encodeMsgpack } from '../../src/wire/msgpack.js';

/** A page that kept one record of `length` bytes, all of them `fill`. */
function filled(spare: SparePageBuffer, length: number, fill: number): OpenPage {
  const page = new OpenPage('records', null, spare);
  keep(page, length, fill);
  return page;
}

function keep(page: OpenPage, length: number, fill: number): void {
  const frame = new Frame();
  frame.frameEnd = length;
  page.keep(new Uint8Array(length).fill(fill), frame);
}

describe('the buffer of a closed page', () => {
  it('is used again by the next page that outgrows its first one, from its beginning', () => {
    const spare = new SparePageBuffer();
    const first = filled(spare, 3 * PAGE_BYTES_FIRST, 1);
    first.close();
    const second = filled(spare, 100, 2);
    expect(second.bytes).not.toBe(first.bytes);
    keep(second, PAGE_BYTES_FIRST, 3);
    expect(second.bytes).toBe(first.bytes);
    expect(second.bytesUsed).toBe(100 + PAGE_BYTES_FIRST);
    expect([...new Set(second.bytes.subarray(0, 100))]).toEqual([2]);
    expect([...new Set(second.bytes.subarray(100, second.bytesUsed))]).toEqual([3]);
  });

  it('serves one page at a time', () => {
    const spare = new SparePageBuffer();
    const first = filled(spare, 3 * PAGE_BYTES_FIRST, 1);
    first.close();
    const [second, third] = [filled(spare, 2 * PAGE_BYTES_FIRST, 2), filled(spare, 2 * PAGE_BYTES_FIRST, 3)];
    expect(second.bytes).toBe(first.bytes);
    expect(third.bytes).not.toBe(first.bytes);
    expect(second.bytes[0]).toBe(2);
  });

  it('is not given where it is too small, and not kept where it is larger than a worker may keep', () => {
    const spare = new SparePageBuffer();
    filled(spare, 3 * PAGE_BYTES_FIRST, 1).close();
    expect(spare.take(3 * PAGE_BYTES_FIRST + 1)).toBeNull();
    filled(spare, SPARE_PAGE_BYTES_MAX + 1, 1).close();
    expect(spare.take(1)!.length).toBe(3 * PAGE_BYTES_FIRST);
    expect(spare.take(1)).toBeNull();
  });
});

describe('what was encoded', () => {
  it('keeps its bytes while more is encoded', () => {
    const results = [1, 2, 3].map((fill) => encodeMsgpack({ bytes: new Uint8Array(50_000).fill(fill) }));
    expect(results.map((bytes) => bytes.at(-1))).toEqual([1, 2, 3]);
    for (const bytes of results) expect(bytes.byteLength).toBe(bytes.buffer.byteLength);
  });
});
