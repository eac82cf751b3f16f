/**
 * How many wait for a turn, where the workers see it (contract: scan-protocol §4): while nobody does, a scan need not
 * come back to the main thread between slices that send nothing. A worker at work reads no message, hence shared memory.
 */
import { TURNS_AWAITED, TURNS_CELLS } from '../scan/task.js';

export class TurnsAwaited {
  /** For every worker's setup. */
  readonly cells = new SharedArrayBuffer(TURNS_CELLS * Int32Array.BYTES_PER_ELEMENT);
  private readonly view = new Int32Array(this.cells);

  /** Takes in how many wait now. */
  note(waiting: number): void {
    Atomics.store(this.view, TURNS_AWAITED, waiting);
  }
}
