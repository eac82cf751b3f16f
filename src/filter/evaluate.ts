/**
 * The slow, obvious evaluator (contract: laser-filter §3, §4): the oracle that the fast program is compared with, and
 * what explanations run.
 *
 * It reads beside the contract from top to bottom: decode what the header block is needed for, evaluate the tree
 * header-first, touch the payload only when a leaf asks for it, then let the policies decide. Decoders and headers come
 * from the caller, so this room knows no codec and no segment format.
 *
 * Invariants: children are never reordered beyond header-first and stop at the decisive one, because the mismatch flag
 * is sticky; a record that cannot be judged is a value, never an exception.
 */
import { CONTENT_TYPE_KEY, CONTENT_TYPE_NAMES, SCHEMA_ID_KEY, SCHEMA_ID_MAX } from '../core/header-value.js';
import type { HeaderValue } from '../core/header-value.js';
import { MATCH, negate, NO_MATCH, UNKNOWN } from '../core/truth.js';
import type { Truth } from '../core/truth.js';
import {
  FAULT,
  FOREIGN_CODEC,
  isDataFault,
  MALFORMED,
  MISSING_SCHEMA,
  NO_REASON,
  outcome,
  REJECTED,
  SCHEMA_MISMATCH,
  SCHEMA_NOT_ALLOWED,
  SELECTED,
  TOO_LARGE,
  TYPE_MISMATCH,
} from '../core/verdict.js';
import type { Outcome, Reason } from '../core/verdict.js';
import type { Path } from '../core/path.js';
import type { Decoded, PayloadDecoders, SchemaDecoder, Value } from '../codec/value.js';
import type { DecoderLimits } from '../codec/walker.js';
import { leafJudge, SUBJECT_TOO_LARGE } from './evaluate-leaf.js';
import type { LeafJudge, Subject } from './evaluate-leaf.js';
import { forEachLeaf, headerFirst, readsPayload } from './ir.js';
import type { Leaf, LoweredFilter, Predicate, ValueSource } from './ir.js';
import type { RegexEngine } from './regex.js';

/** How much of a header block a filter needs (laser-filter §4). */
export type HeaderNeed = 'all' | 'content_type' | 'nothing';

/** A record as the evaluator is given it. */
export interface EvaluatedRecord {
  /**
   * The headers with text keys, the last of each key; at least `agdx.ct` where only the content type is needed.
   * Undefined if the block, read that far, is malformed.
   */
  headers(need: Exclude<HeaderNeed, 'nothing'>): ReadonlyMap<string, HeaderValue> | undefined;
  readonly payload: Uint8Array;
}

/** What a leaf or tree yields where the record cannot be judged: why not. */
export interface Unjudged {
  readonly unjudged: Reason;
}

export function isUnjudged(result: Truth | Unjudged): result is Unjudged {
  return typeof result === 'object';
}

/**
 * Told what a node came to, children before their parents and in evaluation order; a node that a sibling made
 * needless is never named. `isMismatched` says that a leaf at or below the node saw a type it cannot compare.
 */
export type EvaluationVisitor = (predicate: Predicate, result: Truth | Unjudged, isMismatched: boolean) => void;

/** How much of the header block the filter needs: all for headers or schema ids, the content type for the payload. */
export function headerNeed(filter: LoweredFilter): HeaderNeed {
  let readsHeaders = filter.schemaRefs.length > 0;
  forEachLeaf(filter.root, (leaf) => {
    if (leaf.source.from === 'header') readsHeaders = true;
  });
  if (readsHeaders) return 'all';
  return readsPayload(filter.root) ? 'content_type' : 'nothing';
}

/** One filter, ready to judge records. */
export class Evaluator {
  readonly filter: LoweredFilter;
  readonly #decoders: PayloadDecoders;
  readonly #judges = new Map<Leaf, LeafJudge>();

