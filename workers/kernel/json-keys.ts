/**
 * Keys that are written with escapes: compared after unescaping, like all keys (contract: laser-filter §5).
 */
import { hexUnit } from './json-escapes';

/** Longest key in bytes of UTF-8 that a path may name (`PATH_BYTES_MAX`), every byte written as `\u00xx`. */
const WRITTEN_BYTES_MAX: usize = 256 * 6;

/** The last unescaped key. */
export const KEY_AT: usize = memory.data(256 * 6 + 8);

/** Unescapes the valid text `start`…`end` to `KEY_AT`; its length, or −1 where no wanted key is so long. */
export function unescapeKey(start: usize, end: usize): isize {
  if (end - start > WRITTEN_BYTES_MAX) return -1;
  let out = KEY_AT;
  let at = start;
  while (at < end) {
    const byte = load<u8>(at);
    if (byte != 0x5c) {
      store<u8>(out++, byte);
      at++;
      continue;
    }
    const escape = load<u8>(at, 1);
    if (escape != 0x75) {
      store<u8>(out++, simple(escape));
      at += 2;
      continue;
    }
    let point = hexUnit(at + 2);
    at += 6;
    if (point >> 10 == 0x36) {
      point = 0x10000 + ((point - 0xd800) << 10) + (hexUnit(at + 2) - 0xdc00);
      at += 6;
    }
    out = putPoint(out, point);
  }
  return out - KEY_AT;
}

function simple(escape: u8): u8 {
  switch (escape) {
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    case 0x6e:
      return 0x0a;
    case 0x72:
      return 0x0d;
    case 0x74:
      return 0x09;
    default:
      return escape;
  }
}

function putPoint(out: usize, point: i32): usize {
  if (point < 0x80) {
    store<u8>(out, point);
    return out + 1;
  }
  if (point < 0x800) {
    store<u8>(out, 0xc0 | (point >> 6));
    store<u8>(out, 0x80 | (point & 0x3f), 1);
    return out + 2;
  }
  if (point < 0x10000) {
    store<u8>(out, 0xe0 | (point >> 12));
    store<u8>(out, 0x80 | ((point >> 6) & 0x3f), 1);
    store<u8>(out, 0x80 | (point & 0x3f), 2);
    return out + 3;
  }
  store<u8>(out, 0xf0 | (point >> 18));
  store<u8>(out, 0x80 | ((point >> 12) & 0x3f), 1);
  store<u8>(out, 0x80 | ((point >> 6) & 0x3f), 2);
  store<u8>(out, 0x80 | (point & 0x3f), 3);
  return out + 4;
}
