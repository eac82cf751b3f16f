/**
 * Runs the program of a walk plan over the bytes of one datum: reads and checks every value, fills the slots that the
 * program names (contract: laser-filter §5; the instructions are listed in `plan.ts`).
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
import { isText, skipLong } from './bytes.js';
import {
  type AvroPlan,
  HEADER_AFTER,
  HEADER_BODY,
  HEADER_FIRST,
  HEADER_INNER,
  HEADER_SLOT,
  HEADER_TARGETS,
  OP_ARRAY,
  OP_BOOLEAN,
  OP_BYTES,
  OP_CALL,
  OP_CLEAR,
  OP_DEPTH,
  OP_DOUBLE,
  OP_END,
  OP_ENUM,
  OP_FIXED,
  OP_FLOAT,
  OP_INT,
  OP_JUMP,
  OP_LONG,
  OP_MAP,
  OP_NEXT,
  OP_NULL,
  OP_OBJECT,
  OP_OBJECT_END,
  OP_PICK,
  OP_RETURN,
  OP_STRING,
  OP_UNION,
} from './plan.js';

const TWO_32 = 4294967296;
/** High word of −2^53 and of 2^53 − 1, and what stands between is a safe integer. */
const SAFE_HIGH = 0x200000;

/** Words of the stack per array or map: items left in the block, its end, index of the item, its place among targets. */
const LOOP_WORDS = 4;
/** Words of the stack per call: where to return, and the depth of the caller. */
const CALL_WORDS = 2;

/** Items of an array whose bytes are the items: there is no program for them. */
export const BYTE_ITEMS = -1;

export class AvroMachine {
  /** By slot that holds an array: the program of its items, or BYTE_ITEMS. */
  readonly items: Int32Array;
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
  private bytes: Uint8Array = new Uint8Array(0);
  /** Covers `bytes`; made again only when another buffer comes. */
  private view: DataView = new DataView(new ArrayBuffer(0));
  /** The last long: two's complement. */
  private low = 0;
  private high = 0;

