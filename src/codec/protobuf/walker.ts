/**
 * The Protobuf walker: one pass over a message that validates all of it and fills the slots of the wanted paths, building
 * no value (contract: laser-filter §5).
 *
 * The pass keeps a stack of the messages it is in, no deeper than the depth limit, and looks up each field in the plan of
 * the schema. Values of maps that are wanted are gone over a second time, since a key may stand behind its value. What is
 * required is known only when everything has merged: a message that has all of it in one piece is complete for sure, and
 * the rest is settled after the pass by `RequiredFields`.
 *
 * Invariants: the first fault in reading order is the one that is reported; no byte outside the payload is read; nothing
 * is allocated but what grows with the largest payload so far.
 */
import { DEPTH_CEILING } from '../../core/limits.js';
import type { Path } from '../../core/path.js';
import { Slots } from '../../core/slots.js';
import { MALFORMED, NO_REASON, type Reason, TOO_DEEP, TOO_LARGE } from '../../core/verdict.js';
import { NONE, PathTrie } from '../path-trie.js';
import type { DecoderLimits, SchemaWalker } from '../walker.js';
import { afterVarint, lowWord } from './capture.js';
import { ProtobufElements } from './elements.js';
import { Extraction } from './extraction.js';
import {
  IS_PACKABLE,
  IS_REQUIRED,
  IS_WANTED,
  OP_DOUBLE,
  OP_FLOAT,
  OP_MASK,
  OP_MESSAGE,
  OP_SHIFT,
  OP_STRING,
  OP_UNKNOWN,
  OP_VARINT,
  ProtobufPlan,
  REQUIRED_SHIFT,
  UNKNOWN_CODE,
  WIRE_MASK,
} from './plan.js';
import { RequiredFields } from './required-fields.js';
import { Runs } from './runs.js';
import type { ProtobufSchema } from './schema.js';
import { BAD, isMixedText, isPacked, isTag, lengthIn, skipUnknown, skipVarint } from './wire.js';

const DOUBLE_EXPONENT = 0x7ff00000;
const FLOAT_EXPONENT = 0x7f800000;
const HIGH_BITS = 0x80808080;
const ROOT_STATE = 0;
const WIRE_BYTES = 2;
const NO_BYTES: Uint8Array = new Uint8Array(0);

export class ProtobufWalker implements SchemaWalker {
  /** It looks for no needles. */
  readonly isBarren = false;
  readonly slots: Slots;
  readonly elements: ProtobufElements;
  /** No text of a payload stands otherwise than it reads. */
  readonly unescaped = NO_BYTES;
  private readonly plans: readonly ProtobufPlan[];
  private readonly extraction: Extraction;
  private readonly required: readonly RequiredFields[];
  private readonly maxPayloadBytes: number;
  private readonly maxDepth: number;
  /** By level, of the messages around: state, where it ends, required fields seen. */
  private readonly states = new Int32Array(DEPTH_CEILING + 1);
  private readonly limits = new Int32Array(DEPTH_CEILING + 1);
  private readonly seens = new Int32Array(DEPTH_CEILING + 1);
  /** By level, of each message: where it starts, and where the one around it goes on. */
  private readonly starts = new Int32Array(DEPTH_CEILING + 1);
  private readonly resumes = new Int32Array(DEPTH_CEILING + 1);
  private chosen = 0;
  private bytes: Uint8Array = NO_BYTES;
  /** Covers `bytes`; made again only when another buffer comes. */
  private view: DataView = new DataView(NO_BYTES.buffer);
  /** True once a message of this payload lacked a required field in some piece. */
  private isUnsure = false;

  /**
   * `paths` as the interface wants them; `limits.maxDepth` 0…127. Throws a `Refusal` `invalid_request` where schemas and
   * paths together are more than the plans may hold.
   */
  constructor(paths: readonly Path[], limits: DecoderLimits, schemas: readonly ProtobufSchema[]) {
    const trie = new PathTrie(paths);
    this.slots = new Slots(paths.length);
    this.plans = schemas.map((schema) => new ProtobufPlan(schema, trie, paths.length));
    this.required = schemas.map((schema) => new RequiredFields(schema));
    const runs = new Runs(Math.max(0, ...this.plans.map(({ listFirst }) => listFirst.length)));
    this.elements = new ProtobufElements(runs);
    this.extraction = new Extraction(this.slots, trie, runs, this.plans);
    this.maxPayloadBytes = limits.maxPayloadBytes;
    this.maxDepth = Math.min(limits.maxDepth, DEPTH_CEILING);
    if (schemas.length > 0) this.chooseSchema(0);
  }

  chooseSchema(index: number): void {
    const plan = this.plans[index]!;
    this.chosen = index;
    this.extraction.choose(plan);
    this.elements.choose(plan.elementType, plan.elementList);
  }

  unescape(): number {
    return 0;
  }

  walk(bytes: Uint8Array, start: number, end: number): Reason {
    if (end - start > this.maxPayloadBytes) return TOO_LARGE;
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.isUnsure = false;
    this.extraction.begin(bytes, this.view, start, end);
    const reason = this.run(start, end);
    if (reason !== NO_REASON || !this.isUnsure) return reason;
    return this.required[this.chosen]!.areSet(bytes, this.view, start, end) ? NO_REASON : MALFORMED;
  }

