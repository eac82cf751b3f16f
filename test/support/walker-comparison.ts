/**
 * Walkers against the obvious decoder of their codec, and against each other: the same reason, and the same value at every
 * wanted path.
 */
import { isDeepStrictEqual } from 'node:util';
import { decodeJson } from '../../src/codec/json/decode.js';
import type { Decoded, PayloadDecoder } from '../../src/codec/value.js';
import type { DecoderLimits, PayloadWalker } from '../../src/codec/walker.js';
import { comparePaths, type Path } from '../../src/core/path.js';
import { NO_REASON, REASON_NAMES, type Reason } from '../../src/core/verdict.js';
import { slotValue, valueAt } from './slot-value.js';

/** Paths that random documents have, and the root, in order. */
export const RANDOM_PATHS: readonly Path[] = (
  [
    [],
    ['a'],
    ['a', 'a'],
    ['a', 'b', 'c'],
    ['a', 0],
    ['b'],
    ['b', 'é'],
    ['mode'],
    ['é', 'k"y'],
    [''],
    ['键', '🛰'],
    [0],
    [1, 'a'],
    ['c', 2],
    ['a.b'],
  ] as Path[]
).sort(comparePaths);

/** Walks and decodes `bytes`; `walker` was made for `paths` and `limits`. Throws an `Error` where the two differ. */
export function compareWithDecoder(
  walker: PayloadWalker,
  paths: readonly Path[],
  bytes: Uint8Array,
  limits: DecoderLimits,
  decode: PayloadDecoder = decodeJson,
): Reason {
  try {
    return compareWithDecoded(walker, paths, bytes, 0, bytes.length, decode(bytes, limits), decode);
  } catch (thrown) {
    throw new Error(`${(thrown as Error).message}: ${spellBytes(bytes)}`, { cause: thrown });
  }
}

/** As `compareWithDecoder`, for the payload at `start`…`end`, of which the decoder made `decoded`. */
export function compareWithDecoded(
  walker: PayloadWalker,
  paths: readonly Path[],
  bytes: Uint8Array,
  start: number,
  end: number,
  decoded: Decoded,
  decode: PayloadDecoder = decodeJson,
): Reason {
  const reason = walker.walk(bytes, start, end);
  const wanted = decoded.ok ? NO_REASON : decoded.reason;
  if (reason !== wanted) throw new Error(`walker ${REASON_NAMES[reason]}, decoder ${REASON_NAMES[wanted]}`);
  if (!decoded.ok) return reason;
  for (const [slot, path] of paths.entries()) {
    // Object.is inside: −0 is told from 0, an integer from a double by its type.
    const value = valueAt(decoded.value, path);
    if (!isDeepStrictEqual(slotValue(walker, walker.slots, slot, bytes, decode), value)) {
      throw new Error(`another value at ${JSON.stringify(path)}`);
    }
    if (Array.isArray(value) && !isDeepStrictEqual(elementsOf(walker, slot, bytes, value, decode), value)) {
      throw new Error(`other elements at ${JSON.stringify(path)}`);
    }
  }
  return reason;
}

/** The elements as the cursor gives them; a double that it leaves open is asked for by its value. */
function elementsOf(
  walker: PayloadWalker,
  slot: number,
  bytes: Uint8Array,
  wanted: readonly unknown[],
  decode: PayloadDecoder,
): unknown[] {
  const { elements, slots } = walker;
  const values: unknown[] = [];
  elements.open(bytes, slots.starts[slots.base + slot]!, slots.ends[slots.base + slot]!, null, slot);
  while (elements.next()) {
    const value = slotValue(walker, elements.slots, 0, bytes, decode);
    const expected = wanted[values.length];
    const isOpen = Number.isNaN(value) && typeof expected === 'number';
    const isFound =
      isOpen && elements.seek(expected).isNearest(bytes, elements.slots.starts[0]!, elements.slots.ends[0]!);
    values.push(isFound ? expected : value);
  }
  return values;
}

const SPELLED_BYTES_MAX = 2000;

/** Bytes as a failure shows them: each as the character of its number, cut where there are thousands. */
export function spellBytes(bytes: Uint8Array): string {
  const start = JSON.stringify(Buffer.from(bytes.subarray(0, SPELLED_BYTES_MAX)).toString('latin1'));
  return bytes.length > SPELLED_BYTES_MAX ? `${start}… (${bytes.length} bytes)` : start;
}
