/**
 * The equality index: which filters of a scan have to be evaluated on a record (contract: scan-protocol §1 "All filters
 * run in one pass"; design: house §5 "prefilter").
 *
 * Each filter with a top-level equality (`equality.ts`) stands under the literals it asks for; the value of one slot then
 * names the few filters that may match, and all others reject the record, as evaluating them would have shown. A filter
 * that asks a header and the payload stands under the header's literal first and under the payload's below it.
 *
 * Nothing that evaluation finds may be lost, so filters are evaluated one by one wherever the index is not sure:
 * - the header block is malformed for them: every filter that judges it faults;
 * - the payload is broken: every filter that reaches it faults, or a header decided before;
 * - the payload is of another codec or schema: the filters whose policy delivers it;
 * - the value is missing, null or of another kind: the filters that a later fault or a mismatch could make deliver.
 * A barren payload (`needles.ts`) is sure: no filter that reads it matches.
 *
 * A payload is read here only where evaluation would read it too, or where reading it costs less than asking the headers
 * of all filters that might. Nothing is allocated per record.
 */
import type { FrameTable } from '../core/kernel.js';
import { EVALUATIONS_BETWEEN_LOOKS } from '../core/limits.js';
import type { Slots } from '../core/slots.js';
import { isDataFault, NO_REASON } from '../core/verdict.js';
import { type Equality, equalitiesOf, type FilterEqualities, literalKey } from './equality.js';
import type { LoweredFilter, Scalar, ValueSource } from './ir.js';
import { ABSENT, type LiteralTable, literalTable, UNDECIDED, UNKNOWN_VALUE } from './literal-table.js';
import type { HeaderReader, ProgramRecord, SlotSource } from './program-record.js';

/** Where the value of a filter's leaf stands. */
export type PlaceOf = (filter: LoweredFilter, source: ValueSource) => readonly [source: SlotSource, slot: number];

/**
 * Payload bytes that are read in the time in which one filter finds by its headers that it rejects: 15 ns against
 * 1.5 ns a byte. So reading ahead of the headers costs at most as much again as not doing it.
 */
const BYTES_PER_EVALUATION = 10;

/**
 * Asks whether a filter rejects, without a fault and without a mismatch, the record whose good header block stands in the
 * current row of header slots, its bytes in `bytes`. False where the filter would have to read the payload.
 */
export type RejectsByHeaders = (filter: number, bytes: Uint8Array) => boolean;

/** Filters that `passOver` evaluates on one record under one header; where more ask for its value, `select` has to. */
const FILTERS_AHEAD_MAX = 4;

/** Most places of one filter below header literals: literals of the header times literals of the payload. */
const PLACES_BELOW_MAX = 64;

export class EqualityIndex {
  /** After `select`: the filters to evaluate, in no particular order. */
  readonly candidates: Int32Array;
  /** False where some filter is evaluated on every record. */
  readonly mayPassOver: boolean;
  /** True where nothing but headers is asked before filters are found. */
  readonly asksHeadersOnly: boolean;
  /** Filters evaluated by the last `passOver` on the records that it passed. */
  evaluations = 0;
  private count = 0;
  private readonly record: ProgramRecord;
  private readonly headers: HeaderReader;
  private readonly rejects: RejectsByHeaders;
  private readonly root: IndexNode;
  /** By filter: whether it is in the pass, and the lookups it stands in. */
  private readonly isActive: Uint8Array;
  private readonly lookupsOf: readonly Lookup[][];

  /** `isOn` false makes every active filter a candidate for every record. */
  constructor(
    record: ProgramRecord,
    headers: HeaderReader,
    filters: readonly LoweredFilter[],
    placeOf: PlaceOf,
    rejects: RejectsByHeaders,
    isOn: boolean,
  ) {
    this.record = record;
    this.headers = headers;
    this.rejects = rejects;
    this.candidates = new Int32Array(filters.length);
    this.isActive = new Uint8Array(filters.length);
    const builder = new IndexBuilder(filters, placeOf);
    this.root = builder.root;
    for (const index of filters.keys()) {
      if (isOn) builder.place(index);
      else builder.root.filters.push(index);
    }
    this.lookupsOf = builder.lookupsOf;
    this.mayPassOver = this.root.filters.length === 0;
    this.asksHeadersOnly = this.root.sure.length === 0 && this.root.guarded.length === 0;
  }

  /** Takes a filter into the selection or out of it. None is in it at first. */
  setActive(filter: number, isActive: boolean): void {
    const value = isActive ? 1 : 0;
    const change = value - this.isActive[filter]!;
    if (change === 0) return;
    this.isActive[filter] = value;
    for (const lookup of this.lookupsOf[filter]!) lookup.active += change;
  }

