/**
 * Passes that do less than any filter could: they show how fast this machine goes over bytes that stand in the kernel's
 * memory. AssemblyScript, built by `npm run build` with the kernel's settings; it has no memory but the kernel's.
 *
 * Addresses are bytes from the start of the memory. Reads run up to 64 bytes past `to`, where the kernel has memory too;
 * what stands there changes no result.
 */

/** Sum of the bytes, modulo 2^32: the fastest pass that has to look at every byte. */
export function sum(from: usize, to: usize): i32 {
  let sums = i32x4.splat(0);
  let at = from;
  for (; at + 64 <= to; at += 64) {
    const a = i16x8.extadd_pairwise_i8x16_u(v128.load(at));
    const b = i16x8.extadd_pairwise_i8x16_u(v128.load(at, 16));
    const c = i16x8.extadd_pairwise_i8x16_u(v128.load(at, 32));
    const d = i16x8.extadd_pairwise_i8x16_u(v128.load(at, 48));
    sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(i16x8.add(i16x8.add(a, b), i16x8.add(c, d))));
  }
  let total =
    i32x4.extract_lane(sums, 0) +
    i32x4.extract_lane(sums, 1) +
    i32x4.extract_lane(sums, 2) +
    i32x4.extract_lane(sums, 3);
  for (; at < to; at++) total += <i32>load<u8>(at);
  return total;
}

/**
 * How often the `length` bytes at `needle` stand in `from`…`to`, overlaps counted. Candidates are where the bytes at
 * `first` and `second` of the needle stand at their distance: the caller chooses two that are rare in the data.
 */
export function find(from: usize, to: usize, needle: usize, length: i32, first: i32, second: i32): i32 {
  const firsts = i8x16.splat(load<i8>(needle + first));
  const seconds = i8x16.splat(load<i8>(needle + second));
  let count = 0;
  const last = to - length;
  for (let at = from; at <= last; at += 32) {
    const low = v128.and(i8x16.eq(v128.load(at + first), firsts), i8x16.eq(v128.load(at + second), seconds));
    const high = v128.and(i8x16.eq(v128.load(at + first, 16), firsts), i8x16.eq(v128.load(at + second, 16), seconds));
    if (!v128.any_true(v128.or(low, high))) continue;
    let bits: u32 = i8x16.bitmask(low) | (i8x16.bitmask(high) << 16);
    for (; bits !== 0; bits &= bits - 1) {
      const start = at + <usize>ctz(bits);
      if (start <= last && isEqual(start, needle, length)) count++;
    }
  }
  return count;
}

function isEqual(a: usize, b: usize, length: i32): bool {
  for (let index = 0; index < length; index++) {
    if (load<u8>(a + index) !== load<u8>(b + index)) return false;
  }
  return true;
}
