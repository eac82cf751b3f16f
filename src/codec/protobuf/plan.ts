/**
 * How messages of one schema are walked for one list of wanted paths, as flat arrays.
 *
 * A *state* is a message type at one place of the tree of wanted paths, or one of which nothing is wanted. It is a block of
 * words, by its *base*: a *code* for each tag of one byte, so that a field is found and its wire type checked by one
 * look. Codes of longer tags stand apart, by number where numbers are dense, behind those by binary search. A code says
 * how the value is validated and where its *row* stands: the state of a nested message, or the *want* that says where
 * the value goes. States of wanted places come first, each before those inside it, so that what lies below a state is a
 * range; the same holds for *lists*, one for each repeated field whose elements are asked for.
 *
 * Invariants: plans grow with what is wanted, not with the payload, and are bounded; words stand 0 for tags that a message
 * does not declare or declares otherwise.
 */
import { refuse } from '../../core/error-codes.js';
import { PROTOBUF_PLAN_WORDS_MAX } from '../../core/limits.js';
import { NONE, type PathTrie } from '../path-trie.js';
import { TYPE_CODES } from './capture.js';
import type { ProtobufField, ProtobufMessage, ProtobufSchema } from './message.js';
import { Planner, type State, type Want } from './plan-states.js';

/** Operations: the lowest bits of a code, never 0. */
export const OP_MASK = 15;
export const OP_STRING = 1;
export const OP_DOUBLE = 2;
export const OP_MESSAGE = 3;
export const OP_VARINT = 4;
export const OP_FLOAT = 5;
export const OP_FIXED64 = 6;
export const OP_FIXED32 = 7;
export const OP_BYTES = 8;
/** Elements that stand packed. */
export const OP_PACKED = 9;

/** Flags of a code, and where its row stands in it. Elements that stand packed have their own operation in their row. */
export const IS_WANTED = 1 << 4;
export const IS_REQUIRED = 1 << 5;
export const ROW_SHIFT = 8;

/** Words of a row: base of a message's state, or the want; and the bit of a required field, or a packed operation. */
export const ROW_WORDS = 2;

/** Words before the base of a state: 1 where something is to do at its end, and its number. */
export const AT_END = -1;
export const STATE_NUMBER = -2;
const WORDS_BEFORE = 2;
const TAGS = 128;
const STATE_WORDS = WORDS_BEFORE + TAGS;

/** Numbers below have tags of one byte. */
const SHORT_NUMBERS = 16;
const WIRE_TYPES = 8;

const WIRE_BYTES = 2;

/** Wire type and operation by type. */
const CODES: Readonly<Record<ProtobufField['type'], readonly [wireType: number, op: number]>> = {
  double: [1, OP_DOUBLE],
  float: [5, OP_FLOAT],
  fixed64: [1, OP_FIXED64],
  sfixed64: [1, OP_FIXED64],
  fixed32: [5, OP_FIXED32],
  sfixed32: [5, OP_FIXED32],
  string: [WIRE_BYTES, OP_STRING],
  bytes: [WIRE_BYTES, OP_BYTES],
  message: [WIRE_BYTES, OP_MESSAGE],
  int32: [0, OP_VARINT],
  int64: [0, OP_VARINT],
  uint32: [0, OP_VARINT],
  uint64: [0, OP_VARINT],
  sint32: [0, OP_VARINT],
  sint64: [0, OP_VARINT],
  bool: [0, OP_VARINT],
  enum: [0, OP_VARINT],
};

/** Bits for required fields; what `needs` says of a message with more of them, which no bits equal. */
const REQUIRED_BITS = 31;
const NEVER_COMPLETE = -1;

const ROOT_NODE = 0;

export class ProtobufPlan {
  /** Blocks of states. */
  readonly words: Int32Array;
  /** Rows that codes name. */
  readonly rows: Int32Array;
  /** Base of the root's state. */
  readonly root: number;
  /** By state: bits of its required fields. */
  readonly needs: Int32Array;
  /** By state: numbers from 16 up to `longDense` stand in place from `longFrom` on, others behind them up to `longEnd`. */
  readonly longFrom: Int32Array;
  readonly longDense: Int32Array;
  readonly longEnd: Int32Array;
  /** By place of a long number: the number, where it is not dense, and codes by wire type. */
  readonly longNumbers: Int32Array;
  readonly longCodes: Int32Array;
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
  /** By want: base of the state that its message is walked in. By wanted state: its base. */
  readonly wantBase: Int32Array;
  readonly baseOf: Int32Array;
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

  /** Words of its tables. */
  readonly size: number;

