/**
 * The pass: frames in, outcomes to the filters (house §5), for the length of one slice.
 *
 * All filters share one pass from the lowest start. Cheapest first: frame header, offset, budgets, and only then the
 * program, which finds the filters that may want the record and reads headers and payload as far as they need them. A
 * record that no filter delivers allocates nothing here, and costs nothing for the filters that cannot match it.
 *
 * Order of stops (contract: scan-protocol §1 "Stops"): cancelled and deadline every N records, the end of the visible
 * records, budgets, then the record itself. Damage ends the scan where it stands; later segments are not read.
 */
import { type Problem, Refusal } from '../core/error-codes.js';
import { OFFSET_MAX } from '../core/limits.js';
import { REJECTED, verdictOf } from '../core/verdict.js';
import type { Program } from '../filter/program.js';
import { createReader } from '../segment/formats.js';
import type { FrameReader } from '../segment/frame.js';
import {
  CURSOR_DAMAGED,
  CURSOR_FRAME,
  CURSOR_SKIPPED,
  CURSOR_TORN,
  type CursorMark,
  type CursorStatus,
  type FrameCursor,
  startMark,
} from '../source/frame-cursor.js';
import type { SegmentSource } from '../source/segment-source.js';
import { type Look, LOOK_CANCELLED, LOOK_DEADLINE, LOOK_GO_ON, type SliceControl } from './control.js';
import type { RunContext } from './filter-run.js';
import type { Roster } from './roster.js';
import { isBelow } from './start.js';
import type { ScanCursorState, ScanSpec } from './task.js';

export interface PassDeps {
  readonly program: Program;
  readonly roster: Roster;
  readonly context: RunContext;
  readonly control: SliceControl;
  readonly cursor: FrameCursor;
  /** Opens the segment at an index of the request; the pass closes it. */
  openSegment(index: number): SegmentSource;
}

export class ScanPass {
  /** Damage met after some filter examined a record. */
  damage: Problem | undefined;
  private readonly deps: PassDeps;
  private readonly opened: ScanCursorState['opened'];
  private phase: ScanCursorState['phase'];
  private segment: number;
  /** Where the next frame is read; kept up to date only between segments and at the end of the slice. */
  private mark: CursorMark;
  /** The last visible record so far, while it is being located. */
  private lastSegment: number;
  private lastOffset: number;
  private readonly lastMark: CursorMark;
  private source: SegmentSource | null = null;
  private cursorStatus: CursorStatus = CURSOR_FRAME;
  /** True where the slice ended on a record that some filters have still to look at: the next one reads it again. */
  private isMidRecord = false;
  /** True while records come that no filter has to be evaluated on. */
  private isQuiet = false;
  /** Place of the current frame, reused for every record. */
  private readonly place = { segment: 0, position: 0 };

  constructor(deps: PassDeps, state: ScanCursorState) {
    this.deps = deps;
    this.opened = state.opened;
    this.phase = state.phase;
    this.segment = state.segment;
    this.mark = { ...state.mark };
    this.lastSegment = state.last?.segment ?? 0;
    this.lastOffset = state.last?.offset ?? NONE;
    this.lastMark = { ...(state.last?.mark ?? startMark()) };
    // While the last record is being located, no filter looks at any.
    if (this.phase === 'scan') deps.roster.gather(this.mark.previousOffset);
  }

  /**
   * Runs until the slice is over or every filter has stopped. Throws a `Refusal`: `source_corrupt` for damage before
   * any filter examined a record, and what a failing store says.
   */
  run(): void {
    try {
      while (this.isRunning && this.step());
      if (this.source === null) return;
      if (this.isMidRecord) this.deps.cursor.saveFrame(this.mark);
      else this.deps.cursor.saveNext(this.mark);
    } finally {
      this.closeSegment();
    }
  }

  /** Where the next slice goes on. To be asked after `run`. */
  save(): ScanCursorState {
    const { phase, segment, mark, opened } = this;
    const last = { segment: this.lastSegment, offset: this.lastOffset, mark: this.lastMark };
    return {
      phase,
      segment,
      mark,
      opened,
      last: this.lastOffset === NONE ? null : last,
      frontier: this.deps.context.frontier,
    };
  }

  /** True while some filter has not stopped. */
  get isRunning(): boolean {
    return this.deps.roster.isRunning;
  }

