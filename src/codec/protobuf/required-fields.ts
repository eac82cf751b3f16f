/**
 * Whether everything required is set in a payload that has been found sound, judged after messages have merged, members of
 * oneofs have replaced each other and the last entry of each key has won (contract: laser-filter §5).
 *
 * Only payloads come here of which some message lacks a required field in some piece. The messages of one level are
 * gone over together: the pieces of each, in order, give the pieces of the messages inside, which are then sorted by
 * what they merge into. Every field is looked at once; sorting takes n log n steps in the worst case.
 *
 * Invariants: memory follows the number of messages, each backed by at least two bytes, and stays for the next payload;
 * levels are no more than the payload has.
 */
import { NONE } from '../path-trie.js';
import { afterVarint, lengthAt, skipField } from './capture.js';
import { KeyOrder } from './key-order.js';
import type { ProtobufSchema } from './message.js';
import { type FieldFacts, type MessageFacts, requiredFacts } from './required-facts.js';

const LIST_FIRST = 16;
const SERIAL_MAX = 2 ** 31 - 1;

/** A list of integers that keeps its memory. */
class Integers {
  values = new Int32Array(LIST_FIRST);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const grown = new Int32Array(this.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length++] = value;
  }
}

/** Messages of one level: the pieces of message `i` are those from `from[i]` to `from[i + 1]`. */
class Level {
  readonly facts: MessageFacts[] = [];
  readonly from = new Integers();
  readonly starts = new Integers();
  readonly ends = new Integers();
  count = 0;

  clear(): void {
    this.count = 0;
    this.from.length = 0;
    this.starts.length = 0;
    this.ends.length = 0;
  }

  /** Begins a message; its pieces follow. */
  begin(facts: MessageFacts): void {
    this.facts[this.count++] = facts;
    this.from.push(this.starts.length);
  }

  addPiece(start: number, end: number): void {
    this.starts.push(start);
    this.ends.push(end);
  }

  pieceAfter(message: number): number {
    return message + 1 < this.count ? this.from.values[message + 1]! : this.starts.length;
  }
}

export class RequiredFields {
  private readonly root: MessageFacts | null;
  private readonly keyOrder = new KeyOrder();
  private level = new Level();
  private nextLevel = new Level();
  /** Messages of one message: their field, the key of an entry, where the value stands; NONE where there is none. */
  private readonly inner: FieldFacts[] = [];
  private readonly keys = new Integers();
  private readonly starts = new Integers();
  private readonly ends = new Integers();
  private readonly order = new Integers();
  /** By field: the last message that has it. By oneof: the same, the member set last, and the first piece that is its. */
  private readonly seenIn: Int32Array;
  private readonly chosenIn: Int32Array;
  private readonly chosen: Int32Array;
  private readonly chosenFrom: Int32Array;
  /** Number of the message that is gone over, of this payload and all before. */
  private serial = 0;
  private bytes: Uint8Array = new Uint8Array(0);
  private view: DataView = new DataView(new ArrayBuffer(0));

  constructor(schema: ProtobufSchema) {
    const facts = requiredFacts(schema);
    this.root = facts?.root ?? null;
    this.seenIn = new Int32Array(facts?.fieldCount ?? 0);
    const oneofs = facts?.oneofCount ?? 0;
    this.chosenIn = new Int32Array(oneofs);
    this.chosen = new Int32Array(oneofs);
    this.chosenFrom = new Int32Array(oneofs);
  }

  /** True if nothing required is missing in the payload at `start`…`end`. `view` covers the same bytes. */
  areSet(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    if (this.root === null) return true;
    this.bytes = bytes;
    this.view = view;
    this.level.clear();
    this.level.begin(this.root);
    this.level.addPiece(start, end);
    while (this.level.count > 0) {
      const { level, nextLevel } = this;
      nextLevel.clear();
      for (let message = 0; message < level.count; message++) if (!this.isSet(level, message)) return false;
      this.level = nextLevel;
      this.nextLevel = level;
    }
    return true;
  }

  /** True if a message has its own required fields; puts those inside it into the next level. */
  private isSet(level: Level, message: number): boolean {
    const facts = level.facts[message]!;
    this.nextSerial();
    this.keys.length = 0;
    this.starts.length = 0;
    this.ends.length = 0;
    let found = 0;
    const past = level.pieceAfter(message);
    for (let piece = level.from.values[message]!; piece < past; piece++) {
      found += this.readPiece(facts, level.starts.values[piece]!, level.ends.values[piece]!);
    }
    if (found < facts.required) return false;
    this.sort();
    return this.gather();
  }

  /** Numbers of messages start over after billions of them, when marks of the first could be taken for those of the next. */
  private nextSerial(): void {
    if (this.serial === SERIAL_MAX) {
      this.serial = 0;
      this.seenIn.fill(0);
      this.chosenIn.fill(0);
    }
    this.serial++;
  }

