/**
 * Decodes the escapes of a validated JSON string into bytes that are kept and reused (RFC 8259 §7).
 *
 * The text has been checked by the walk before: every escape is whole and surrogates come in pairs. Decoded text is
 * never longer than what is written, so one buffer of the longest text seen so far is enough.
 */
import { BACKSLASH } from './plain-text.js';
import { hexUnit } from './scan-text.js';

/** First size of the buffer: texts with escapes are rarely longer, and it grows at most nine times to 1 MiB. */
const FIRST_BYTES = 4096;

export class Unescaper {
  /** The result of the last `run`; replaced when a longer text comes. */
  out = new Uint8Array(FIRST_BYTES);

  /** Decodes `start`…`end` into `out` and returns the length. */
  run(bytes: Uint8Array, start: number, end: number): number {
    if (end - start > this.out.length) this.out = new Uint8Array(Math.max(end - start, this.out.length * 2));
    const out = this.out;
    let length = 0;
    let p = start;
    while (p < end) {
      const byte = bytes[p]!;
      if (byte !== BACKSLASH) {
        out[length++] = byte;
        p++;
        continue;
      }
      const escape = bytes[p + 1]!;
      if (escape !== 0x75) {
        out[length++] = SIMPLE[escape]!;
        p += 2;
        continue;
      }
      let point = hexUnit(bytes, p + 2, end);
      p += 6;
      if (point >= 0xd800 && point <= 0xdbff) {
        point = 0x10000 + ((point - 0xd800) << 10) + (hexUnit(bytes, p + 2, end) - 0xdc00);
        p += 6;
      }
      length = putUtf8(out, length, point);
    }
    return length;
  }
}

/** What the one-letter escapes stand for; `"`, `\` and `/` stand for themselves. */
const SIMPLE = new Uint8Array(256);
SIMPLE[0x22] = 0x22;
SIMPLE[0x5c] = 0x5c;
SIMPLE[0x2f] = 0x2f;
SIMPLE[0x62] = 0x08; // b
SIMPLE[0x66] = 0x0c; // f
SIMPLE[0x6e] = 0x0a; // n
SIMPLE[0x72] = 0x0d; // r
SIMPLE[0x74] = 0x09; // t

function putUtf8(out: Uint8Array, at: number, point: number): number {
  if (point < 0x80) {
    out[at] = point;
    return at + 1;
  }
  if (point < 0x800) {
    out[at] = 0xc0 | (point >> 6);
    out[at + 1] = 0x80 | (point & 0x3f);
    return at + 2;
  }
  if (point < 0x10000) {
    out[at] = 0xe0 | (point >> 12);
    out[at + 1] = 0x80 | ((point >> 6) & 0x3f);
    out[at + 2] = 0x80 | (point & 0x3f);
    return at + 3;
  }
  out[at] = 0xf0 | (point >> 18);
  out[at + 1] = 0x80 | ((point >> 12) & 0x3f);
  out[at + 2] = 0x80 | ((point >> 6) & 0x3f);
  out[at + 3] = 0x80 | (point & 0x3f);
  return at + 4;
}
