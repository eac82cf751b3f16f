/**
 * What the walk of a Protobuf payload leaves in the slots: values where they are found, defaults where a message is there
 * and its field is not, and nothing of what merging, oneofs and maps let a later field replace.
 *
 * The walker validates and calls in here for wanted fields alone, after their bytes are known to be sound (but what is
 * inside of a message, which is entered first). Nothing is allocated but by `Runs`.
 *
 * Invariants: a state is marked present once its slots have been set up for the message it is in; setting up a message
 * forgets everything below it, so of a replaced element, entry or member nothing stays.
 */
import { type Slots, SLOT_ARRAY, SLOT_MISSING, SLOT_OBJECT } from '../../core/slots.js';
import { NONE, type PathTrie } from '../path-trie.js';
import {
  afterVarint,
  BOOL,
  BYTES,
  capture,
  DEFAULT_KINDS,
  elementEnd,
  lengthAt,
  MESSAGE,
  RAW_BYTE,
  skipField,
  STRING,
} from './capture.js';
import { KeyText } from './key-text.js';
import type { ProtobufPlan } from './plan.js';
import type { Runs } from './runs.js';

// PERF: a constant of another module is looked up and checked at each use, one of this module is part of the code.
const NOWHERE = NONE;
const ARRAY_KIND = SLOT_ARRAY;
const MISSING_KIND = SLOT_MISSING;
const OBJECT_KIND = SLOT_OBJECT;
const BOOL_TYPE = BOOL;
const BYTES_TYPE = BYTES;
const MESSAGE_TYPE = MESSAGE;
const STRING_TYPE = STRING;
const RAW_TYPE = RAW_BYTE;

const NO_BYTES: Uint8Array = new Uint8Array(0);

export class Extraction {
  private readonly slots: Slots;
  private readonly trie: PathTrie;
  private readonly runs: Runs;
  private readonly keyText = new KeyText();
  /** By state: 1 once its message is there. */
  private readonly present: Uint8Array;
  /** By oneof: which of its wants was set last. */
  private readonly chosen: Int32Array;
  /** By list: how many elements it has, and the node of the next one that is wanted, or NOWHERE. */
  private readonly counts: Int32Array;
  private readonly pending: Int32Array;
  private plan: ProtobufPlan;
  private bytes: Uint8Array = NO_BYTES;
  private view: DataView = new DataView(NO_BYTES.buffer);
  /** Where text and arrays that are empty by default stand. */
  private origin = 0;
  /** Where the value of the entry stands that `finishEntry` gave a state for. */
  valueStart = 0;
  valueEnd = 0;

  constructor(slots: Slots, trie: PathTrie, runs: Runs, plans: readonly ProtobufPlan[]) {
    this.slots = slots;
    this.trie = trie;
    this.runs = runs;
    this.plan = plans[0]!;
    this.present = new Uint8Array(Math.max(0, ...plans.map(({ wantedStates }) => wantedStates)));
    this.chosen = new Int32Array(Math.max(0, ...plans.map(({ oneofFrom }) => oneofFrom.length)));
    const lists = Math.max(0, ...plans.map(({ listFirst }) => listFirst.length));
    this.counts = new Int32Array(lists);
    this.pending = new Int32Array(lists);
  }

  choose(plan: ProtobufPlan): void {
    this.plan = plan;
  }

  /** Begins a payload: its root is there, and empty. */
  begin(bytes: Uint8Array, view: DataView, start: number, end: number): void {
    this.bytes = bytes;
    this.view = view;
    this.origin = start;
    this.runs.reset();
    this.putObject(0, start, end);
    this.setUp(0);
  }

  /**
   * The message of a wanted field is entered, which stands at `start`…`end`, its tag at `tag`. Returns the base of
   * the state to walk it in.
   */
  enter(want: number, tag: number, start: number, end: number): number {
    const { plan, trie } = this;
    if (plan.wantOneof[want] !== NOWHERE) this.chooseMember(want);
    const node = plan.wantNode[want]!;
    const base = plan.wantBase[want]!;
    const list = plan.wantList[want]!;
    if (list !== NOWHERE) {
      this.runs.add(list, tag, end);
      this.putRange(trie.slotOf[node]!, ARRAY_KIND, start, end);
      const child = this.nextElement(list);
      if (child === NOWHERE) return base;
      const elementState = plan.stateOfNode[child]!;
      this.putObject(child, start, end);
      this.setUp(elementState);
      return plan.baseOf[elementState]!;
    }
    if (node === NOWHERE) return base;
    this.putObject(node, start, end);
    const state = plan.wantState[want]!;
    if (plan.isPlace[want] === 1 && plan.isMap[state] === 0 && this.present[state] === 0) this.setUp(state);
    return base;
  }

