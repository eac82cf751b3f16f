/**
 * An order of the keys of Protobuf maps, in which keys are equal that read as the same text. Allocates nothing.
 */
import { Slots, SLOT_FALSE, SLOT_INTEGER, SLOT_TRUE } from '../../core/slots.js';
import { NONE } from '../path-trie.js';
import { afterVarint, capture, captureDefault, lengthAt, STRING } from './capture.js';

export class KeyOrder {
  private readonly pair = new Slots(2);

  /**
   * Negative, zero or positive. Keys of type `type` start behind their tags at `left` and `right`; NONE is the default of
   * the type.
   */
  compare(bytes: Uint8Array, view: DataView, type: number, left: number, right: number): number {
    if (type === STRING) return compareTexts(bytes, left, right);
    const { kinds, numbers, high, low } = this.pair;
    this.read(bytes, view, type, left, 0);
    this.read(bytes, view, type, right, 1);
    if (kinds[0] !== kinds[1]) return kinds[0]! - kinds[1]!;
    if (kinds[0] === SLOT_INTEGER) return numbers[0]! - numbers[1]!;
    if (kinds[0] === SLOT_TRUE || kinds[0] === SLOT_FALSE) return 0;
    return high[0]! - high[1]! || low[0]! - low[1]!;
  }

  private read(bytes: Uint8Array, view: DataView, type: number, from: number, slot: number): void {
    if (from === NONE) captureDefault(type, this.pair, slot);
    else capture(bytes, view, type, from, from, this.pair, slot);
  }
}

function compareTexts(bytes: Uint8Array, left: number, right: number): number {
  const leftLength = left === NONE ? 0 : lengthAt(bytes, left);
  const rightLength = right === NONE ? 0 : lengthAt(bytes, right);
  if (leftLength !== rightLength || leftLength === 0) return leftLength - rightLength;
  const leftStart = afterVarint(bytes, left);
  const rightStart = afterVarint(bytes, right);
  for (let at = 0; at < leftLength; at++) {
    const order = bytes[leftStart + at]! - bytes[rightStart + at]!;
    if (order !== 0) return order;
  }
  return 0;
}
