/**
 * How messages of one schema are walked for one list of wanted paths, as flat arrays.
 *
 * A *state* is a message type at one place of the tree of wanted paths, or one of which nothing is wanted. It has an
 * *entry* for each field: by its number where numbers are dense, behind those by binary search. An entry's code says
 * how the value is validated; its target is the state of a nested message, or the *want* that says where the value
 * goes. States of wanted places come first, each before those inside it, so that what lies below a state is a range;
 * the same holds for *lists*, one for each repeated field whose elements are asked for.
 *
 * Invariants: plans grow with what is wanted, not with the payload, and are bounded.
 */
import { refuse } from '../../core/error-codes.js';
import { PROTOBUF_PLAN_ENTRIES_MAX } from '../../core/limits.js';
import { SLOT_ARRAY, SLOT_MISSING, SLOT_OBJECT } from '../../core/slots.js';
import { NONE, type PathTrie } from '../path-trie.js';
import { DEFAULT_KINDS, RAW_BYTE, TYPE_CODES } from './capture.js';
import type { ProtobufField, ProtobufMessage, ProtobufSchema } from './message.js';

/** Code of an entry: wire type, operation, flags, and which bit of the required fields it is. */
export const WIRE_MASK = 7;
export const OP_SHIFT = 3;
export const OP_MASK = 31;
export const IS_PACKABLE = 1 << 8;
/** The target is a want. */
export const IS_WANTED = 1 << 9;
export const IS_REQUIRED = 1 << 10;
export const REQUIRED_SHIFT = 16;

export const OP_VARINT = 0;
export const OP_FIXED64 = 1;
export const OP_DOUBLE = 2;
export const OP_FIXED32 = 3;
export const OP_FLOAT = 4;
export const OP_STRING = 5;
export const OP_BYTES = 6;
export const OP_MESSAGE = 7;
export const OP_UNKNOWN = 8;

/** Of a number that is not declared. No field has this wire type. */
export const UNKNOWN_CODE = 7 | (OP_UNKNOWN << OP_SHIFT);

const WIRE_BYTES = 2;

/** Wire type and operation by type. */
const CODES: Readonly<Record<ProtobufField['type'], number>> = {
  double: 1 | (OP_DOUBLE << OP_SHIFT),
  float: 5 | (OP_FLOAT << OP_SHIFT),
  fixed64: 1 | (OP_FIXED64 << OP_SHIFT),
  sfixed64: 1 | (OP_FIXED64 << OP_SHIFT),
  fixed32: 5 | (OP_FIXED32 << OP_SHIFT),
  sfixed32: 5 | (OP_FIXED32 << OP_SHIFT),
  string: WIRE_BYTES | (OP_STRING << OP_SHIFT),
  bytes: WIRE_BYTES | (OP_BYTES << OP_SHIFT),
  message: WIRE_BYTES | (OP_MESSAGE << OP_SHIFT),
  int32: OP_VARINT << OP_SHIFT,
  int64: OP_VARINT << OP_SHIFT,
  uint32: OP_VARINT << OP_SHIFT,
  uint64: OP_VARINT << OP_SHIFT,
  sint32: OP_VARINT << OP_SHIFT,
  sint64: OP_VARINT << OP_SHIFT,
  bool: OP_VARINT << OP_SHIFT,
  enum: OP_VARINT << OP_SHIFT,
};

/** Bits for required fields; what `needs` says of a message with more of them, which no bits equal. */
const REQUIRED_BITS = 31;
const NEVER_COMPLETE = -1;

const ROOT_NODE = 0;

/** One field of a wanted state whose values matter. */
interface Want {
  readonly field: ProtobufField;
  /** NONE for a field that only clears others of its oneof. */
  readonly node: number;
  readonly list: number;
  readonly oneof: number;
  /** Of a wanted message or map; NONE where what is entered is walked without wants. */
  readonly state: number;
}

interface State {
  readonly message: ProtobufMessage;
  readonly node: number;
  readonly isMap: boolean;
  readonly wants: Map<number, number>;
  statesEnd: number;
  readonly listsFrom: number;
  listsEnd: number;
}

