/**
 * One slice of a scan: task in, pages and the next state out (house §1, §6). It runs in a worker and needs no thread.
 *
 * The first slice compiles the filters, checks continuations and opens every segment once, so that whatever is wrong
 * with the request is a problem before the first byte of the reply. A later slice may run on another worker: it finds
 * all it needs in the task.
 *
 * Invariants: nothing is thrown across, a problem is plain data (exhausted memory, which ends its thread, excepted); a segment's length is taken once, by the first slice;
 * every descriptor opened here is closed here.
 */
import type { IdentifiedSchema } from '../codec/schema-source.js';
import type { Clock } from '../core/clock.js';
import { type Problem, Refusal } from '../core/error-codes.js';
import type { Kernel } from '../core/kernel.js';
import { OFFSET_MAX, OPEN_PAGES_BYTES_MAX, WINDOW_BYTES } from '../core/limits.js';
import { isMemoryExhausted } from '../core/memory-exhausted.js';
import type { Program } from '../filter/program.js';
import type { RegexEngine } from '../filter/regex.js';
import { CURSOR_FRAME, FrameCursor, startMark } from '../source/frame-cursor.js';
import type { OpenedBefore, SegmentSource } from '../source/segment-source.js';
import { Window } from '../source/window.js';
import { type CompiledFilterEntry, type CompiledScan, ScanCompiler } from './compile.js';
import { SliceControl } from './control.js';
import { noCounters } from './counters.js';
import { continuationOf, type RunContext } from './filter-run.js';
import { RunBudgets } from './budgets.js';
import { SparePageBuffer } from './page.js';
import { Roster } from './roster.js';
import { type RowStart, RunTable } from './run-table.js';
import { openCursor, ScanPass } from './scan-loop.js';
import { givenFrontier, isBelow, startOf } from './start.js';
import type {
  FilterChange,
  ScanCursorState,
  ScanState,
  SegmentSpec,
  SliceCounters,
  SliceReply,
  SliceTask,
  WorkerReply,
} from './task.js';

/** What a slice needs from outside: time, keys, the regex engine, and whoever opens segments. */
export interface SliceDeps {
  readonly clock: Clock;
  readonly regex: RegexEngine;
  /** The worker's kernel; absent where the TypeScript walkers do the work. */
  readonly kernel?: Kernel | undefined;
  /** The registry of writer schemas; default none. */
  readonly schemas?: readonly IdentifiedSchema[];
  /** Newest first: it signs, all verify. */
  readonly continuationKeys: readonly Uint8Array[];
  /**
   * Opens segment `index` of a task; `before` is what an earlier slice saw of it. Throws a `Refusal` whose `field`
   * points at the segment.
   */
  openSegment(segment: SegmentSpec, index: number, task: SliceTask, before: OpenedBefore | null): SegmentSource;
  /** Told of anything thrown that is no `Refusal`: a fault of ours, answered as `backend`. */
  onFault(fault: unknown): void;
  /**
   * True while somebody waits for a worker. Where nobody does, slices that have nothing to send between them run as one,
   * for the time of one. Without it none do.
   */
  readonly isAwaited?: () => boolean;
  /** For tests; see `SliceControl`. */
  readonly recordsBetweenLooks?: number;
  /** False: every filter is evaluated on every record. Default true; tests and benchmarks compare the two. */
  readonly isIndexed?: boolean;
}

/**
 * Watches a scan of one filter: what it makes judges every record in the place of the compiled program. The pass, its
 * stops and its counts stay the scan's, so that whoever watches looks exactly as far.
 */
export interface SliceWatch {
  /** Asked once a slice. The record that is judged stands in the cursor's frame. */
  program(scan: CompiledScan, cursor: FrameCursor): Program;
  /** The filter as the scan is to treat it: its policies decide where the pass stops. */
  entry(entry: CompiledFilterEntry): CompiledFilterEntry;
}

/** Runs slices, one at a time; one for each worker, because it holds the worker's window and caches. */
export class SliceRunner {
  readonly compiler: ScanCompiler;
  private readonly deps: SliceDeps;
  private readonly cursor: FrameCursor;
  private readonly sparePage = new SparePageBuffer();

