/**
 * The obvious CBOR decoder: one whole payload to a `Value`, or the reason why not (contract: laser-filter §4, §5).
 *
 * It is written to be read beside the contract, and is what the fast walker is compared with: it shares nothing with
 * it. Order of checks: size, then the first error in reading order. A value's depth is checked before its first byte, a
 * length or count where it stands, a repeated key before its value.
 *
 * Invariants: recursion is bounded by the depth limit; what is kept is bounded by the bytes read.
 */
import { MALFORMED, type Reason, TOO_DEEP, TOO_LARGE } from '../../core/verdict.js';
import type { Decoded, Value } from '../value.js';
import type { DecoderLimits } from '../walker.js';

/** Decodes the payload. Reasons: `too_large` before all others, then whichever of `too_deep`, `malformed` comes first. */
export function decodeCbor(payload: Uint8Array, limits: DecoderLimits): Decoded {
  if (payload.length > limits.maxPayloadBytes) return { ok: false, reason: TOO_LARGE };
  try {
    return { ok: true, value: new Reader(payload, limits.maxDepth).readWhole() };
  } catch (thrown) {
    if (thrown instanceof PayloadFault) return { ok: false, reason: thrown.reason };
    throw thrown;
  }
}

/** How a reader gives up; it never leaves this file. */
class PayloadFault extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Major types (RFC 8949 §3.1). */
const UNSIGNED = 0;
const NEGATIVE = 1;
const BYTES = 2;
const TEXT = 3;
const ARRAY = 4;
const MAP = 5;
const TAG = 6;

const INTEGER_MIN = -(2n ** 63n);

/** RFC 8949, less what the contract leaves out; throws PayloadFault. */
class Reader {
  readonly #payload: Uint8Array;
  readonly #view: DataView;
  readonly #maxDepth: number;
  #at = 0;

  constructor(payload: Uint8Array, maxDepth: number) {
    this.#payload = payload;
    this.#view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    this.#maxDepth = maxDepth;
  }

  readWhole(): Value {
    const value = this.#item(0);
    if (this.#at !== this.#payload.length) throw malformed('bytes after the item');
    return value;
  }

  #item(depth: number): Value {
    if (depth > this.#maxDepth) throw new PayloadFault(TOO_DEEP, `depth ${depth}`);
    const head = this.#view.getUint8(this.#skip(1));
    const major = head >> 5;
    const info = head & 31;
    switch (major) {
      case UNSIGNED:
        return this.#argument(info);
      case NEGATIVE: {
        const value = -1n - this.#argument(info);
        if (value < INTEGER_MIN) throw malformed('integer below -2^63');
        return value;
      }
      case BYTES:
        return Array.from(this.#bytes(info), BigInt);
      case TEXT:
        return this.#text(info);
      case ARRAY: {
        const items: Value[] = [];
        for (let count = this.#count(info, 1); count > 0; count--) items.push(this.#item(depth + 1));
        return items;
      }
      case MAP: {
        const entries = new Map<string, Value>();
        for (let count = this.#count(info, 2); count > 0; count--) {
          const key = this.#key();
          if (entries.has(key)) throw malformed('repeated key');
          entries.set(key, this.#item(depth + 1));
        }
        return entries;
      }
      case TAG:
        throw malformed('tag');
      default:
        return this.#simple(info);
    }
  }

  #key(): string {
    const head = this.#view.getUint8(this.#skip(1));
    if (head >> 5 !== TEXT) throw malformed('key that is not text');
    return this.#text(head & 31);
  }

  #text(info: number): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.#bytes(info));
    } catch (thrown) {
      // The text decoder says TypeError for bytes that are not UTF-8.
      if (thrown instanceof TypeError) throw malformed('text that is not UTF-8');
      throw thrown;
    }
  }

  #bytes(info: number): Uint8Array {
    const length = this.#count(info, 1);
    const start = this.#skip(length);
    return this.#payload.subarray(start, start + length);
  }

  /** A length, or a count of things that take at least `bytesEach` bytes each: no larger than the bytes left. */
  #count(info: number, bytesEach: number): number {
    const count = this.#argument(info);
    if (count * BigInt(bytesEach) > BigInt(this.#payload.length - this.#at))
      throw malformed('more than the bytes left');
    return Number(count);
  }

  /** The number in a head or behind it (RFC 8949 §3); indefinite lengths and reserved values have none. */
  #argument(info: number): bigint {
    if (info < 24) return BigInt(info);
    switch (info) {
      case 24:
        return BigInt(this.#view.getUint8(this.#skip(1)));
      case 25:
        return BigInt(this.#view.getUint16(this.#skip(2)));
      case 26:
        return BigInt(this.#view.getUint32(this.#skip(4)));
      case 27:
        return this.#view.getBigUint64(this.#skip(8));
      default:
        throw malformed('indefinite or reserved');
    }
  }

  /** Simple values and floats (RFC 8949 §3.3). */
  #simple(info: number): Value {
    switch (info) {
      case 20:
        return false;
      case 21:
        return true;
      // Null, and undefined, which reads as it.
      case 22:
      case 23:
        return null;
      case 25:
        return finite(halfFloat(this.#view.getUint16(this.#skip(2))));
      case 26:
        return finite(this.#view.getFloat32(this.#skip(4)));
      case 27:
        return finite(this.#view.getFloat64(this.#skip(8)));
      default:
        throw malformed('simple value');
    }
  }

  /** Goes past `length` bytes, which have to be there, and says where they begin. */
  #skip(length: number): number {
    const start = this.#at;
    if (length > this.#payload.length - start) throw malformed('cut short');
    this.#at = start + length;
    return start;
  }
}

function malformed(message: string): PayloadFault {
  return new PayloadFault(MALFORMED, message);
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw malformed('float that is not finite');
  return value;
}

/** IEEE 754 binary16, from its bits. */
function halfFloat(bits: number): number {
  const sign = bits >> 15 === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 31;
  const fraction = (bits & 1023) / 1024;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -14 : sign * (1 + fraction) * 2 ** (exponent - 15);
}