  /** Throws a `Refusal` `invalid_request` where schema and paths together take more than `sizeMax`. */
  constructor(schema: ProtobufSchema, trie: PathTrie, slotCount: number, sizeMax: number) {
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
    const layout = new Layout(states, wants, sizeMax);
    layout.run();
    this.size = layout.size;
    this.words = new Int32Array(layout.words);
    this.rows = new Int32Array(layout.rows);
    this.root = baseOf(0);
    this.needs = new Int32Array(layout.needs);
    this.longFrom = new Int32Array(layout.longFrom);
    this.longDense = new Int32Array(layout.longDense);
    this.longEnd = new Int32Array(layout.longEnd);
    this.longNumbers = new Int32Array(layout.longNumbers);
    this.longCodes = new Int32Array(layout.longCodes);
    this.baseOf = Int32Array.from(states, (_, state) => baseOf(state));

    this.wantNode = Int32Array.from(wants, ({ node }) => node);
    this.wantType = Int32Array.from(wants, ({ field }) => TYPE_CODES[field.type]);
    this.wantList = Int32Array.from(wants, ({ list }) => list);
    this.wantOneof = Int32Array.from(wants, ({ oneof }) => oneof);
    this.isPlace = Uint8Array.from(wants, ({ state }) => (state === NONE ? 0 : 1));
    this.wantState = Int32Array.from(wants, ({ state, field }) =>
      state === NONE && field.message !== null ? layout.stateOf(field.message) : state,
    );
    this.wantBase = this.wantState.map((state) => (state === NONE ? NONE : baseOf(state)));
    const byOneof: number[][] = Array.from({ length: planner.oneofCount }, () => []);
    for (const [want, { oneof }] of wants.entries()) if (oneof !== NONE) byOneof[oneof]!.push(want);
    this.oneofWants = Int32Array.from(byOneof.flat());
    this.oneofFrom = new Int32Array(byOneof.length + 1);
    for (const [oneof, members] of byOneof.entries()) {
      this.oneofFrom[oneof + 1] = this.oneofFrom[oneof]! + members.length;
    }
  }

  /** True for the state of a wanted map's entry. */
  isWantedMap(state: number): boolean {
    return state < this.wantedStates && this.isMap[state] === 1;
  }

  /** The code of a tag, however long, or 0; `tag` is its lower 32 bits, all there is. */
  codeOf(base: number, tag: number): number {
    const number = tag >>> 3;
    if (number < SHORT_NUMBERS) return this.words[base + tag]!;
    const place = this.longPlace(base, number);
    return place === NONE ? 0 : this.longCodes[place * WIRE_TYPES + (tag & 7)]!;
  }

  /** True if a message has a field of this number, of whatever wire type. */
  isDeclared(base: number, number: number): boolean {
    const isShort = number < SHORT_NUMBERS;
    const codes = isShort ? this.words : this.longCodes;
    const place = isShort ? base + number * WIRE_TYPES : this.longPlace(base, number) * WIRE_TYPES;
    if (place < 0) return false;
    for (let wireType = 0; wireType < WIRE_TYPES; wireType++) if (codes[place + wireType] !== 0) return true;
    return false;
  }

  private longPlace(base: number, number: number): number {
    const state = this.words[base + STATE_NUMBER]!;
    const from = this.longFrom[state]!;
    const dense = this.longDense[state]!;
    if (number < dense) return from + number - SHORT_NUMBERS;
    let low = from + dense - SHORT_NUMBERS;
    let high = this.longEnd[state]!;
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = this.longNumbers[middle]!;
      if (found === number) return middle;
      if (found < number) low = middle + 1;
      else high = middle;
    }
    return NONE;
  }
}

/**
 * The plans of several schemas for the same paths, of which `slotCount` slots are filled. Throws a `Refusal`
 * `invalid_request` where all of them together are more than plans may be.
 */
export function protobufPlans(
  schemas: readonly ProtobufSchema[],
  trie: PathTrie,
  slotCount: number,
): readonly ProtobufPlan[] {
  let left = PROTOBUF_PLAN_WORDS_MAX;
  return schemas.map((schema) => {
    const plan = new ProtobufPlan(schema, trie, slotCount, left);
    left -= plan.size;
    return plan;
  });
}

function baseOf(state: number): number {
  return state * STATE_WORDS + WORDS_BEFORE;
}

/** Numbers from 16 on may stand in place up to this many, and then as many again for each field. */
const DENSE_NUMBERS = 16;
const DENSE_NUMBERS_PER_FIELD = 4;

/** Lays states out, one after the other; those without wants, one for each message type, follow those with a place. */
class Layout {
  readonly words: number[] = [];
  /** Row 0 is that of codes that need none. */
  readonly rows: number[] = [0, 0];
  readonly needs: number[] = [];
  readonly longFrom: number[] = [];
  readonly longDense: number[] = [];
  readonly longEnd: number[] = [];
  readonly longNumbers: number[] = [];
  readonly longCodes: number[] = [];
  private readonly states: readonly State[];
  private readonly unwanted = new Map<ProtobufMessage, number>();

