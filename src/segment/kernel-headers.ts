/**
 * The header walker of the kernel: as `header-walker.ts` does, for the frames of a whole batch in one call (contract:
 * formats §3).
 *
 * The record at hand is mostly one of a batch, and its header block is read together with those of the rows behind it:
 * twice as many as were used of the last reading, so that at most as much is read in vain as was used. A record that
 * stands in no row (its bytes are not in the kernel's window, or its frame was read alone) takes the way of the
 * portable walker into the same slots.
 *
 * Invariants: nothing is allocated for a record; nothing of another reader's record is ever looked at, because whoever
 * did not load the region last loads it again and starts anew.
 */
import type { Kernel } from '../core/kernel.js';
import { Slots, SLOT_BYTES } from '../core/slots.js';
import { HeaderWalker } from './header-walker.js';

const WHOLE = -1;
const NOTHING_READ = -2;

/** Header of the image, and one key row of it; `workers/kernel/headers.ts` has the grammar. */
const IMAGE_HEADER_BYTES = 16;
const KEY_ROW_BYTES = 32;
/** A key up to this length stands in its row. */
const ROW_KEY_BYTES = 16;

/** Reads wanted keys; makes one over the kernel where there is one and the keys fit it. */
export function headerReader(keys: readonly string[], kernel: Kernel | undefined): HeaderWalker | KernelHeaders {
  if (kernel === undefined) return new HeaderWalker(keys);
  const rows = Math.min(kernel.frames.rows, slotRows(keys.length, kernel));
  const image = rows > 0 ? headerImage(keys, rows, kernel.exports.HEADER_IMAGE_BYTES.value) : null;
  return image === null ? new HeaderWalker(keys) : new KernelHeaders(keys, rows, image, kernel);
}

function slotRows(keys: number, { exports }: Kernel): number {
  return Math.floor(exports.HEADER_SLOTS_BYTES.value / (keys * SLOT_BYTES));
}

export class KernelHeaders {
  /** Slot `i` belongs to key `i`. As the portable walker's, with a row for each frame that is read ahead. */
  readonly slots: Slots;
  private readonly kernel: Kernel;
  private readonly image: Uint8Array;
  private readonly portable: HeaderWalker;
  private readonly rowsMax: number;
  /** What stands in the slots: rows `first`…`end` of batch `batch`, read for `what` (a slot, WHOLE or NOTHING_READ). */
  private what = NOTHING_READ;
  private batch = 0;
  private first = 0;
  private end = 0;
  /** Rows of that reading that were asked for. */
  private used = 0;
  private lastAsked = 0;

  /** `image` is {@link headerImage} of the keys for slots of `rows` rows. */
  constructor(keys: readonly string[], rows: number, image: Uint8Array, kernel: Kernel) {
    this.kernel = kernel;
    this.image = image;
    this.rowsMax = rows;
    this.slots = new Slots(keys.length, { buffer: kernel.buffer, at: kernel.exports.HEADER_SLOTS_AT.value, rows });
    this.portable = new HeaderWalker(keys, this.slots);
  }

  /** Reads the whole block `bytes[start, end)`; false if any of it is malformed. */
  readAll(bytes: Uint8Array, start: number, end: number): boolean {
    const { kernel } = this;
    const { frames } = kernel;
    if (bytes === kernel.window && frames.isHeaderBlock(start, end)) return this.isRowGood(frames.row, WHOLE);
    this.leaveRows();
    return this.portable.readAll(bytes, start, end);
  }

  /**
   * Reads only the key of `slot`: other entries are stepped over and their keys and values not looked at, and their
   * slots become missing. False if the structure or any entry under that key is malformed.
   */
  readOnly(slot: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { kernel } = this;
    const { frames } = kernel;
    if (bytes === kernel.window && frames.isHeaderBlock(start, end)) return this.isRowGood(frames.row, slot);
    this.leaveRows();
    return this.portable.readOnly(slot, bytes, start, end);
  }