  constructor(deps: SliceDeps) {
    this.deps = deps;
    this.cursor = new FrameCursor(new Window(WINDOW_BYTES, deps.kernel));
    this.compiler = new ScanCompiler(deps.regex, deps.clock, deps.isIndexed ?? true, deps.kernel, deps.schemas);
  }

  /** Runs one slice, under a watch if one is given. Throws nothing but exhausted memory. */
  run(task: SliceTask, watch?: SliceWatch): WorkerReply<SliceReply> {
    try {
      return { ok: this.runSlice(task, watch) };
    } catch (thrown) {
      return { problem: problemFrom(thrown, this.deps) };
    }
  }

  private runSlice(task: SliceTask, watch: SliceWatch | undefined): SliceReply {
    const { clock, continuationKeys } = this.deps;
    const startedAtMs = clock.nowMs();
    const counters = noCounters();
    const scan = this.compiler.compiled(task.scanKey, task.spec, counters);
    scan.stages.reset();
    const state = task.state ?? this.firstState(task, scan);
    const table = new RunTable(state.table);
    // A watched record may cost a thousand looks, so there is one before each.
    const control = new SliceControl({
      ...task,
      clock,
      ...(watch === undefined ? { ...looks(this.deps), mayGoOn: () => this.mayGoOn(context, roster) } : EVERY_RECORD),
    });
    let heldBytes = 0;
    const context: RunContext = {
      spec: scan.spec,
      budgets: new RunBudgets(scan.spec.budgets),
      frameFormat: scan.frameFormat,
      signingKey: continuationKeys[0]!,
      counters,
      pages: [],
      spare: this.sparePage,
      frontier: state.cursor.frontier,
      kept: (bytes) => {
        heldBytes += bytes;
        if (heldBytes >= OPEN_PAGES_BYTES_MAX) control.endSlice();
      },
      nowMs: () => clock.nowMs(),
    };
    const program = watch?.program(scan, this.cursor) ?? scan.program;
    const entries = watch === undefined ? scan.entries : scan.entries.map((entry) => watch.entry(entry));
    const roster = new Roster(entries, context, program, table, state.pages);
    // What the slice holds in the end: the pages that were open before it and everything that it delivers.
    heldBytes = roster.heldBytes;
    const pass = new ScanPass(
      {
        program,
        roster,
        context,
        control,
        cursor: this.cursor,
        openSegment: (index) => this.open(task, scan, index, state.cursor.opened[index] ?? null),
      },
      state.cursor,
    );
    pass.run();
    if (scan.spec.flushes && pass.isRunning) roster.flush(OPEN_PAGES_BYTES_MAX);
    roster.settleAll();
    countSlice(counters, control, scan, clock.nowMs() - startedAtMs);
    return {
      ...(task.state === null ? { begin: scan.entries.map(({ policy }) => policy) } : {}),
      pages: context.pages,
      state: {
        changes: [...(task.state === null ? state.changes : []), ...roster.changes()],
        cursor: pass.save(),
        table: table.cells,
        pages: roster.savePages(),
      },
      done: !pass.isRunning,
      ...(pass.damage === undefined ? {} : { damage: pass.damage }),
      counters,
    };
  }

  /**
   * True where the main thread would do nothing between this slice and the next but to give the worker back: nobody
   * waits for it, and the slice has nothing to send.
   */
  private mayGoOn({ spec, pages }: RunContext, roster: Roster): boolean {
    if (this.deps.isAwaited?.() !== false || pages.length > 0) return false;
    return !spec.flushes || !roster.holdsFirstMatch;
  }