  /** All frames up to the next thing that is none, and that thing. False when the slice is over. */
  private step(): boolean {
    const { control, cursor } = this.deps;
    if (this.source === null && !this.openNext()) {
      const look = control.look();
      if (look !== LOOK_GO_ON) return this.halt(look);
      this.reachEnd(0);
      return true;
    }
    const look = this.passFrames();
    if (look !== LOOK_GO_ON) return this.halt(look);
    if (!this.isRunning) return false;
    switch (this.cursorStatus) {
      case CURSOR_SKIPPED:
        control.lookNext();
        break;
      case CURSOR_DAMAGED:
        this.meetDamage();
        break;
      case CURSOR_TORN:
        this.leaveSegment();
        this.reachEnd(cursor.tornBytes);
        break;
      default:
        this.leaveSegment();
    }
    return true;
  }

  /**
   * The hot loop: ends at a look that says so, at a cursor status other than a frame (`cursorStatus`), or when the last
   * filter stopped. It is a function of its own so that what happens once per segment is not compiled into it.
   */
  private passFrames(): Look {
    const { control, cursor } = this.deps;
    const { frame } = cursor;
    const isLocating = this.phase === 'locate';
    for (;;) {
      const look = control.look();
      if (look !== LOOK_GO_ON) return look;
      if (this.isQuiet && this.passOver()) continue;
      this.cursorStatus = cursor.next();
      if (this.cursorStatus !== CURSOR_FRAME) return LOOK_GO_ON;
      control.passed(frame.frameEnd - frame.frameStart);
      if (isLocating) {
        this.noteLast();
      } else {
        this.examine();
        if (!this.isRunning) return LOOK_GO_ON;
      }
    }
  }

  /** Stops for a reason that is not in the data. Always false: the slice is over. */
  private halt(look: Look): boolean {
    if (look === LOOK_CANCELLED) this.deps.roster.stopAll({ stop: 'cancelled' });
    else if (look === LOOK_DEADLINE) this.deps.roster.stopAll({ stop: 'deadline' });
    return false;
  }

  /** Offers the current record to every filter that takes part; the program looks at it only if one does. */
  private examine(): void {
    const { roster, program, cursor, control, context } = this.deps;
    const { frame, bytes } = cursor;
    roster.admit(frame);
    const taking = roster.activeCount;
    if (taking > 0) {
      this.place.segment = this.segment;
      this.place.position = cursor.framePosition;
      program.begin(bytes, frame.payloadStart, frame.payloadEnd, frame.headersStart, frame.headersEnd);
      const { candidates } = program;
      const count = program.select();
      context.counters.skippedByIndex += taking - count;
      this.isQuiet = count === 0;
      for (let at = 0; at < count; at += 1) {
        if (control.isEnded) {
          this.isMidRecord = true;
          roster.leaveUnjudged(candidates[at]!);
          continue;
        }
        const filter = candidates[at]!;
        const outcome = program.evaluate(filter);
        if (verdictOf(outcome) !== REJECTED) roster.take(filter, outcome, bytes, frame, this.place);
        control.evaluated();
      }
      roster.passed(frame, this.place, 1, frame.frameEnd - frame.frameStart);
    }
    if (control.isAtLook) this.setReadAhead();
  }

  /**
   * Steps over records of the batch at hand that headers alone make every filter reject, as `examine` would one by one;
   * false if there is none. It is tried after a record that no filter delivers, since records alike mostly come together.
   */
  private passOver(): boolean {
    const { roster, program, cursor, control, context } = this.deps;
    const { table } = cursor;
    const ahead = cursor.rowsAhead;
    if (table === null || ahead === 0) return false;
    const from = cursor.nextRow;
    const end = roster.rowsUntilChange(table, from, control.rowsUntilLook(table, from, from + ahead));
    const count = end > from ? program.passOver(table, cursor.bytes, from, end) : 0;
    // A run that ends early ends before a record that is no part of it.
    this.isQuiet = count > 0 && from + count === end;
    if (count === 0) return false;
    const bytes = table.frameEnds[from + count - 1]! - table.frameStarts[from]!;
    cursor.takeRows(count);
    control.passed(bytes, count);
    const evaluated = program.evaluatedInPassing;
    context.counters.skippedByIndex += roster.activeCount * count - evaluated;
    this.place.segment = this.segment;
    this.place.position = cursor.framePosition;
    roster.passed(cursor.frame, this.place, count, bytes);
    if (evaluated > 0) control.evaluated(evaluated);
    if (control.isAtLook) this.setReadAhead();
    return true;
  }

