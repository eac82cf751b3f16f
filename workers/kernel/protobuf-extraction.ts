/**
 * What the walk of a Protobuf payload leaves in the slots: values where they are found, defaults where a message is there
 * and its field is not, and nothing of what merging, oneofs and maps let a later field replace.
 *
 * It does what `src/codec/protobuf/extraction.ts` does, on the same plan, but for maps whose keys are no strings, and for
 * more runs of elements than have room: it then asks for the walker.
 */
import { PROTOBUF_RUNS, PROTOBUF_RUNS_AT, WINDOW_AT } from './layout';
import { BYTES, capture, captureDefault, elementEnd, MESSAGE, STRING } from './protobuf-capture';
import { childByKey, LIST_BYTES, NONE, STATE_BYTES, stateOfNode } from './protobuf-image';
import { afterVarint, lengthAt, skipField, varintAt } from './protobuf-wire';
import { clearSlots, putKind, putNumber, putRange, SLOT_ARRAY, SLOT_OBJECT } from './slots';

// Runs of elements, as `src/codec/protobuf/runs.ts` reads them: columns, then the first run of each list.
const RUN_COLUMN: usize = (<usize>PROTOBUF_RUNS) << 2;
const RUN_STARTS: usize = PROTOBUF_RUNS_AT;
const RUN_ENDS: usize = RUN_STARTS + RUN_COLUMN;
const RUN_NEXTS: usize = RUN_ENDS + RUN_COLUMN;
const RUN_HEADS: usize = RUN_NEXTS + RUN_COLUMN;

/** True once the payload at hand holds something that only the walker does. */
export let asksWalker: bool = false;

/** Where the value of the entry stands that `finishEntry` gave a base for. */
export let valueStart: usize = 0;
export let valueEnd: usize = 0;

/** Plan that is walked by, and where texts and arrays stand that are empty by default. */
let plan: usize = 0;
let origin: usize = 0;
let runs: i32 = 0;

/** Begins a payload at `start`…`end`: its root `state` is there, and empty. */
export function beginPayload(chosen: usize, state: usize, start: usize, end: usize): void {
  plan = chosen;
  origin = start;
  runs = 0;
  asksWalker = false;
  putObject(load<u32>(state), start, end);
  setUp(state);
}

/**
 * The message of a wanted field is entered, which stands at `start`…`end`, its tag at `tag`. Returns the base of the
 * state to walk it in.
 */
export function enter(want: usize, tag: usize, start: usize, end: usize): usize {
  if (load<u32>(want, 16) != 0) chooseMember(want);
  const node = <usize>load<u32>(want);
  const base = <usize>load<u32>(want, 20);
  const list = <usize>load<u32>(want, 12);
  if (list != 0) {
    addRun(list, tag, end);
    putContainer(load<i32>(want, 4), SLOT_ARRAY, start, end);
    const child = nextElement(list);
    if (child == 0) return base;
    const state = stateOfNode(plan, child);
    putObject(child, start, end);
    setUp(state);
    return load<u32>(state, 48);
  }
  if (node == 0) return base;
  putObject(node, start, end);
  const state = <usize>load<u32>(want, 24);
  if (state != 0 && load<u32>(state, 52) == 0) setUp(state);
  return base;
}

/** A wanted value that is no message, its tag at `tag`, the rest at `from`…`past`. */
export function take(want: usize, tag: usize, from: usize, past: usize): void {
  if (load<u32>(want, 16) != 0) chooseMember(want);
  const node = <usize>load<u32>(want);
  if (node == 0) return;
  const list = <usize>load<u32>(want, 12);
  const type = load<i32>(want, 8);
  if (list == 0) {
    put(node, type, from, past);
    return;
  }
  addRun(list, tag, past);
  putContainer(load<i32>(want, 4), SLOT_ARRAY, from, past);
  const child = nextElement(list);
  if (child != 0) put(child, type, from, past);
}

/** Elements that stand packed at `from`…`past`, their tag at `tag`. */
export function takePacked(want: usize, tag: usize, from: usize, past: usize): void {
  const list = <usize>load<u32>(want, 12);
  const type = load<i32>(want, 8);
  addRun(list, tag, past);
  putContainer(load<i32>(want, 4), SLOT_ARRAY, from, past);
  for (let p = from; p < past && load<u32>(list, 4) != 0;) {
    const end = elementEnd(type, p);
    const child = nextElement(list);
    if (child != 0) put(child, type, p, end);
    p = end;
  }
}

/**
 * The entry of a wanted map has been walked, which stands at `start`…`end`. Returns the base of the state to walk its
 * value in, which stands at `valueStart`…`valueEnd`, or 0 where nothing is left to do.
 */
export function finishEntry(state: usize, start: usize, end: usize): usize {
  if (load<i32>(state, 36) != STRING) {
    asksWalker = true;
    return 0;
  }
  let keyFrom: usize = 0;
  let valueFrom: usize = 0;
  let valuePast: usize = end;
  for (let p = start; p < end;) {
    const tag = <u32>varintAt(p);
    const from = afterVarint(p);
    p = skipField(tag & 7, from);
    if (tag >> 3 == 1) {
      keyFrom = from;
    } else if (tag >> 3 == 2) {
      valueFrom = from;
      valuePast = p;
    }
  }
  const node = <usize>load<u32>(state);
  const child =
    keyFrom == 0 ? childByKey(node, 0, 0) : childByKey(node, afterVarint(keyFrom), <usize>lengthAt(keyFrom));
  if (child == 0) return 0;
  const type = load<i32>(state, 40);
  if (type != MESSAGE) {
    if (valueFrom == 0) putDefault(child, type, load<i32>(state, 44));
    else put(child, type, valueFrom, valuePast);
    return 0;
  }
  const valueState = stateOfNode(plan, child);
  valueStart = valueFrom == 0 ? end : afterVarint(valueFrom);
  valueEnd = valuePast;
  putObject(child, valueStart, valueEnd);
  setUp(valueState);
  return valueFrom == 0 ? 0 : load<u32>(valueState, 48);
}

