/**
 * The items of one Avro array, one at a time: what `contains` on an array looks through. `bytes` and `fixed` are arrays of
 * integers.
 *
 * The bytes have been validated by the walk. What type the items are of depends on the datum (a union may hold arrays of
 * two kinds), so the walk has left by slot which program reads one. Nothing is allocated.
 */
import { SLOT_INTEGER, SLOT_STRING, Slots } from '../../core/slots.js';
import type { PathTrie } from '../path-trie.js';
import type { ElementCursor, SoughtNumber } from '../walker.js';
import { STRING } from './instructions.js';
import { AvroMachine, BYTE_ITEMS, itemPrograms } from './machine.js';
import type { AvroPlan } from './plan.js';

export class AvroElements implements ElementCursor {
  readonly slots = new Slots(1);
  private readonly machine: AvroMachine;
  private readonly code: Int32Array;
  /** By slot of the walk: the program of an item. */
  private readonly items: Int32Array;
  private bytes: Uint8Array = new Uint8Array(0);
  private program = BYTE_ITEMS;
  private at = 0;
  private end = 0;
  private readonly budget: number;
  private isOfTexts = false;
  /** Items of the block at hand that are still to come. */
  private left = 0;

  /** `walked` are the slots of the walk, of one row. */
  constructor(plan: AvroPlan, trie: PathTrie, walked: Slots, maxDepth: number, budget: number) {
    this.machine = new AvroMachine(plan, trie, this.slots, maxDepth, budget);
    this.code = plan.code;
    this.budget = budget;
    this.items = itemPrograms(walked);
  }

  seek(value: number): SoughtNumber {
    // Every number is found exactly at once, so none is asked for by its bytes.
    return { value, isNearest: () => false };
  }

  open(bytes: Uint8Array, start: number, end: number, _sought: SoughtNumber | null, slot: number): void {
    this.machine.use(bytes);
    this.bytes = bytes;
    this.program = this.items[slot]!;
    this.isOfTexts = this.program !== BYTE_ITEMS && this.code[this.program] === STRING;
    this.at = start;
    this.end = end;
    this.left = 0;
  }

  next(): boolean {
    const { machine, slots } = this;
    if (this.program === BYTE_ITEMS) {
      if (this.at >= this.end) return false;
      slots.kinds[0] = SLOT_INTEGER;
      slots.numbers[0] = this.bytes[this.at]!;
      this.at++;
      return true;
    }
    if (this.left === 0) {
      // At the end stands the block of no items.
      if (this.at >= this.end) return false;
      this.at = machine.block(this.at, this.end, this.budget);
      this.left = machine.blockItems;
      if (this.left === 0) {
        this.at = this.end;
        return false;
      }
    }
    this.left--;
    // PERF: what is looked through is mostly short texts, and the walk has checked them: 35 ns of 500 for a filter (2026-12-01).
    const size = this.isOfTexts ? this.bytes[this.at]! : 0x80;
    if (size < 0x80) {
      slots.kinds[0] = SLOT_STRING;
      slots.starts[0] = this.at + 1;
      this.at += 1 + (size >>> 1);
      slots.ends[0] = this.at;
      return true;
    }
    this.at = machine.run(this.program, this.at, this.end);
    return true;
  }
}
