/**
 * What the first byte of a CBOR item says of it (RFC 8949 §3), one table for all items that are short whatever they are:
 * integers, floats, simple values, byte strings, text of up to 16 bytes. They are checked and passed without a branch that
 * depends on what they are (`src/codec/cbor/plain-item.ts` does the same).
 *
 * Invariant: the table is made once, when the module starts, and never changes.
 */
import { isText } from './texts';

/** First heads of the major types, in the order of their numbers. */
export const NEGATIVE: u32 = 0x20;
export const BYTES: u32 = 0x40;
export const TEXT: u32 = 0x60;
export const ARRAY: u32 = 0x80;
export const MAP: u32 = 0xa0;
export const SIMPLE: u32 = 0xe0;

const FALSE: u32 = 0xf4;
const UNDEFINED: u32 = 0xf7;
const HALF: u32 = 0xf9;
const SINGLE: u32 = 0xfa;
const DOUBLE: u32 = 0xfb;

/** Information below this is the argument itself; 24…27: it follows in 1, 2, 4, 8 bytes. */
export const INLINE_ARGUMENTS: u32 = 24;
const INFO: u32 = 31;
/** Short text has at most this many bytes. */
export const SHORT_TEXT_BYTES: u32 = 16;

/**
 * By head, 32 bytes: the bits of 16 bytes behind the head that are set only in text that is not ASCII; bytes of the whole
 * item, 0 where it is not plain; bits of the first word behind the head, and what they are where a float is not finite
 * or an integer is below −2^63.
 */
const HEADS: usize = memory.data(256 * 32, 16);
/** By length, the bytes of a short text among 16. */
const MASKS: usize = memory.data(17 * 16, 16);

fillTables();

function fillTables(): void {
  for (let head: u32 = 0; head < 256; head++) {
    setPlain(head, 0, 0, 1);
    const length = head & INFO;
    if (head < BYTES) {
      if (length < 28) setPlain(head, 1 + argumentBytes(length), 0, 1);
    } else if (length < INLINE_ARGUMENTS && (head < TEXT || (head < ARRAY && length <= SHORT_TEXT_BYTES))) {
      setPlain(head, 1 + length, 0, 1);
      if (head >= TEXT) memory.fill(rowOf(head), 0x80, length);
    } else if (head >= FALSE && head <= UNDEFINED) setPlain(head, 1, 0, 1);
  }
  // All bits of the exponent, as the bytes stand: the first is the lowest.
  setPlain(HALF, 3, 0x7c, 0x7c);
  setPlain(SINGLE, 5, 0x807f, 0x807f);
  setPlain(DOUBLE, 9, 0xf07f, 0xf07f);
  setPlain(NEGATIVE + 27, 9, 0x80, 0x80);
  for (let length: usize = 0; length <= SHORT_TEXT_BYTES; length++) memory.fill(MASKS + (length << 4), 0xff, length);
}

function setPlain(head: u32, size: u32, bits: u32, excess: u32): void {
  store<u32>(rowOf(head), size, 16);
  store<u32>(rowOf(head), bits, 20);
  store<u32>(rowOf(head), excess, 24);
}

function rowOf(head: u32): usize {
  return HEADS + ((<usize>head) << 5);
}

/** Bytes of the argument that stand behind a head with information below 28. */
function argumentBytes(info: u32): u32 {
  return info < INLINE_ARGUMENTS ? 0 : 1 << (info - INLINE_ARGUMENTS);
}

/** Bytes of a plain item with this head, its content included, or 0 where it has to be looked at by its kind. */
export function plainSize(head: u32): usize {
  return load<u32>(rowOf(head), 16);
}

/** True where the plain item at `p` may be other than it should be, and `pastOdd` has to say. */
export function isDoubtful(p: usize, head: u32): bool {
  const row = rowOf(head);
  const isOdd = v128.any_true(v128.and(v128.load(p, 1), v128.load(row)));
  return isOdd | ((load<u32>(p, 1) & load<u32>(row, 20)) == load<u32>(row, 24));
}

/** The content of a short text of `length` bytes that begins at `start`, and zeros behind it. */
export function shortText(start: usize, length: u32): v128 {
  return v128.and(v128.load(start), v128.load(MASKS + ((<usize>length) << 4)));
}

/** Where the content of the item at `p` begins, behind its head, whose information is below 28. */
export function contentAt(p: usize): usize {
  return p + 1 + argumentBytes((<u32>load<u8>(p)) & INFO);
}

/**
 * The argument of the head at `p`, whose information is below 28. Bytes behind the payload count for it where the head is
 * cut short.
 */
export function argumentAt(p: usize): u64 {
  const info = (<u32>load<u8>(p)) & INFO;
  switch (info) {
    case 24:
      return load<u8>(p, 1);
    case 25:
      return bswap<u16>(load<u16>(p, 1));
    case 26:
      return bswap<u32>(load<u32>(p, 1));
    case 27:
      return bswap<u64>(load<u64>(p, 1));
    default:
      return info;
  }
}

/**
 * The argument of the head at `p` where it counts what has to follow before `end`, at least a byte each; otherwise, and
 * where there is no such head, -1.
 */
export function countAt(p: usize, end: usize): i32 {
  if (((<u32>load<u8>(p)) & INFO) >= 28) return -1;
  const start = contentAt(p);
  if (start > end) return -1;
  const count = argumentAt(p);
  return count <= <u64>(end - start) ? <i32>count : -1;
}

/** Past the text or byte string at `p`, or 0 where it is longer than the bytes left. Whether it is UTF-8 is not looked at. */
export function pastContent(p: usize, end: usize): usize {
  const length = countAt(p, end);
  return length < 0 ? 0 : contentAt(p) + <usize>length;
}

/** Past the text at `p`, or 0 where it is none, not UTF-8 or longer than the bytes left. */
export function pastText(p: usize, end: usize): usize {
  if (((<u32>load<u8>(p)) & 0xe0) != TEXT) return 0;
  const past = pastContent(p, end);
  if (past == 0) return 0;
  const start = contentAt(p);
  return isText(start, <u32>(past - start)) ? past : 0;
}

/**
 * Past the item at `p`, which is no array or map and either not plain or doubtful; 0 where it is malformed: of those,
 * only text and byte strings are good.
 */
export function pastOdd(p: usize, end: usize): usize {
  const head = <u32>load<u8>(p);
  if (head >= BYTES && head < TEXT) return pastContent(p, end);
  return pastText(p, end);
}
