/**
 * Reads a slot back into a value, and a path out of a value, so that a walker can be compared with a decoder.
 */
import { decodeJson } from '../../src/codec/json/decode.js';
import type { PayloadDecoder, Value } from '../../src/codec/value.js';
import type { PayloadWalker } from '../../src/codec/walker.js';
import type { Path } from '../../src/core/path.js';
import * as slotKinds from '../../src/core/slots.js';
import type { Slots } from '../../src/core/slots.js';

/** Not a value: the path leads nowhere. */
export const MISSING = Symbol('missing');

const NO_LIMITS = { maxPayloadBytes: 2 ** 30, maxDepth: 1000 };

/** The value in `slot` of the current row, which `walker` filled from `bytes`; `decode` reads arrays and objects. */
export function slotValue(
  walker: Pick<PayloadWalker, 'unescape' | 'unescaped'>,
  slots: Slots,
  slot: number,
  bytes: Uint8Array,
  decode: PayloadDecoder = decodeJson,
): Value | typeof MISSING {
  const index = slots.base + slot;
  const start = slots.starts[index]!;
  const end = slots.ends[index]!;
  const wide = (BigInt(slots.high[index]!) << 32n) | BigInt(slots.low[index]!);
  switch (slots.kinds[index]) {
    case slotKinds.SLOT_MISSING:
      return MISSING;
    case slotKinds.SLOT_NULL:
      return null;
    case slotKinds.SLOT_FALSE:
      return false;
    case slotKinds.SLOT_TRUE:
      return true;
    case slotKinds.SLOT_INTEGER:
      return BigInt(slots.numbers[index]!);
    case slotKinds.SLOT_INTEGER_WIDE:
      return wide;
    case slotKinds.SLOT_NEGATIVE_WIDE:
      return BigInt.asIntN(64, wide);
    case slotKinds.SLOT_DOUBLE:
      return slots.numbers[index]!;
    case slotKinds.SLOT_STRING:
      return text(bytes.subarray(start, end));
    case slotKinds.SLOT_STRING_ESCAPED: {
      const length = walker.unescape(bytes, start, end);
      return text(walker.unescaped.subarray(0, length));
    }
    default: {
      const decoded = decode(bytes.slice(start, end), NO_LIMITS);
      if (!decoded.ok) throw new Error(`slot ${slot} is not a whole value`);
      return decoded.value;
    }
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** What stands at `path` in `value`. */
export function valueAt(value: Value, path: Path): Value | typeof MISSING {
  let at: Value | undefined = value;
  for (const step of path) {
    if (typeof step === 'number') at = Array.isArray(at) ? at[step] : undefined;
    else at = at instanceof Map ? at.get(step) : undefined;
    if (at === undefined) return MISSING;
  }
  return at;
}