  /** Notes what of one piece matters; returns how many required fields are in it that were not before. */
  private readPiece(facts: MessageFacts, start: number, end: number): number {
    const { bytes, serial, seenIn } = this;
    let found = 0;
    for (let p = start; p < end;) {
      const from = afterVarint(bytes, p);
      const tag = lengthAt(bytes, p);
      p = skipField(bytes, tag & 7, from);
      const field = facts.fields.get(tag >>> 3);
      if (field === undefined) continue;
      if (field.isRequired && seenIn[field.id] !== serial) {
        seenIn[field.id] = serial;
        found++;
      }
      if (field.oneof !== NONE) this.choose(field);
      if (field.message === null) continue;
      if (field.shape === 'map') this.addEntry(field, afterVarint(bytes, from), p);
      else this.add(field, NONE, afterVarint(bytes, from), p);
    }
    return found;
  }

  /** A member of a oneof is set: pieces of the members before are void. */
  private choose(field: FieldFacts): void {
    const { oneof, id } = field;
    if (this.chosenIn[oneof] === this.serial && this.chosen[oneof] === id) return;
    this.chosenIn[oneof] = this.serial;
    this.chosen[oneof] = id;
    this.chosenFrom[oneof] = this.starts.length;
  }

  private addEntry(field: FieldFacts, start: number, end: number): void {
    const { bytes } = this;
    let key = NONE;
    let valueStart = NONE;
    let valueEnd = NONE;
    for (let p = start; p < end;) {
      const from = afterVarint(bytes, p);
      const tag = lengthAt(bytes, p);
      p = skipField(bytes, tag & 7, from);
      if (tag >>> 3 === 1) {
        key = from;
      } else if (tag >>> 3 === 2) {
        valueStart = afterVarint(bytes, from);
        valueEnd = p;
      }
    }
    this.add(field, key, valueStart, valueEnd);
  }

  private add(field: FieldFacts, key: number, start: number, end: number): void {
    this.inner[this.starts.length] = field;
    this.keys.push(key);
    this.starts.push(start);
    this.ends.push(end);
  }

  /** Brings what was noted of one message, but what a oneof voided, into the order of what merges or replaces. */
  private sort(): void {
    const { order, inner } = this;
    order.length = 0;
    let isSorted = true;
    for (let at = 0; at < this.starts.length; at++) {
      const { oneof } = inner[at]!;
      if (oneof !== NONE && at < this.chosenFrom[oneof]!) continue;
      if (order.length > 0 && this.compare(order.values[order.length - 1]!, at) > 0) isSorted = false;
      order.push(at);
    }
    if (isSorted) return;
    const { values, length } = order;
    for (let top = (length >> 1) - 1; top >= 0; top--) this.sink(top, length);
    for (let last = length - 1; last > 0; last--) {
      const largest = values[0]!;
      values[0] = values[last]!;
      values[last] = largest;
      this.sink(0, last);
    }
  }

  /** A heap of the first `length` of `order`, but for what stands at `top`, becomes one. */
  private sink(top: number, length: number): void {
    const { values } = this.order;
    const sunk = values[top]!;
    let at = top;
    for (let child = at * 2 + 1; child < length; child = at * 2 + 1) {
      if (child + 1 < length && this.compare(values[child]!, values[child + 1]!) < 0) child++;
      if (this.compare(sunk, values[child]!) >= 0) break;
      values[at] = values[child]!;
      at = child;
    }
    values[at] = sunk;
  }

  /** By field, then key, then order in the payload: never 0 for two. */
  private compare(left: number, right: number): number {
    return this.compareTargets(left, right) || left - right;
  }

  /** 0 where the two merge or replace each other, but for the elements of a repeated field. */
  private compareTargets(left: number, right: number): number {
    const field = this.inner[left]!;
    const byField = field.id - this.inner[right]!.id;
    if (byField !== 0 || field.shape !== 'map') return byField;
    const keys = this.keys.values;
    return this.keyOrder.compare(this.bytes, this.view, field.keyType, keys[left]!, keys[right]!);
  }

  /** Puts the messages in order into the next level; false where one is a default that lacks what it requires. */
  private gather(): boolean {
    const { order, nextLevel } = this;
    const { values, length } = order;
    for (let at = 0; at < length; at++) {
      const piece = values[at]!;
      const field = this.inner[piece]!;
      const facts = field.message!;
      const isSame = at > 0 && this.compareTargets(values[at - 1]!, piece) === 0;
      if (field.shape === 'map') {
        const isReplaced = at + 1 < length && this.compareTargets(piece, values[at + 1]!) === 0;
        if (isReplaced) continue;
        if (this.starts.values[piece] === NONE) {
          if (facts.required > 0) return false;
          continue;
        }
        nextLevel.begin(facts);
      } else if (!isSame || field.shape === 'repeated') {
        nextLevel.begin(facts);
      }
      nextLevel.addPiece(this.starts.values[piece]!, this.ends.values[piece]!);
    }
    return true;
  }
}
