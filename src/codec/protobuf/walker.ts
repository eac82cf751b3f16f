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
import { isUtf8Text } from '../utf8-text.js';
import type { DecoderLimits, SchemaWalker } from '../walker.js';
import { lowWord } from './capture.js';
import { ProtobufElements } from './elements.js';
import { Extraction } from './extraction.js';
import { type ImagePlace, protobufImage } from './kernel-image.js';
import {
  AT_END,
  IS_REQUIRED,
  IS_WANTED,
  OP_BYTES,
  OP_DOUBLE,
  OP_FIXED64,
  OP_FLOAT,
  OP_MASK,
  OP_MESSAGE,
  OP_PACKED,
  OP_STRING,
  OP_VARINT,
  type ProtobufPlan,
  protobufPlans,
  ROW_SHIFT,
  ROW_WORDS,
  STATE_NUMBER,
} from './plan.js';
import { RequiredFields } from './required-fields.js';
import { Runs } from './runs.js';
import type { ProtobufSchema } from './schema.js';
import { BAD, isPacked, isTag, lengthIn, skipUnknown, skipVarint } from './wire.js';

// PERF: a constant of another module is looked up and checked at each use, one of this module is part of the code.
const END_WORD = AT_END;
const REQUIRED = IS_REQUIRED;
const WANTED = IS_WANTED;
const OP_BITS = OP_MASK;
const STRING = OP_STRING;
const DOUBLE = OP_DOUBLE;
const MESSAGE = OP_MESSAGE;
const VARINT = OP_VARINT;
const FLOAT = OP_FLOAT;
const FIXED64 = OP_FIXED64;
const BYTES = OP_BYTES;
const PACKED = OP_PACKED;
const ROW_AT = ROW_SHIFT;
const ROW_SIZE = ROW_WORDS;
const NOWHERE = NONE;
const BROKEN = BAD;

const DOUBLE_EXPONENT = 0x7ff00000;
const FLOAT_EXPONENT = 0x7f800000;
const HIGH_BITS = 0x80808080;
const NO_BYTES: Uint8Array = new Uint8Array(0);

/**
 * The stack, a level for each message that is inside another. Of the one around: base of its state, its end, bits of its
 * required fields so far, where it goes on; and where the message itself starts.
 */
const BASE = 0;
const LIMIT = 1;
const SEEN = 2;
const RESUME = 3;
const START = 4;
const LEVEL_WORDS = 5;
// PERF: one stack for all walkers, which is part of the code where one of each walker would be looked up and checked. No
// walk begins while another is under way.
const stack = new Int32Array(LEVEL_WORDS * DEPTH_CEILING);

export class ProtobufWalker implements SchemaWalker {
  /** It looks for no needles. */
  readonly isBarren = false;
  readonly slots: Slots;
  readonly elements: ProtobufElements;
  /** No text of a payload stands otherwise than it reads. */
  readonly unescaped = NO_BYTES;
  /** Where the elements of repeated fields stand, and how many of those are wanted. */
  readonly runs: Runs;
  readonly lists: number;
  private readonly trie: PathTrie;
  private readonly plans: readonly ProtobufPlan[];
  private readonly extraction: Extraction;
  private readonly required: readonly RequiredFields[];
  private readonly maxPayloadBytes: number;
  private readonly maxDepth: number;
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
    this.plans = protobufPlans(schemas, trie, paths.length);
    this.required = schemas.map((schema) => new RequiredFields(schema));
    this.trie = trie;
    this.lists = Math.max(0, ...this.plans.map(({ listFirst }) => listFirst.length));
    this.runs = new Runs(this.lists);
    this.elements = new ProtobufElements(this.runs);
    this.extraction = new Extraction(this.slots, trie, this.runs, this.plans);
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

