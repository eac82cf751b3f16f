/**
 * Filters in the form the scan loop runs: closures over slots, shared by all filters of a scan (design: house §5).
 *
 * One union of payload paths and header keys serves every filter: a payload is walked once per record and codec, a
 * header block read once, whoever asks first. Each filter still sees exactly its own record (laser-filter §4): a header
 * block is judged only as far as that filter reads it, and a header that decides hides a broken payload behind it.
 *
 * Invariants: no code is made from text; a record that does not match allocates nothing; nothing is thrown after
 * `compileProgram`. It shares only the tables of comparison, coercion and text with the evaluator that checks it.
 */
import type { FrameTable } from '../core/kernel.js';
import { CONTENT_TYPE_KEY, SCHEMA_ID_KEY } from '../core/header-value.js';
import { MATCH, NO_MATCH, UNKNOWN } from '../core/truth.js';
import {
  FAULT,
  isDataFault,
  MALFORMED,
  NO_REASON,
  type Outcome,
  outcome,
  type Reason,
  REJECTED,
  SELECTED,
  TYPE_MISMATCH,
} from '../core/verdict.js';
import {
  forEachLeaf,
  headerFirst,
  type Leaf,
  type LoweredFilter,
  type Predicate,
  readsPayload,
  type RecordPolicy,
} from './ir.js';
import { compareTest } from './program-compare.js';
import { coerceTest, FAULTED, presenceTest, type Test, textTest } from './program-leaf.js';
import { EqualityIndex, type PlaceOf } from './prefilter.js';
import type { FamilySchema, ProgramDeps } from './program-deps.js';
import { pathKey, payloadKey, payloadSources } from './program-payloads.js';
import { ProgramRecord, SlotSource } from './program-record.js';
import type { RegexEngine } from './regex.js';

/** Compiled filters over one current record. */
export interface Program {
  /** Number of filters; filter `i` is the one at place `i` of the list that was compiled. */
  readonly count: number;
  /** Moves to a record: its payload and its header block (empty where it has none) in `bytes`, half-open ranges. */
  begin(bytes: Uint8Array, payloadStart: number, payloadEnd: number, headersStart: number, headersEnd: number): void;
  /**
   * What filter `i` says of the current record, verdict and reason packed. A rejection comes without the reason that
   * `mismatch_policy` may have for it where the payload was barren.
   */
  evaluate(i: number): Outcome;
  /** Takes filter `i` into what `select` chooses from, or out of it; none is in it at first. */
  setActive(i: number, isActive: boolean): void;
  /**
   * Finds the active filters that have to be evaluated on the current record, writes them into `candidates` in no
   * particular order and returns their number. All other active filters reject the record.
   */
  select(): number;
  readonly candidates: Int32Array;
  /**
   * How many records, from row `from` of `frames` on and before row `end`, every active filter rejects without a reason,
   * one after another; their bytes stand in `bytes`, the kernel's window. It may stop early, at once too. The record at
   * hand is none afterwards, until `begin`.
   */
  passOver(frames: FrameTable, bytes: Uint8Array, from: number, end: number): number;
  /** Filters that had to be evaluated, record by record, on those that the last `passOver` counted. */
  readonly evaluatedInPassing: number;
}

export interface ProgramOptions<Schema extends FamilySchema = FamilySchema> {
  /** By id, every writer schema that the filters refer to. */
  readonly schemas?: ReadonlyMap<number, Schema>;
  /** False: `select` finds every active filter. Default true; tests compare the two. */
  readonly isIndexed?: boolean;
  /** False: no walker is given a gate. Default true; tests and benchmarks compare the two. */
  readonly isGated?: boolean;
}

/**
 * Compiles validated filters into one program. Throws a `Refusal` `invalid_request` for a pattern that the regex engine
 * refuses.
 */
