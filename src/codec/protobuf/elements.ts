/**
 * The elements of one array of a Protobuf payload, one at a time: the bytes of a field of bytes, or the elements of a
 * repeated field, which may stand packed, alone, and far apart.
 *
 * The bytes have been validated by the walk, which noted where the repeated field stands. Nothing is allocated.
 */
import { Slots } from '../../core/slots.js';
import { NONE } from '../path-trie.js';
import type { ElementCursor, SoughtNumber } from '../walker.js';
import { afterVarint, capture, elementEnd, hasLength, lengthAt, RAW_BYTE } from './capture.js';
import type { Runs } from './runs.js';

const NOTHING = new Uint8Array(0);
const NO_SLOTS: Int32Array = new Int32Array(0);
const WIRE_BYTES = 2;

export class ProtobufElements implements ElementCursor {
  readonly slots = new Slots(1);
  private runs: Runs;
  /** By slot, of the schema that payloads are read by: type of its elements, and their list or NONE. */
  private typeOf = NO_SLOTS;
  private listOf = NO_SLOTS;
  private bytes: Uint8Array = NOTHING;
  private view: DataView = new DataView(NOTHING.buffer);
  private type = RAW_BYTE;
  private at = 0;
  /** End of the run that `at` stands in. */
  private end = 0;
  private run = NONE;
  /** End of packed elements that `at` stands among; at most `at` outside of them. */
  private packedEnd = 0;

  constructor(runs: Runs) {
    this.runs = runs;
  }

  /** Tells what the slots hold from now on. */
  choose(typeOf: Int32Array, listOf: Int32Array): void {
    this.typeOf = typeOf;
    this.listOf = listOf;
  }

  /** Tells who noted the runs of the payload walked last. */
  readRuns(runs: Runs): void {
    this.runs = runs;
  }

  seek(value: number): SoughtNumber {
    // Every number is found exactly at once, so none is asked for by its bytes.
    return { value, isNearest: () => false };
  }

  open(bytes: Uint8Array, start: number, end: number, _sought: SoughtNumber | null, slot: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    const list = this.listOf[slot]!;
    if (list === NONE) {
      this.type = RAW_BYTE;
      this.run = NONE;
      this.at = start;
      this.end = end;
      return;
    }
    this.type = this.typeOf[slot]!;
    this.run = this.runs.first(list);
    this.startRun();
  }

  next(): boolean {
    const { bytes, view, type, slots } = this;
    if (type === RAW_BYTE) {
      if (this.at >= this.end) return false;
      capture(bytes, view, RAW_BYTE, this.at++, this.at, slots, 0);
      return true;
    }
    while (this.at >= this.packedEnd) {
      if (this.at >= this.end) {
        if (this.run === NONE) return false;
        this.run = this.runs.after(this.run);
        this.startRun();
        continue;
      }
      const from = afterVarint(bytes, this.at);
      const isPacked = (bytes[this.at]! & 7) === WIRE_BYTES && !hasLength(type);
      this.at = from;
      if (!isPacked) return this.take(from);
      const start = afterVarint(bytes, from);
      this.packedEnd = start + lengthAt(bytes, from);
      this.at = start;
    }
    return this.take(this.at);
  }

  private take(from: number): boolean {
    const { bytes, type } = this;
    const past = elementEnd(bytes, type, from);
    capture(bytes, this.view, type, from, past, this.slots, 0);
    this.at = past;
    return true;
  }

  private startRun(): void {
    const { run, runs } = this;
    this.packedEnd = 0;
    this.at = run === NONE ? 0 : runs.startOf(run);
    this.end = run === NONE ? 0 : runs.endOf(run);
  }
}
