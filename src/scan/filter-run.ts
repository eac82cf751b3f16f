/**
 * One filter of a running scan that delivers or stops: its open page, and what it says of itself when a page closes.
 *
 * It turns an outcome into the contract's bookkeeping (scan-protocol §1 "A page", "Stops"): which policy decides, what
 * is delivered, when a page closes and what it says, and the token that goes on after it. It reads no segment. Its
 * numbers are a row of the scan's table, which is up to date whenever something is asked of the filter (`roster.ts`).
 *
 * Invariants: a page is closed by every stop; the totals of the response are the sum over its pages; a record that
 * stops a page is in no count; offsets and the token in a change are those of the last closed page.
 */
import { isDataFault, type Outcome, REASON_NAMES, reasonOf, SELECTED, verdictOf } from '../core/verdict.js';
import type { Frame } from '../segment/frame.js';
import { type ContinuationBinding, writeContinuation } from '../wire/continuation.js';
import type { StopName } from '../core/stop-names.js';
import type { PageFault } from '../wire/page.js';
import type { RunBudgets } from './budgets.js';
import type { CompiledFilterEntry } from './compile.js';
import { addTo } from './counters.js';
import { encodePage } from './page-encode.js';
import { OpenPage, replyBytesOf, type SparePageBuffer } from './page.js';
import type { FrameFormat } from './record-object.js';
import { type CountColumn, DROPPED, MATCHED, type RunTable, UNEVALUATED } from './run-table.js';
import type { FilterChange, OpenPageState, PageOut, ScanSpec, SliceCounters } from './task.js';

/** What all runs of a scan share. */
export interface RunContext {
  readonly spec: ScanSpec;
  readonly budgets: RunBudgets;
  readonly frameFormat: FrameFormat;
  readonly signingKey: Uint8Array;
  readonly counters: SliceCounters;
  /** Finished pages of this slice, in the order they closed. */
  readonly pages: PageOut[];
  readonly spare: SparePageBuffer;
  /** Highest offset known so far, −1 if none. */
  frontier: number;
  /** Told of the bytes that each delivered record holds; the slice ends when they are as many as a scan may hold. */
  kept(bytes: number): void;
  /** Milliseconds now, for the time that encoding takes. */
  nowMs(): number;
}

/** Where the pass stands: the place of the current frame, as a hint for continuations. */
export interface FramePlace {
  readonly segment: number;
  readonly position: number;
}

/** A stop and what belongs to it; `budget: pages` stands in the end frame only. */
export interface Ending {
  readonly stop: StopName;
  readonly budget?: 'examined' | 'examined_bytes' | 'pages';
  readonly filled_by?: 'count' | 'reply_bytes';
  readonly fault?: PageFault;
  readonly torn_bytes?: number;
}

export class FilterRun {
  private readonly index: number;
  private readonly entry: CompiledFilterEntry;
  private readonly context: RunContext;
  private readonly table: RunTable;
  private readonly change: { -readonly [K in keyof FilterChange]: FilterChange[K] };
  private isChanged = false;
  private readonly matchedBefore: number;
  private page: OpenPage | null;

  /** `page` is the one that an earlier slice left open and not empty. */
  constructor(
    index: number,
    entry: CompiledFilterEntry,
    context: RunContext,
    table: RunTable,
    page: OpenPageState | null,
  ) {
    this.index = index;
    this.entry = entry;
    this.context = context;
    this.table = table;
    this.change = { filter: index };
    this.matchedBefore = table.responseCount(index, MATCHED);
    this.page = new OpenPage(context.spec.reply, page, context.spare);
  }

  get isRunning(): boolean {
    return this.page !== null;
  }

  /** What this slice changed of the filter, if anything. */
  changed(): FilterChange | null {
    return this.isChanged ? this.change : null;
  }

  /** The open page for the next slice, if it holds anything. The run must not be used any more. */
  save(): OpenPageState | null {
    return this.page === null || this.page.isEmpty ? null : this.page.save(this.index);
  }

  /** Takes a verdict other than rejected on the record in `bytes` that stands at `place`. */
  take(outcome: Outcome, bytes: Uint8Array, frame: Frame, place: FramePlace): void {
    if (verdictOf(outcome) === SELECTED) {
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
      this.classify(DROPPED, frame, place);
      this.context.counters.dropped += 1;
    } else {
      this.deliver(REASON_NAMES[reason], bytes, frame, place);
    }
  }

  /** Ends the filter's part of the scan: closes its page with this stop. */
  stop(ending: Ending): void {
    this.close(ending, -1);
    this.leave(ending);
  }

  /** Ends the filter's part without a page: damage came before it examined a record. */
  abandon(ending: Ending): void {
    this.leave(ending);
  }

  /** True where the first match of the response was found in this slice and its page is still open. */
  get holdsFirstMatch(): boolean {
    const { page, table, index } = this;
    const matched = table.responseCount(index, MATCHED);
    return page !== null && this.matchedBefore === 0 && matched > 0 && table.pageCount(index, MATCHED) === matched;
  }

  /** Closes the open page before it is full and opens the next one. */
  flush(): void {
    this.close({ stop: 'flushed' }, -1);
    this.page = new OpenPage(this.context.spec.reply, null, this.context.spare);
  }