  private run(start: number, end: number): Reason {
    const { bytes, view, extraction, states, limits, seens, starts, resumes, maxDepth } = this;
    const plan = this.plans[this.chosen]!;
    const { base: bases, dense: denses, codes, targets, needs, isMap, wantedStates } = plan;
    let depth = 0;
    let state = ROOT_STATE;
    let base = bases[state]!;
    let dense = denses[state]!;
    let seen = 0;
    let limit = end;
    let p = start;
    for (;;) {
      if (p === limit) {
        if (seen !== needs[state]) this.isUnsure = true;
        if (state < wantedStates && isMap[state] === 1) {
          const inner = extraction.finishEntry(state, starts[depth]!, limit);
          if (inner !== NONE) {
            state = inner;
            base = bases[state]!;
            dense = denses[state]!;
            seen = 0;
            p = extraction.valueStart;
            limit = extraction.valueEnd;
            continue;
          }
        }
        if (depth === 0) return NO_REASON;
        p = resumes[depth]!;
        depth = (depth - 1) | 0;
        state = states[depth]!;
        limit = limits[depth]!;
        seen = seens[depth]!;
        base = bases[state]!;
        dense = denses[state]!;
        continue;
      }
      const tagAt = p;
      let tag = bytes[p]!;
      p = (p + 1) | 0;
      if (tag >= 0x80) {
        p = skipVarint(bytes, tagAt, limit);
        if (p === BAD || !isTag(bytes, tagAt)) return MALFORMED;
        tag = lowWord(bytes, tagAt);
      }
      const number = tag >>> 3;
      const entry = number < dense ? (base + number) | 0 : plan.find(state, number);
      const code = entry === NONE ? UNKNOWN_CODE : codes[entry]!;
      const op = (code >>> OP_SHIFT) & OP_MASK;
      const from = p;
      if (((tag ^ code) & WIRE_MASK) !== 0) {
        if (op === OP_UNKNOWN) {
          if (number === 0) return MALFORMED;
          p = skipUnknown(bytes, tag & WIRE_MASK, p, limit);
        } else {
          if ((tag & WIRE_MASK) !== WIRE_BYTES || (code & IS_PACKABLE) === 0) return MALFORMED;
          p = skipUnknown(bytes, WIRE_BYTES, p, limit);
          if (p === BAD) return MALFORMED;
          const first = afterVarint(bytes, from);
          if (!isPacked(bytes, view, op, first, p)) return MALFORMED;
          if ((code & IS_WANTED) !== 0) extraction.takePacked(targets[entry]!, tagAt, first, p);
        }
        if (p === BAD) return MALFORMED;
        continue;
      }
      if (op < OP_STRING) {
        if (op === OP_VARINT) {
          if (p < limit && bytes[p]! < 0x80) {
            p = (p + 1) | 0;
          } else {
            p = skipVarint(bytes, p, limit);
            if (p === BAD) return MALFORMED;
          }
        } else if (op <= OP_DOUBLE) {
          if (limit - p < 8) return MALFORMED;
          if (op === OP_DOUBLE && (view.getInt32(p + 4, true) & DOUBLE_EXPONENT) === DOUBLE_EXPONENT) return MALFORMED;
          p = (p + 8) | 0;
        } else {
          if (limit - p < 4) return MALFORMED;
          if (op === OP_FLOAT && (view.getInt32(p, true) & FLOAT_EXPONENT) === FLOAT_EXPONENT) return MALFORMED;
          p = (p + 4) | 0;
        }
      } else {
        if (op === OP_UNKNOWN || p === limit) return MALFORMED;
        let length = bytes[p]!;
        p = (p + 1) | 0;
        if (length >= 0x80) {
          p = skipVarint(bytes, from, limit);
          if (p === BAD) return MALFORMED;
          length = lengthIn(bytes, from);
        }
        if (length > limit - p) return MALFORMED;
        const past = (p + length) | 0;
        if (op === OP_MESSAGE) {
          if (depth === maxDepth) return TOO_DEEP;
          if ((code & IS_REQUIRED) !== 0) seen |= 1 << (code >>> REQUIRED_SHIFT);
          states[depth] = state;
          limits[depth] = limit;
          seens[depth] = seen;
          state = targets[entry]!;
          if ((code & IS_WANTED) !== 0) state = extraction.enter(state, tagAt, p, past);
          depth = (depth + 1) | 0;
          starts[depth] = p;
          resumes[depth] = past;
          base = bases[state]!;
          dense = denses[state]!;
          seen = 0;
          limit = past;
          continue;
        }
        if (op === OP_STRING) {
          if (length >= 4) {
            const lastWord = (past - 4) | 0;
            let bits = view.getInt32(lastWord, true);
            for (; p < lastWord; p = (p + 4) | 0) bits |= view.getInt32(p, true);
            if ((bits & HIGH_BITS) !== 0 && !isMixedText(bytes, view, (past - length) | 0, past)) return MALFORMED;
          } else {
            let bits = 0;
            for (; p < past; p = (p + 1) | 0) bits |= bytes[p]!;
            if (bits >= 0x80 && !isMixedText(bytes, view, (past - length) | 0, past)) return MALFORMED;
          }
        }
        p = past;
      }
      if ((code & (IS_WANTED | IS_REQUIRED)) !== 0) {
        if ((code & IS_REQUIRED) !== 0) seen |= 1 << (code >>> REQUIRED_SHIFT);
        if ((code & IS_WANTED) !== 0) extraction.take(targets[entry]!, tagAt, from, p);
      }
    }
  }
}