export class ProtobufPlan {
  /** By state: first entry, numbers below which entries stand by number, entries in all. */
  readonly base: Int32Array;
  readonly dense: Int32Array;
  readonly size: Int32Array;
  /** By state: bits of its required fields. */
  readonly needs: Int32Array;
  /** By entry. */
  readonly codes: Int32Array;
  readonly targets: Int32Array;
  readonly numbers: Int32Array;
  /** States with a place among the wanted paths: 0, the root, up to this. */
  readonly wantedStates: number;
  /** By wanted state: its node, one past the states below it, the lists below it. */
  readonly nodeOf: Int32Array;
  readonly statesEnd: Int32Array;
  readonly listsFrom: Int32Array;
  readonly listsEnd: Int32Array;
  /** By wanted state: 1 for the entry of a map, and types of its key and value. */
  readonly isMap: Uint8Array;
  readonly keyType: Int32Array;
  readonly valueType: Int32Array;
  /** By wanted state of a map: default of a value that is an enum, 0 for others. */
  readonly valueDefault: Int32Array;
  /** By wanted state: where in `initKinds`, `initNumbers` stands what the slots below it are before a field is read. */
  readonly initFrom: Int32Array;
  readonly initKinds: Uint8Array;
  readonly initNumbers: Float64Array;
  /** By want. */
  readonly wantNode: Int32Array;
  readonly wantType: Int32Array;
  readonly wantList: Int32Array;
  readonly wantState: Int32Array;
  readonly wantOneof: Int32Array;
  /** By want: 1 where `wantState` has a place of its own among the wanted paths. */
  readonly isPlace: Uint8Array;
  /** Wants of oneof `i` stand at `oneofFrom[i]`…`oneofFrom[i + 1]` of `oneofWants`. */
  readonly oneofFrom: Int32Array;
  readonly oneofWants: Int32Array;
  /** By list: node of the first element that is wanted by its index, or NONE. */
  readonly listFirst: Int32Array;
  /** By node of an element or of a map's value that is a message: its state; NONE for others. */
  readonly stateOfNode: Int32Array;
  /** By slot: type of the elements where it is an array, and their list; NONE for the bytes of one field. */
  readonly elementType: Int32Array;
  readonly elementList: Int32Array;

  /** Throws a `Refusal` `invalid_request` where schema and paths together are more than a plan may hold. */
  constructor(schema: ProtobufSchema, trie: PathTrie, slotCount: number) {
    const planner = new Planner(trie, slotCount);
    planner.addState(schema.root, ROOT_NODE, false);
    const { states, wants } = planner;
    this.wantedStates = states.length;
    this.nodeOf = Int32Array.from(states, ({ node }) => node);
    this.statesEnd = Int32Array.from(states, ({ statesEnd }) => statesEnd);
    this.listsFrom = Int32Array.from(states, ({ listsFrom }) => listsFrom);
    this.listsEnd = Int32Array.from(states, ({ listsEnd }) => listsEnd);
    this.isMap = Uint8Array.from(states, ({ isMap }) => (isMap ? 1 : 0));
    const typeOf = ({ message, isMap }: State, number: number): number =>
      isMap ? TYPE_CODES[message.byNumber.get(number)!.type] : NONE;
    this.keyType = Int32Array.from(states, (state) => typeOf(state, 1));
    this.valueType = Int32Array.from(states, (state) => typeOf(state, 2));
    this.valueDefault = Int32Array.from(states, ({ message, isMap }) =>
      isMap ? message.byNumber.get(2)!.firstNumber : 0,
    );
    const templates = states.map((state) => planner.template(state));
    this.initFrom = new Int32Array(states.length);
    for (let state = 1; state < states.length; state++) {
      this.initFrom[state] = this.initFrom[state - 1]! + templates[state - 1]!.kinds.length;
    }
    this.initKinds = Uint8Array.from(templates.flatMap(({ kinds }) => kinds));
    this.initNumbers = Float64Array.from(templates.flatMap(({ numbers }) => numbers));
    this.listFirst = Int32Array.from(planner.listFirst);
    this.stateOfNode = planner.stateOfNode;
    this.elementType = planner.elementType;
    this.elementList = planner.elementList;

    // Lays out the states; those without wants are found on the way.
    const layout = new Layout(states, wants);
    layout.run();
    this.base = Int32Array.from(layout.base);
    this.dense = Int32Array.from(layout.dense);
    this.size = Int32Array.from(layout.size);
    this.needs = Int32Array.from(layout.needs);
    this.codes = Int32Array.from(layout.codes);
    this.targets = Int32Array.from(layout.targets);
    this.numbers = Int32Array.from(layout.numbers);

    this.wantNode = Int32Array.from(wants, ({ node }) => node);
    this.wantType = Int32Array.from(wants, ({ field }) => TYPE_CODES[field.type]);
    this.wantList = Int32Array.from(wants, ({ list }) => list);
    this.wantOneof = Int32Array.from(wants, ({ oneof }) => oneof);
    this.isPlace = Uint8Array.from(wants, ({ state }) => (state === NONE ? 0 : 1));
    this.wantState = Int32Array.from(wants, ({ state, field }) =>
      state === NONE && field.message !== null ? layout.stateOf(field.message) : state,
    );
    const byOneof: number[][] = Array.from({ length: planner.oneofCount }, () => []);
    for (const [want, { oneof }] of wants.entries()) if (oneof !== NONE) byOneof[oneof]!.push(want);
    this.oneofWants = Int32Array.from(byOneof.flat());
    this.oneofFrom = new Int32Array(byOneof.length + 1);
    for (const [oneof, members] of byOneof.entries()) {
      this.oneofFrom[oneof + 1] = this.oneofFrom[oneof]! + members.length;
    }
  }