/** Counts one element more, and gives its node, or 0 where it is not wanted. */
function nextElement(list: usize): usize {
  const child = <usize>load<u32>(list, 4);
  const index = load<u32>(list, 8);
  store<u32>(list, index + 1, 8);
  if (child == 0 || load<u32>(child, 20) != index) return 0;
  store<u32>(list, load<u32>(child, 16), 4);
  return child;
}

/** Another member of the oneof is set: what was set before is gone. */
function chooseMember(want: usize): void {
  const oneof = <usize>load<u32>(want, 16);
  if (load<u32>(oneof) == <u32>want) return;
  store<u32>(oneof, <u32>want);
  const past = <usize>load<u32>(oneof, 8);
  for (let at = <usize>load<u32>(oneof, 4); at < past; at += 4) {
    const other = <usize>load<u32>(at);
    const node = <usize>load<u32>(other);
    if (other == want || node == 0) continue;
    const slot = load<i32>(node);
    if (slot != NONE) putKind(slot, 0);
    clearSlots(load<i32>(node, 4), load<i32>(node, 8));
    const state = <usize>load<u32>(other, 24);
    if (state != 0) store<u32>(state, 0, 52);
  }
}

/** The message of a state is there now, and empty. */
function setUp(state: usize): void {
  const from = load<i32>(state, 4);
  const count = load<u32>(state, 8);
  const kinds = <usize>load<u32>(state, 12);
  const numbers = <usize>load<u32>(state, 16);
  const empty = origin - WINDOW_AT;
  for (let index: u32 = 0; index < count; index++) {
    const slot = from + <i32>index;
    putKind(slot, load<u8>(kinds + <usize>index));
    putNumber(slot, load<f64>(numbers + ((<usize>index) << 3)));
    putRange(slot, empty, empty);
  }
  store<u32>(state, 1, 52);
  const statesEnd = <usize>load<u32>(state, 20);
  for (let inner = state + STATE_BYTES; inner < statesEnd; inner += STATE_BYTES) store<u32>(inner, 0, 52);
  const listsEnd = <usize>load<u32>(state, 28);
  for (let list = <usize>load<u32>(state, 24); list < listsEnd; list += LIST_BYTES) {
    store<u32>(list, load<u32>(list), 4);
    store<u32>(list, 0, 8);
    store<i32>(list, NONE, 12);
    store<i32>(RUN_HEADS + ((<usize>load<u32>(list, 16)) << 2), NONE);
  }
}

/** Notes elements that stand at `start`…`end`, tags included. */
function addRun(list: usize, start: usize, end: usize): void {
  const tail = load<i32>(list, 12);
  const tailAt = (<usize>tail) << 2;
  if (tail != NONE && load<u32>(RUN_ENDS + tailAt) == <u32>(start - WINDOW_AT)) {
    store<u32>(RUN_ENDS + tailAt, <u32>(end - WINDOW_AT));
    return;
  }
  if (runs == PROTOBUF_RUNS) {
    asksWalker = true;
    return;
  }
  const run = runs++;
  const at = (<usize>run) << 2;
  store<u32>(RUN_STARTS + at, <u32>(start - WINDOW_AT));
  store<u32>(RUN_ENDS + at, <u32>(end - WINDOW_AT));
  store<i32>(RUN_NEXTS + at, NONE);
  if (tail == NONE) store<i32>(RUN_HEADS + ((<usize>load<u32>(list, 16)) << 2), run);
  else store<i32>(RUN_NEXTS + tailAt, run);
  store<i32>(list, run, 12);
}

/** Puts a value that is no message, behind its tag at `from`…`past`, at a node. */
function put(node: usize, type: i32, from: usize, past: usize): void {
  const slot = load<i32>(node);
  if (slot != NONE) capture(type, from, past, slot);
  if (type == BYTES) putBytes(node, afterVarint(from), past);
}

function putDefault(node: usize, type: i32, number: i32): void {
  const slot = load<i32>(node);
  if (slot != NONE) captureDefault(type, number, origin, slot);
  if (type == BYTES) putBytes(node, origin, origin);
}

/** Single bytes of a field of bytes that stand at `start`…`end`. */
function putBytes(node: usize, start: usize, end: usize): void {
  for (let child = <usize>load<u32>(node, 12); child != 0; child = <usize>load<u32>(child, 16)) {
    const slot = load<i32>(child);
    const index = <usize>load<u32>(child, 20);
    if (slot == NONE) continue;
    if (index < end - start) capture(0, start + index, start + index + 1, slot);
    else putKind(slot, 0);
  }
}

function putObject(node: usize, start: usize, end: usize): void {
  putContainer(load<i32>(node), SLOT_OBJECT, start, end);
}

function putContainer(slot: i32, kind: u8, start: usize, end: usize): void {
  if (slot == NONE) return;
  putKind(slot, kind);
  putRange(slot, start - WINDOW_AT, end - WINDOW_AT);
}
