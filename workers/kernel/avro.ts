/**
 * Avro payloads: the program of a walk plan run over the bytes of a datum, which checks every value and fills the slots of
 * the wanted paths (contract: laser-filter §5). The instructions are listed in `src/codec/avro/instructions.ts`, and
 * `src/codec/avro/machine.ts` runs the same programs with the same faults in the same order.
 *
 * A slot that holds an array has in its high word the program of an item: the host's cursor goes by it.
 *
 * Invariants: no byte outside the payload decides anything; arrays, maps and calls of records in progress stand on a stack
 * of fixed size, which the depth limit bounds; every value is counted before the next loop or call, so a walk is bounded
 * by the payload's bytes and the budget.
 */
import { budget, codeAt, depthMax, entryOf, NONE, ordinalByKey, slotCount, symbolAt } from './avro-image';
import {
  isInt,
  long,
  readLong,
  skipBooleans,
  skipDoubles,
  skipFloats,
  skipInts,
  skipLongs,
  skipScalars,
  skipStrings,
  valuesLeft,
} from './avro-scalars';
import { AVRO_SLOTS_AT, WINDOW_AT } from './layout';
import {
  clearSlots,
  openRow,
  putEnd,
  putKind,
  putNumber,
  putRange,
  putWords,
  SLOT_ARRAY,
  SLOT_DOUBLE,
  SLOT_FALSE,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_NEGATIVE_WIDE,
  SLOT_NULL,
  SLOT_OBJECT,
  SLOT_STRING,
  SLOT_STRING_ESCAPED,
} from './slots';

// Reasons: `src/core/verdict.ts`.
const NO_REASON: i32 = 0;
const MALFORMED: i32 = 6;
const TOO_LARGE: i32 = 7;
const TOO_DEEP: i32 = 8;

/** What a map's header begins with. */
const MAP: i32 = 16;
/** As the program of an item: the items are bytes. */
const BYTE_ITEMS: i32 = -1;

// Bytes of ARRAY and MAP by their distance from the instruction.
const HEADER_SLOT: usize = 8;
const HEADER_BODY: usize = 12;
const HEADER_AFTER: usize = 16;
const HEADER_FIRST: usize = 20;
const HEADER_INNER: usize = 24;
const HEADER_TARGETS: usize = 28;

/** Of an array or map in progress: items left in the block, its end or 0, index of the item, where its next target stands. */
const LOOP_BYTES: usize = 16;
/** Of a call: where to return, and the depth of the caller. */
const CALL_BYTES: usize = 8;
/** Each level has one of each at most, and levels are 127 at most: the host sees to it. */
const STACK_LEVELS: i32 = 130;
const STACK_AT: usize = memory.data(STACK_LEVELS * 24, 16);

const SAFE_MAX: i64 = (1 << 53) - 1;

/** What `readBlock` found: items of the block, and where it has to end, or 0. */
let blockItems: i32 = 0;
let blockEnd: usize = 0;

/**
 * Walks the payload `start`…`end` of the window under a schema of the image: the reason, or 0 and the row of AVRO_SLOTS is
 * filled.
 */
export function walkAvro(start: i32, end: i32, schema: i32): i32 {
  if (end - start > budget()) return TOO_LARGE;
  openRow(AVRO_SLOTS_AT, 1, slotCount(), 0);
  return run(entryOf(schema), WINDOW_AT + <usize>start, WINDOW_AT + <usize>end);
}

