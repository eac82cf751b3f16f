/**
 * The stretches of JSON strings that stand for themselves, passed over four bytes at a time.
 *
 * Reads through a DataView, whose unaligned 32-bit reads the compiler turns into one load; nothing at or past `end` is
 * read and nothing is allocated.
 */

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;

/** 1 for a byte that stands for itself inside a string: printable ASCII (and DEL) but `"` and `\`. */
const PLAIN = new Uint8Array(256);
for (let byte = 0x20; byte < 0x80; byte++) PLAIN[byte] = 1;
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;

/** The first byte at or after `from` that does not stand for itself in a string (see PLAIN), or `end`. */
export function skipPlain(view: DataView, from: number, end: number): number {
  let p = from;
  const lastWord = end - 4;
  while (p <= lastWord) {
    const word = view.getInt32(p, true);
    // The lowest bit 7 that is set marks the first byte that is below 0x20, a quote, a backslash or not ASCII; borrows
    // reach only bytes above it. Exchanging 0x20 and 0x22 (by xor 2) makes one comparison of "below 0x20" and the quote.
    // A byte from 0x80 up keeps its bit 7 in the second difference, but 0xDC, which keeps it in the first.
    const marks = (((word ^ 0x02020202) - 0x21212121) | ((word ^ 0x5c5c5c5c) - 0x01010101)) & 0x80808080;
    if (marks !== 0) return (p + ((31 - Math.clz32(marks & -marks)) >>> 3)) | 0;
    p = (p + 4) | 0;
  }
  return skipLastPlain(view, p, end);
}

/** The rest of `skipPlain` where fewer than four bytes are left. */
function skipLastPlain(view: DataView, from: number, end: number): number {
  let p = from;
  while (p < end && PLAIN[view.getUint8(p)] === 1) p = (p + 1) | 0;
  return p;
}
