/**
 * One filter of a running scan: where it starts, what it counted in this response, its open page and its stop.
 *
 * It turns an outcome into the contract's bookkeeping (scan-protocol §1 "A page", "Stops"): which policy decides, what
 * is delivered, when a page closes and what it says, and the token that goes on after it. It reads no segment.
 *
 * Invariants: a page is closed by every stop; the totals of the response are the sum over its pages; a record that
 * stops a page is in no count; offsets in `progress` and the token are those of the last closed page.
 */
import { isDataFault, type Outcome, REASON_NAMES, reasonOf, REJECTED, SELECTED, verdictOf } from '../core/verdict.js';
import type { Frame } from '../segment/frame.js';
import { type ContinuationStart, writeContinuation } from '../wire/continuation.js';
import type { PageFault, StopName } from '../wire/page.js';
import { RecordCounts, RunBudgets } from './budgets.js';
import type { CompiledFilterEntry } from './compile.js';
import { addTo } from './counters.js';
import { encodePage } from './page-encode.js';
import { OpenPage, replyBytesOf } from './page.js';
import type { FrameFormat } from './record-object.js';
import type { FilterProgress, FilterRunState, PageOut, ScanSpec, SliceCounters } from './task.js';

/** What all runs of a scan share. */
export interface RunContext {
  readonly spec: ScanSpec;
  readonly frameFormat: FrameFormat;
  readonly signingKey: Uint8Array;
  readonly counters: SliceCounters;
  /** Finished pages of this slice, in the order they closed. */
  readonly pages: PageOut[];
  /** Highest offset known so far, −1 if none. */
  frontier: number;
  /** Told of the reply bytes of each delivered record; the slice ends when it holds as many as a scan may. */
  kept(replyBytes: number): void;
  /** Milliseconds now, for the time that encoding takes. */
  nowMs(): number;
}

/** Where the pass stands: the place of the current frame, as a hint for continuations. */
export interface FramePlace {
  readonly segment: number;
  readonly position: number;
}

/** A stop and what belongs to it; `budget: pages` stands in the end frame only. */
interface Ending {
  readonly stop: StopName;
  readonly budget?: 'examined' | 'examined_bytes' | 'pages';
  readonly filled_by?: 'count' | 'reply_bytes';
  readonly fault?: PageFault;
  readonly torn_bytes?: number;
}

export class FilterRun {
  readonly index: number;
  readonly entry: CompiledFilterEntry;
  readonly progress: FilterProgress;
  private readonly context: RunContext;
  private readonly budgets: RunBudgets;
  /** Of the response so far. */
  private readonly counts: RecordCounts;
  private readonly countsBefore: RecordCounts;
  private readonly start: ContinuationStart;
  private startOffset: number;
  /** Records below it are not looked at: below the start, or classified by an earlier slice that ended on a record. */
  private skipBelow: number;
  /** Pages of this response that were closed as `filled`: those that its budget of pages counts. */
  private filledPages: number;
  private waitsFor: readonly [number, number] | null;
  private nextOffset: number;
  private hintSegment: number;
  private hintPosition: number;
  private page: OpenPage | null;

  constructor(
    index: number,
    entry: CompiledFilterEntry,
    context: RunContext,
    progress: FilterProgress,
    state: FilterRunState,
  ) {
    this.index = index;
    this.entry = entry;
    this.context = context;
    this.progress = progress;
    this.budgets = new RunBudgets(context.spec.budgets);
    this.counts = new RecordCounts(progress.totals);
    this.countsBefore = new RecordCounts(progress.totals);
    this.start = state.start;
    this.startOffset = state.startOffset;
    this.skipBelow = Math.max(state.startOffset, state.nextOffset);
    this.filledPages = state.filledPages;
    this.waitsFor = state.waitsFor;
    this.nextOffset = state.nextOffset;
    this.hintSegment = state.hint.segment;
    this.hintPosition = state.hint.position;
    this.page = progress.stop === undefined ? new OpenPage(context.spec.reply, state.page) : null;
  }

  /** What the next slice goes on with. The run must not be used any more: the buffer of its page goes along. */
  save(): FilterRunState {
    const { startOffset, waitsFor, start, nextOffset, filledPages } = this;
    const hint = { segment: this.hintSegment, position: this.hintPosition };
    return { startOffset, waitsFor, start, nextOffset, hint, filledPages, page: this.page?.save() ?? null };
  }

  get isRunning(): boolean {
    return this.page !== null;
  }

  /** True once this filter examined a record in this response. */
  get hasExamined(): boolean {
    return this.counts.examined > 0;
  }

  /** Lowest offset that this filter may still want. */
  get wantsFrom(): number {
    return Math.max(this.startOffset, 0);
  }