function run(entry: usize, start: usize, end: usize): i32 {
  let pc = entry;
  let p = start;
  /** Values counted so far, but those that the instruction at hand tells of. */
  let count: i32 = 0;
  /** Depth of the record whose program is running; of the root at first. */
  let depth: i32 = 0;
  let top = STACK_AT;
  /** Where BYTES or FIXED found their bytes; they end at `p`. */
  let runStart: usize = 0;
  for (;;) {
    switch (load<i32>(pc)) {
      case 0: // END
        if (count + load<i32>(pc, 4) > budget()) return TOO_LARGE;
        return p == end ? NO_REASON : MALFORMED;
      case 1: {
        // STRING
        const past = skipStrings(p, end, 1);
        if (past == 0) return fault(count + load<i32>(pc, 4));
        putText(load<i32>(pc, 8), p, past);
        p = past;
        pc += 12;
        continue;
      }
      case 2: // LONG
        p = readLong(p, end);
        if (p == 0) return fault(count + load<i32>(pc, 4));
        putLong(load<i32>(pc, 8));
        pc += 12;
        continue;
      case 3: // INT
        p = readLong(p, end);
        if (p == 0 || !isInt(long)) return fault(count + load<i32>(pc, 4));
        putLong(load<i32>(pc, 8));
        pc += 12;
        continue;
      case 4: {
        // DOUBLE
        const value = load<f64>(p);
        p += 8;
        if (p > end || value - value != 0) return fault(count + load<i32>(pc, 4));
        putDouble(load<i32>(pc, 8), value);
        pc += 12;
        continue;
      }
      case 5: {
        // FLOAT
        const value = <f64>load<f32>(p);
        p += 4;
        if (p > end || value - value != 0) return fault(count + load<i32>(pc, 4));
        putDouble(load<i32>(pc, 8), value);
        pc += 12;
        continue;
      }
      case 6: {
        // BOOLEAN
        const byte = load<u8>(p);
        p++;
        if (p > end || byte > 1) return fault(count + load<i32>(pc, 4));
        putKind(load<i32>(pc, 8), SLOT_FALSE + byte);
        pc += 12;
        continue;
      }
      case 7: {
        // STRINGS
        const values = load<i32>(pc, 4);
        p = skipStrings(p, end, values);
        if (p == 0) return faultIn(pc, values, count);
        pc += 8 + ((<usize>values) << 2);
        continue;
      }
      case 8: {
        // LONGS
        const values = load<i32>(pc, 4);
        p = skipLongs(p, end, values);
        if (p == 0) return faultIn(pc, values, count);
        pc += 8 + ((<usize>values) << 2);
        continue;
      }
      case 9: {
        // INTS
        const values = load<i32>(pc, 4);
        p = skipInts(p, end, values);
        if (p == 0) return faultIn(pc, values, count);
        pc += 8 + ((<usize>values) << 2);
        continue;
      }
      case 10: {
        // DOUBLES
        const values = load<i32>(pc, 4);
        p = skipDoubles(p, end, values);
        if (p == 0) return faultIn(pc, values, count);
        pc += 8 + ((<usize>values) << 2);
        continue;
      }
      case 11: {
        // FLOATS
        const values = load<i32>(pc, 4);
        p = skipFloats(p, end, values);
        if (p == 0) return faultIn(pc, values, count);
        pc += 8 + ((<usize>values) << 2);
        continue;
      }
      case 12: {
        // BOOLEANS
        const values = load<i32>(pc, 4);
        p = skipBooleans(p, end, values);
        if (p == 0) return faultIn(pc, values, count);
        pc += 8 + ((<usize>values) << 2);
        continue;
      }
      case 13: {
        // UNION
        count += load<i32>(pc, 4);
        const byte = <u32>load<u8>(p);
        let branch = byte >> 1;
        if ((byte & 0x81) == 0) {
          p++;
          if (p > end) return fault(count);
        } else {
          p = readLong(p, end);
          if (p == 0 || <u64>long > 0x7fffffff) return fault(count);
          branch = <u32>long;
        }
        if (branch >= load<u32>(pc, 8)) return fault(count);
        const way = pc + 12 + ((<usize>branch) << 3);
        count += load<i32>(way, 4);
        pc = codeAt(load<u32>(way));
        continue;
      }
      case 14: {
        // NEXT
        count += load<i32>(pc, 4);
        if (count > budget()) return TOO_LARGE;
        const header = codeAt(load<u32>(pc, 8));
        const loop = top - LOOP_BYTES;
        let left = load<i32>(loop);
        if (left == 0) {
          const ends = <usize>load<u32>(loop, 4);
          if (ends != 0 && ends != p) return MALFORMED;
          const reason = readBlock(p, end, budget() - count);
          if (reason != NO_REASON) return reason;
          p = itemsAt;
          left = blockItems;
          if (left == 0) {
            if (load<i32>(header, HEADER_SLOT) != NONE) putEnd(load<i32>(header, HEADER_SLOT), p - WINDOW_AT);
            top = loop;
            pc = codeAt(load<u32>(header, HEADER_AFTER));
            continue;
          }
          count += left;
          store<u32>(loop, <u32>blockEnd, 4);
        }
        store<i32>(loop, left - 1);
        pc = codeAt(load<u32>(header, HEADER_BODY));
        if (load<i32>(header) != MAP) {
          const index = load<i32>(loop, 8);
          store<i32>(loop, index + 1, 8);
          const target = <usize>load<u32>(loop, 12);
          if (load<i32>(target) == index) {
            pc = codeAt(load<u32>(target, 4));
            store<u32>(loop, <u32>(target + 8), 12);
          }
          continue;
        }
        const past = skipStrings(p, end, 1);
        if (past == 0) return MALFORMED;
        const node = load<i32>(header, HEADER_INNER);
        if (node != NONE) {
          const key = textStart(p, past);
          const ordinal = ordinalByKey(node, key, <u32>(past - key));
          if (ordinal != NONE) pc = codeAt(load<u32>(header + ((<usize>ordinal) << 2), HEADER_TARGETS));
        }
        p = past;
        continue;
      }
      case 15: // ARRAY
      case 16: {
        // MAP
        count += load<i32>(pc, 4);
        store<u64>(top, 0);
        store<i32>(top, 0, 8);
        store<u32>(top, <u32>(pc + HEADER_TARGETS), 12);
        top += LOOP_BYTES;
        const slot = load<i32>(pc, HEADER_SLOT);
        if (slot != NONE) {
          if (load<i32>(pc) == MAP) openObject(slot, p);
          else openArray(slot, p, load<i32>(pc, HEADER_INNER));
        }
        pc = codeAt(load<u32>(pc, HEADER_FIRST));
        continue;
      }
      case 17: {
        // LEAVES
        count += load<i32>(pc, 4);
        if (count > budget()) return TOO_LARGE;
        const slot = load<i32>(pc, 8);
        if (slot != NONE) openArray(slot, p, load<i32>(pc, 12));
        for (;;) {
          let items = <i32>load<u8>(p);
          // PERF: heads of one byte are nearly all there are, and the call that reads any takes longer than the rest.
          if ((items & 0x81) == 0 && p < end) {
            p++;
            items >>= 1;
            if (items == 0) break;
            if (items > budget() - count) return TOO_LARGE;
            blockEnd = 0;
          } else {
            const reason = readBlock(p, end, budget() - count);
            if (reason != NO_REASON) return reason;
            p = itemsAt;
            items = blockItems;
            if (items == 0) break;
          }
          count += items;
          p = skipScalars(load<i32>(pc, 16), p, end, items);
          if (p == 0 || (blockEnd != 0 && blockEnd != p)) return MALFORMED;
        }
        if (slot != NONE) putEnd(slot, p - WINDOW_AT);
        pc += 20;
        continue;
      }
      case 18: // CALL
        count += load<i32>(pc, 4);
        if (count > budget()) return TOO_LARGE;
        store<u32>(top, <u32>(pc + 16));
        store<i32>(top, depth, 4);
        top += CALL_BYTES;
        depth += load<i32>(pc, 12);
        pc = codeAt(load<u32>(pc, 8));
        continue;
      case 19: // RETURN
        count += load<i32>(pc, 4);
        top -= CALL_BYTES;
        pc = <usize>load<u32>(top);
        depth = load<i32>(top, 4);
        continue;
      case 20: // JUMP
        count += load<i32>(pc, 4);
        pc = codeAt(load<u32>(pc, 8));
        continue;
      case 21: // DEPTH
        if (depth + load<i32>(pc, 8) > depthMax()) {
          return count + load<i32>(pc, 4) > budget() ? TOO_LARGE : TOO_DEEP;
        }
        pc += 12;
        continue;
      case 22: // NULL
        putKind(load<i32>(pc, 8), SLOT_NULL);
        pc += 12;
        continue;
      case 23: // BYTES
        p = readLong(p, end);
        if (p == 0 || <u64>long > <u64>(end - p)) return fault(count + load<i32>(pc, 4));
        runStart = p;
        p += <usize>long;
        if (load<i32>(pc, 8) != NONE) putRun(load<i32>(pc, 8), runStart, p);
        pc += 12;
        continue;
      case 24: // FIXED
        if (<usize>load<u32>(pc, 12) > end - p) return fault(count + load<i32>(pc, 4));
        runStart = p;
        p += <usize>load<u32>(pc, 12);
        if (load<i32>(pc, 8) != NONE) putRun(load<i32>(pc, 8), runStart, p);
        pc += 16;
        continue;
      case 25: // PICK
        if (<usize>load<u32>(pc, 12) < p - runStart) {
          putKind(load<i32>(pc, 8), SLOT_INTEGER);
          putNumber(load<i32>(pc, 8), <f64>load<u8>(runStart + <usize>load<u32>(pc, 12)));
        }
        pc += 16;
        continue;
      case 26: {
        // ENUM
        const byte = <u32>load<u8>(p);
        let symbol = byte >> 1;
        if ((byte & 0x81) == 0) {
          p++;
          if (p > end) return fault(count + load<i32>(pc, 4));
        } else {
          p = readLong(p, end);
          if (p == 0 || <u64>long > 0x7fffffff) return fault(count + load<i32>(pc, 4));
          symbol = <u32>long;
        }
        if (symbol >= load<u32>(pc, 12)) return fault(count + load<i32>(pc, 4));
        if (load<i32>(pc, 8) != NONE) putSymbol(load<i32>(pc, 8), load<i32>(pc, 16) + <i32>symbol);
        pc += 20;
        continue;
      }
      case 27: // OBJECT
        openObject(load<i32>(pc, 8), p);
        pc += 12;
        continue;
      case 28: // OBJECT_END
        putEnd(load<i32>(pc, 8), p - WINDOW_AT);
        pc += 12;
        continue;
      default: // CLEAR
        clearSlots(load<i32>(pc, 8), load<i32>(pc, 12));
        pc += 16;
        continue;
    }
  }
}