  private readonly sizeMax: number;

  constructor(states: readonly State[], wants: readonly Want[], sizeMax: number) {
    this.states = states;
    this.sizeMax = sizeMax;
    for (const { state, field } of wants) if (state === NONE && field.message !== null) this.stateOf(field.message);
  }

  /** Words so far. */
  get size(): number {
    return this.words.length + this.longCodes.length + this.rows.length;
  }

  run(): void {
    for (const { message, wants, isMap } of this.states) this.add(message, wants, isMap);
    // Grows while it is gone over.
    for (const message of this.unwanted.keys()) this.add(message, new Map(), false);
  }

  /** The state of a message of which nothing is wanted. */
  stateOf(message: ProtobufMessage): number {
    const known = this.unwanted.get(message);
    if (known !== undefined) return known;
    const state = this.states.length + this.unwanted.size;
    this.unwanted.set(message, state);
    return state;
  }

  private add(message: ProtobufMessage, wants: ReadonlyMap<number, number>, isMap: boolean): void {
    const fields = message.fields.toSorted((a, b) => a.number - b.number);
    const isNeeded = (field: ProtobufField): boolean => isNeededIn(message, field);
    const needed = fields.filter(isNeeded).length;
    const hasBits = needed <= REQUIRED_BITS;
    const base = this.words.length + WORDS_BEFORE;
    this.words.push(this.needs.length, needed > 0 || isMap ? 1 : 0);
    for (let tag = 0; tag < TAGS; tag++) this.words.push(0);
    this.needs.push(hasBits ? 2 ** needed - 1 : NEVER_COMPLETE);
    const placeOf = this.addLong(fields);
    let bit = 0;
    for (const field of fields) {
      const { number, type, shape } = field;
      const want = wants.get(number);
      const flags = (want === undefined ? 0 : IS_WANTED) | (hasBits && isNeeded(field) ? IS_REQUIRED : 0);
      const target = want ?? (field.message === null ? 0 : baseOf(this.stateOf(field.message)));
      const [wireType, op] = CODES[type];
      const codes = number < SHORT_NUMBERS ? this.words : this.longCodes;
      const place = number < SHORT_NUMBERS ? base + number * WIRE_TYPES : placeOf(number) * WIRE_TYPES;
      codes[place + wireType] = op | flags | this.row(target, (flags & IS_REQUIRED) === 0 ? 0 : 1 << bit++);
      if (shape === 'repeated' && wireType !== WIRE_BYTES) {
        codes[place + WIRE_BYTES] = OP_PACKED | flags | this.row(target, op);
      }
    }
    if (this.size > this.sizeMax) {
      refuse('invalid_request', 'The writer schemas and the paths that the filters read are too many together.', {
        limit: PROTOBUF_PLAN_WORDS_MAX,
      });
    }
  }

  /** Makes room for the numbers from 16 on, which come in order; returns where each stands. */
  private addLong(fields: readonly ProtobufField[]): (number: number) => number {
    const numbers = fields.map(({ number }) => number).filter((number) => number >= SHORT_NUMBERS);
    let dense = SHORT_NUMBERS;
    for (const [index, number] of numbers.entries()) {
      if (number < SHORT_NUMBERS + DENSE_NUMBERS + index * DENSE_NUMBERS_PER_FIELD) dense = number + 1;
    }
    const from = this.longNumbers.length;
    const places = new Map<number, number>();
    for (let number = SHORT_NUMBERS; number < dense; number++) this.addPlace(places, number);
    for (const number of numbers) if (number >= dense) this.addPlace(places, number);
    this.longFrom.push(from);
    this.longDense.push(dense);
    this.longEnd.push(this.longNumbers.length);
    return (number) => places.get(number)!;
  }

  private addPlace(places: Map<number, number>, number: number): void {
    places.set(number, this.longNumbers.length);
    this.longNumbers.push(number);
    for (let wireType = 0; wireType < WIRE_TYPES; wireType++) this.longCodes.push(0);
  }

  private row(target: number, other: number): number {
    if (target === 0 && other === 0) return 0;
    const row = this.rows.length / ROW_WORDS;
    this.rows.push(target, other);
    return row << ROW_SHIFT;
  }
}

/**
 * True for a required field, and for the value of a map's entry that would lack required fields where it is not set.
 */
function isNeededIn(message: ProtobufMessage, field: ProtobufField): boolean {
  if (!message.isMapEntry) return field.presence === 'required';
  return field.number === 2 && (field.message?.fields.some(({ presence }) => presence === 'required') ?? false);
}