  /**
   * `decoders` are those of the filter's codec, by schema id where it has schemas; a `headers_only` filter never asks
   * them. Throws a `Refusal` `invalid_request` for a pattern that does not compile.
   */
  constructor(filter: LoweredFilter, decoders: PayloadDecoders, regex: RegexEngine) {
    this.filter = filter;
    this.#decoders = decoders;
    forEachLeaf(filter.root, (leaf) => this.#judges.set(leaf, leafJudge(leaf, regex)));
  }

  /**
   * The verdict on a record and, where the contract reports one, the reason. Policies of the filter have decided.
   * `visit` sees every node that was evaluated; none where the header block is malformed.
   */
  evaluate(record: EvaluatedRecord, limits: DecoderLimits, visit?: EvaluationVisitor): Outcome {
    const reading = this.read(record, limits);
    if (reading === undefined) return this.#outcomeOf(MALFORMED);
    const truth = this.#truthOf(this.filter.root, reading, visit);
    if (isUnjudged(truth)) return this.#outcomeOf(truth.unjudged);
    if (truth === UNKNOWN && reading.mismatched) return this.#outcomeOf(TYPE_MISMATCH);
    return outcome(truth === MATCH ? SELECTED : REJECTED, NO_REASON);
  }

  /** The record with its headers decoded as far as the filter needs them; undefined if the header block is malformed. */
  read(record: EvaluatedRecord, limits: DecoderLimits): Reading | undefined {
    const need = headerNeed(this.filter);
    const headers = need === 'nothing' ? new Map<string, HeaderValue>() : record.headers(need);
    return headers && new Reading(this.filter, this.#decoders, limits, headers, record.payload);
  }

  /** What one leaf says of the record; a mismatch stays marked in the reading. */
  truthOfLeaf(leaf: Leaf, reading: Reading): Truth | Unjudged {
    const found = reading.find(leaf.source);
    if ('unjudged' in found) return found;
    const judgement = this.#judges.get(leaf)!(found.subject);
    if (judgement === SUBJECT_TOO_LARGE) return { unjudged: TOO_LARGE };
    if (judgement.mismatch) reading.mismatched = true;
    return judgement.truth;
  }

  #truthOf(predicate: Predicate, reading: Reading, visit: EvaluationVisitor | undefined): Truth | Unjudged {
    if (visit === undefined) return this.#truthHere(predicate, reading, visit);
    const wasMismatched = reading.mismatched;
    reading.mismatched = false;
    const result = this.#truthHere(predicate, reading, visit);
    visit(predicate, result, reading.mismatched);
    reading.mismatched ||= wasMismatched;
    return result;
  }

  #truthHere(predicate: Predicate, reading: Reading, visit: EvaluationVisitor | undefined): Truth | Unjudged {
    switch (predicate.node) {
      case 'all':
        return this.#group(predicate.children, reading, NO_MATCH, MATCH, visit);
      case 'any':
        return this.#group(predicate.children, reading, MATCH, NO_MATCH, visit);
      case 'not': {
        const truth = this.#truthOf(predicate.child, reading, visit);
        return isUnjudged(truth) ? truth : negate(truth);
      }
      default:
        return this.truthOfLeaf(predicate, reading);
    }
  }

  /** Header-first, up to the decisive child; without one unknown if any child is, else `otherwise`. */
  #group(
    children: readonly Predicate[],
    reading: Reading,
    decisive: Truth,
    otherwise: Truth,
    visit: EvaluationVisitor | undefined,
  ): Truth | Unjudged {
    let result = otherwise;
    for (const child of headerFirst(children)) {
      const truth = this.#truthOf(child, reading, visit);
      if (isUnjudged(truth) || truth === decisive) return truth;
      if (truth === UNKNOWN) result = UNKNOWN;
    }
    return result;
  }

  /** What the policies make of a record that cannot be judged (the table of laser-filter §4). */
  #outcomeOf(reason: Reason): Outcome {
    if (isDataFault(reason)) return outcome(FAULT, reason);
    const policy = reason === TYPE_MISMATCH ? this.filter.mismatchPolicy : this.filter.foreignPolicy;
    return outcome(policy === 'pass' ? FAULT : REJECTED, reason);
  }
}