/** MALFORMED, or that the budget was spent before. */
function fault(count: i32): i32 {
  return count > budget() ? TOO_LARGE : MALFORMED;
}

/** The same in a run of values, of which `valuesLeft` were not read. */
function faultIn(pc: usize, values: i32, count: i32): i32 {
  return fault(count + load<i32>(pc + ((<usize>(values - valuesLeft)) << 2), 8));
}

/** Where the items of the block begin that was read last. */
let itemsAt: usize = 0;

/** Reads the head of a block, of which `left` values may still be counted; 0, or a reason. */
function readBlock(from: usize, end: usize, left: i32): i32 {
  blockEnd = 0;
  itemsAt = readLong(from, end);
  if (itemsAt == 0) return MALFORMED;
  const isSized = long < 0;
  const items = isSized ? <u64>-long : <u64>long;
  if (items > <u64>left) return TOO_LARGE;
  blockItems = <i32>items;
  if (isSized) {
    itemsAt = readLong(itemsAt, end);
    if (itemsAt == 0 || <u64>long > <u64>(end - itemsAt)) return MALFORMED;
    blockEnd = itemsAt + <usize>long;
  }
  return NO_REASON;
}

/** Where the text begins that was read as a string from `from` to `past`. */
function textStart(from: usize, past: usize): usize {
  return load<u8>(from) < 0x80 ? from + 1 : readLong(from, past);
}

