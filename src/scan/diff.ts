/**
 * One slice of a diff (contract: scan-protocol §2): one pass in which the oracle judges every record for two filters.
 *
 * Both look at the same range: where the fault policy of either stops, the comparison ends, so that no record is in
 * one count and not in the other. The pass is that of the entry `a` under `fault_policy: stop`, which is told only what
 * both came to.
 *
 * Invariant: the four parts together are the examined records and their bytes.
 */
import { FAULT, NO_REASON, type Outcome, outcome, reasonOf, REJECTED, SELECTED } from '../core/verdict.js';
import { Evaluator } from '../filter/evaluate.js';
import { addExample } from '../filter/funnel.js';
import type { Program } from '../filter/program.js';
import type { FrameCursor } from '../source/frame-cursor.js';
import type { DiffReply } from '../wire/preview.js';
import { type CompiledFilterEntry, type CompiledScan, SCAN_LIMITS } from './compile.js';
import { sharedDecoders } from './payload-decoders.js';
import { isDelivered, progressMembers, stopsAt } from './preview.js';
import type { SliceRunner, SliceWatch } from './slice.js';
import type { DiffFound, DiffSliceReply, DiffTask, ScanState, WorkerReply } from './task.js';
import { WatchedProgram } from './watched-program.js';

/** Runs one slice of a diff. Never throws. */
export function diffSlice(runner: SliceRunner, task: DiffTask): WorkerReply<DiffSliceReply> {
  const watch = new DiffWatch(runner, task);
  const reply = runner.run(task.slice, watch);
  if ('problem' in reply) return reply;
  const { state, done, counters } = reply.ok;
  return { ok: { state, counters, found: watch.found, ...(done ? { answer: watch.answer(state) } : {}) } };
}

class DiffWatch implements SliceWatch {
  readonly found: DiffFound;
  private readonly runner: SliceRunner;
  private readonly task: DiffTask;
  private scan!: CompiledScan;
  private digestOfB = '';

  constructor(runner: SliceRunner, task: DiffTask) {
    this.runner = runner;
    this.task = task;
    this.found = task.found ?? { parts: { only_a: noPart(), only_b: noPart(), both: noPart(), neither: noPart() } };
  }

  entry(entry: CompiledFilterEntry): CompiledFilterEntry {
    return { ...entry, lowered: { ...entry.lowered, faultPolicy: 'stop' } };
  }

  program(scan: CompiledScan, cursor: FrameCursor): Program {
    const { compiler } = this.runner;
    const { other } = this.task;
    const { lowered, digest } = compiler.compileText(other, scan.schemas);
    this.scan = scan;
    this.digestOfB = digest;
    const decodersOf = sharedDecoders(scan.schemas);
    const [ofA, ofB] = [scan.entries[0]!.lowered, lowered];
    const a = new Evaluator(ofA, decodersOf(ofA), compiler.regex);
    const b = new Evaluator(ofB, decodersOf(ofB), compiler.regex);
    return new DiffProgram(a, b, cursor, this.found);
  }

  answer(state: ScanState): DiffReply {
    const { spec, entries } = this.scan;
    const { parts, stoppedBy } = this.found;
    return {
      policies: { a: entries[0]!.policy.policy, b: { dialect: this.task.other.dialect, digest: this.digestOfB } },
      ...progressMembers(spec, state),
      ...(stoppedBy === undefined ? {} : { stopped_by: stoppedBy }),
      ...parts,
    };
  }
}

class DiffProgram extends WatchedProgram {
  private readonly a: Evaluator;
  private readonly b: Evaluator;
  private readonly cursor: FrameCursor;
  private readonly found: DiffFound;

  constructor(a: Evaluator, b: Evaluator, cursor: FrameCursor, found: DiffFound) {
    super();
    this.a = a;
    this.b = b;
    this.cursor = cursor;
    this.found = found;
  }

  evaluate(): Outcome {
    const { found } = this;
    const ofA = this.a.evaluate(this.record, SCAN_LIMITS);
    const ofB = this.b.evaluate(this.record, SCAN_LIMITS);
    const stopsA = stopsAt(ofA, this.a.filter.faultPolicy);
    const stopsB = stopsAt(ofB, this.b.filter.faultPolicy);
    if (stopsA || stopsB) {
      found.stoppedBy = stopsA && stopsB ? 'both' : stopsA ? 'a' : 'b';
      return outcome(FAULT, reasonOf(stopsA ? ofA : ofB));
    }
    const inA = isDelivered(ofA, this.a.filter.faultPolicy);
    const inB = isDelivered(ofB, this.b.filter.faultPolicy);
    const part = found.parts[inA ? (inB ? 'both' : 'only_a') : inB ? 'only_b' : 'neither'];
    const { offset, frameStart, frameEnd } = this.cursor.frame;
    part.count += 1;
    part.bytes += frameEnd - frameStart;
    addExample(part.examples, offset);
    return outcome(inA || inB ? SELECTED : REJECTED, NO_REASON);
  }
}

function noPart(): DiffFound['parts']['both'] {
  return { count: 0, bytes: 0, examples: [] };
}