  private noteLast(): void {
    const { cursor } = this.deps;
    this.lastSegment = this.segment;
    this.lastOffset = cursor.frame.offset;
    cursor.saveFrame(this.lastMark);
  }

  /** Opens the next segment that may hold something; false when there is none. */
  private openNext(): boolean {
    const { cursor, context } = this.deps;
    const { segments } = context.spec;
    const lowest = this.lowestWanted();
    while (
      this.segment < segments.length &&
      (this.opened[this.segment] === null || isBelow(segments[this.segment]!, lowest))
    ) {
      this.segment += 1;
      this.mark = { ...startMark(), previousOffset: this.mark.previousOffset };
    }
    if (this.segment >= segments.length) return false;
    this.source = this.deps.openSegment(this.segment);
    this.setReadAhead();
    openCursor(cursor, context.spec, this.segment, this.source, this.mark);
    context.frontier = Math.max(context.frontier, cursor.announcedOffset);
    return true;
  }

  /** The segment is read to its end: the next one goes on after its last offset. */
  private leaveSegment(): void {
    this.deps.cursor.saveNext(this.mark);
    this.closeSegment();
    this.segment += 1;
    this.mark = { ...startMark(), previousOffset: this.mark.previousOffset };
  }

  private closeSegment(): void {
    this.source?.close();
    this.source = null;
  }

  /** No visible record is left. */
  private reachEnd(tornBytes: number): void {
    const { context } = this.deps;
    context.frontier = Math.max(context.frontier, this.mark.previousOffset);
    if (this.phase === 'locate') this.goToLast();
    else this.deps.roster.stopAll({ stop: 'end_of_visible', ...(tornBytes === 0 ? {} : { torn_bytes: tornBytes }) });
  }

  /** The last visible record is known: the scan proper begins, there or at a lower start of another filter. */
  private goToLast(): void {
    this.phase = 'scan';
    this.deps.roster.startAtLast(Math.max(this.lastOffset, 0));
    const isBeyondOthers = this.lastOffset !== NONE && this.lowestWanted() >= this.lastOffset;
    this.segment = isBeyondOthers ? this.lastSegment : 0;
    this.mark = isBeyondOthers ? { ...this.lastMark } : startMark();
    this.deps.roster.gather(this.mark.previousOffset);
  }

  private meetDamage(): void {
    const { cursor, roster } = this.deps;
    cursor.saveNext(this.mark);
    const place = {
      segment: this.segment,
      position: cursor.damagePosition,
      ...(this.mark.previousOffset < 0 ? {} : { offset_before: this.mark.previousOffset }),
    };
    const problem: Problem = {
      code: 'source_corrupt',
      detail: `Segment ${place.segment} is damaged at byte ${place.position} (${cursor.fault}).`,
      field: `/segments/${place.segment}`,
      ...place,
    };
    if (!roster.someHasExamined) throw new Refusal(problem);
    roster.stopAtDamage({ stop: 'corrupt', fault: { reason: 'source_corrupt', ...place } });
    this.damage = problem;
  }

  private lowestWanted(): number {
    return this.deps.roster.lowestWanted(OFFSET_MAX);
  }

  /** Reads no further than this slice, and what the filters may still examine, will use (scan-protocol §4). */
  private setReadAhead(): void {
    const { cursor, control, roster } = this.deps;
    if (this.source?.resident !== null) return;
    const worth = roster.worthReading(cursor.averageFrameBytes);
    cursor.readAheadBytes = Math.max(0, Math.min(control.bytesLeft, worth));
  }
}

const NONE = -1;

/** Places the cursor in a segment of the request, at `mark`. */
export function openCursor(
  cursor: FrameCursor,
  spec: ScanSpec,
  index: number,
  source: SegmentSource,
  mark: CursorMark,
): FrameReader {
  const { format, baseOffset, sealed, verifyChecksums, lastOffset } = spec.segments[index]!;
  const reader = createReader(format, { partitionId: spec.partitionId, baseOffset, sealed, verifyChecksums });
  const mayBeTorn = index === spec.segments.length - 1 && !sealed;
  cursor.open(source, reader, { lastOffset: lastOffset ?? OFFSET_MAX, mayBeTorn }, mark);
  return reader;
}