function putText(slot: i32, from: usize, past: usize): void {
  putKind(slot, SLOT_STRING);
  putRange(slot, textStart(from, past) - WINDOW_AT, past - WINDOW_AT);
}

function putLong(slot: i32): void {
  if (long >= -SAFE_MAX && long <= SAFE_MAX) {
    putKind(slot, SLOT_INTEGER);
    putNumber(slot, <f64>long);
    return;
  }
  putKind(slot, long < 0 ? SLOT_NEGATIVE_WIDE : SLOT_INTEGER_WIDE);
  putWords(slot, <u64>long);
}

function putDouble(slot: i32, value: f64): void {
  putKind(slot, SLOT_DOUBLE);
  putNumber(slot, value);
}

function putSymbol(slot: i32, symbol: i32): void {
  const at = symbolAt(symbol);
  putKind(slot, SLOT_STRING_ESCAPED);
  putRange(slot, load<u32>(at), load<u32>(at, 4));
}

function openObject(slot: i32, start: usize): void {
  putKind(slot, SLOT_OBJECT);
  putRange(slot, start - WINDOW_AT, start - WINDOW_AT);
}

function openArray(slot: i32, start: usize, items: i32): void {
  putKind(slot, SLOT_ARRAY);
  putRange(slot, start - WINDOW_AT, start - WINDOW_AT);
  putWords(slot, (<u64>(<u32>items)) << 32);
}

function putRun(slot: i32, start: usize, end: usize): void {
  openArray(slot, start, BYTE_ITEMS);
  putEnd(slot, end - WINDOW_AT);
}
