/**
 * One slice of a preview (contract: scan-protocol §2): the scan's pass over one filter, judged by the oracle, which
 * fills the funnel and keeps the records that the reply shows.
 *
 * Invariants: examined, stop and next offset are the pass's own; the funnel counts exactly the examined records; at
 * most `maxRecords` records are kept at any moment, each with at most `PREVIEW_TEXT_BYTES` of its payload.
 */
import { PREVIEW_TEXT_BYTES } from '../core/limits.js';
import { FAULT, isDataFault, type Outcome, reasonOf, SELECTED, verdictOf } from '../core/verdict.js';
import { Evaluator } from '../filter/evaluate.js';
import { Funnel, type FunnelNode } from '../filter/funnel.js';
import type { FaultPolicy } from '../filter/ir.js';
import type { Program } from '../filter/program.js';
import type { FrameCursor } from '../source/frame-cursor.js';
import type { FunnelNodeReply, PreviewRecord, PreviewReply } from '../wire/preview.js';
import { type CompiledFilterEntry, type CompiledScan, SCAN_LIMITS } from './compile.js';
import { explanationOf, verdictMembers } from './filter-tasks.js';
import { sharedDecoders } from './payload-decoders.js';
import { ScanProgress } from './progress.js';
import type { SliceRunner, SliceWatch } from './slice.js';
import type {
  FilterProgress,
  PreviewFound,
  PreviewSliceReply,
  PreviewTask,
  ScanSpec,
  ScanState,
  WorkerReply,
} from './task.js';
import { WatchedProgram } from './watched-program.js';
import { copyOf } from './watched-record.js';

/** Runs one slice of a preview. Never throws. */
export function previewSlice(runner: SliceRunner, task: PreviewTask): WorkerReply<PreviewSliceReply> {
  const watch = new PreviewWatch(runner, task);
  const reply = runner.run(task.slice, watch);
  if ('problem' in reply) return reply;
  const { state, done, counters } = reply.ok;
  return { ok: { state, counters, found: watch.found, ...(done ? { answer: watch.answer(state) } : {}) } };
}

class PreviewWatch implements SliceWatch {
  private readonly runner: SliceRunner;
  private readonly task: PreviewTask;
  private judge!: PreviewProgram;
  private scan!: CompiledScan;

  constructor(runner: SliceRunner, task: PreviewTask) {
    this.runner = runner;
    this.task = task;
  }

  entry(entry: CompiledFilterEntry): CompiledFilterEntry {
    return entry;
  }

  program(scan: CompiledScan, cursor: FrameCursor): Program {
    this.scan = scan;
    const { lowered } = scan.entries[0]!;
    const evaluator = new Evaluator(lowered, sharedDecoders(scan.schemas)(lowered), this.runner.compiler.regex);
    this.judge = new PreviewProgram(evaluator, cursor, this.task);
    return this.judge;
  }

  get found(): PreviewFound {
    return { funnel: this.judge.funnel.state, records: this.judge.records };
  }

  answer(state: ScanState): PreviewReply {
    const { spec, entries } = this.scan;
    const { totals } = progressOf(state);
    const { funnel, records } = this.judge;
    return {
      policy: entries[0]!.policy.policy,
      ...progressMembers(spec, state),
      matched: totals.matched,
      rejected: totals.rejected,
      unevaluated_count: totals.unevaluated_count,
      dropped: totals.dropped,
      records: records.flat(),
      funnel: { unjudged: funnel.state.unjudged, root: wireNode(funnel.tree()) },
    };
  }
}

/** How far a finished pass looked, as the replies of `preview` and `diff` say it. */
export function progressMembers(
  { budgets }: ScanSpec,
  state: ScanState,
): Pick<PreviewReply, 'budgets' | 'examined' | 'examined_bytes' | 'stop' | 'budget' | 'fault' | 'next_scan_offset'> {
  const { totals, stop, budget, fault, next_scan_offset: nextScanOffset } = progressOf(state);
  const { max_examined, max_examined_bytes, deadline_ms } = budgets;
  return {
    budgets: { max_examined, max_examined_bytes, deadline_ms },
    examined: totals.examined,
    examined_bytes: totals.examined_bytes,
    stop: stop!,
    ...(budget === undefined || budget === 'pages' ? {} : { budget }),
    ...(fault === undefined ? {} : { fault }),
    ...(nextScanOffset === undefined ? {} : { next_scan_offset: nextScanOffset }),
  };
}

