/**
 * MessagePack in and out (contract: scan-protocol, preamble): the one place that knows the library.
 *
 * Out: binary is `bin`, integers take their shortest form (the library writes a number beyond 32 bits as a double, so
 * such integers go in as bigints). In: only what this side wrote; the bodies of callers are read by `msgpack-body`,
 * because the library merges repeated keys, renames some and repairs bad text.
 */
import { Packr, RESET_BUFFER_MODE, Unpackr } from 'msgpackr';

const OPTIONS = { useRecords: false, variableMapSize: true, int64AsType: 'bigint' } as const;

const packr = new Packr(OPTIONS);
const unpackr = new Unpackr(OPTIONS);

/** Encodes plain data: null, booleans, numbers, bigints within 64 bits, text, `Uint8Array`, arrays, plain objects. */
export function encodeMsgpack(value: unknown): Uint8Array {
  // The packer writes the next result over this one, in a buffer of its own, so the result is copied to own its memory.
  return new Uint8Array(packr.pack(withShortIntegers(value), RESET_BUFFER_MODE));
}

/** Decodes what {@link encodeMsgpack} wrote: 64-bit integers are numbers where exact, else bigints. */
export function decodeMsgpack(bytes: Uint8Array): unknown {
  return withNumbers(unpackr.unpack(bytes));
}

/** Decodes objects that stand back to back (`application/vnd.winnow.frames+msgpack`). */
export function decodeMsgpackFrames(bytes: Uint8Array): unknown[] {
  return (unpackr.unpackMultiple(bytes) ?? []).map(withNumbers);
}

function withShortIntegers(value: unknown): unknown {
  if (typeof value === 'number') return isWide(value) ? BigInt(value) : value;
  return rebuilt(value, withShortIntegers);
}

/** Integers that the library would write as a double. */
function isWide(value: number): boolean {
  return Number.isSafeInteger(value) && (value > 0xffffffff || value < -0x80000000);
}

function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const double = Number(value);
    return Number.isSafeInteger(double) ? double : value;
  }
  return rebuilt(value, withNumbers);
}

/** The same value with `change` applied to every item and member; everything but lists and plain objects stays. */
function rebuilt(value: unknown, change: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member)]));
}
