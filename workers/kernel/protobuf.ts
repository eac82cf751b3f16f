/**
 * Protobuf payloads: one pass over a message that validates all of it and fills the slots of the wanted paths (contract:
 * laser-filter §5), by the plan that the walker in TypeScript has too (`src/codec/protobuf/walker.ts`).
 *
 * A value is stepped over first and compared with the limit at the next field, so bytes past the payload may be loaded,
 * by less than 64, but decide nothing: whatever was taken for a value there is malformed before anything else is said.
 *
 * Invariants: the first fault in reading order is the one that is reported; the stack is no deeper than the depth limit.
 */
import { ASKS_WALKER } from './json';
import { PROTOBUF_SLOTS_AT, WINDOW_AT } from './layout';
import {
  asksWalker,
  beginPayload,
  enter,
  finishEntry,
  take,
  takePacked,
  valueEnd,
  valueStart,
} from './protobuf-extraction';
import {
  depthMax,
  isDeclared,
  longCode,
  payloadBytesMax,
  planOf,
  rootOf,
  rootStateOf,
  slotCount,
} from './protobuf-image';
import {
  isFinite32,
  isFinite64,
  isPacked,
  lengthAt,
  OP_BYTES,
  OP_DOUBLE,
  OP_FIXED64,
  OP_FLOAT,
  OP_MESSAGE,
  OP_PACKED,
  OP_STRING,
  OP_VARINT,
  skipUnknown,
  skipVarint,
  varintAt,
} from './protobuf-wire';
import { openRow } from './slots';
import { isText } from './texts';

// Reasons: `src/core/verdict.ts`.
const NO_REASON: i32 = 0;
const MALFORMED: i32 = 6;
const TOO_LARGE: i32 = 7;
const TOO_DEEP: i32 = 8;

// Parts of a code: `src/codec/protobuf/plan.ts`.
const OP_MASK: u32 = 15;
const IS_WANTED: u32 = 1 << 4;
const IS_REQUIRED: u32 = 1 << 5;
const ROW_SHIFT: u32 = 8;

/** A level for each message that is inside another: base, end, required fields so far, where it goes on, and its start. */
const LEVEL_BYTES: usize = 20;
const STACK_AT: usize = memory.data(<i32>LEVEL_BYTES * 128);

/** True once a message of this payload lacked a required field in some piece. */
let isUnsure: bool = false;

/**
 * Walks the payload `start`…`end` of the window by the schema of that number: its reason, or ASKS_WALKER; where it is
 * good the row of slots has been filled.
 */
export function walkProtobuf(start: i32, end: i32, schema: i32): i32 {
  if (end - start > payloadBytesMax()) return TOO_LARGE;
  const plan = planOf(schema);
  const from = WINDOW_AT + <usize>start;
  const limit = WINDOW_AT + <usize>end;
  openRow(PROTOBUF_SLOTS_AT, 1, slotCount(), 0);
  beginPayload(plan, rootStateOf(plan), from, limit);
  isUnsure = false;
  const reason = run(plan, from, limit);
  return reason == NO_REASON && (isUnsure || asksWalker) ? ASKS_WALKER : reason;
}

