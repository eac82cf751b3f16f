/**
 * The small shapes from which requests and replies are built (contract: scan-protocol, preamble).
 *
 * Schemas here are what validates a request and what `/openapi.json` shows. Two things JSON schema cannot say are left
 * to the planner: lengths in bytes, and the range of a 64-bit number given as text.
 */
import Type from 'typebox';
import { INTEGER_DIGITS_MAX, OFFSET_MAX } from '../core/limits.js';

/** Options of an envelope object: unknown members are refused, because nothing a caller asks for may be ignored. */
export const CLOSED = { additionalProperties: false } as const;

/** An offset or count as a reply carries it: an integer of 0 … 2^53−1. */
export const Uint53 = Type.Integer({ minimum: 0, maximum: OFFSET_MAX });

/**
 * An unsigned 64-bit number as a request may write it: a number when exact, else decimal text (MessagePack integers
 * that do not fit a double arrive as text too).
 */
export const Uint64Input = Type.Union([Uint53, Type.String({ pattern: '^(0|[1-9][0-9]{0,19})$' })], {
  description: 'Unsigned integer: a number up to 2^53−1, or decimal text.',
});

/**
 * A budget as a request may write it: any integer from `least` (0 or 1) on, however large, because one above the cap is
 * lowered and not refused; decimal text where a number would not be exact.
 */
export function Budget(least: 0 | 1) {
  const pattern = least === 0 ? '^(0|[1-9][0-9]*)$' : '^[1-9][0-9]*$';
  return Type.Union([Type.Integer({ minimum: least }), Type.String({ pattern, maxLength: INTEGER_DIGITS_MAX })], {
    description: `Integer from ${least} on, a number or decimal text; above the configured cap it is lowered to that.`,
  });
}

/** A signed or unsigned 64-bit number as a reply carries it: a number when exact, else decimal text. */
export const Int64Output = Type.Union([Type.Integer(), Type.String({ pattern: '^-?[0-9]+$' })], {
  description: 'Integer: a number within ±(2^53−1), decimal text beyond.',
});

/** Bytes: base64 text in JSON, `bin` in MessagePack. */
export const Bytes = Type.Unsafe<string | Uint8Array>({
  contentEncoding: 'base64',
  description: 'Bytes: base64 text in JSON, bin in MessagePack.',
});

/** One of a closed list of words, as an enumeration. */
export function words<const T extends readonly string[]>(list: T, description: string) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...list], description });
}

/**
 * Any JSON value that the body readers keep as its own JSON text, to be read exactly in a worker: the caller writes a
 * value, the program sees a string.
 */
export function JsonValue(description: string) {
  return Type.Unsafe<string>({ description });
}