  /** Checks continuations, opens every segment that may be read, and places the scan. */
  private firstState(task: SliceTask, scan: CompiledScan): ScanState {
    const { continuationKeys } = this.deps;
    const starts = scan.entries.map((_, i) => startOf(scan, i, continuationKeys));
    const table = RunTable.startingAt(starts);
    const seeksLast = starts.some(({ start }) => start.at === 'last');
    const lowest = starts.reduce((low, _, i) => Math.min(low, table.wantsFrom(i)), OFFSET_MAX);
    const opened = scan.spec.segments.map((segment, index) =>
      isBelow(segment, lowest) ? null : this.lookAt(task, scan, index),
    );
    const placed = seeksLast ? undefined : this.placeByHint(task, scan, starts, lowest, opened);
    return {
      changes: scan.entries.map(({ binding }, filter): FilterChange => {
        return { filter, continuation: continuationOf(table, filter, binding, continuationKeys[0]!) };
      }),
      cursor: {
        phase: seeksLast ? 'locate' : 'scan',
        ...(placed ?? { segment: 0, mark: startMark() }),
        opened,
        last: null,
        frontier: givenFrontier(scan.spec.segments),
      },
      table: table.cells,
      pages: [],
    };
  }

  /**
   * The place that the lowest filter's continuation hints at, if the frame there is the one that was classified last,
   * or the one to go on at. Only for formats whose frames carry their offset.
   */
  private placeByHint(
    task: SliceTask,
    scan: CompiledScan,
    starts: readonly RowStart[],
    lowest: number,
    opened: ScanCursorState['opened'],
  ): Pick<ScanCursorState, 'segment' | 'mark'> | undefined {
    const hint = starts.find(({ start }) => start.at === 'offset' && start.offset === lowest)?.hint;
    if (hint === undefined || (opened[hint.segment] ?? null) === null) return undefined;
    const source = this.open(task, scan, hint.segment, opened[hint.segment]!);
    try {
      const { cursor } = this;
      cursor.readAheadBytes = 0;
      const mark = { position: hint.position, ordinal: -1, previousOffset: -1 };
      const reader = openCursor(cursor, scan.spec, hint.segment, source, mark);
      if (!reader.isSeekable || cursor.next() !== CURSOR_FRAME) return undefined;
      const isThere = cursor.frame.offset === lowest || cursor.frame.offset === lowest - 1;
      if (!isThere) return undefined;
      cursor.saveFrame(mark);
      return { segment: hint.segment, mark };
    } finally {
      source.close();
    }
  }

  private lookAt(task: SliceTask, scan: CompiledScan, index: number): OpenedBefore {
    const source = this.open(task, scan, index, null);
    const { length, identity } = source;
    source.close();
    return { length, identity };
  }

  private open(task: SliceTask, scan: CompiledScan, index: number, before: OpenedBefore | null): SegmentSource {
    return scan.stages.timedSource(this.deps.openSegment(scan.spec.segments[index]!, index, task, before));
  }
}

const EVERY_RECORD = { recordsBetweenLooks: 1 };

function looks({ recordsBetweenLooks }: SliceDeps): { recordsBetweenLooks?: number } {
  return recordsBetweenLooks === undefined ? {} : { recordsBetweenLooks };
}

function countSlice(counters: SliceCounters, control: SliceControl, { stages }: CompiledScan, sliceMs: number): void {
  counters.recordsScanned = control.records;
  counters.bytesScanned = control.bytes;
  counters.sliceMs = sliceMs;
  const { stagesMs } = counters;
  stagesMs.read = stages.readMs;
  stagesMs.decode = stages.decodeMs;
  // What is left: stepping over frames, header blocks and the programs. Sampling may overshoot on tiny slices.
  stagesMs.evaluate = Math.max(0, sliceMs - counters.compileMs - stagesMs.read - stagesMs.decode - stagesMs.encode);
}

/**
 * The problem of anything thrown; what is no `Refusal` is told to `onFault` first. Exhausted memory is thrown on, because
 * a worker that met it has to go and so must not answer.
 */
export function problemFrom(thrown: unknown, deps: Pick<SliceDeps, 'onFault'>): Problem {
  if (thrown instanceof Refusal) return thrown.problem;
  if (isMemoryExhausted(thrown)) throw thrown;
  deps.onFault(thrown);
  return { code: 'backend', detail: 'An internal fault ended this request.' };
}