  /** True while the filter starts at the last visible record and that has not been found yet. */
  get seeksLast(): boolean {
    return this.startOffset < 0;
  }

  /** Says which record is the last visible one, to a filter that starts there. */
  startAtLast(offset: number): void {
    if (!this.seeksLast) return;
    this.startOffset = offset;
    this.skipBelow = offset;
  }

  /** Stored bytes that this filter may still examine. */
  bytesWorthReading(averageFrameBytes: number): number {
    return this.budgets.worthReading(this.counts, averageFrameBytes);
  }

  /** True where the record is at or past the filter's start and was not classified before. */
  wants(frame: Frame): boolean {
    if (frame.offset < this.skipBelow) return false;
    if (this.waitsFor === null) return true;
    const [high, low] = this.waitsFor;
    const isThere = frame.timestampHigh > high || (frame.timestampHigh === high && frame.timestampLow >= low);
    if (isThere) this.waitsFor = null;
    return isThere;
  }

  /** Stops the filter if a budget forbids this record. True if it did. */
  stopsAtBudget(frame: Frame): boolean {
    const budget = this.budgets.spent(this.counts, frame.frameEnd - frame.frameStart);
    if (budget === null) return false;
    this.stop({ stop: 'budget', budget });
    return true;
  }

  /** Takes what the program said of the record in `bytes` that stands at `place`. */
  take(outcome: Outcome, bytes: Uint8Array, frame: Frame, place: FramePlace): void {
    const verdict = verdictOf(outcome);
    if (verdict === REJECTED) {
      this.classify(frame, place);
      this.counts.rejected += 1;
      this.page!.counts.rejected += 1;
      return;
    }
    if (verdict === SELECTED) {
      this.deliver(null, bytes, frame, place);
      return;
    }
    const reason = reasonOf(outcome);
    // What is no data fault is a fault only because a record policy says `pass`.
    const policy = isDataFault(reason) ? this.entry.lowered.faultPolicy : 'pass';
    if (policy === 'stop') {
      this.countFault(REASON_NAMES[reason]);
      this.stopAt(frame, place, { stop: 'fault', fault: { offset: frame.offset, reason: REASON_NAMES[reason] } });
    } else if (policy === 'drop') {
      this.countFault(REASON_NAMES[reason]);
      this.classify(frame, place);
      this.counts.dropped += 1;
      this.page!.counts.dropped += 1;
    } else {
      this.deliver(REASON_NAMES[reason], bytes, frame, place);
    }
  }

  /** Ends the filter's part of the scan: closes its page with this stop. */
  stop(ending: Ending): void {
    this.close(ending, undefined);
    this.leave(ending);
  }

  /** Ends the filter's part without a page: damage came before it examined a record. */
  abandon(ending: Ending): void {
    this.leave(ending);
  }

  /** True where the first match of the response was found in this slice and its page is still open. */
  get holdsFirstMatch(): boolean {
    const { page, counts, countsBefore } = this;
    return page !== null && countsBefore.matched === 0 && counts.matched > 0 && page.counts.matched === counts.matched;
  }

  /** Bytes that the open page counts toward `max_reply_bytes`; 0 without one. */
  get openReplyBytes(): number {
    return this.page?.replyBytes ?? 0;
  }

  /** Closes the open page before it is full and opens the next one. */
  flush(): void {
    this.close({ stop: 'flushed' }, undefined);
    this.page = new OpenPage(this.context.spec.reply, null);
  }

  /** Adds what this slice did for the filter to the counters of the slice, and brings `progress` up to date. */
  finishSlice(): void {
    const { counters } = this.context;
    const { counts, countsBefore: before } = this;
    addTo(counters.examined, this.entry.lowered.codec, counts.examined - before.examined);
    counters.matched += counts.matched - before.matched;
    counters.rejected += counts.rejected - before.rejected;
    counters.unevaluated += counts.unevaluated - before.unevaluated;
    counters.dropped += counts.dropped - before.dropped;
    counters.bytesExamined += counts.examinedBytes - before.examinedBytes;
    Object.assign(this.progress.totals, counts.wire());
    // What the open page holds has not been sent: only without it may a reader take the place for reached.
    const isSent = this.page === null || this.page.counts.delivered === 0;
    this.progress.reached_offset = isSent && this.nextOffset >= 0 ? this.nextOffset : this.progress.next_scan_offset;
  }