  /**
   * Finds the active filters that have to be evaluated on the current record and returns their number. Every other
   * active filter rejects it, without a fault and without a mismatch that its policy would let pass.
   */
  select(): number {
    this.count = 0;
    this.reach(this.root);
    return this.count;
  }

  /**
   * The first row from `from` on and before `end` for which `select` would find a filter that headers alone do not make
   * reject it, or `end`; `from` where header blocks are not read in rows. It may stop earlier, and does for a look at
   * the clock. Only where `asksHeadersOnly` and `mayPassOver`.
   */
  passOver(frames: FrameTable, bytes: Uint8Array, from: number, end: number): number {
    const { headers } = this;
    this.evaluations = 0;
    if (headers.readRows === undefined) return from;
    const { slots } = headers;
    const { headerReasons } = frames;
    const lookups = this.root.headers;
    let row = from;
    while (row < end) {
      const past = headers.readRows(row, end);
      for (let { base } = slots; row < past; row++, base += slots.count) {
        if (headerReasons[row] !== NO_REASON || this.evaluations >= EVALUATIONS_BETWEEN_LOOKS) return row;
        const evaluations = this.evaluations;
        for (let at = 0; at < lookups.length; at++) {
          const lookup = lookups[at]!;
          if (lookup.active === 0 || this.isPassed(lookup, bytes, slots, base)) continue;
          this.evaluations = evaluations;
          return row;
        }
      }
    }
    return end;
  }

  /** True if no filter of the lookup does other than reject the record whose header slots stand at `base`, for no reason. */
  private isPassed(lookup: Lookup, bytes: Uint8Array, slots: Slots, base: number): boolean {
    const place = lookup.table.find(bytes, slots, base + lookup.slot, null);
    if (place === ABSENT) return true;
    if (place < 0) return place === UNDECIDED && lookup.undecided.length === 0;
    const { filters, sure, guarded } = lookup.nodes[place]!;
    if (sure.length > 0 || guarded.length > 0 || filters.length > FILTERS_AHEAD_MAX) return false;
    slots.base = base;
    for (let at = 0; at < filters.length; at++) {
      const filter = filters[at]!;
      if (this.isActive[filter] === 0) continue;
      if (!this.rejects(filter, bytes)) return false;
      this.evaluations += 1;
    }
    return true;
  }

  private reach(node: IndexNode): void {
    this.add(node.filters);
    for (let at = 0; at < node.headers.length; at++) this.askHeader(node.headers[at]!);
    for (let at = 0; at < node.sure.length; at++) this.askSure(node.sure[at]!);
    for (let at = 0; at < node.guarded.length; at++) this.askGuarded(node.guarded[at]!);
  }

  private askHeader(lookup: Lookup): void {
    if (lookup.active === 0) return;
    if (this.record.hasHeaders()) this.look(lookup);
    else this.add(lookup.filters);
  }

  /** Filters that look into the payload whatever the headers hold. */
  private askSure(lookup: Lookup): void {
    if (lookup.active === 0) return;
    if (this.record.isContentTypeJudged()) this.askPayload(lookup);
    else this.add(lookup.filters);
  }

  /** Filters whose headers may decide before the payload is read. */
  private askGuarded(lookup: Lookup): void {
    if (lookup.active === 0) return;
    const { record } = this;
    if (!record.hasHeaders()) this.add(lookup.filters);
    else if (lookup.source.isReady || record.payloadEnd - record.payloadStart <= lookup.active * BYTES_PER_EVALUATION) {
      this.askPayload(lookup);
    } else this.add(lookup.filters);
  }

  private askPayload(lookup: Lookup): void {
    const { source } = lookup;
    if (source.isReady || source.load()) this.look(lookup);
    else if (isDataFault(this.record.fault)) this.add(lookup.filters);
    else if (this.record.fault !== NO_REASON) this.add(lookup.passForeign);
  }

  private look(lookup: Lookup): void {
    const { source, slot } = lookup;
    const { slots, walker } = source;
    const place = lookup.table.find(this.record.bytes, slots, slots.base + slot, walker);
    if (place >= 0) this.reach(lookup.nodes[place]!);
    else if (place === UNDECIDED) this.add(lookup.undecided);
    else if (place === UNKNOWN_VALUE) this.add(lookup.filters);
  }

  private add(filters: readonly number[]): void {
    for (let at = 0; at < filters.length; at++) {
      const filter = filters[at]!;
      if (this.isActive[filter] === 1) this.candidates[this.count++] = filter;
    }
  }
}

/** A set of filters of which no more is known, and what can be asked to know more. */
class IndexNode {
  /** Evaluated whenever this node is reached. */
  readonly filters: number[] = [];
  readonly headers: Lookup[] = [];
  readonly sure: Lookup[] = [];
  readonly guarded: Lookup[] = [];
}

