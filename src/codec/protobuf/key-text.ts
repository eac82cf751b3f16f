/**
 * Keys of Protobuf maps as text (contract: laser-filter §5): integers in decimal, `true` and `false`. Allocates nothing.
 */
import { Slots, SLOT_FALSE, SLOT_INTEGER_WIDE, SLOT_NEGATIVE_WIDE, SLOT_TRUE } from '../../core/slots.js';
import { capture } from './capture.js';

const TWO_32 = 2 ** 32;
/** −2^63 has a sign and 19 digits, 2^64−1 has 20. */
const CHARACTERS_MAX = 20;
const ZERO = 0x30;
const MINUS = 0x2d;

const encoder = new TextEncoder();
const TRUE = encoder.encode('true');
const FALSE = encoder.encode('false');

export class KeyText {
  /** The text of the last key ends where this does. */
  readonly bytes = new Uint8Array(CHARACTERS_MAX);
  private readonly value = new Slots(1);

  /** Writes the key of type `type` that stands from `from` on (no string), and returns where in `bytes` its text begins. */
  write(bytes: Uint8Array, view: DataView, type: number, from: number): number {
    const { value } = this;
    capture(bytes, view, type, from, from, value, 0);
    const kind = value.kinds[0]!;
    if (kind === SLOT_TRUE) return this.writeWord(TRUE);
    if (kind === SLOT_FALSE) return this.writeWord(FALSE);
    if (kind === SLOT_INTEGER_WIDE) return this.writeDigits(value.high[0]!, value.low[0]!, false);
    if (kind === SLOT_NEGATIVE_WIDE) {
      const low = -value.low[0]! >>> 0;
      return this.writeDigits((~value.high[0]! + (low === 0 ? 1 : 0)) >>> 0, low, true);
    }
    const magnitude = Math.abs(value.numbers[0]!);
    return this.writeDigits(Math.floor(magnitude / TWO_32), magnitude % TWO_32, value.numbers[0]! < 0);
  }

  /** As `write`, of a key that is not there and has the default of its type. */
  writeDefault(isBool: boolean): number {
    return isBool ? this.writeWord(FALSE) : this.writeDigits(0, 0, false);
  }

  private writeWord(word: Uint8Array): number {
    const at = CHARACTERS_MAX - word.length;
    this.bytes.set(word, at);
    return at;
  }

  /** Both words unsigned. */
  private writeDigits(high: number, low: number, isNegative: boolean): number {
    let at = CHARACTERS_MAX;
    let upper = high;
    let lower = low;
    do {
      const rest = (upper % 10) * TWO_32 + lower;
      upper = Math.floor(upper / 10);
      lower = Math.floor(rest / 10);
      this.bytes[--at] = ZERO + (rest % 10);
    } while (upper > 0 || lower > 0);
    if (isNegative) this.bytes[--at] = MINUS;
    return at;
  }
}
