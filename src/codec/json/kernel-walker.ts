/**
 * The JSON walker over the kernel: a batch of payloads in one call, slots in rows (design: house §5, kernel).
 *
 * Where the record is a row of the frame table, the rows behind it are walked with it, as many as were of use the last
 * time and twice that: so at most as much is walked in vain as was used. What the kernel does not do, the portable walker
 * does, into the same slots: bytes outside the window, payloads that are no container, numbers that may overflow, and
 * everything where the paths do not fit the kernel's tables.
 *
 * Invariants: as `PayloadWalker` wants them. Rows belong to one batch of one owner; both are asked before a row is used.
 */
import type { FrameTable, Kernel } from '../../core/kernel.js';
import type { Path } from '../../core/path.js';
import { SLOT_BYTES, SLOT_DOUBLE, Slots } from '../../core/slots.js';
import { NO_REASON, type Reason } from '../../core/verdict.js';
import { pathImage } from '../kernel-paths.js';
import { PathTrie } from '../path-trie.js';
import type { DecoderLimits, NeedleGate, PayloadWalker } from '../walker.js';
import type { JsonElements } from './elements.js';
import { putDouble } from './double.js';
import { KernelNeedles } from './kernel-needles.js';
import { captureNumber } from './number.js';
import { JsonWalker } from './walker.js';

/** Records walked in one call at most, and their bytes: what is walked in vain when a scan stops is no more. */
const ROWS_AHEAD_MAX = 32;
const BYTES_AHEAD_MAX = 64 * 1024;

export class KernelWalker implements PayloadWalker {
  readonly slots: Slots;
  isBarren = false;
  private readonly kernel: Kernel;
  private readonly frames: FrameTable;
  private readonly portable: JsonWalker;
  /** Null where the paths do not fit the kernel's tables. */
  private readonly image: Uint8Array | null;
  private readonly needles: KernelNeedles;
  private readonly barren: number;
  private readonly asksWalker: number;
  /** Rows of the frame table whose slots are filled, from `first` on, and their batch. */
  private first = 0;
  private past = 0;
  private batch = -1;
  /** How many of them were asked for. */
  private used = 0;
  private lastAsked = -1;
  /** How many are walked the next time. */
  private ahead = 1;

  constructor(kernel: Kernel, paths: readonly Path[], limits: DecoderLimits, gate: NeedleGate | null = null) {
    this.kernel = kernel;
    this.frames = kernel.frames;
    this.portable = new JsonWalker(paths, limits);
    this.needles = new KernelNeedles(kernel, gate);
    const { exports } = kernel;
    this.barren = exports.BARREN.value;
    this.asksWalker = exports.ASKS_WALKER.value;
    const count = paths.length;
    const room = Math.floor(exports.PATH_SLOTS_BYTES.value / (SLOT_BYTES * Math.max(count, 1)));
    const rows = Math.min(ROWS_AHEAD_MAX, room);
    const image = pathImage(new PathTrie(paths), limits, count, rows);
    const fits = rows > 0 && image.length <= exports.PATH_IMAGE_BYTES.value;
    this.image = fits ? image : null;
    this.slots = fits
      ? new Slots(count, { buffer: kernel.buffer, at: exports.PATH_SLOTS_AT.value, rows })
      : this.portable.slots;
  }

  get elements(): JsonElements {
    return this.portable.elements;
  }

  get unescaped(): Uint8Array {
    return this.portable.unescaped;
  }

  unescape(bytes: Uint8Array, start: number, end: number): number {
    return this.portable.unescape(bytes, start, end);
  }