  /** A wanted value that is no message, its tag at `tag`, the rest at `from`…`past`. */
  take(want: number, tag: number, from: number, past: number): void {
    const { plan } = this;
    if (plan.wantOneof[want] !== NOWHERE) this.chooseMember(want);
    const node = plan.wantNode[want]!;
    if (node === NOWHERE) return;
    const list = plan.wantList[want]!;
    const type = plan.wantType[want]!;
    if (list === NOWHERE) {
      this.put(node, type, from, past);
      return;
    }
    this.runs.add(list, tag, past);
    this.putRange(this.trie.slotOf[node]!, ARRAY_KIND, from, past);
    const child = this.nextElement(list);
    if (child !== NOWHERE) this.put(child, type, from, past);
  }

  /** Elements that stand packed at `from`…`past`, their tag at `tag`. */
  takePacked(want: number, tag: number, from: number, past: number): void {
    const { plan, trie, bytes, pending } = this;
    const list = plan.wantList[want]!;
    const type = plan.wantType[want]!;
    this.runs.add(list, tag, past);
    this.putRange(trie.slotOf[plan.wantNode[want]!]!, ARRAY_KIND, from, past);
    for (let p = from; p < past && pending[list] !== NOWHERE;) {
      const end = elementEnd(bytes, type, p);
      const child = this.nextElement(list);
      if (child !== NOWHERE) this.put(child, type, p, end);
      p = end;
    }
  }

  /**
   * The entry of a wanted map has been walked, which stands at `start`…`end`. Returns the base of the state to walk its value in,
   * which stands at `valueStart`…`valueEnd`, or NOWHERE where nothing is left to do.
   */
  finishEntry(state: number, start: number, end: number): number {
    const { bytes, plan } = this;
    let keyFrom = NOWHERE;
    let valueFrom = NOWHERE;
    let valueEnd = 0;
    for (let p = start; p < end;) {
      const from = afterVarint(bytes, p);
      const number = lengthAt(bytes, p) >>> 3;
      p = skipField(bytes, bytes[p]! & 7, from);
      if (number === 1) {
        keyFrom = from;
      } else if (number === 2) {
        valueFrom = from;
        valueEnd = p;
      }
    }
    const child = this.valueNode(state, keyFrom);
    if (child === NOWHERE) return NOWHERE;
    const type = plan.valueType[state]!;
    if (type !== MESSAGE_TYPE) {
      if (valueFrom === NOWHERE) this.putDefault(child, type, plan.valueDefault[state]!);
      else this.put(child, type, valueFrom, valueEnd);
      return NOWHERE;
    }
    const valueState = plan.stateOfNode[child]!;
    const valueStart = valueFrom === NOWHERE ? end : afterVarint(bytes, valueFrom);
    this.putObject(child, valueStart, valueFrom === NOWHERE ? end : valueEnd);
    this.setUp(valueState);
    if (valueFrom === NOWHERE) return NOWHERE;
    this.valueStart = valueStart;
    this.valueEnd = valueEnd;
    return plan.baseOf[valueState]!;
  }

  /** Counts one element more, and gives its node, or NOWHERE where it is not wanted. */
  private nextElement(list: number): number {
    const child = this.pending[list]!;
    const index = this.counts[list]!++;
    if (child === NOWHERE || this.trie.indexAt[child] !== index) return NOWHERE;
    this.pending[list] = this.trie.nextIndex[child]!;
    return child;
  }

