/**
 * When a pass looks up from its records: the cancel flag, the deadline and the bounds of the slice (contract:
 * scan-protocol §1 "Stops", §4; house §6).
 *
 * Cancellation is a cell of shared memory that the main thread sets: a busy loop reads no port. A look costs more than
 * a cheap record, so it happens every N records and every M bytes, and before the first record of a slice. What a record
 * costs depends on how many filters look at it, so the time is also looked at every K evaluations, within a record too.
 */
import type { Clock } from '../core/clock.js';
import type { FrameTable } from '../core/kernel.js';
import { BYTES_BETWEEN_LOOKS, EVALUATIONS_BETWEEN_LOOKS, RECORDS_BETWEEN_LOOKS } from '../core/limits.js';
import { CONTROL_CANCEL, type SliceBounds } from './task.js';

/** Go on. */
export const LOOK_GO_ON = 0;
/** The slice has used up its bounds: hand the turn back. */
export const LOOK_SLICE_OVER = 1;
/** The caller went away. */
export const LOOK_CANCELLED = 2;
/** The scan's deadline has passed. */
export const LOOK_DEADLINE = 3;

export type Look = 0 | 1 | 2 | 3;

export interface ControlOptions {
  readonly control: SharedArrayBuffer;
  readonly clock: Clock;
  readonly deadlineAtMs: number;
  readonly bounds: SliceBounds;
  /** Default RECORDS_BETWEEN_LOOKS; tests look more often. */
  readonly recordsBetweenLooks?: number;
  /**
   * Asked where a slice has used up its records or bytes, but not its time: true where the next one may follow at once,
   * because nobody waits for the worker and nothing waits to be sent. Without it none does.
   */
  readonly mayGoOn?: () => boolean;
}

export class SliceControl {
  /** Frames passed in this slice, skipped ones included, and their bytes. */
  records = 0;
  bytes = 0;
  /** True once the slice has to end with what is at hand. */
  isEnded = false;
  private readonly startedAtMs: number;
  private readonly cells: Int32Array;
  private readonly clock: Clock;
  private readonly deadlineAtMs: number;
  private recordsMax: number;
  private bytesMax: number;
  private readonly bounds: SliceBounds;
  private readonly mayGoOn: () => boolean;
  private readonly timeMaxMs: number;
  private readonly recordsBetweenLooks: number;
  private lookAtRecords = 0;
  private lookAtBytes = 0;
  private evaluationsLeft = EVALUATIONS_BETWEEN_LOOKS;

  constructor({ control, clock, deadlineAtMs, bounds, recordsBetweenLooks, mayGoOn }: ControlOptions) {
    this.cells = new Int32Array(control);
    this.clock = clock;
    this.deadlineAtMs = deadlineAtMs;
    this.bounds = bounds;
    this.mayGoOn = mayGoOn ?? never;
    this.recordsMax = bounds.recordsMax;
    this.bytesMax = bounds.bytesMax;
    this.timeMaxMs = bounds.timeMaxMs;
    this.recordsBetweenLooks = recordsBetweenLooks ?? RECORDS_BETWEEN_LOOKS;
    this.startedAtMs = clock.nowMs();
  }

  /** Counts frames that the pass stepped over or examined. */
  passed(frameBytes: number, frames = 1): void {
    this.records += frames;
    this.bytes += frameBytes;
  }

  /** The first row of `from`…`end` before which there may have to be a look. */
  rowsUntilLook(frames: FrameTable, from: number, end: number): number {
    const records = Math.min(this.lookAtRecords, this.recordsMax) - this.records;
    const bytes = Math.min(this.lookAtBytes, this.bytesMax) - this.bytes;
    let last = records < end - from ? from + Math.max(0, records) : end;
    const start = frames.frameStarts[from]!;
    while (last > from && frames.frameEnds[last - 1]! - start > bytes) last = from + ((last - from) >> 1);
    return last;
  }

  /** Counts evaluations of filters; ends the slice with them (`isEnded`) where the time is used up. */
  evaluated(evaluations = 1): void {
    this.evaluationsLeft -= evaluations;
    if (this.evaluationsLeft > 0) return;
    this.evaluationsLeft = EVALUATIONS_BETWEEN_LOOKS;
    if (this.clock.nowMs() - this.startedAtMs >= this.timeMaxMs) this.endSlice();
  }

  /** Makes the next look a real one: after a step of unknown cost. */
  lookNext(): void {
    this.lookAtRecords = 0;
  }

  /** Ends the slice with the record at hand, whatever its bounds still allow. */
  endSlice(): void {
    this.isEnded = true;
    this.recordsMax = 0;
  }

  /** True where the record that was passed last is followed by a look at the clock. */
  get isAtLook(): boolean {
    return this.records >= this.lookAtRecords || this.bytes >= this.lookAtBytes;
  }

  /** Bytes that this slice may still read. */
  get bytesLeft(): number {
    return Math.max(0, this.bytesMax - this.bytes);
  }

  /** To be asked before every record. A slice goes on to its first record whatever its bounds, so that it moves. */
  look(): Look {
    const isDue = this.records >= this.lookAtRecords || this.bytes >= this.lookAtBytes || this.isFull;
    return isDue ? this.lookNow() : LOOK_GO_ON;
  }

  private get isFull(): boolean {
    return this.records >= this.recordsMax || this.bytes >= this.bytesMax;
  }

  private lookNow(): Look {
    if (Atomics.load(this.cells, CONTROL_CANCEL) !== 0) return LOOK_CANCELLED;
    const nowMs = this.clock.nowMs();
    if (nowMs >= this.deadlineAtMs) return LOOK_DEADLINE;
    const isLate = nowMs - this.startedAtMs >= this.timeMaxMs;
    const goesOn = this.isFull && !isLate && !this.isEnded && this.mayGoOn();
    if (goesOn) this.goOn();
    if ((this.isFull || isLate) && this.records > 0) return LOOK_SLICE_OVER;
    // After one record where the bounds have moved: whoever reads ahead goes by what they leave.
    this.lookAtRecords = this.records + (goesOn ? 1 : this.recordsBetweenLooks);
    this.lookAtBytes = this.bytes + BYTES_BETWEEN_LOOKS;
    this.evaluationsLeft = EVALUATIONS_BETWEEN_LOOKS;
    return LOOK_GO_ON;
  }

  /** The next slice follows in the time of this one. */
  private goOn(): void {
    this.recordsMax = this.records + this.bounds.recordsMax;
    this.bytesMax = this.bytes + this.bounds.bytesMax;
  }
}

function never(): boolean {
  return false;
}
