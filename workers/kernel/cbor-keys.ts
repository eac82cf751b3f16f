/**
 * The keys of the maps that are open while a payload is walked, so that a repeated one is found (contract: laser-filter
 * §5: the keys of a map are unique).
 *
 * Each level of nesting has a table of cells. A cell holds where a key stands, and the stamp of the map that filled it: no
 * two maps of a walk have the same, nor do walks that follow each other, so nothing is cleared for the next map. A key
 * goes to the cell of its hash; where that is taken by the same map, it is compared, and goes to the next one.
 *
 * Invariant: a map has at most SMALL_MAP_KEYS keys, so that a table is never more than a quarter full. Written by
 * somebody who knows the hash, all of them meet, which is 32 comparisons a key.
 */
import { argumentAt, contentAt } from './cbor-heads';
import { isSame } from './cbor-tree';
import { CBOR_CELLS_AT, CBOR_CELLS_BYTES } from './layout';

/** Most keys of a map that is walked here. */
export const SMALL_MAP_KEYS: i32 = 64;
/** Cells of a level: 256 of eight bytes. */
export const LEVEL_BYTES_LOG: usize = 11;
const CELL_OFFSETS: usize = 0x7f8;
const STAMPS_MAX: u32 = 0x40000000;

let lastStamp: u32 = 0;

/** Before each walk. */
export function beginMaps(): void {
  // A payload has fewer maps than are left between here and 2^32.
  if (lastStamp < STAMPS_MAX) return;
  lastStamp = 0;
  memory.fill(CBOR_CELLS_AT, 0, CBOR_CELLS_BYTES);
}

/** A stamp for the map that opens now. */
export function nextStamp(): u32 {
  lastStamp++;
  return lastStamp;
}

/** The cell of a hash among `cells`; it is free for the map of `stamp` unless `isTaken`. */
export function cellOf(cells: usize, hash: u64): usize {
  return cells + ((<usize>(hash >> 53)) & CELL_OFFSETS);
}
export function isTaken(cell: usize, stamp: u32): bool {
  return load<u32>(cell, 4) == stamp;
}
/** Notes that the map of `stamp` has the key whose head stands at `key`, and that ends at `past`. */
export function putKey(cell: usize, stamp: u32, key: usize): void {
  store<u64>(cell, ((<u64>stamp) << 32) | (<u64>key));
}

/** The next cell that is free for the map of `stamp`, or 0 where the key at `key` is the same as one on the way. */
export function freeCell(cells: usize, taken: usize, stamp: u32, key: usize, past: usize): usize {
  const start = contentAt(key);
  const length = <u32>(past - start);
  let cell = taken;
  while (isTaken(cell, stamp)) {
    const other: usize = load<u32>(cell);
    if (<u32>argumentAt(other) == length && isSame(contentAt(other), start, length)) return 0;
    cell = cells + ((cell + 8 - cells) & CELL_OFFSETS);
  }
  return cell;
}
