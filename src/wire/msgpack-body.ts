/**
 * Request bodies to plain values: the MessagePack half (contract: scan-protocol, preamble).
 *
 * Our own reader, because a body has to be read exactly: repeated keys are refused instead of merged, keys are text,
 * text is checked UTF-8, integers keep their 64 bits (beyond ±(2^53−1) as decimal text) and `bin` members are views of
 * the body, never copies (a body may hold 64 MiB of segments). Members that hold a filter or a test record become JSON
 * text, repeats kept, so that both encodings meet the same exact reader in the worker.
 *
 * Invariants: a length is checked against the bytes left before it is used; depth and the number of values are bounded.
 */
import { isUtf8 } from 'node:buffer';
import { refuse } from '../core/error-codes.js';
import { pointerToken } from '../core/json-pointer.js';
import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from '../core/limits.js';
import { staysJsonText } from './body.js';

type Plain = null | boolean | number | string | Uint8Array | Plain[] | { [key: string]: Plain };

/** What a head announces: a scalar, or a container or run of bytes with its length. */
type Head =
  | { readonly is: 'scalar'; readonly value: null | boolean | bigint | number }
  | { readonly is: 'text' | 'bytes' | 'list' | 'map'; readonly length: number };

/** Reads a MessagePack body. Throws `invalid_request` with `position` (bytes from 0) or, for members, `field`. */
export function readMsgpackBody(bytes: Uint8Array): Plain {
  return new Reader(bytes).readWhole();
}

class Reader {
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private at = 0;
  private depth = 0;
  private values = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  readWhole(): Plain {
    const value = this.plain('');
    if (this.at < this.bytes.length) this.fail('Expected the end of the body after the value.');
    return value;
  }

