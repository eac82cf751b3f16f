/**
 * Which places of the tree of wanted paths messages of one schema have: the states, wants and lists that a plan lays out.
 *
 * Invariant: states and lists come each before those inside them. Recursion follows the paths.
 */
import { SLOT_ARRAY, SLOT_MISSING, SLOT_OBJECT } from '../../core/slots.js';
import { NONE, type PathTrie } from '../path-trie.js';
import { DEFAULT_KINDS, RAW_BYTE, TYPE_CODES } from './capture.js';
import type { ProtobufField, ProtobufMessage } from './message.js';

/** One field of a wanted state whose values matter. */
export interface Want {
  readonly field: ProtobufField;
  /** NONE for a field that only clears others of its oneof. */
  readonly node: number;
  readonly list: number;
  readonly oneof: number;
  /** Of a wanted message or map; NONE where what is entered is walked without wants. */
  readonly state: number;
}

/** A message type at one place. */
export interface State {
  readonly message: ProtobufMessage;
  readonly node: number;
  readonly isMap: boolean;
  readonly wants: Map<number, number>;
  statesEnd: number;
  readonly listsFrom: number;
  listsEnd: number;
}

/** Finds them all from the root on. */
export class Planner {
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