  /** The entry of a number that is not dense, or NONE. */
  find(state: number, number: number): number {
    const base = this.base[state]!;
    let low = base + this.dense[state]!;
    let high = base + this.size[state]!;
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = this.numbers[middle]!;
      if (found === number) return middle;
      if (found < number) low = middle + 1;
      else high = middle;
    }
    return NONE;
  }
}

/** Finds which states, wants and lists the wanted paths lead to. Recursion follows the paths. */
class Planner {
  readonly states: State[] = [];
  readonly wants: Want[] = [];
  readonly stateOfNode: Int32Array;
  readonly elementType: Int32Array;
  readonly elementList: Int32Array;
  /** By list. */
  readonly listFirst: number[] = [];
  oneofCount = 0;
  private readonly trie: PathTrie;

  constructor(trie: PathTrie, slotCount: number) {
    this.trie = trie;
    this.stateOfNode = new Int32Array(trie.slotOf.length).fill(NONE);
    this.elementType = new Int32Array(slotCount).fill(RAW_BYTE);
    this.elementList = new Int32Array(slotCount).fill(NONE);
  }

  addState(message: ProtobufMessage, node: number, isMap: boolean): number {
    const { states } = this;
    const listCount = this.listFirst.length;
    const id = states.length;
    const state: State = {
      message,
      node,
      isMap,
      wants: new Map(),
      statesEnd: id,
      listsFrom: listCount,
      listsEnd: listCount,
    };
    states.push(state);
    if (isMap) this.addValues(message.byNumber.get(2)!, node);
    else this.addFields(state);
    state.statesEnd = states.length;
    state.listsEnd = this.listFirst.length;
    return id;
  }

  /** What the slots below a state are when its message is there and empty. */
  template({ message, node, isMap }: State): { kinds: number[]; numbers: number[] } {
    const from = this.trie.below[node]!;
    const count = this.trie.belowEnd[node]! - from;
    const kinds: number[] = Array.from({ length: count }, () => SLOT_MISSING);
    const numbers: number[] = Array.from({ length: count }, () => 0);
    for (const field of isMap ? [] : message.fields) {
      const child = this.child(node, field.name);
      const slot = child === NONE ? NONE : this.trie.slotOf[child]!;
      if (slot === NONE || field.presence !== 'implicit') continue;
      kinds[slot - from] = defaultKind(field);
      numbers[slot - from] = field.firstNumber;
    }
    return { kinds, numbers };
  }

  private addFields({ message, node, wants }: State): void {
    const oneofs = new Map<number, number>();
    for (const { name, oneof } of message.fields) {
      if (oneof >= 0 && !oneofs.has(oneof) && this.child(node, name) !== NONE) oneofs.set(oneof, this.oneofCount++);
    }
    for (const field of message.fields) {
      const child = this.child(node, field.name);
      const oneof = oneofs.get(field.oneof) ?? NONE;
      if (child === NONE && oneof === NONE) continue;
      const list = field.shape === 'repeated' ? this.listFirst.push(this.trie.firstIndex[child]!) - 1 : NONE;
      const state = child === NONE ? NONE : this.addField(field, child, list);
      wants.set(field.number, this.wants.length);
      this.wants.push({ field, node: child, list, oneof, state });
    }
  }

  /** The state that the wanted field's messages are walked in, or NONE. */
  private addField(field: ProtobufField, node: number, list: number): number {
    if (field.shape === 'map') {
      return this.hasBelow(node) ? this.addState(field.message!, node, true) : NONE;
    }
    if (field.shape === 'singular') {
      return field.message === null ? NONE : this.addState(field.message, node, false);
    }
    const slot = this.trie.slotOf[node]!;
    if (slot !== NONE) {
      this.elementType[slot] = TYPE_CODES[field.type];
      this.elementList[slot] = list;
    }
    for (let child = this.trie.firstIndex[node]!; child !== NONE; child = this.trie.nextIndex[child]!) {
      if (field.message !== null) this.stateOfNode[child] = this.addState(field.message, child, false);
    }
    return NONE;
  }

  private addValues(value: ProtobufField, node: number): void {
    for (const child of keyChildren(this.trie, node)) {
      if (value.message !== null) this.stateOfNode[child] = this.addState(value.message, child, false);
    }
  }