  private plain(pointer: string): Plain {
    if (staysJsonText(pointer)) return this.jsonText(pointer);
    const head = this.head();
    switch (head.is) {
      case 'scalar':
        return typeof head.value === 'bigint' ? plainInteger(head.value) : head.value;
      case 'text':
        return this.text(head.length);
      case 'bytes':
        return this.take(head.length);
      case 'list': {
        this.enter();
        const items: Plain[] = [];
        for (let i = 0; i < head.length; i += 1) items.push(this.plain(`${pointer}/${i}`));
        this.depth -= 1;
        return items;
      }
      case 'map': {
        this.enter();
        const members: { [key: string]: Plain } = {};
        for (let i = 0; i < head.length; i += 1) {
          const key = this.key();
          const at = `${pointer}/${pointerToken(key)}`;
          if (Object.hasOwn(members, key)) {
            refuse('invalid_request', 'This member is given more than once.', { field: at });
          }
          // Defined rather than assigned: a member named `__proto__` must be a member, not a prototype.
          const value = this.plain(at);
          Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true });
        }
        this.depth -= 1;
        return members;
      }
    }
  }

  /** The value here as JSON text: bytes as base64, doubles written so that they read as doubles again. */
  private jsonText(pointer: string): string {
    const head = this.head();
    switch (head.is) {
      case 'scalar':
        return typeof head.value === 'number' ? doubleText(head.value, pointer) : String(head.value);
      case 'text':
        return JSON.stringify(this.text(head.length));
      case 'bytes':
        return `"${Buffer.from(this.take(head.length)).toString('base64')}"`;
      case 'list': {
        this.enter();
        const items: string[] = [];
        for (let i = 0; i < head.length; i += 1) items.push(this.jsonText(pointer));
        this.depth -= 1;
        return `[${items.join(',')}]`;
      }
      case 'map': {
        this.enter();
        const members: string[] = [];
        for (let i = 0; i < head.length; i += 1)
          members.push(`${JSON.stringify(this.key())}:${this.jsonText(pointer)}`);
        this.depth -= 1;
        return `{${members.join(',')}}`;
      }
    }
  }

  private key(): string {
    const head = this.head();
    if (head.is !== 'text') this.fail('A member name has to be text.');
    return this.text(head.length);
  }

  private head(): Head {
    this.values += 1;
    if (this.values > JSON_VALUES_MAX) {
      refuse('invalid_request', `The body holds more than ${JSON_VALUES_MAX} values.`, { limit: JSON_VALUES_MAX });
    }
    const code = this.view.getUint8(this.advance(1));
    if (code < 0x80) return scalar(BigInt(code));
    if (code < 0x90) return this.sized('map', code & 0x0f);
    if (code < 0xa0) return this.sized('list', code & 0x0f);
    if (code < 0xc0) return this.sized('text', code & 0x1f);
    if (code >= 0xe0) return scalar(BigInt(code - 0x100));
    switch (code) {
      case 0xc0:
        return scalar(null);
      case 0xc2:
      case 0xc3:
        return scalar(code === 0xc3);
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.sized('bytes', this.unsigned(1 << (code - 0xc4)));
      case 0xca:
        return scalar(this.view.getFloat32(this.advance(4)));
      case 0xcb:
        return scalar(this.view.getFloat64(this.advance(8)));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return scalar(BigInt(this.unsigned(1 << (code - 0xcc))));
      case 0xcf:
        return scalar(this.view.getBigUint64(this.advance(8)));
      case 0xd0:
        return scalar(BigInt(this.view.getInt8(this.advance(1))));
      case 0xd1:
        return scalar(BigInt(this.view.getInt16(this.advance(2))));
      case 0xd2:
        return scalar(BigInt(this.view.getInt32(this.advance(4))));
      case 0xd3:
        return scalar(this.view.getBigInt64(this.advance(8)));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.sized('text', this.unsigned(1 << (code - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.sized('list', this.unsigned(2 << (code - 0xdc)));
      case 0xde:
      case 0xdf:
        return this.sized('map', this.unsigned(2 << (code - 0xde)));
      default:
        this.at -= 1;
        return this.fail('Extension types have no meaning here.');
    }
  }

  /** A head whose announced length the bytes left can hold: one byte an item, two a member, at the least. */
  private sized(is: 'text' | 'bytes' | 'list' | 'map', length: number): Head {
    const least = is === 'map' ? length * 2 : length;
    if (least > this.bytes.length - this.at) this.fail('The body ends inside this value.');
    return { is, length };
  }

  private unsigned(width: number): number {
    const at = this.advance(width);
    return width === 1 ? this.view.getUint8(at) : width === 2 ? this.view.getUint16(at) : this.view.getUint32(at);
  }

  private text(length: number): string {
    const bytes = this.take(length);
    if (!isUtf8(bytes)) this.fail('This text is not valid UTF-8.');
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  }

  private take(length: number): Uint8Array {
    const at = this.advance(length);
    return this.bytes.subarray(at, at + length);
  }

  private advance(length: number): number {
    if (length > this.bytes.length - this.at) this.fail('The body ends inside this value.');
    this.at += length;
    return this.at - length;
  }

  private enter(): void {
    this.depth += 1;
    if (this.depth > JSON_DEPTH_MAX) {
      refuse('invalid_request', `The body nests deeper than ${JSON_DEPTH_MAX} levels.`, {
        limit: JSON_DEPTH_MAX,
        given: this.depth,
        position: this.at,
      });
    }
  }

  private fail(detail: string): never {
    refuse('invalid_request', `Invalid MessagePack at byte ${this.at}. ${detail}`, { position: this.at });
  }
}

function scalar(value: null | boolean | bigint | number): Head {
  return { is: 'scalar', value };
}

function plainInteger(value: bigint): number | string {
  const double = Number(value);
  return Number.isSafeInteger(double) ? double : String(value);
}

function doubleText(value: number, pointer: string): string {
  if (!Number.isFinite(value)) {
    refuse('invalid_request', 'A number has to be finite.', { field: pointer, given: String(value) });
  }
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}