  walk(bytes: Uint8Array, start: number, end: number): Reason {
    if (this.image === null) return this.portable.walk(bytes, start, end);
    if (this.kernel.pathOwner !== this) this.load(this.image);
    const { frames, slots } = this;
    if (bytes !== this.kernel.window) return this.walkPortably(bytes, start, end);
    const reason = frames.isPayload(start, end) ? this.walkRow(frames.row) : this.walkAlone(start, end);
    this.isBarren = reason === this.barren;
    if (this.isBarren) return NO_REASON;
    if (reason < this.barren) return reason as Reason;
    if (reason === this.asksWalker) {
      const found = this.portable.walk(bytes, start, end);
      if (found === NO_REASON) slots.takeRow(this.portable.slots);
      return found;
    }
    this.finishNumbers(bytes);
    return NO_REASON;
  }

  /** What the kernel says of a row of the frame table; its slots become the current ones. */
  private walkRow(row: number): number {
    const { frames, slots } = this;
    if (this.batch !== frames.batch || row < this.first || row >= this.past) this.walkAhead(row);
    // A record may be asked for again.
    if (row !== this.lastAsked) this.used += 1;
    this.lastAsked = row;
    slots.base = (row - this.first) * slots.count;
    return frames.payloadReasons[row]!;
  }

  /** What it says of a payload that is in no row. The last row lends its place, and gets it back. */
  private walkAlone(start: number, end: number): number {
    const { payloadStarts, payloadEnds, payloadReasons, rows } = this.frames;
    const row = rows - 1;
    const rowStart = payloadStarts[row]!;
    const rowEnd = payloadEnds[row]!;
    payloadStarts[row] = start;
    payloadEnds[row] = end;
    this.kernel.exports.walkJson(row, 1);
    this.needles.noteWalked(row, 1);
    payloadStarts[row] = rowStart;
    payloadEnds[row] = rowEnd;
    this.forgetRows();
    this.slots.base = 0;
    return payloadReasons[row]!;
  }

  /** Walks `row` and some rows behind it: twice as many as the last time if all of those were asked for, else fewer. */
  private walkAhead(row: number): void {
    const { frames } = this;
    const isWorthMore = this.used === this.past - this.first;
    this.ahead = isWorthMore ? Math.min(this.ahead * 2, this.slots.rows) : Math.max(this.used, 1);
    let count = Math.min(this.ahead, frames.count - row);
    const from = frames.payloadStarts[row]!;
    while (count > 1 && frames.payloadEnds[row + count - 1]! - from > BYTES_AHEAD_MAX) count >>= 1;
    this.kernel.exports.walkJson(row, count);
    this.needles.noteWalked(row, count);
    this.first = row;
    this.past = row + count;
    this.batch = frames.batch;
    this.used = 0;
    this.lastAsked = -1;
  }

  private load(image: Uint8Array): void {
    const { kernel } = this;
    new Uint8Array(kernel.buffer).set(image, kernel.exports.PATH_IMAGE_AT.value);
    this.needles.load();
    kernel.pathOwner = this;
    this.forgetRows();
    this.ahead = 1;
  }

  private forgetRows(): void {
    this.batch = -1;
    this.first = 0;
    this.past = 0;
    this.used = 0;
    this.lastAsked = -1;
  }

  /** The defined slow path for bytes that the kernel cannot see: the portable walker, and its slots taken over. */
  private walkPortably(bytes: Uint8Array, start: number, end: number): Reason {
    const { slots, portable } = this;
    this.forgetRows();
    this.isBarren = false;
    slots.base = 0;
    const reason = portable.walk(bytes, start, end);
    if (reason === NO_REASON) slots.takeRow(portable.slots);
    return reason;
  }

  /** Converts the numbers whose text the kernel left in slots of the current row. */
  private finishNumbers(bytes: Uint8Array): void {
    const { slots } = this;
    const { kinds, numbers, starts, ends, base, count } = slots;
    for (let slot = base; slot < base + count; slot++) {
      if (kinds[slot] !== SLOT_DOUBLE || !Number.isNaN(numbers[slot])) continue;
      const start = starts[slot]!;
      const end = ends[slot]!;
      if (!captureNumber(bytes, start, end, slots, slot)) putDouble(bytes, start, end, numbers, slot);
    }
  }
}
