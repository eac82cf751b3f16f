/**
 * What an open page of one filter holds (contract: scan-protocol §1 "A page"); its counts stand in the scan's table.
 *
 * Delivered frames are copied here byte for byte, because the window they stand in is read over; everything else of a
 * record is a number. A page survives the end of a slice and a change of worker as an `OpenPageState`, whose buffer is
 * transferred: numbers stand in a typed array, because an array of numbers is cloned one by one on either side (500 of
 * them: 55 µs, of a slice of a millisecond). It is encoded only when it closes (`page-encode.ts`).
 *
 * Invariant: nothing is allocated for a record that is not delivered.
 */
import { PAGE_BYTES_FIRST, PAGE_RECORDS_FIRST, SPARE_PAGE_BYTES_MAX } from '../core/limits.js';
import type { Frame } from '../segment/frame.js';
import type { OpenPageState, ReplyForm } from './task.js';

/** Bytes that an `offsets` reply counts for each record. */
const OFFSET_REPLY_BYTES = 8;

/** Cells of a record in `places`. */
const PLACE_CELLS = 2;

/** What a record counts toward `max_reply_bytes` under a reply form: stored frame bytes, before any encoding. */
export function replyBytesOf(form: ReplyForm, frame: Frame): number {
  switch (form) {
    case 'records':
      return frame.frameEnd - frame.frameStart;
    case 'headers':
      return frame.frameEnd - frame.frameStart - (frame.payloadEnd - frame.payloadStart);
    case 'offsets':
      return OFFSET_REPLY_BYTES;
    case 'count':
      return 0;
  }
}

/**
 * The buffer of a closed page, kept for the next page that outgrows its own; one for each worker.
 *
 * PERF: a page that grows by doubling leaves twice its size to the collector, which answers memory outside its heap by
 * marking all of it (4 scans of 100,000 records at 5 %: five times; with the buffers of pages and of the encoder used
 * again, hardly once; 2026-12-01). What an earlier page wrote stands in the buffer until it is
 * written over; a page never says more than its `bytesUsed`.
 */
export class SparePageBuffer {
  private spare: Uint8Array | null = null;

  /** Keeps the larger of this one and the one at hand, up to SPARE_PAGE_BYTES_MAX. The caller must not use it again. */
  give(bytes: Uint8Array): void {
    if (bytes.length > SPARE_PAGE_BYTES_MAX || bytes.length <= (this.spare?.length ?? 0)) return;
    this.spare = bytes;
  }

  /** The buffer, if it holds `wanted` bytes. */
  take(wanted: number): Uint8Array | null {
    const { spare } = this;
    if (spare === null || spare.length < wanted) return null;
    this.spare = null;
    return spare;
  }
}

export class OpenPage {
  readonly form: ReplyForm;
  /** Kept pieces of the delivered records, joined; empty for `offsets` and `count`. */
  bytes: Uint8Array;
  bytesUsed: number;
  /** Delivered records; 0 for `count`, which keeps none. */
  recordCount: number;
  /** Two cells a record: its offset, and where its piece starts in `bytes`. */
  private places: Float64Array<ArrayBuffer>;
  private readonly spare: SparePageBuffer;
  readonly unevaluated: { readonly offset: number; readonly reason: string }[];

  /** A new page, or the one that an earlier slice left open. */
  constructor(form: ReplyForm, state: OpenPageState | null, spare: SparePageBuffer) {
    this.form = form;
    this.spare = spare;
    // Each page has its own buffer, also an empty one: a shared one could be transferred only once.
    this.bytes = state?.bytes ?? new Uint8Array(0);
    this.bytesUsed = state?.bytesUsed ?? 0;
    this.recordCount = state?.recordCount ?? 0;
    this.places = state?.places ?? new Float64Array(0);
    this.unevaluated = state?.unevaluated ?? [];
  }

  /** True where nothing was delivered that the page would have to hold. */
  get isEmpty(): boolean {
    return this.recordCount === 0 && this.unevaluated.length === 0;
  }

  /** Offset of delivered record `at`. */
  offset(at: number): number {
    return this.places[at * PLACE_CELLS]!;
  }

  /** Where the piece of record `at` starts in `bytes`; of the record behind the last, where the last ends. */
  position(at: number): number {
    return at < this.recordCount ? this.places[at * PLACE_CELLS + 1]! : this.bytesUsed;
  }

  /** What crosses to the next slice. The page must not be used any more: its buffer goes with it. */
  save(filter: number): OpenPageState {
    const { bytes, bytesUsed, recordCount, places, unevaluated } = this;
    return { filter, bytes, bytesUsed, recordCount, places, unevaluated };
  }

  /** Gives the buffer back. The page has been encoded and must not be used any more. */
  close(): void {
    this.spare.give(this.bytes);
  }

  /** Keeps what the reply form needs of the record in `source`. The counts are the caller's. */
  keep(source: Uint8Array, frame: Frame): void {
    if (this.form === 'count') return;
    this.note(frame.offset);
    if (this.form === 'offsets') return;
    if (this.form === 'records') {
      this.append(source, frame.frameStart, frame.frameEnd);
    } else {
      this.append(source, frame.frameStart, frame.payloadStart);
      this.append(source, frame.payloadEnd, frame.frameEnd);
    }
  }

  private note(offset: number): void {
    const at = this.recordCount * PLACE_CELLS;
    if (at === this.places.length) {
      const grown = new Float64Array(Math.max(this.places.length * 2, PLACE_CELLS * PAGE_RECORDS_FIRST));
      grown.set(this.places);
      this.places = grown;
    }
    this.places[at] = offset;
    this.places[at + 1] = this.bytesUsed;
    this.recordCount += 1;
  }

  private append(source: Uint8Array, start: number, end: number): void {
    const wanted = this.bytesUsed + end - start;
    if (wanted > this.bytes.length) this.grow(wanted);
    this.bytes.set(source.subarray(start, end), this.bytesUsed);
    this.bytesUsed = wanted;
  }

  private grow(wanted: number): void {
    // The first buffer is small, also where a spare is at hand: most pages of many filters never grow.
    const spare = wanted > PAGE_BYTES_FIRST ? this.spare.take(wanted) : null;
    const grown = spare ?? new Uint8Array(Math.max(wanted, this.bytes.length * 2, PAGE_BYTES_FIRST));
    grown.set(this.bytes.subarray(0, this.bytesUsed));
    this.bytes = grown;
  }
}
