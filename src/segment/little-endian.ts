/**
 * Unaligned little-endian reads and writes on a byte array, and the one DataView that a hot loop keeps.
 *
 * The caller has checked that the bytes are there; nothing here looks at a length.
 */

/** u32 at `at`. */
export function readU32(bytes: Uint8Array, at: number): number {
  // SAFETY: callers bound `at` by the bytes at hand before they ask.
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** u64 at `at`, exact. Allocates; not for the per-record path. */
export function readU64(bytes: Uint8Array, at: number): bigint {
  return (BigInt(readU32(bytes, at + 4)) << 32n) | BigInt(readU32(bytes, at));
}

/** Writes the low 32 bits of `value` at `at`. */
export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

/** Writes the low 64 bits of `value` at `at`. */
export function writeU64(bytes: Uint8Array, at: number, value: bigint): void {
  writeU32(bytes, at, Number(value & 0xffff_ffffn));
  writeU32(bytes, at + 4, Number((value >> 32n) & 0xffff_ffffn));
}

/**
 * A DataView of the byte array at hand, made again only when that changes: one load where four bytes and three shifts
 * would stand.
 */
export class ViewOfBytes {
  #bytes: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(this.#bytes.buffer);

  of(bytes: Uint8Array): DataView {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    return this.#view;
  }
}
