/**
 * When a pass looks up from its records: the cancel flag, the deadline and the bounds of the slice (contract:
 * scan-protocol §1 "Stops", §4; house §6).
 *
 * Cancellation is a cell of shared memory that the main thread sets: a busy loop reads no port. A look costs more than
 * a cheap record, so it happens every N records and every M bytes, and before the first record of a slice.
 */
import type { Clock } from '../core/clock.js';
import { BYTES_BETWEEN_LOOKS, RECORDS_BETWEEN_LOOKS } from '../core/limits.js';
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
}

export class SliceControl {
  /** Frames passed in this slice, skipped ones included, and their bytes. */
  records = 0;
  bytes = 0;
  readonly startedAtMs: number;
  private readonly cells: Int32Array;
  private readonly options: ControlOptions;
  private readonly recordsBetweenLooks: number;
  private lookAtRecords = 0;
  private lookAtBytes = 0;

  constructor(options: ControlOptions) {
    this.options = options;
    this.cells = new Int32Array(options.control);
    this.startedAtMs = options.clock.nowMs();
    this.recordsBetweenLooks = options.recordsBetweenLooks ?? RECORDS_BETWEEN_LOOKS;
  }

  /** Counts one frame that the pass stepped over or examined. */
  passed(frameBytes: number): void {
    this.records += 1;
    this.bytes += frameBytes;
  }

  /** Makes the next look a real one: after a step of unknown cost. */
  lookNext(): void {
    this.lookAtRecords = 0;
  }

  /** True where the record that was passed last is followed by a look at the clock. */
  get isAtLook(): boolean {
    return this.records >= this.lookAtRecords || this.bytes >= this.lookAtBytes;
  }

  /** Bytes that this slice may still read. */
  get bytesLeft(): number {
    return Math.max(0, this.options.bounds.bytesMax - this.bytes);
  }

  /** To be asked before every record. A slice goes on to its first record whatever its bounds, so that it moves. */
  look(): Look {
    const { bounds } = this.options;
    if (this.records >= bounds.recordsMax || this.bytes >= bounds.bytesMax) return this.lookNow();
    if (this.records < this.lookAtRecords && this.bytes < this.lookAtBytes) return LOOK_GO_ON;
    return this.lookNow();
  }

  private lookNow(): Look {
    const { bounds, clock, deadlineAtMs } = this.options;
    if (Atomics.load(this.cells, CONTROL_CANCEL) !== 0) return LOOK_CANCELLED;
    const nowMs = clock.nowMs();
    if (nowMs >= deadlineAtMs) return LOOK_DEADLINE;
    const isOver =
      this.records >= bounds.recordsMax ||
      this.bytes >= bounds.bytesMax ||
      nowMs - this.startedAtMs >= bounds.timeMaxMs;
    if (isOver && this.records > 0) return LOOK_SLICE_OVER;
    this.lookAtRecords = this.records + this.recordsBetweenLooks;
    this.lookAtBytes = this.bytes + BYTES_BETWEEN_LOOKS;
    return LOOK_GO_ON;
  }
}