/** The one filter of a finished pass: its last page closed in the slice that ended it. */
function progressOf(state: ScanState): FilterProgress {
  const progress = new ScanProgress(['']);
  progress.apply(state);
  return progress.all()[0]!;
}

/** Classes of the reply's records, in its order. */
const CLASSES = 4;
const CLASS_SELECTED = 0;
const CLASS_UNEVALUATED = 1;
const CLASS_FAULT = 2;
const CLASS_REJECTED = 3;

class PreviewProgram extends WatchedProgram {
  readonly funnel: Funnel;
  readonly records: PreviewRecord[][];
  private readonly evaluator: Evaluator;
  private readonly cursor: FrameCursor;
  private readonly maxRecords: number;
  private readonly explain: boolean;

  constructor(evaluator: Evaluator, cursor: FrameCursor, { maxRecords, explain, found }: PreviewTask) {
    super();
    this.evaluator = evaluator;
    this.cursor = cursor;
    this.maxRecords = maxRecords;
    this.explain = explain;
    this.funnel = new Funnel(evaluator, found?.funnel ?? null);
    this.records = Array.from({ length: CLASSES }, (_, kind) => [...(found?.records[kind] ?? [])]);
  }

  evaluate(): Outcome {
    const outcome = this.funnel.judge(this.record, SCAN_LIMITS);
    const { faultPolicy } = this.evaluator.filter;
    // A record that stops the pass is in no count.
    if (!stopsAt(outcome, faultPolicy)) this.funnel.count(this.cursor.frame.offset);
    this.keep(classOf(outcome, faultPolicy), outcome);
    return outcome;
  }

  /** Keeps the record if the reply has room for it: later classes give way to earlier ones, later offsets to earlier. */
  private keep(kind: number, outcome: Outcome): void {
    const ahead = this.records.slice(0, kind + 1).reduce((sum, { length }) => sum + length, 0);
    if (ahead >= this.maxRecords) return;
    this.records[kind]!.push(this.shown(outcome));
    const kept = this.records.reduce((sum, { length }) => sum + length, 0);
    if (kept > this.maxRecords) this.records.findLast(({ length }) => length > 0)!.pop();
  }

  private shown(outcome: Outcome): PreviewRecord {
    const { offset, timestampHigh, timestampLow } = this.cursor.frame;
    const { payload } = this.record;
    return {
      offset,
      timestamp: numberOrBigint((BigInt(timestampHigh) << 32n) | BigInt(timestampLow)),
      ...verdictMembers(outcome),
      payload_text: lossyText(payload),
      payload_truncated: payload.length > PREVIEW_TEXT_BYTES,
      ...(this.explain ? { explanation: explanationOf(this.evaluator, this.record, SCAN_LIMITS) } : {}),
    };
  }
}

/** True where the fault policy ends the pass before the record. */
export function stopsAt(outcome: Outcome, policy: FaultPolicy): boolean {
  return verdictOf(outcome) === FAULT && isDataFault(reasonOf(outcome)) && policy === 'stop';
}

/** True where the record is delivered: selected, or unevaluated under a `pass` policy. */
export function isDelivered(outcome: Outcome, policy: FaultPolicy): boolean {
  if (verdictOf(outcome) !== FAULT) return verdictOf(outcome) === SELECTED;
  // What is no data fault is a fault only because a record policy says `pass`.
  return !isDataFault(reasonOf(outcome)) || policy === 'pass';
}

function classOf(outcome: Outcome, policy: FaultPolicy): number {
  if (verdictOf(outcome) === FAULT) return isDelivered(outcome, policy) ? CLASS_UNEVALUATED : CLASS_FAULT;
  return verdictOf(outcome) === SELECTED ? CLASS_SELECTED : CLASS_REJECTED;
}

/** The first bytes of a payload as text. A character that the cut would split is left out, other faults show. */
function lossyText(payload: Uint8Array): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const isCut = payload.length > PREVIEW_TEXT_BYTES;
  return decoder.decode(copyOf(payload.subarray(0, PREVIEW_TEXT_BYTES)), { stream: isCut });
}

function numberOrBigint(value: bigint): number | bigint {
  const double = Number(value);
  return Number.isSafeInteger(double) ? double : value;
}

function wireNode({ label, counts, children }: FunnelNode): FunnelNodeReply {
  return {
    label,
    match: counts.match,
    no_match: counts.noMatch,
    unknown: counts.unknown,
    mismatch: counts.mismatch,
    unjudged: counts.unjudged,
    not_reached: counts.notReached,
    rejected: counts.rejected,
    examples: counts.examples,
    ...(children === undefined ? {} : { children: children.map(wireNode) }),
  };
}
