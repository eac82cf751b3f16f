/**
 * Runs the program of a walk plan over the bytes of one datum: reads and checks every value, fills the slots that the
 * program names (contract: laser-filter §5; the instructions are listed in `instructions.ts`).
 *
 * Invariants: nothing is allocated and nothing thrown; no byte outside `start`…`end` is read; arrays, maps and calls of
 * records in progress stand on a stack of fixed size, which the depth limit bounds; the first fault in reading order is
 * the one that is returned, the value budget judged by the exact number of values begun.
 */
import {
  SLOT_ARRAY,
  SLOT_DOUBLE,
  SLOT_FALSE,
  SLOT_INTEGER,
  SLOT_INTEGER_WIDE,
  SLOT_MISSING,
  SLOT_NEGATIVE_WIDE,
  SLOT_NULL,
  SLOT_OBJECT,
  SLOT_STRING,
  SLOT_STRING_ESCAPED,
  SLOT_TRUE,
  type Slots,
} from '../../core/slots.js';
import { MALFORMED, TOO_DEEP, TOO_LARGE } from '../../core/verdict.js';
import { NONE, type PathTrie } from '../path-trie.js';
import * as op from './instructions.js';
import type { AvroPlan } from './plan.js';
import { skipBooleans, skipDoubles, skipFloats, skipInts, skipLongs, skipStrings } from './skip-scalars.js';
import { Varint } from './varint.js';

/** High word of −2^53; what stands between that and its negative is a safe integer. */
const SAFE_HIGH = 0x200000;

/** Words of the stack per array or map: items left in the block, its end, index of the item, its place among targets. */
const LOOP_WORDS = 4;
/** Words of the stack per call: where to return, and the depth of the caller. */
const CALL_WORDS = 2;

/** Items of an array whose bytes are the items: there is no program for them. */
export const BYTE_ITEMS = -1;

/** By slot that holds an array: the program of its items, or BYTE_ITEMS, in the high word that an array has no use for. */
export function itemPrograms(slots: Slots): Int32Array {
  return new Int32Array(slots.high.buffer, slots.high.byteOffset, slots.count);
}

export class AvroMachine {
  /** By slot that holds an array: the program of its items, or BYTE_ITEMS. */
  private readonly items: Int32Array;
  /** What `block` found: items of the block, and where it has to end, or NONE. */
  blockItems = 0;
  blockEnd = NONE;
  private readonly code: Int32Array;
  private readonly symbolStarts: Int32Array;
  private readonly ordinals: Int32Array;
  private readonly trie: PathTrie;
  private readonly slots: Slots;
  private readonly maxDepth: number;
  private readonly budget: number;
  private readonly stack: Int32Array;
  private readonly varint = new Varint();
  private bytes: Uint8Array = new Uint8Array(0);
  /** Covers `bytes`; made again only when another buffer comes. */
  private view: DataView = new DataView(new ArrayBuffer(0));

  /** `trie` is the plan's; `slots` one row, of the trie's paths or of one element; `budget` counts values. */
  constructor(plan: AvroPlan, trie: PathTrie, slots: Slots, maxDepth: number, budget: number) {
    this.code = plan.code;
    this.symbolStarts = plan.symbolStarts;
    this.ordinals = plan.ordinals;
    this.trie = trie;
    this.slots = slots;
    this.items = itemPrograms(slots);
    this.maxDepth = maxDepth;
    this.budget = budget;
    // A loop's items and a called record's fields begin a level deeper, so that each level has one of each at most.
    this.stack = new Int32Array((maxDepth + 2) * (LOOP_WORDS + CALL_WORDS));
  }