export function compileProgram<Schema extends FamilySchema>(
  filters: readonly LoweredFilter[],
  deps: ProgramDeps<Schema>,
  { schemas = new Map(), isIndexed = true, isGated = true }: ProgramOptions<Schema> = {},
): Program {
  const keys = wantedKeys(filters);
  const keySlots = new Map(keys.map((key, slot) => [key, slot]));
  const headers = deps.makeHeaders(keys);
  const record = new ProgramRecord(
    headers,
    keys.indexOf(CONTENT_TYPE_KEY),
    keys.indexOf(SCHEMA_ID_KEY),
    filters.some(judgesHeaders),
  );
  const headerSource = new SlotSource(record, headers.slots, null, 'headers_only');
  const payloads = payloadSources(filters, record, deps, schemas, isGated);
  const placeOf: PlaceOf = (filter, source) => {
    if (source.from === 'header') return [headerSource, keySlots.get(source.key)!];
    const payload = payloads.get(payloadKey(filter));
    if (payload === undefined) throw new Error('a filter without a payload codec reads the payload');
    return [payload.source, payload.slots.get(pathKey(source.path))!];
  };
  const compiled = filters.map((filter) => {
    const place = (leaf: Leaf) => placeOf(filter, leaf.source);
    return new CompiledFilter(filter, compileNode(filter.root, place, deps.regex));
  });
  const rejectsByHeaders = (filter: number, bytes: Uint8Array) => compiled[filter]!.rejectsByHeaders(record, bytes);
  return new FilterProgram(
    record,
    [...payloads.values()].map(({ source }) => source),
    compiled,
    new EqualityIndex(record, headers, filters, placeOf, rejectsByHeaders, isIndexed),
  );
}

function wantedKeys(filters: readonly LoweredFilter[]): string[] {
  const keys = new Set<string>([CONTENT_TYPE_KEY]);
  for (const { root, schemaRefs } of filters) {
    if (schemaRefs.length > 0) keys.add(SCHEMA_ID_KEY);
    forEachLeaf(root, ({ source }) => {
      if (source.from === 'header') keys.add(source.key);
    });
  }
  return [...keys];
}

type Place = (leaf: Leaf) => readonly [source: SlotSource, slot: number];

function compileNode(node: Predicate, place: Place, regex: RegexEngine): Test {
  switch (node.node) {
    case 'all':
      return allTest(headerFirst(node.children).map((child) => compileNode(child, place, regex)));
    case 'any':
      return anyTest(headerFirst(node.children).map((child) => compileNode(child, place, regex)));
    case 'not':
      return notTest(compileNode(node.child, place, regex));
    case 'compare':
      return compareTest(...place(node), node);
    case 'coerce':
      return coerceTest(...place(node), node);
    case 'presence':
      return presenceTest(...place(node), node);
    case 'text':
      return textTest(...place(node), node, regex);
  }
}

function allTest(tests: readonly Test[]): Test {
  if (tests.length === 2) return allOfTwo(tests[0]!, tests[1]!);
  return () => {
    let truth: number = MATCH;
    for (let index = 0; index < tests.length; index++) {
      const child = tests[index]!();
      if (child === MATCH) continue;
      if (child !== UNKNOWN) return child;
      truth = UNKNOWN;
    }
    return truth;
  };
}

function allOfTwo(first: Test, second: Test): Test {
  return () => {
    const truth = first();
    if (truth !== MATCH && truth !== UNKNOWN) return truth;
    const other = second();
    return other === MATCH ? truth : other;
  };
}

function anyTest(tests: readonly Test[]): Test {
  return () => {
    let truth: number = NO_MATCH;
    for (let index = 0; index < tests.length; index++) {
      const child = tests[index]!();
      if (child === NO_MATCH) continue;
      if (child !== UNKNOWN) return child;
      truth = UNKNOWN;
    }
    return truth;
  };
}

function notTest(test: Test): Test {
  return () => {
    const child = test();
    return child === MATCH ? NO_MATCH : child === NO_MATCH ? MATCH : child;
  };
}

class CompiledFilter {
  readonly test: Test;
  /** Whether the whole header block is read and judged, or only its content type. */
  readonly needsAllHeaders: boolean;
  readonly needsContentType: boolean;
  private readonly foreignPolicy: RecordPolicy;
  private readonly mismatchOutcome: Outcome;