/** One record while it is being judged: the payload is decoded when first asked for, a mismatch sticks. */
export class Reading {
  mismatched = false;
  readonly #filter: LoweredFilter;
  readonly #decoders: PayloadDecoders;
  readonly #limits: DecoderLimits;
  readonly #headers: ReadonlyMap<string, HeaderValue>;
  readonly #payload: Uint8Array;
  #decoded: Decoded | undefined;

  constructor(
    filter: LoweredFilter,
    decoders: PayloadDecoders,
    limits: DecoderLimits,
    headers: ReadonlyMap<string, HeaderValue>,
    payload: Uint8Array,
  ) {
    this.#filter = filter;
    this.#decoders = decoders;
    this.#limits = limits;
    this.#headers = headers;
    this.#payload = payload;
  }

  /** What stands at a source, or why the payload cannot be looked at. */
  find(source: ValueSource): { readonly subject: Subject } | Unjudged {
    if (source.from === 'header') return { subject: headerSubject(this.#headers.get(source.key)) };
    this.#decoded ??= this.#lookIntoPayload();
    if (!this.#decoded.ok) return { unjudged: this.#decoded.reason };
    return { subject: follow(this.#decoded.value, source.path) };
  }

  /** Content type first, then size and schema; the rest is the decoder's, in its order. */
  #lookIntoPayload(): Decoded {
    if (this.#isForeign()) return { ok: false, reason: FOREIGN_CODEC };
    const decoders = this.#decoders;
    if (typeof decoders === 'function') return decoders(this.#payload, this.#limits);
    if (this.#payload.length > this.#limits.maxPayloadBytes) return { ok: false, reason: TOO_LARGE };
    const decoder = this.#schemaDecoder(decoders);
    return typeof decoder === 'number' ? { ok: false, reason: decoder } : decoder.decode(this.#payload, this.#limits);
  }

  /** The decoder of the schema that `agdx.sid` names, or why there is none. Every id that the filter allows is known. */
  #schemaDecoder(decoders: ReadonlyMap<number, SchemaDecoder>): SchemaDecoder | Reason {
    const header = this.#headers.get(SCHEMA_ID_KEY);
    if (header?.kind !== 'uint' || header.value > SCHEMA_ID_MAX) return MISSING_SCHEMA;
    const id = Number(header.value);
    if (!this.#filter.schemaRefs.includes(id)) return SCHEMA_NOT_ALLOWED;
    const decoder = decoders.get(id)!;
    return decoder.family === this.#filter.codec ? decoder : SCHEMA_MISMATCH;
  }

  /** True if `agdx.ct` is an integer that names another codec than the filter's. */
  #isForeign(): boolean {
    const contentType = this.#headers.get(CONTENT_TYPE_KEY);
    if (contentType === undefined || (contentType.kind !== 'int' && contentType.kind !== 'uint')) return false;
    const name = CONTENT_TYPE_NAMES.get(Number(contentType.value));
    return name !== undefined && name !== this.#filter.codec;
  }
}

/** Raw bytes that are valid UTF-8 compare as text; other raw bytes are composite and stay bytes. */
function headerSubject(header: HeaderValue | undefined): Subject {
  if (header?.kind !== 'raw') return header?.value;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(header.value);
  } catch (thrown) {
    if (thrown instanceof TypeError) return header.value;
    throw thrown;
  }
}

/** Walks a path; a step that does not fit the value makes the field missing. */
function follow(payload: Value, path: Path): Value | undefined {
  let value: Value | undefined = payload;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? value[step] : undefined;
    else value = value instanceof Map ? value.get(step) : undefined;
  }
  return value;
}