function run(plan: usize, start: usize, end: usize): i32 {
  const top = STACK_AT + <usize>depthMax() * LEVEL_BYTES;
  let level = STACK_AT;
  let base = rootOf(plan);
  let seen: u32 = 0;
  let limit = end;
  let p = start;
  while (p <= limit) {
    if (p == limit) {
      if (load<u32>(base - 4) != 0) {
        const inner = endMessage(base, seen, level, limit);
        if (inner != 0) {
          base = inner;
          seen = 0;
          p = valueStart;
          limit = valueEnd;
          continue;
        }
      }
      if (level == STACK_AT) return NO_REASON;
      level -= LEVEL_BYTES;
      base = load<u32>(level);
      limit = load<u32>(level, 4);
      seen = load<u32>(level, 8);
      p = load<u32>(level, 12);
      continue;
    }
    const tagAt = p;
    let tag = <u32>load<u8>(p);
    let code: u32;
    if (tag < 0x80) {
      p++;
      code = load<u32>(base + ((<usize>tag) << 2));
    } else {
      p = skipVarint(p, limit);
      if (p == 0) return MALFORMED;
      const whole = varintAt(tagAt);
      if (whole >> 32 != 0) return MALFORMED;
      tag = <u32>whole;
      code = longCode(plan, base, tag);
    }
    const from = p;
    const op = code & OP_MASK;
    if (op == OP_STRING || op == OP_MESSAGE || op >= OP_BYTES) {
      let length = <u32>load<u8>(p);
      p++;
      if (length >= 0x80) {
        p = skipVarint(from, limit);
        if (p == 0) return MALFORMED;
        length = lengthAt(from);
      }
      const past = p + <usize>length;
      if (past > limit) return MALFORMED;
      if (op == OP_STRING) {
        // PERF: asked here, and for all lengths up to 32 alike, so that no jump depends on the length (2026-12-01: −10 %).
        if (length <= 32) {
          const high = <u64>(<u32>(i8x16.bitmask(v128.load(p)) | (i8x16.bitmask(v128.load(p, 16)) << 16)));
          if ((high & (((<u64>1) << (<u64>length)) - 1)) != 0 && !isText(p, length)) return MALFORMED;
        } else if (!isText(p, length)) return MALFORMED;
      } else if (op == OP_MESSAGE) {
        if (level == top) return TOO_DEEP;
        const row = rowOf(code);
        if ((code & IS_REQUIRED) != 0) seen |= load<u32>(row, 4);
        store<u32>(level, <u32>base);
        store<u32>(level, <u32>limit, 4);
        store<u32>(level, seen, 8);
        store<u32>(level, <u32>past, 12);
        store<u32>(level, <u32>p, 16);
        level += LEVEL_BYTES;
        base = load<u32>(row);
        if ((code & IS_WANTED) != 0) base = enter(base, tagAt, p, past);
        seen = 0;
        limit = past;
        continue;
      } else if (op == OP_PACKED) {
        const row = rowOf(code);
        if (!isPacked(load<u32>(row, 4), p, past)) return MALFORMED;
        if ((code & IS_WANTED) != 0) takePacked(load<u32>(row), tagAt, p, past);
        p = past;
        continue;
      }
      p = past;
    } else if (op == OP_DOUBLE) {
      if (!isFinite64(p)) return MALFORMED;
      p += 8;
    } else if (op == OP_VARINT) {
      p = skipVarint(p, limit);
      if (p == 0) return MALFORMED;
    } else if (op == 0) {
      const number = tag >> 3;
      if (number == 0 || isDeclared(plan, base, number)) return MALFORMED;
      p = skipUnknown(tag & 7, p, limit);
      if (p == 0) return MALFORMED;
      continue;
    } else if (op == OP_FIXED64) {
      p += 8;
    } else {
      if (op == OP_FLOAT && !isFinite32(p)) return MALFORMED;
      p += 4;
    }
    if ((code & (IS_WANTED | IS_REQUIRED)) != 0) {
      const row = rowOf(code);
      if ((code & IS_REQUIRED) != 0) seen |= load<u32>(row, 4);
      if ((code & IS_WANTED) != 0) take(load<u32>(row), tagAt, from, p);
    }
  }
  return MALFORMED;
}

/** Where the row of a code stands: its address in eight bytes. */
function rowOf(code: u32): usize {
  return (<usize>(code >> ROW_SHIFT)) << 3;
}

/** What is to do at the end of a message that something is asked of; where it goes on in the value of a map, else 0. */
function endMessage(base: usize, seen: u32, level: usize, limit: usize): usize {
  if (seen != load<u32>(base - 20)) isUnsure = true;
  const state = <usize>load<u32>(base - 24);
  return state != 0 && load<u32>(state, 32) != 0 ? finishEntry(state, load<u32>(level - LEVEL_BYTES, 16), limit) : 0;
}