  constructor(filter: LoweredFilter, test: Test) {
    this.test = test;
    this.needsAllHeaders = judgesHeaders(filter);
    this.needsContentType = readsPayload(filter.root);
    this.foreignPolicy = filter.foreignPolicy;
    this.mismatchOutcome = outcome(filter.mismatchPolicy === 'pass' ? FAULT : REJECTED, TYPE_MISMATCH);
  }

  /** Whether the record whose header slots are at hand is rejected for no reason; false too if the payload is read. */
  rejectsByHeaders(record: ProgramRecord, bytes: Uint8Array): boolean {
    if (this.needsContentType) return false;
    record.bytes = bytes;
    return this.test() === NO_MATCH;
  }

  outcomeOf(truth: number, record: ProgramRecord): Outcome {
    switch (truth) {
      case MATCH:
        return outcome(SELECTED, NO_REASON);
      case FAULTED:
        return this.faultOutcome(record.fault);
      default:
        return truth === UNKNOWN && record.mismatch ? this.mismatchOutcome : outcome(REJECTED, NO_REASON);
    }
  }

  /**
   * Data faults stay faults, whatever `fault_policy` makes of them; a foreign record obeys `foreign_policy`. Without a
   * reason the payload was barren.
   */
  private faultOutcome(reason: Reason): Outcome {
    if (reason === NO_REASON) return outcome(REJECTED, NO_REASON);
    return outcome(isDataFault(reason) || this.foreignPolicy === 'pass' ? FAULT : REJECTED, reason);
  }
}

/** Whether the whole header block is judged, or at most its content type. */
function judgesHeaders({ root, schemaRefs }: LoweredFilter): boolean {
  let found = schemaRefs.length > 0;
  forEachLeaf(root, ({ source }) => {
    found ||= source.from === 'header';
  });
  return found;
}

const MALFORMED_BLOCK = outcome(FAULT, MALFORMED);

class FilterProgram implements Program {
  readonly count: number;
  private readonly record: ProgramRecord;
  private readonly sources: readonly SlotSource[];
  private readonly filters: readonly CompiledFilter[];
  private readonly index: EqualityIndex;

  constructor(
    record: ProgramRecord,
    sources: readonly SlotSource[],
    filters: readonly CompiledFilter[],
    index: EqualityIndex,
  ) {
    this.record = record;
    this.sources = sources;
    this.filters = filters;
    this.index = index;
    this.count = filters.length;
  }

  get candidates(): Int32Array {
    return this.index.candidates;
  }

  setActive(i: number, isActive: boolean): void {
    this.index.setActive(i, isActive);
  }

  select(): number {
    return this.index.select();
  }

  get evaluatedInPassing(): number {
    return this.index.evaluations;
  }

  passOver(frames: FrameTable, bytes: Uint8Array, from: number, end: number): number {
    const { index } = this;
    if (!index.mayPassOver) return 0;
    if (index.asksHeadersOnly) return index.passOver(frames, bytes, from, end) - from;
    const { payloadStarts, payloadEnds, frameEnds } = frames;
    let row = from;
    for (; row < end; row++) {
      frames.row = row;
      this.begin(bytes, payloadStarts[row]!, payloadEnds[row]!, payloadEnds[row]!, frameEnds[row]!);
      if (index.select() > 0) break;
    }
    return row - from;
  }

  begin(bytes: Uint8Array, payloadStart: number, payloadEnd: number, headersStart: number, headersEnd: number): void {
    this.record.begin(bytes, payloadStart, payloadEnd, headersStart, headersEnd);
    for (let index = 0; index < this.sources.length; index++) this.sources[index]!.begin();
  }

  evaluate(i: number): Outcome {
    const filter = this.filters[i]!;
    const { record } = this;
    if (filter.needsAllHeaders) {
      if (!record.hasHeaders()) return MALFORMED_BLOCK;
    } else if (filter.needsContentType) {
      if (!record.isContentTypeJudged()) return MALFORMED_BLOCK;
    }
    record.mismatch = false;
    return filter.outcomeOf(filter.test(), record);
  }
}