  private child(node: number, name: string): number {
    const key = Buffer.from(name, 'utf8');
    return this.trie.childByKey(node, key, 0, key.length);
  }

  private hasBelow(node: number): boolean {
    return this.trie.below[node]! < this.trie.belowEnd[node]!;
  }
}

function* keyChildren(trie: PathTrie, node: number): Generator<number> {
  const start = trie.tableStart[node]!;
  for (let bucket = start; bucket <= start + trie.tableMask[node]!; bucket++) {
    for (let child = trie.table[bucket]!; child !== NONE; child = trie.nextInBucket[child]!) yield child;
  }
}

function defaultKind(field: ProtobufField): number {
  if (field.shape === 'repeated') return SLOT_ARRAY;
  if (field.shape === 'map') return SLOT_OBJECT;
  return DEFAULT_KINDS[TYPE_CODES[field.type]]!;
}

/** Numbers below this many, and then as many again for each field, may stand in a table by number. */
const DENSE_NUMBERS = 16;
const DENSE_NUMBERS_PER_FIELD = 4;

/** Lays entries out, state after state; states without wants, one for each message type, follow those with a place. */
class Layout {
  readonly base: number[] = [];
  readonly dense: number[] = [];
  readonly size: number[] = [];
  readonly needs: number[] = [];
  readonly codes: number[] = [];
  readonly targets: number[] = [];
  readonly numbers: number[] = [];
  private readonly states: readonly State[];
  private readonly unwanted = new Map<ProtobufMessage, number>();

  constructor(states: readonly State[], wants: readonly Want[]) {
    this.states = states;
    for (const { state, field } of wants) if (state === NONE && field.message !== null) this.stateOf(field.message);
  }

  run(): void {
    for (const { message, wants } of this.states) this.add(message, wants);
    // Grows while it is gone over.
    for (const message of this.unwanted.keys()) this.add(message, new Map());
  }

  /** The state of a message of which nothing is wanted. */
  stateOf(message: ProtobufMessage): number {
    const known = this.unwanted.get(message);
    if (known !== undefined) return known;
    const state = this.states.length + this.unwanted.size;
    this.unwanted.set(message, state);
    return state;
  }

  private add(message: ProtobufMessage, wants: ReadonlyMap<number, number>): void {
    const fields = message.fields.toSorted((a, b) => a.number - b.number);
    let dense = 1;
    for (const [index, { number }] of fields.entries()) {
      if (number < DENSE_NUMBERS + (index + 1) * DENSE_NUMBERS_PER_FIELD) dense = number + 1;
    }
    const base = this.codes.length;
    const isSparse = ({ number }: ProtobufField): boolean => number >= dense;
    const size = dense + fields.filter(isSparse).length;
    if (base + size > PROTOBUF_PLAN_ENTRIES_MAX) {
      refuse('invalid_request', 'The writer schemas and the paths that the filters read are too many together.', {
        limit: PROTOBUF_PLAN_ENTRIES_MAX,
      });
    }
    const needed = fields.filter((field) => isNeeded(message, field)).length;
    const hasBits = needed <= REQUIRED_BITS;
    this.base.push(base);
    this.dense.push(dense);
    this.size.push(size);
    this.needs.push(hasBits ? 2 ** needed - 1 : NEVER_COMPLETE);
    for (let number = 0; number < dense; number++) this.put(number, UNKNOWN_CODE, 0);
    let bit = 0;
    for (const field of fields) {
      const { number, type, shape } = field;
      const want = wants.get(number);
      let code = CODES[type];
      if (shape === 'repeated' && (code & WIRE_MASK) !== WIRE_BYTES) code |= IS_PACKABLE;
      if (want !== undefined) code |= IS_WANTED;
      if (hasBits && isNeeded(message, field)) code |= IS_REQUIRED | (bit++ << REQUIRED_SHIFT);
      const target = want ?? (field.message === null ? 0 : this.stateOf(field.message));
      if (isSparse(field)) {
        this.put(number, code, target);
      } else {
        this.codes[base + number] = code;
        this.targets[base + number] = target;
      }
    }
  }

  private put(number: number, code: number, target: number): void {
    this.numbers.push(number);
    this.codes.push(code);
    this.targets.push(target);
  }
}

/**
 * True for a required field, and for the value of a map's entry that would lack required fields where it is not set.
 */
function isNeeded(message: ProtobufMessage, field: ProtobufField): boolean {
  if (!message.isMapEntry) return field.presence === 'required';
  return field.number === 2 && (field.message?.fields.some(({ presence }) => presence === 'required') ?? false);
}