  /** A record to deliver; `reason` is why it could not be judged, null for a match. */
  private deliver(reason: string | null, bytes: Uint8Array, frame: Frame, place: FramePlace): void {
    const { spec, counters } = this.context;
    const replyBytes = replyBytesOf(spec.reply, frame);
    if (replyBytes > this.budgets.replyBytes) {
      const fault = { offset: frame.offset, reason: 'oversized_record', bytes: frame.frameEnd - frame.frameStart };
      this.stopAt(frame, place, { stop: 'oversized_record', fault });
      return;
    }
    if (this.page!.replyBytes + replyBytes > this.budgets.replyBytes && !this.fill('reply_bytes')) return;
    const page = this.page!;
    this.classify(frame, place);
    page.keep(bytes, frame);
    this.context.kept(replyBytes);
    if (reason === null) {
      this.counts.matched += 1;
      page.counts.matched += 1;
    } else {
      this.counts.unevaluated += 1;
      page.counts.unevaluated += 1;
      page.unevaluated.push({ offset: frame.offset, reason });
      this.countFault(reason);
    }
    if (spec.reply === 'records' || spec.reply === 'headers') counters.bytesReturned += replyBytes;
    if (page.counts.delivered >= this.budgets.count) this.fill('count');
  }

  /** Counts a stopped, passed or dropped record for the metrics. */
  private countFault(reason: string): void {
    addTo(this.context.counters.faults, reason, 1);
  }

  /** Closes a full page and opens the next one; false where the filter has no page left. */
  private fill(filledBy: 'count' | 'reply_bytes'): boolean {
    const { spec } = this.context;
    this.close({ stop: 'filled', filled_by: filledBy }, undefined);
    this.filledPages += 1;
    if (this.filledPages < this.budgets.pages) {
      this.page = new OpenPage(spec.reply, null);
      return true;
    }
    this.progress.filled_by = filledBy;
    this.leave({ stop: 'budget', budget: 'pages' });
    return false;
  }

  /** Stops before a record that is in no count: asking again stops there again. */
  private stopAt(frame: Frame, place: FramePlace, ending: Ending): void {
    this.goOn(frame.offset, place);
    this.close(ending, frame.offset);
    this.leave(ending);
  }

  /** Counts a record as examined; its outcome is the caller's to count. */
  private classify(frame: Frame, place: FramePlace): void {
    const page = this.page!;
    const frameBytes = frame.frameEnd - frame.frameStart;
    page.lastOffset = frame.offset;
    page.counts.examine(frameBytes);
    this.counts.examine(frameBytes);
    this.goOn(frame.offset + 1, place);
  }

  /** Notes where a continuation goes on, and a frame from which it finds its way. */
  private goOn(nextOffset: number, place: FramePlace): void {
    this.nextOffset = nextOffset;
    this.hintSegment = place.segment;
    this.hintPosition = place.position;
  }

  /** Writes the page. `stoppedAt` is the offset of the record that stopped it, where one did. */
  private close(ending: Ending, stoppedAt: number | undefined): void {
    const { context, progress } = this;
    const { spec, frontier, counters } = context;
    const page = this.page!;
    const startedAtMs = context.nowMs();
    const { budget, ...rest } = ending;
    const nextScanOffset = stoppedAt ?? (page.lastOffset < 0 ? undefined : page.lastOffset + 1);
    const safeAckOffset = page.lastOffset < 0 || spec.diagnostic ? undefined : page.lastOffset;
    if (nextScanOffset !== undefined) progress.next_scan_offset = nextScanOffset;
    if (safeAckOffset !== undefined) progress.safe_ack_offset = safeAckOffset;
    progress.continuation = this.token();
    progress.totals.pages += 1;
    const bytes = encodePage(spec, this.entry.policy, context.frameFormat, page, {
      ...rest,
      ...(budget === undefined || budget === 'pages' ? {} : { budget }),
      ...(nextScanOffset === undefined ? {} : { next_scan_offset: nextScanOffset }),
      ...(safeAckOffset === undefined ? {} : { safe_ack_offset: safeAckOffset }),
      ...(frontier < 0 ? {} : { frontier }),
      continuation: progress.continuation,
    });
    context.pages.push({ filter: this.index, bytes, stop: ending.stop });
    counters.stagesMs.encode += context.nowMs() - startedAtMs;
  }

  private leave(ending: Ending): void {
    const { progress, context } = this;
    this.page = null;
    progress.stop = ending.stop;
    if (ending.budget !== undefined) progress.budget = ending.budget;
    if (ending.fault !== undefined) progress.fault = ending.fault;
    if (context.frontier >= 0) progress.frontier = context.frontier;
  }

  /** The token of where the filter goes on now; where nothing was classified, its start itself. */
  token(): string {
    const { signingKey } = this.context;
    const { binding } = this.entry;
    const hint = { segment: this.hintSegment, position: this.hintPosition };
    const start = this.nextOffset < 0 ? this.start : ({ at: 'offset', offset: this.nextOffset } as const);
    return hint.segment < 0
      ? writeContinuation(signingKey, binding, start)
      : writeContinuation(signingKey, binding, start, hint);
  }
}