  /** `trie` is the plan's; `slots` one row, of the trie's paths or of one element; `budget` counts values. */
  constructor(plan: AvroPlan, trie: PathTrie, slots: Slots, maxDepth: number, budget: number) {
    this.code = plan.code;
    this.symbolStarts = plan.symbolStarts;
    this.ordinals = plan.ordinals;
    this.trie = trie;
    this.slots = slots;
    this.items = new Int32Array(slots.count);
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
  run(entry: number, start: number, end: number): number {
    const { code, bytes, view, stack, budget } = this;
    const { kinds, numbers, starts, ends } = this.slots;
    let pc = entry;
    let p = start;
    /** Values counted so far, but those that `code[pc + 1]` tells of. */
    let count = 0;
    /** Depth of the record whose program is running; of the root at first. */
    let depth = 0;
    let top = 0;
    /** Where BYTES or FIXED found their bytes; they end at `p`. */
    let runStart = 0;
    for (;;) {
      switch (code[pc]) {
        case OP_STRING: {
          let length = p < end ? bytes[p]! : NONE;
          if (length < 0x80 && (length & 1) === 0) {
            length >>>= 1;
            p = (p + 1) | 0;
          } else {
            p = this.long(p, end);
            if (p < 0) return this.fault(MALFORMED, count + code[pc + 1]!);
            length = this.length();
          }
          if (length < 0 || length > end - p) return this.fault(MALFORMED, count + code[pc + 1]!);
          const past = (p + length) | 0;
          if (!isText(bytes, view, p, past)) return this.fault(MALFORMED, count + code[pc + 1]!);
          const slot = code[pc + 2]!;
          if (slot !== NONE) {
            kinds[slot] = SLOT_STRING;
            starts[slot] = p;
            ends[slot] = past;
          }
          p = past;
          pc = (pc + 3) | 0;
          continue;
        }
        case OP_LONG: {
          const slot = code[pc + 2]!;
          const byte = p < end ? bytes[p]! : 0x80;
          if (byte < 0x80) {
            p = (p + 1) | 0;
            if (slot !== NONE) {
              kinds[slot] = SLOT_INTEGER;
              numbers[slot] = (byte >>> 1) ^ -(byte & 1);
            }
          } else {
            p = slot === NONE ? skipLong(bytes, p, end) : this.long(p, end);
            if (p < 0) return this.fault(MALFORMED, count + code[pc + 1]!);
            if (slot !== NONE) this.putLong(slot);
          }
          pc = (pc + 3) | 0;
          continue;
        }
        case OP_INT: {
          const slot = code[pc + 2]!;
          const byte = p < end ? bytes[p]! : 0x80;
          if (byte < 0x80) {
            p = (p + 1) | 0;
            if (slot !== NONE) {
              kinds[slot] = SLOT_INTEGER;
              numbers[slot] = (byte >>> 1) ^ -(byte & 1);
            }
          } else {
            p = this.long(p, end);
            // Within 32 bits if the high word does nothing but repeat the sign.
            if (p < 0 || this.high !== this.low >> 31) return this.fault(MALFORMED, count + code[pc + 1]!);
            if (slot !== NONE) {
              kinds[slot] = SLOT_INTEGER;
              numbers[slot] = this.low;
            }
          }
          pc = (pc + 3) | 0;
          continue;
        }
        case OP_DOUBLE: {
          if (end - p < 8) return this.fault(MALFORMED, count + code[pc + 1]!);
          const value = view.getFloat64(p, true);
          if (value - value !== 0) return this.fault(MALFORMED, count + code[pc + 1]!);
          p = (p + 8) | 0;
          const slot = code[pc + 2]!;
          if (slot !== NONE) {
            kinds[slot] = SLOT_DOUBLE;
            numbers[slot] = value;
          }
          pc = (pc + 3) | 0;
          continue;
        }
        case OP_FLOAT: {
          if (end - p < 4) return this.fault(MALFORMED, count + code[pc + 1]!);
          const value = view.getFloat32(p, true);
          if (value - value !== 0) return this.fault(MALFORMED, count + code[pc + 1]!);
          p = (p + 4) | 0;
          const slot = code[pc + 2]!;
          if (slot !== NONE) {
            kinds[slot] = SLOT_DOUBLE;
            numbers[slot] = value;
          }
          pc = (pc + 3) | 0;
          continue;
        }
        case OP_BOOLEAN: {
          const byte = p < end ? bytes[p]! : 2;
          if (byte > 1) return this.fault(MALFORMED, count + code[pc + 1]!);
          p = (p + 1) | 0;
          const slot = code[pc + 2]!;
          if (slot !== NONE) kinds[slot] = byte === 1 ? SLOT_TRUE : SLOT_FALSE;
          pc = (pc + 3) | 0;
          continue;
        }
        case OP_UNION: {
          count += code[pc + 1]!;
          const byte = p < end ? bytes[p]! : 0x80;
          let branch = byte >>> 1;
          if (byte < 0x80 && (byte & 1) === 0) {
            p = (p + 1) | 0;
          } else {
            p = this.long(p, end);
            if (p < 0) return this.fault(MALFORMED, count);
            branch = this.length();
          }
          if (branch < 0 || branch >= code[pc + 2]!) return this.fault(MALFORMED, count);
          pc = (pc + 3 + 2 * branch) | 0;
          count += code[pc + 1]!;
          pc = code[pc]!;
          continue;
        }
        case OP_ENUM: {
          const byte = p < end ? bytes[p]! : 0x80;
          let symbol = byte >>> 1;
          if (byte < 0x80 && (byte & 1) === 0) {
            p = (p + 1) | 0;
          } else {
            p = this.long(p, end);
            if (p < 0) return this.fault(MALFORMED, count + code[pc + 1]!);
            symbol = this.length();
          }
          if (symbol < 0 || symbol >= code[pc + 3]!) return this.fault(MALFORMED, count + code[pc + 1]!);
          const slot = code[pc + 2]!;
          if (slot !== NONE) {
            const place = code[pc + 4]! + symbol;
            kinds[slot] = SLOT_STRING_ESCAPED;
            starts[slot] = this.symbolStarts[place]!;
            ends[slot] = this.symbolStarts[place + 1]!;
          }
          pc = (pc + 5) | 0;
          continue;
        }
        case OP_BYTES: {
          p = this.long(p, end);
          if (p < 0) return this.fault(MALFORMED, count + code[pc + 1]!);
          const length = this.length();
          if (length < 0 || length > end - p) return this.fault(MALFORMED, count + code[pc + 1]!);
          runStart = p;
          p = (p + length) | 0;
          const slot = code[pc + 2]!;
          if (slot !== NONE) this.putRun(slot, runStart, p);
          pc = (pc + 3) | 0;
          continue;
        }
        case OP_FIXED: {
          const size = code[pc + 3]!;
          if (size > end - p) return this.fault(MALFORMED, count + code[pc + 1]!);
          runStart = p;
          p = (p + size) | 0;
          const slot = code[pc + 2]!;
          if (slot !== NONE) this.putRun(slot, runStart, p);
          pc = (pc + 4) | 0;
          continue;
        }
        case OP_PICK: {
          const at = runStart + code[pc + 3]!;
          if (at < p) {
            const slot = code[pc + 2]!;
            kinds[slot] = SLOT_INTEGER;
            numbers[slot] = bytes[at]!;
          }
          pc = (pc + 4) | 0;
          continue;
        }
        case OP_NULL:
          kinds[code[pc + 2]!] = SLOT_NULL;
          pc = (pc + 3) | 0;
          continue;
        case OP_OBJECT: {
          const slot = code[pc + 2]!;
          kinds[slot] = SLOT_OBJECT;
          starts[slot] = p;
          pc = (pc + 3) | 0;
          continue;
        }
        case OP_OBJECT_END:
          ends[code[pc + 2]!] = p;
          pc = (pc + 3) | 0;
          continue;
        case OP_JUMP:
          count += code[pc + 1]!;
          pc = code[pc + 2]!;
          continue;
        case OP_CALL:
          count += code[pc + 1]!;
          if (count > budget) return -TOO_LARGE;
          stack[top] = pc + 4;
          stack[top + 1] = depth;
          top += CALL_WORDS;
          depth += code[pc + 3]!;
          pc = code[pc + 2]!;
          continue;
        case OP_RETURN:
          count += code[pc + 1]!;
          top -= CALL_WORDS;
          pc = stack[top]!;
          depth = stack[top + 1]!;
          continue;
        case OP_DEPTH:
          if (depth + code[pc + 2]! > this.maxDepth) return this.fault(TOO_DEEP, count + code[pc + 1]!);
          pc = (pc + 3) | 0;
          continue;
        case OP_CLEAR:
          kinds.fill(SLOT_MISSING, code[pc + 2]!, code[pc + 3]!);
          pc = (pc + 4) | 0;
          continue;
        case OP_ARRAY:
        case OP_MAP: {
          count += code[pc + 1]!;
          stack[top] = 0;
          stack[top + 1] = NONE;
          stack[top + 2] = NONE;
          stack[top + 3] = pc + HEADER_TARGETS;
          top += LOOP_WORDS;
          const slot = code[pc + HEADER_SLOT]!;
          if (slot !== NONE) {
            kinds[slot] = code[pc] === OP_MAP ? SLOT_OBJECT : SLOT_ARRAY;
            starts[slot] = p;
            this.items[slot] = code[pc + HEADER_INNER]!;
          }
          pc = code[pc + HEADER_FIRST]!;
          continue;
        }
        case OP_NEXT: {
          count += code[pc + 1]!;
          if (count > budget) return -TOO_LARGE;
          const header = code[pc + 2]!;
          const loop = top - LOOP_WORDS;
          let left = stack[loop]!;
          if (left === 0) {
            if (stack[loop + 1] !== NONE && stack[loop + 1] !== p) return -MALFORMED;
            p = this.block(p, end, budget - count);
            if (p < 0) return p;
            left = this.blockItems;
            if (left === 0) {
              const slot = code[header + HEADER_SLOT]!;
              if (slot !== NONE) ends[slot] = p;
              top = loop;
              pc = code[header + HEADER_AFTER]!;
              continue;
            }
            count += left;
            stack[loop + 1] = this.blockEnd;
          }
          stack[loop] = left - 1;
          pc = code[header + HEADER_BODY]!;
          if (code[header] === OP_ARRAY) {
            const index = stack[loop + 2]! + 1;
            stack[loop + 2] = index;
            const target = stack[loop + 3]!;
            if (code[target] === index) {
              pc = code[target + 1]!;
              stack[loop + 3] = target + 2;
            }
            continue;
          }
          p = this.long(p, end);
          if (p < 0) return -MALFORMED;
          const length = this.length();
          if (length < 0 || length > end - p) return -MALFORMED;
          const past = (p + length) | 0;
          if (!isText(bytes, view, p, past)) return -MALFORMED;
          const node = code[header + HEADER_INNER]!;
          if (node !== NONE) {
            const child = this.trie.childByKey(node, bytes, p, past);
            if (child !== NONE) pc = code[header + HEADER_TARGETS + this.ordinals[child]!]!;
          }
          p = past;
          continue;
        }
        case OP_END:
          return count + code[pc + 1]! > budget ? -TOO_LARGE : p;
      }
    }
  }

  /**
   * Reads the head of a block into `blockItems` and `blockEnd` and returns where its items begin, or a reason, negative.
   * `left` values may still be counted.
   */
  block(from: number, end: number, left: number): number {
    let p = this.long(from, end);
    if (p < 0) return -MALFORMED;
    let count = this.high * TWO_32 + (this.low >>> 0);
    const isSized = count < 0;
    if (isSized) count = -count;
    if (count > left) return -TOO_LARGE;
    this.blockItems = count;
    this.blockEnd = NONE;
    if (isSized) {
      p = this.long(p, end);
      if (p < 0) return -MALFORMED;
      const size = this.length();
      if (size < 0 || size > end - p) return -MALFORMED;
      this.blockEnd = p + size;
    }
    return p;
  }

  /** `reason`, or that the budget was spent before it, negative. */
  private fault(reason: number, count: number): number {
    return count > this.budget ? -TOO_LARGE : -reason;
  }

  /** Reads a zigzag varint of 64 bits, padded or not, into `low` and `high`; returns what is past it, or −1. */
  private long(from: number, end: number): number {
    const { bytes } = this;
    let p = from;
    // 28 bits, 28 bits and 8 bits.
    let first = 0;
    let second = 0;
    let third = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (p >= end) return -1;
      const byte = bytes[p]!;
      p = (p + 1) | 0;
      const bits = byte & 0x7f;
      if (shift < 28) first |= bits << shift;
      else if (shift < 56) second |= bits << (shift - 28);
      else third |= bits << (shift - 56);
      if (byte < 0x80) {
        // The tenth byte holds the last of 64 bits.
        if (shift === 63 && byte > 1) return -1;
        const low = first | (second << 28);
        const high = (second >>> 4) | (third << 24);
        const sign = -(low & 1);
        this.low = ((low >>> 1) | (high << 31)) ^ sign;
        this.high = (high >>> 1) ^ sign;
        return p;
      }
    }
    return -1;
  }

  /** The last long as a number that is compared with a length: exact up to 2^53, negative if it is. */
  private length(): number {
    return this.high === 0 && this.low >= 0 ? this.low : this.high * TWO_32 + (this.low >>> 0);
  }

  private putLong(slot: number): void {
    const { kinds, numbers, high, low } = this.slots;
    if (this.high >= -SAFE_HIGH && this.high < SAFE_HIGH && (this.high !== -SAFE_HIGH || this.low !== 0)) {
      kinds[slot] = SLOT_INTEGER;
      numbers[slot] = this.high * TWO_32 + (this.low >>> 0);
      return;
    }
    kinds[slot] = this.high < 0 ? SLOT_NEGATIVE_WIDE : SLOT_INTEGER_WIDE;
    high[slot] = this.high;
    low[slot] = this.low;
  }

  private putRun(slot: number, start: number, end: number): void {
    const { kinds, starts, ends } = this.slots;
    kinds[slot] = SLOT_ARRAY;
    starts[slot] = start;
    ends[slot] = end;
    this.items[slot] = BYTE_ITEMS;
  }
}