  /** What the kernel walks by, the same as this walker; null where it has no room. */
  kernelImage(place: ImagePlace): Uint8Array | null {
    const { plans, trie, maxDepth, maxPayloadBytes, slots } = this;
    return protobufImage(place, plans, trie, { maxDepth, maxPayloadBytes }, slots.count);
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
    const { bytes, view, extraction } = this;
    const plan = this.plans[this.chosen]!;
    const { words, rows } = plan;
    // PERF: what ends in `| 0` stays a plain 32-bit number.
    const top = (this.maxDepth * LEVEL_WORDS) | 0;
    let level = 0;
    let base = plan.root | 0;
    let seen = 0;
    let limit = end | 0;
    let p = start | 0;
    for (;;) {
      if (p === limit) {
        if (words[(base + END_WORD) | 0] !== 0) {
          const state = words[base + STATE_NUMBER]!;
          if (seen !== plan.needs[state]) this.isUnsure = true;
          const inner = plan.isWantedMap(state)
            ? extraction.finishEntry(state, stack[level - LEVEL_WORDS + START]!, limit)
            : NOWHERE;
          if (inner !== NOWHERE) {
            base = inner | 0;
            seen = 0;
            p = extraction.valueStart | 0;
            limit = extraction.valueEnd | 0;
            continue;
          }
        }
        if (level === 0) return NO_REASON;
        level = (level - LEVEL_WORDS) | 0;
        base = stack[(level + BASE) | 0]!;
        limit = stack[(level + LIMIT) | 0]!;
        seen = stack[(level + SEEN) | 0]!;
        p = stack[(level + RESUME) | 0]!;
        continue;
      }
      const tagAt = p;
      let tag = bytes[p]!;
      let code;
      if (tag < 0x80) {
        p = (p + 1) | 0;
        code = words[(base + tag) | 0]!;
      } else {
        p = skipVarint(bytes, p, limit) | 0;
        if (p === BROKEN || !isTag(bytes, tagAt)) return MALFORMED;
        tag = lowWord(bytes, tagAt) | 0;
        code = plan.codeOf(base, tag) | 0;
      }
      const from = p;
      const op = code & OP_BITS;
      if (op === STRING || op === MESSAGE || op >= BYTES) {
        if (p === limit) return MALFORMED;
        let length = bytes[p]!;
        p = (p + 1) | 0;
        if (length >= 0x80) {
          if (p < limit && bytes[p]! < 0x80) {
            length = (length & 0x7f) | (bytes[p]! << 7);
            p = (p + 1) | 0;
          } else {
            p = skipVarint(bytes, from, limit) | 0;
            if (p === BROKEN) return MALFORMED;
            length = lengthIn(bytes, from) | 0;
          }
        }
        if (length > ((limit - p) | 0)) return MALFORMED;
        const past = (p + length) | 0;
        if (op === STRING) {
          if (length >= 4) {
            const lastWord = (past - 4) | 0;
            let bits = view.getInt32(lastWord, true);
            for (; p < lastWord; p = (p + 4) | 0) bits |= view.getInt32(p, true);
            if ((bits & HIGH_BITS) !== 0 && !isUtf8Text(bytes, view, (past - length) | 0, past)) return MALFORMED;
          } else {
            let bits = 0;
            for (; p < past; p = (p + 1) | 0) bits |= bytes[p]!;
            if (bits >= 0x80 && !isUtf8Text(bytes, view, (past - length) | 0, past)) return MALFORMED;
          }
        } else if (op === MESSAGE) {
          if (level === top) return TOO_DEEP;
          const row = (code >>> ROW_AT) * ROW_SIZE;
          if ((code & REQUIRED) !== 0) seen |= rows[row + 1]!;
          stack[(level + BASE) | 0] = base;
          stack[(level + LIMIT) | 0] = limit;
          stack[(level + SEEN) | 0] = seen;
          stack[(level + RESUME) | 0] = past;
          stack[(level + START) | 0] = p;
          level = (level + LEVEL_WORDS) | 0;
          base = rows[row]!;
          if ((code & WANTED) !== 0) base = extraction.enter(base, tagAt, p, past) | 0;
          seen = 0;
          limit = past;
          continue;
        } else if (op === PACKED) {
          const row = (code >>> ROW_AT) * ROW_SIZE;
          if (!isPacked(bytes, view, rows[row + 1]!, p, past)) return MALFORMED;
          if ((code & WANTED) !== 0) extraction.takePacked(rows[row]!, tagAt, p, past);
          p = past;
          continue;
        }
        p = past;
      } else if (op === DOUBLE) {
        if (((limit - p) | 0) < 8) return MALFORMED;
        if ((view.getInt32((p + 4) | 0, true) & DOUBLE_EXPONENT) === DOUBLE_EXPONENT) return MALFORMED;
        p = (p + 8) | 0;
      } else if (op === VARINT) {
        if (p < limit && bytes[p]! < 0x80) {
          p = (p + 1) | 0;
        } else {
          p = skipVarint(bytes, p, limit) | 0;
          if (p === BROKEN) return MALFORMED;
        }
      } else if (op === 0) {
        const number = tag >>> 3;
        if (number === 0 || plan.isDeclared(base, number)) return MALFORMED;
        p = skipUnknown(bytes, tag & 7, p, limit) | 0;
        if (p === BROKEN) return MALFORMED;
        continue;
      } else if (op === FIXED64) {
        if (((limit - p) | 0) < 8) return MALFORMED;
        p = (p + 8) | 0;
      } else {
        if (((limit - p) | 0) < 4) return MALFORMED;
        if (op === FLOAT && (view.getInt32(p, true) & FLOAT_EXPONENT) === FLOAT_EXPONENT) return MALFORMED;
        p = (p + 4) | 0;
      }
      if ((code & (WANTED | REQUIRED)) !== 0) {
        const row = (code >>> ROW_AT) * ROW_SIZE;
        if ((code & REQUIRED) !== 0) seen |= rows[row + 1]!;
        if ((code & WANTED) !== 0) extraction.take(rows[row]!, tagAt, from, p);
      }
    }
  }
}