  /** The buffer of the runs that follow. */
  use(bytes: Uint8Array): void {
    if (bytes === this.bytes) return;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Past what the program at `entry` reads from `start` on, or a reason, negative. */
  run(entry: number, start: number, past: number): number {
    const end = past | 0;
    const { code, view, stack, varint } = this;
    let pc = entry | 0;
    let p = start | 0;
    /** Values counted so far, but those that the instruction at hand tells of. */
    let count = 0;
    /** Depth of the record whose program is running; of the root at first. */
    let depth = 0;
    let top = 0;
    /** Where BYTES or FIXED found their bytes; they end at `p`. */
    let runStart = 0;
    for (;;) {
      // PERF: literals, since only those become a jump table: 660 ns instead of 885 for a record of 50 values (2026-12-01).
      switch (code[pc]) {
        case 7: {
          // STRINGS
          const values = code[pc + 1]!;
          p = skipStrings(this.bytes, view, varint, p, end, values) | 0;
          if (p < 0) return this.fault(MALFORMED, count + code[pc + 2 + ~p]!);
          pc = (pc + 2 + values) | 0;
          continue;
        }
        case 8: {
          // LONGS
          const values = code[pc + 1]!;
          p = skipLongs(view, p, end, values) | 0;
          if (p < 0) return this.fault(MALFORMED, count + code[pc + 2 + ~p]!);
          pc = (pc + 2 + values) | 0;
          continue;
        }
        case 9: {
          // INTS
          const values = code[pc + 1]!;
          p = skipInts(view, varint, p, end, values) | 0;
          if (p < 0) return this.fault(MALFORMED, count + code[pc + 2 + ~p]!);
          pc = (pc + 2 + values) | 0;
          continue;
        }
        case 10: {
          // DOUBLES
          const values = code[pc + 1]!;
          p = skipDoubles(view, p, end, values) | 0;
          if (p < 0) return this.fault(MALFORMED, count + code[pc + 2 + ~p]!);
          pc = (pc + 2 + values) | 0;
          continue;
        }
        case 11: {
          // FLOATS
          const values = code[pc + 1]!;
          p = skipFloats(view, p, end, values) | 0;
          if (p < 0) return this.fault(MALFORMED, count + code[pc + 2 + ~p]!);
          pc = (pc + 2 + values) | 0;
          continue;
        }
        case 12: {
          // BOOLEANS
          const values = code[pc + 1]!;
          p = skipBooleans(view, p, end, values) | 0;
          if (p < 0) return this.fault(MALFORMED, count + code[pc + 2 + ~p]!);
          pc = (pc + 2 + values) | 0;
          continue;
        }
        case 13: {
          // UNION
          count = (count + code[pc + 1]!) | 0;
          let branch = p < end ? view.getUint8(p) : 1;
          if (branch < 0x80 && (branch & 1) === 0) {
            branch >>>= 1;
            p = (p + 1) | 0;
          } else {
            p = varint.read(view, p, end) | 0;
            branch = p < 0 ? -1 : varint.asLength();
          }
          if (branch < 0 || branch >= code[pc + 2]!) return this.fault(MALFORMED, count);
          pc = (pc + 3 + 2 * branch) | 0;
          count = (count + code[pc + 1]!) | 0;
          pc = code[pc]!;
          continue;
        }
        case 14: {
          // NEXT
          count = (count + code[pc + 1]!) | 0;
          if (count > this.budget) return -TOO_LARGE;
          const header = code[pc + 2]!;
          const loop = (top - LOOP_WORDS) | 0;
          let left = stack[loop]!;
          if (left === 0) {
            if (stack[loop + 1] !== NONE && stack[loop + 1] !== p) return -MALFORMED;
            p = this.block(p, end, this.budget - count) | 0;
            if (p < 0) return p;
            left = this.blockItems;
            if (left === 0) {
              const slot = code[header + op.HEADER_SLOT]!;
              if (slot !== NONE) this.slots.ends[slot] = p;
              top = loop;
              pc = code[header + op.HEADER_AFTER]!;
              continue;
            }
            count = (count + left) | 0;
            stack[loop + 1] = this.blockEnd;
          }
          stack[loop] = left - 1;
          pc = code[header + op.HEADER_BODY]!;
          if (code[header] === op.ARRAY) {
            const index = stack[loop + 2]!;
            stack[loop + 2] = index + 1;
            const target = stack[loop + 3]!;
            if (code[target] === index) {
              pc = code[target + 1]!;
              stack[loop + 3] = target + 2;
            }
            continue;
          }
          const keyStart = p;
          p = skipStrings(this.bytes, view, varint, p, end, 1) | 0;
          if (p < 0) return -MALFORMED;
          const node = code[header + op.HEADER_INNER]!;
          if (node !== NONE) {
            const child = this.childByKey(node, keyStart, p);
            if (child !== NONE) pc = code[header + op.HEADER_TARGETS + this.ordinals[child]!]!;
          }
          continue;
        }
        case 15: // ARRAY
        case 16: {
          // MAP
          count = (count + code[pc + 1]!) | 0;
          stack[top] = 0;
          stack[top + 1] = NONE;
          stack[top + 2] = 0;
          stack[top + 3] = pc + op.HEADER_TARGETS;
          top = (top + LOOP_WORDS) | 0;
          const slot = code[pc + op.HEADER_SLOT]!;
          if (slot !== NONE) {
            if (code[pc] === op.MAP) this.openObject(slot, p);
            else this.openArray(slot, p, code[pc + op.HEADER_INNER]!);
          }
          pc = code[pc + op.HEADER_FIRST]!;
          continue;
        }
        case 17: {
          // LEAVES
          count = (count + code[pc + 1]!) | 0;
          if (count > this.budget) return -TOO_LARGE;
          const slot = code[pc + 2]!;
          if (slot !== NONE) this.openArray(slot, p, code[pc + 3]!);
          for (;;) {
            p = this.block(p, end, this.budget - count) | 0;
            if (p < 0) return p;
            const items = this.blockItems;
            if (items === 0) break;
            count = (count + items) | 0;
            p = this.skip(code[pc + 4]!, p, end, items) | 0;
            if (p < 0 || (this.blockEnd !== NONE && this.blockEnd !== p)) return -MALFORMED;
          }
          if (slot !== NONE) this.slots.ends[slot] = p;
          pc = (pc + 5) | 0;
          continue;
        }
        case 18: // CALL
          count = (count + code[pc + 1]!) | 0;
          if (count > this.budget) return -TOO_LARGE;
          stack[top] = pc + 4;
          stack[top + 1] = depth;
          top = (top + CALL_WORDS) | 0;
          depth = (depth + code[pc + 3]!) | 0;
          pc = code[pc + 2]!;
          continue;
        case 19: // RETURN
          count = (count + code[pc + 1]!) | 0;
          top = (top - CALL_WORDS) | 0;
          pc = stack[top]!;
          depth = stack[top + 1]!;
          continue;
        case 20: // JUMP
          count = (count + code[pc + 1]!) | 0;
          pc = code[pc + 2]!;
          continue;
        case 21: // DEPTH
          if (depth + code[pc + 2]! > this.maxDepth) return this.fault(TOO_DEEP, count + code[pc + 1]!);
          pc = (pc + 3) | 0;
          continue;
        case 1: // STRING
        case 2: // LONG
        case 3: // INT
        case 4: // DOUBLE
        case 5: // FLOAT
        case 6: // BOOLEAN
          p = this.take(pc, p, end, code[pc + 2]!) | 0;
          if (p < 0) return this.fault(MALFORMED, count + code[pc + 1]!);
          pc = (pc + 3) | 0;
          continue;
        case 22: // NULL
          this.slots.kinds[code[pc + 2]!] = SLOT_NULL;
          pc = (pc + 3) | 0;
          continue;
        case 23: {
          // BYTES
          p = varint.read(view, p, end) | 0;
          const length = p < 0 ? -1 : varint.asLength();
          if (length < 0 || length > end - p) return this.fault(MALFORMED, count + code[pc + 1]!);
          runStart = p;
          p = (p + length) | 0;
          if (code[pc + 2] !== NONE) this.putRun(code[pc + 2]!, runStart, p);
          pc = (pc + 3) | 0;
          continue;
        }
        case 24: {
          // FIXED
          const size = code[pc + 3]!;
          if (size > end - p) return this.fault(MALFORMED, count + code[pc + 1]!);
          runStart = p;
          p = (p + size) | 0;
          if (code[pc + 2] !== NONE) this.putRun(code[pc + 2]!, runStart, p);
          pc = (pc + 4) | 0;
          continue;
        }
        case 25: // PICK
          if (code[pc + 3]! < p - runStart) this.putInteger(code[pc + 2]!, view.getUint8(runStart + code[pc + 3]!));
          pc = (pc + 4) | 0;
          continue;
        case 26: {
          // ENUM
          let symbol = p < end ? view.getUint8(p) : 1;
          if (symbol < 0x80 && (symbol & 1) === 0) {
            symbol >>>= 1;
            p = (p + 1) | 0;
          } else {
            p = varint.read(view, p, end) | 0;
            symbol = p < 0 ? -1 : varint.asLength();
          }
          if (symbol < 0 || symbol >= code[pc + 3]!) return this.fault(MALFORMED, count + code[pc + 1]!);
          if (code[pc + 2] !== NONE) this.putSymbol(code[pc + 2]!, code[pc + 4]! + symbol);
          pc = (pc + 5) | 0;
          continue;
        }
        case 27: // OBJECT
          this.openObject(code[pc + 2]!, p);
          pc = (pc + 3) | 0;
          continue;
        case 28: // OBJECT_END
          this.slots.ends[code[pc + 2]!] = p;
          pc = (pc + 3) | 0;
          continue;
        case 29: // CLEAR
          this.slots.kinds.fill(SLOT_MISSING, code[pc + 2]!, code[pc + 3]!);
          pc = (pc + 4) | 0;
          continue;
        case 0: // END
          return count + code[pc + 1]! > this.budget ? -TOO_LARGE : p;
      }
    }
  }

  /**
   * Reads the head of a block into `blockItems` and `blockEnd` and returns where its items begin, or a reason, negative.
   * `left` values may still be counted.
   */
  block(from: number, end: number, left: number): number {
    const { view, varint } = this;
    this.blockEnd = NONE;
    const byte = from < end ? view.getUint8(from) : 1;
    if (byte < 0x80 && (byte & 1) === 0) {
      this.blockItems = byte >>> 1;
      return byte >>> 1 > left ? -TOO_LARGE : from + 1;
    }
    let p = varint.read(view, from, end);
    if (p < 0) return -MALFORMED;
    const count = varint.asNumber();
    if (Math.abs(count) > left) return -TOO_LARGE;
    this.blockItems = Math.abs(count);
    if (count < 0) {
      p = varint.read(view, p, end);
      const size = p < 0 ? -1 : varint.asLength();
      if (size < 0 || size > end - p) return -MALFORMED;
      this.blockEnd = p + size;
    }
    return p;
  }

  /** Steps over `count` values of one kind (STRING … BOOLEAN); as the functions of `skip-scalars.ts`. */
  private skip(kind: number, from: number, end: number, count: number): number {
    switch (kind) {
      case op.STRING:
        return skipStrings(this.bytes, this.view, this.varint, from, end, count);
      case op.LONG:
        return skipLongs(this.view, from, end, count);
      case op.INT:
        return skipInts(this.view, this.varint, from, end, count);
      case op.DOUBLE:
        return skipDoubles(this.view, from, end, count);
      case op.FLOAT:
        return skipFloats(this.view, from, end, count);
      default:
        return skipBooleans(this.view, from, end, count);
    }
  }

  /** Past the wanted scalar at `from`, which goes into `slot`, its kind the instruction at `place`; or −1. */
  private take(place: number, from: number, end: number, slot: number): number {
    const { view, varint } = this;
    const { kinds, numbers, starts, ends } = this.slots;
    const past = this.skip(this.code[place]!, from, end, 1);
    if (past < 0) return -1;
    switch (this.code[place]) {
      case op.STRING:
        kinds[slot] = SLOT_STRING;
        starts[slot] = view.getUint8(from) < 0x80 ? from + 1 : varint.read(view, from, past);
        ends[slot] = past;
        break;
      case op.LONG:
        varint.read(view, from, past);
        this.putLong(slot);
        break;
      case op.INT:
        varint.read(view, from, past);
        this.putInteger(slot, varint.low);
        break;
      case op.DOUBLE:
        kinds[slot] = SLOT_DOUBLE;
        numbers[slot] = view.getFloat64(from, true);
        break;
      case op.FLOAT:
        kinds[slot] = SLOT_DOUBLE;
        numbers[slot] = view.getFloat32(from, true);
        break;
      default:
        kinds[slot] = view.getUint8(from) === 1 ? SLOT_TRUE : SLOT_FALSE;
    }
    return past;
  }

  /** The child of `node` by the key that was read as a string from `from` to `past`. */
  private childByKey(node: number, from: number, past: number): number {
    const start = this.varint.read(this.view, from, past);
    return this.trie.childByKey(node, this.bytes, start, past);
  }

  /** `reason`, or that the budget was spent before it, negative. */
  private fault(reason: number, count: number): number {
    return count > this.budget ? -TOO_LARGE : -reason;
  }

  private putInteger(slot: number, value: number): void {
    this.slots.kinds[slot] = SLOT_INTEGER;
    this.slots.numbers[slot] = value;
  }

  private putLong(slot: number): void {
    const { high, low } = this.varint;
    const { slots } = this;
    if (high >= -SAFE_HIGH && high < SAFE_HIGH && (high !== -SAFE_HIGH || low !== 0)) {
      return this.putInteger(slot, this.varint.asNumber());
    }
    slots.kinds[slot] = high < 0 ? SLOT_NEGATIVE_WIDE : SLOT_INTEGER_WIDE;
    slots.high[slot] = high;
    slots.low[slot] = low;
  }

  private putSymbol(slot: number, symbol: number): void {
    const { kinds, starts, ends } = this.slots;
    kinds[slot] = SLOT_STRING_ESCAPED;
    starts[slot] = this.symbolStarts[symbol]!;
    ends[slot] = this.symbolStarts[symbol + 1]!;
  }

  private openObject(slot: number, start: number): void {
    this.slots.kinds[slot] = SLOT_OBJECT;
    this.slots.starts[slot] = start;
  }

  private openArray(slot: number, start: number, items: number): void {
    this.slots.kinds[slot] = SLOT_ARRAY;
    this.slots.starts[slot] = start;
    this.items[slot] = items;
  }

  private putRun(slot: number, start: number, end: number): void {
    this.openArray(slot, start, BYTE_ITEMS);
    this.slots.ends[slot] = end;
  }
}