  /** Reads the blocks of rows from `from` on, at most to `end`; the row behind the last. See `HeaderReader`. */
  readRows(from: number, end: number): number {
    this.isRowGood(from, WHOLE);
    const past = Math.min(this.end, end);
    this.used = Math.max(this.used, past - this.first);
    return past;
  }

  private isRowGood(row: number, what: number): boolean {
    const { kernel } = this;
    const isRead =
      row < this.end &&
      row >= this.first &&
      what === this.what &&
      kernel.frames.batch === this.batch &&
      kernel.headerOwner === this;
    if (!isRead) this.readFrom(row, what);
    else if (row !== this.lastAsked) this.used++;
    this.lastAsked = row;
    this.slots.base = (row - this.first) * this.slots.count;
    return kernel.frames.headerReasons[row] === 0;
  }

  private readFrom(row: number, what: number): void {
    const { kernel } = this;
    const { exports, frames } = kernel;
    if (kernel.headerOwner !== this) {
      new Uint8Array(kernel.buffer).set(this.image, exports.HEADER_IMAGE_AT.value);
      kernel.headerOwner = this;
      this.used = 0;
    }
    const ahead = what === this.what ? Math.max(1, 2 * this.used) : 1;
    const count = Math.min(ahead, this.rowsMax, frames.count - row);
    if (what === WHOLE) exports.readHeaders(row, count);
    else exports.readHeader(row, count, what);
    this.what = what;
    this.batch = frames.batch;
    this.first = row;
    this.end = row + count;
    this.used = 1;
  }

  /** Before the portable walker writes into the first row. */
  private leaveRows(): void {
    this.kernel.headerOwner = null;
    this.what = NOTHING_READ;
    this.slots.base = 0;
  }
}

/**
 * The image of distinct, non-empty keys for slots of `rows` rows, as `workers/kernel/headers.ts` reads it; null where it
 * would be longer than `bytesMax`.
 */
export function headerImage(keys: readonly string[], rows: number, bytesMax: number): Uint8Array | null {
  const encoder = new TextEncoder();
  const texts = keys.map((key) => encoder.encode(key));
  let heads = 1;
  while (heads < texts.length * 2) heads *= 2;
  const rowsAt = IMAGE_HEADER_BYTES + heads * 4;
  let restAt = rowsAt + texts.length * KEY_ROW_BYTES;
  const length = texts.reduce((sum, text) => (text.length > ROW_KEY_BYTES ? sum + text.length : sum), restAt);
  if (length > bytesMax) return null;
  const image = new Uint8Array(length);
  const view = new DataView(image.buffer);
  [texts.length, heads - 1, texts.length * rows, rowsAt].forEach((word, i) => view.setUint32(i * 4, word, true));
  for (const [slot, text] of texts.entries()) {
    const row = rowsAt + slot * KEY_ROW_BYTES;
    image.set(text.subarray(0, 8), row);
    if (text.length >= 8) image.set(text.subarray(-8), row + 8);
    const chain = IMAGE_HEADER_BYTES + (hashOf(view, row, text.length) & (heads - 1)) * 4;
    view.setUint32(row + 16, text.length, true);
    view.setUint32(row + 20, view.getUint32(chain, true), true);
    view.setUint32(chain, slot + 1, true);
    if (text.length <= ROW_KEY_BYTES) continue;
    view.setUint32(row + 24, restAt, true);
    image.set(text, restAt);
    restAt += text.length;
  }
  return image;
}

/** The hash of the key whose head and tail stand at `row`; the kernel forms the same. */
function hashOf(view: DataView, row: number, length: number): number {
  const word = (at: number) => view.getInt32(row + at, true);
  const folded = word(0) ^ Math.imul(word(4), 0x85ebca6b) ^ Math.imul(word(8), 0xc2b2ae35) ^ word(12);
  const mixed = Math.imul(folded + length, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