/** Filters with an equality on one slot over literals of one kind. */
class Lookup {
  readonly source: SlotSource;
  readonly slot: number;
  readonly kind: Equality['kind'];
  /** By the literal's place. */
  readonly nodes: IndexNode[] = [];
  /** All filters below. */
  readonly filters: number[] = [];
  /** Those that have to be evaluated where the equality is not decided. */
  readonly undecided: number[] = [];
  /** Those that have to be evaluated where the payload is of another codec or schema. */
  readonly passForeign: number[] = [];
  /** Active filters below. */
  active = 0;
  private readonly literals: Scalar[] = [];
  private readonly places = new Map<string, number>();
  private built: LiteralTable | null = null;

  constructor(source: SlotSource, slot: number, kind: Equality['kind']) {
    this.source = source;
    this.slot = slot;
    this.kind = kind;
  }

  /** Made when it is first asked, after the last literal was added. */
  get table(): LiteralTable {
    return (this.built ??= literalTable(this.kind, this.literals));
  }

  nodeOf(literal: Scalar): IndexNode {
    const key = literalKey(literal);
    let place = this.places.get(key) ?? ABSENT;
    if (place === ABSENT) {
      place = this.literals.push(literal) - 1;
      this.places.set(key, place);
      this.nodes.push(new IndexNode());
    }
    return this.nodes[place]!;
  }
}

/** Places filters one after another, each under the equality that the fewest others share a literal of. */
class IndexBuilder {
  readonly root = new IndexNode();
  readonly lookupsOf: Lookup[][];
  private readonly filters: readonly LoweredFilter[];
  private readonly equalities: readonly FilterEqualities[];
  private readonly placeOf: PlaceOf;
  /** How many filters ask for a literal of a slot. */
  private readonly crowds = new Map<string, number>();

  constructor(filters: readonly LoweredFilter[], placeOf: PlaceOf) {
    this.filters = filters;
    this.placeOf = placeOf;
    this.lookupsOf = filters.map(() => []);
    this.equalities = filters.map(equalitiesOf);
    for (const [index, { onHeaders, onPayload }] of this.equalities.entries()) {
      for (const equality of [...onHeaders, ...onPayload]) {
        for (const key of this.crowdKeys(index, equality)) this.crowds.set(key, (this.crowds.get(key) ?? 0) + 1);
      }
    }
  }

  place(index: number): void {
    const facts = this.equalities[index]!;
    const header = this.leastCrowded(index, facts.onHeaders);
    const payload = this.leastCrowded(index, facts.onPayload);
    if (header === undefined) {
      if (payload === undefined) this.root.filters.push(index);
      else this.placePayload(index, this.root, payload, !facts.judgesHeaders);
      return;
    }
    const isWorthIt = this.crowdOf(index, header) > 1;
    const below = isWorthIt ? payload : undefined;
    const lookup = this.lookupIn(this.root.headers, index, header);
    lookup.filters.push(index);
    if (!facts.headerUndecidedRejects) lookup.undecided.push(index);
    for (const literal of header.literals) {
      const node = lookup.nodeOf(literal);
      if (below === undefined || header.literals.length * below.literals.length > PLACES_BELOW_MAX) {
        node.filters.push(index);
      } else this.placePayload(index, node, below, facts.headerLeaves === 1);
    }
  }

  private placePayload(index: number, node: IndexNode, equality: Equality, isSure: boolean): void {
    const facts = this.equalities[index]!;
    const lookup = this.lookupIn(isSure ? node.sure : node.guarded, index, equality);
    lookup.filters.push(index);
    if (!facts.payloadUndecidedRejects) lookup.undecided.push(index);
    if (facts.passesForeign) lookup.passForeign.push(index);
    for (const literal of equality.literals) lookup.nodeOf(literal).filters.push(index);
  }

  private lookupIn(lookups: Lookup[], index: number, { source: from, kind }: Equality): Lookup {
    const [source, slot] = this.placeOf(this.filters[index]!, from);
    let lookup = lookups.find((one) => one.source === source && one.slot === slot && one.kind === kind);
    if (lookup === undefined) {
      lookup = new Lookup(source, slot, kind);
      lookups.push(lookup);
    }
    this.lookupsOf[index]!.push(lookup);
    return lookup;
  }

  private leastCrowded(index: number, equalities: readonly Equality[]): Equality | undefined {
    let best: Equality | undefined;
    for (const equality of equalities) {
      if (best === undefined || this.crowdOf(index, equality) < this.crowdOf(index, best)) best = equality;
    }
    return best;
  }

  private crowdOf(index: number, equality: Equality): number {
    return Math.max(...this.crowdKeys(index, equality).map((key) => this.crowds.get(key)!));
  }

  private crowdKeys(index: number, { source, literals }: Equality): string[] {
    const [{ walker }, slot] = this.placeOf(this.filters[index]!, source);
    return literals.map((literal) => `${walker === null ? 'header' : 'payload'} ${slot} ${literalKey(literal)}`);
  }
}
