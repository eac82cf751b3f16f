/**
 * The program of a watched scan: one filter, which something else than the compiled program judges on every record.
 */
import type { Outcome } from '../core/verdict.js';
import type { EvaluatedRecord } from '../filter/evaluate.js';
import type { Program } from '../filter/program.js';
import { watchedRecord } from './watched-record.js';

export abstract class WatchedProgram implements Program {
  readonly count = 1;
  /** The one filter. */
  readonly candidates = new Int32Array(1);
  readonly evaluatedInPassing = 0;
  /** The record that is judged. */
  protected record!: EvaluatedRecord;
  private isActive = false;

  abstract evaluate(): Outcome;

  begin(...range: Parameters<Program['begin']>): void {
    this.record = watchedRecord(...range);
  }

  setActive(_filter: number, isActive: boolean): void {
    this.isActive = isActive;
  }

  passOver(): number {
    return 0;
  }

  select(): number {
    return this.isActive ? 1 : 0;
  }
}