  /** The node of a map's value whose key stands behind its tag at `from`, or is not there. */
  private valueNode(state: number, from: number): number {
    const { bytes, plan, trie, keyText } = this;
    const node = plan.nodeOf[state]!;
    const type = plan.keyType[state]!;
    if (type === STRING_TYPE) {
      if (from === NOWHERE) return trie.childByKey(node, bytes, 0, 0);
      const start = afterVarint(bytes, from);
      return trie.childByKey(node, bytes, start, start + lengthAt(bytes, from));
    }
    const at =
      from === NOWHERE ? keyText.writeDefault(type === BOOL_TYPE) : keyText.write(bytes, this.view, type, from);
    return trie.childByKey(node, keyText.bytes, at, keyText.bytes.length);
  }

  /** Another member of the oneof is set: what was set before is gone. */
  private chooseMember(want: number): void {
    const { plan, trie, chosen, slots } = this;
    const oneof = plan.wantOneof[want]!;
    if (chosen[oneof] === want) return;
    chosen[oneof] = want;
    const past = plan.oneofFrom[oneof + 1]!;
    for (let at = plan.oneofFrom[oneof]!; at < past; at++) {
      const other = plan.oneofWants[at]!;
      const node = plan.wantNode[other]!;
      if (other === want || node === NOWHERE) continue;
      const slot = trie.slotOf[node]!;
      if (slot !== NOWHERE) slots.kinds[slot] = MISSING_KIND;
      slots.kinds.fill(MISSING_KIND, trie.below[node]!, trie.belowEnd[node]!);
      const state = plan.wantState[other]!;
      if (plan.isPlace[other] === 1) this.present[state] = 0;
    }
  }

  /** The message of a state is there now, and empty. */
  private setUp(state: number): void {
    const { plan, trie, slots, origin, present, runs } = this;
    const node = plan.nodeOf[state]!;
    const from = trie.below[node]!;
    const count = trie.belowEnd[node]! - from;
    const init = plan.initFrom[state]!;
    for (let index = 0; index < count; index++) {
      const slot = from + index;
      slots.kinds[slot] = plan.initKinds[init + index]!;
      slots.numbers[slot] = plan.initNumbers[init + index]!;
      slots.starts[slot] = origin;
      slots.ends[slot] = origin;
    }
    present[state] = 1;
    const statesEnd = plan.statesEnd[state]!;
    for (let inner = state + 1; inner < statesEnd; inner++) present[inner] = 0;
    const listsEnd = plan.listsEnd[state]!;
    for (let list = plan.listsFrom[state]!; list < listsEnd; list++) {
      runs.clear(list);
      this.counts[list] = 0;
      this.pending[list] = plan.listFirst[list]!;
    }
  }

  /** Puts a value that is no message, behind its tag at `from`…`past`, at a node. */
  private put(node: number, type: number, from: number, past: number): void {
    const { bytes, trie } = this;
    const slot = trie.slotOf[node]!;
    if (slot !== NOWHERE) capture(bytes, this.view, type, from, past, this.slots, slot);
    if (type === BYTES_TYPE) this.putBytes(node, afterVarint(bytes, from), past);
  }

  private putDefault(node: number, type: number, number: number): void {
    const { slots, origin, trie } = this;
    const slot = trie.slotOf[node]!;
    if (slot !== NOWHERE) {
      slots.kinds[slot] = DEFAULT_KINDS[type]!;
      slots.numbers[slot] = number;
      slots.starts[slot] = origin;
      slots.ends[slot] = origin;
    }
    if (type === BYTES_TYPE) this.putBytes(node, origin, origin);
  }

  /** Single bytes of a field of bytes that stand at `start`…`end`. */
  private putBytes(node: number, start: number, end: number): void {
    const { bytes, view, trie, slots } = this;
    for (let child = trie.firstIndex[node]!; child !== NOWHERE; child = trie.nextIndex[child]!) {
      const slot = trie.slotOf[child]!;
      const at = start + trie.indexAt[child]!;
      if (slot === NOWHERE) continue;
      if (at < end) capture(bytes, view, RAW_TYPE, at, at + 1, slots, slot);
      else slots.kinds[slot] = MISSING_KIND;
    }
  }

  private putObject(node: number, start: number, end: number): void {
    this.putRange(this.trie.slotOf[node]!, OBJECT_KIND, start, end);
  }

  private putRange(slot: number, kind: number, start: number, end: number): void {
    if (slot === NOWHERE) return;
    const { slots } = this;
    slots.kinds[slot] = kind;
    slots.starts[slot] = start;
    slots.ends[slot] = end;
  }
}