  /** A record to deliver; `reason` is why it could not be judged, null for a match. */
  private deliver(reason: string | null, bytes: Uint8Array, frame: Frame, place: FramePlace): void {
    const { context, table, index } = this;
    const { spec, counters, budgets } = context;
    const replyBytes = replyBytesOf(spec.reply, frame);
    if (replyBytes > budgets.replyBytes) {
      const fault = { offset: frame.offset, reason: 'oversized_record', bytes: frame.frameEnd - frame.frameStart };
      this.stopAt(frame, place, { stop: 'oversized_record', fault });
      return;
    }
    if (table.pageReplyBytes(index) + replyBytes > budgets.replyBytes && !this.fill('reply_bytes')) return;
    const page = this.page!;
    this.classify(reason === null ? MATCHED : UNEVALUATED, frame, place);
    page.keep(bytes, frame);
    table.addReplyBytes(index, replyBytes);
    context.kept(replyBytes + HELD_PER_RECORD);
    if (reason === null) {
      counters.matched += 1;
    } else {
      counters.unevaluated += 1;
      page.unevaluated.push({ offset: frame.offset, reason });
      this.countFault(reason);
    }
    if (spec.reply === 'records' || spec.reply === 'headers') counters.bytesReturned += replyBytes;
    if (table.pageDelivered(index) >= budgets.count) this.fill('count');
  }

  /** Counts a stopped, passed or dropped record for the metrics. */
  private countFault(reason: string): void {
    addTo(this.context.counters.faults, reason, 1);
  }

  /** Closes a full page and opens the next one; false where the filter has no page left. */
  private fill(filledBy: 'count' | 'reply_bytes'): boolean {
    const { spec, budgets } = this.context;
    this.close({ stop: 'filled', filled_by: filledBy }, -1);
    if (this.table.countFilled(this.index) < budgets.pages) {
      this.page = new OpenPage(spec.reply, null, this.context.spare);
      return true;
    }
    this.change.filled_by = filledBy;
    this.leave({ stop: 'budget', budget: 'pages' });
    return false;
  }

  /** Stops before a record that is in no count: asking again stops there again. */
  private stopAt(frame: Frame, place: FramePlace, ending: Ending): void {
    this.table.goOnAt(this.index, frame.offset);
    this.table.hintAt(this.index, place.segment, place.position);
    this.close(ending, frame.offset);
    this.leave(ending);
  }

  /** Counts one record. */
  private classify(column: CountColumn, frame: Frame, place: FramePlace): void {
    const { table, index, context, entry } = this;
    const frameBytes = frame.frameEnd - frame.frameStart;
    table.classify(index, column, 1, frameBytes, frame.offset);
    table.hintAt(index, place.segment, place.position);
    addTo(context.counters.examined, entry.lowered.codec, 1);
    context.counters.bytesExamined += frameBytes;
  }

  /** Writes the page. `stoppedAt` is the offset of the record that stopped it, −1 where none did. */
  private close(ending: Ending, stoppedAt: number): void {
    const { context, change, table, index, entry } = this;
    const { spec, frontier, counters } = context;
    const startedAtMs = context.nowMs();
    const { budget, ...rest } = ending;
    const last = table.pageLast(index);
    const nextScanOffset = stoppedAt >= 0 ? stoppedAt : last + 1;
    const offsets = {
      ...(stoppedAt < 0 && last < 0 ? {} : { next_scan_offset: nextScanOffset }),
      ...(last < 0 || spec.diagnostic ? {} : { safe_ack_offset: last }),
    };
    const continuation = continuationOf(table, index, entry.binding, context.signingKey);
    Object.assign(change, offsets, { continuation });
    this.isChanged = true;
    const bytes = encodePage(spec, entry.policy, context.frameFormat, this.page!, table.pageCounts(index), {
      ...rest,
      ...(budget === undefined || budget === 'pages' ? {} : { budget }),
      ...offsets,
      ...(frontier < 0 ? {} : { frontier }),
      continuation,
    });
    this.page!.close();
    table.closePage(index, offsets.next_scan_offset ?? -1);
    context.pages.push({ filter: index, bytes, stop: ending.stop });
    counters.stagesMs.encode += context.nowMs() - startedAtMs;
  }

  private leave(ending: Ending): void {
    const { change, context } = this;
    this.page = null;
    this.isChanged = true;
    this.table.stop(this.index);
    change.stop = ending.stop;
    if (ending.budget !== undefined) change.budget = ending.budget;
    if (ending.fault !== undefined) change.fault = ending.fault;
    if (context.frontier >= 0) change.frontier = context.frontier;
  }
}

/** What a delivered record holds beside its bytes, in an open page: its offset, its position, and why it is unevaluated. */
export const HELD_PER_RECORD = 64;

/** The token of where a filter goes on now; where nothing was classified, its start itself. */
export function continuationOf(
  table: RunTable,
  filter: number,
  binding: ContinuationBinding,
  signingKey: Uint8Array,
): string {
  const start = table.continuationStart(filter);
  const hint = table.hint(filter);
  return hint.segment < 0
    ? writeContinuation(signingKey, binding, start)
    : writeContinuation(signingKey, binding, start, hint);
}
