/**
 * The JSON walker: one pass over a payload's bytes that validates all of it (RFC 8259, UTF-8, numbers, depth) and fills
 * the slots of the wanted paths, building no value (contract: laser-filter §5).
 *
 * Invariants: the walk is one loop over explicit stacks, so nesting costs no call stack; a wanted key that comes again
 * first clears everything below it, so the last one counts; on a fault the reason is what the contract's order gives
 * (depth over all bytes before syntax), which costs a second look only at payloads that are broken.
 */
import type { Path } from '../../core/path.js';
import { DEPTH_CEILING } from '../../core/limits.js';
import {
  Slots,
  SLOT_ARRAY,
  SLOT_FALSE,
  SLOT_MISSING,
  SLOT_NULL,
  SLOT_OBJECT,
  SLOT_STRING,
  SLOT_STRING_ESCAPED,
  SLOT_TRUE,
} from '../../core/slots.js';
import { MALFORMED, NO_REASON, type Reason, TOO_DEEP, TOO_LARGE } from '../../core/verdict.js';
import { NONE, PathTrie } from '../path-trie.js';
import type { DecoderLimits, PayloadWalker } from '../walker.js';
import { JsonElements } from './elements.js';
import { captureNumber, finishNumbers } from './number.js';
import { exceedsDepth, finishString, PLAIN, QUOTE, skipNumber } from './scan-text.js';
import { Unescaper } from './unescape.js';

const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;
const ARRAY_OPEN = 0x5b;
const ARRAY_CLOSE = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

export class JsonWalker implements PayloadWalker {
  readonly slots: Slots;
  readonly elements: JsonElements;
  private readonly trie: PathTrie;
  private readonly maxPayloadBytes: number;
  private readonly maxDepth: number;
  private readonly unescaper = new Unescaper();
  private viewed: Uint8Array = new Uint8Array(0);
  private view: DataView = new DataView(new ArrayBuffer(0));
  /** True once a wanted number of this payload waits for the exact conversion. */
  private numbersLeft = false;
  // What to go back to when a container closes, by depth: its parent's node and kind packed, and its place in an array.
  private readonly outerFrame = new Int32Array(DEPTH_CEILING + 1);
  private readonly outerElement = new Int32Array(DEPTH_CEILING + 1);
  private readonly outerCursor = new Int32Array(DEPTH_CEILING + 1);

  /** `paths` as the interface wants them; `limits.maxDepth` 0…127. */
  constructor(paths: readonly Path[], limits: DecoderLimits) {
    this.trie = new PathTrie(paths);
    this.slots = new Slots(paths.length);
    this.elements = new JsonElements();
    this.maxPayloadBytes = limits.maxPayloadBytes;
    this.maxDepth = Math.min(limits.maxDepth, DEPTH_CEILING);
  }

  get unescaped(): Uint8Array {
    return this.unescaper.out;
  }

  unescape(bytes: Uint8Array, start: number, end: number): number {
    return this.unescaper.run(bytes, start, end);
  }

  walk(bytes: Uint8Array, start: number, end: number): Reason {
    if (end - start > this.maxPayloadBytes) return TOO_LARGE;
    this.numbersLeft = false;
    const reason = this.scan(bytes, start, end);
    if (reason === NO_REASON) {
      if (this.numbersLeft) finishNumbers(bytes, this.slots);
      return NO_REASON;
    }
    if (reason === MALFORMED && exceedsDepth(bytes, start, end, this.maxDepth)) return TOO_DEEP;
    return reason;
  }

  /** The walk proper. MALFORMED here only means "not JSON"; TOO_DEEP is final, since all before it was well-formed. */
  private scan(bytes: Uint8Array, start: number, end: number): Reason {
    if (bytes !== this.viewed) {
      this.viewed = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    const view = this.view;
    const trie = this.trie;
    const slotOf = trie.slotOf;
    const { kinds, starts, ends } = this.slots;
    const { outerFrame, outerElement, outerCursor, maxDepth } = this;
    for (let slot = 0; slot < kinds.length; slot++) kinds[slot] = SLOT_MISSING;

    let p = start;
    let depth = 0;
    let inObject = false;
    // The node of the container we are in, and of the value that comes next; NONE where nothing below is wanted.
    let node = NONE;
    let target = 0;
    let element = 0;
    let cursor = NONE;

    // Each turn reads one value with what introduces it: the root, an object's member, an array's element.
    for (;;) {
      if (p >= end) return MALFORMED;
      let byte = bytes[p]!;
      while (byte <= 0x20) {
        if (!isSpace(byte) || ++p >= end) return MALFORMED;
        byte = bytes[p]!;
      }

      if (inObject) {
        if (byte !== QUOTE) return MALFORMED;
        const keyStart = ++p;
        p = skipPlain(view, bytes, p, end);
        if (p >= end) return MALFORMED;
        if (bytes[p] === QUOTE) {
          if (node !== NONE) target = trie.childByKey(node, bytes, keyStart, p);
        } else {
          const found = finishString(bytes, p, end);
          if (found < 0) return MALFORMED;
          p = found >> 1;
          if (node !== NONE) target = this.childByText(node, bytes, keyStart, p, (found & 1) === 1);
        }
        if (target !== NONE) this.clearBelow(target);
        if (++p >= end) return MALFORMED;
        byte = bytes[p]!;
        while (byte <= 0x20) {
          if (!isSpace(byte) || ++p >= end) return MALFORMED;
          byte = bytes[p]!;
        }
        if (byte !== COLON || ++p >= end) return MALFORMED;
        byte = bytes[p]!;
        while (byte <= 0x20) {
          if (!isSpace(byte) || ++p >= end) return MALFORMED;
          byte = bytes[p]!;
        }
      } else if (cursor !== NONE) {
        target = NONE;
        if (trie.indexAt[cursor] === element) {
          target = cursor;
          cursor = trie.nextIndex[cursor]!;
        }
        element++;
      }

      const slot = target === NONE ? NONE : slotOf[target]!;
      if (byte === QUOTE) {
        const textStart = ++p;
        p = skipPlain(view, bytes, p, end);
        if (p >= end) return MALFORMED;
        let kind = SLOT_STRING;
        if (bytes[p] !== QUOTE) {
          const found = finishString(bytes, p, end);
          if (found < 0) return MALFORMED;
          p = found >> 1;
          if ((found & 1) === 1) kind = SLOT_STRING_ESCAPED;
        }
        if (slot !== NONE) {
          kinds[slot] = kind;
          starts[slot] = textStart;
          ends[slot] = p;
        }
        p++;
      } else if (byte === OBJECT_OPEN || byte === ARRAY_OPEN) {
        if (depth === maxDepth) return TOO_DEEP;
        outerFrame[depth] = (node << 1) | (inObject ? 1 : 0);
        outerElement[depth] = element;
        outerCursor[depth] = cursor;
        depth++;
        inObject = byte === OBJECT_OPEN;
        node = target;
        cursor = NONE;
        if (node !== NONE) {
          if (slot !== NONE) {
            kinds[slot] = inObject ? SLOT_OBJECT : SLOT_ARRAY;
            starts[slot] = p;
          }
          if (!inObject) {
            element = 0;
            cursor = trie.firstIndex[node]!;
          }
        }
        target = NONE;
        if (++p >= end) return MALFORMED;
        byte = bytes[p]!;
        while (byte <= 0x20) {
          if (!isSpace(byte) || ++p >= end) return MALFORMED;
          byte = bytes[p]!;
        }
        // Only right after its opening may a container close without an entry before it.
        if (byte !== (inObject ? OBJECT_CLOSE : ARRAY_CLOSE)) continue;
      } else if (byte === 0x74) {
        if (p + 4 > end || bytes[p + 1] !== 0x72 || bytes[p + 2] !== 0x75 || bytes[p + 3] !== 0x65) return MALFORMED;
        if (slot !== NONE) kinds[slot] = SLOT_TRUE;
        p += 4;
      } else if (byte === 0x66) {
        if (p + 5 > end || bytes[p + 1] !== 0x61 || bytes[p + 2] !== 0x6c || bytes[p + 3] !== 0x73) return MALFORMED;
        if (bytes[p + 4] !== 0x65) return MALFORMED;
        if (slot !== NONE) kinds[slot] = SLOT_FALSE;
        p += 5;
      } else if (byte === 0x6e) {
        if (p + 4 > end || bytes[p + 1] !== 0x75 || bytes[p + 2] !== 0x6c || bytes[p + 3] !== 0x6c) return MALFORMED;
        if (slot !== NONE) kinds[slot] = SLOT_NULL;
        p += 4;
      } else {
        const numberStart = p;
        p = skipNumber(bytes, p, end);
        if (p < 0) return MALFORMED;
        if (slot !== NONE && !captureNumber(bytes, numberStart, p, this.slots, slot)) this.numbersLeft = true;
      }

      // After a value: close what closes here, until a comma asks for the next entry or the root is complete.
      for (;;) {
        if (depth === 0) return onlySpace(bytes, p, end) ? NO_REASON : MALFORMED;
        if (p >= end) return MALFORMED;
        byte = bytes[p]!;
        while (byte <= 0x20) {
          if (!isSpace(byte) || ++p >= end) return MALFORMED;
          byte = bytes[p]!;
        }
        p++;
        if (byte === COMMA) break;
        if (byte !== (inObject ? OBJECT_CLOSE : ARRAY_CLOSE)) return MALFORMED;
        if (node !== NONE) {
          const closed = slotOf[node]!;
          if (closed !== NONE) ends[closed] = p;
        }
        depth--;
        const frame = outerFrame[depth]!;
        node = frame >> 1;
        inObject = (frame & 1) === 1;
        element = outerElement[depth]!;
        cursor = outerCursor[depth]!;
        target = NONE;
      }
      target = NONE;
    }
  }

  /** The child for a key that holds escapes or non-ASCII text: keys are compared after unescaping. */
  private childByText(node: number, bytes: Uint8Array, start: number, end: number, escaped: boolean): number {
    if (!escaped) return this.trie.childByKey(node, bytes, start, end);
    const length = this.unescaper.run(bytes, start, end);
    return this.trie.childByKey(node, this.unescaper.out, 0, length);
  }

  /** Forgets what an earlier entry under the same key left below `node`; its own slot is about to be overwritten. */
  private clearBelow(node: number): void {
    const kinds = this.slots.kinds;
    const end = this.trie.belowEnd[node]!;
    for (let slot = this.trie.below[node]!; slot < end; slot++) kinds[slot] = SLOT_MISSING;
  }
}

function skipPlain(view: DataView, bytes: Uint8Array, from: number, end: number): number {
  let p = from;
  while (p + 4 <= end) {
    const x = view.getInt32(p, true);
    const m = (x | (x - 0x20202020) | ((x ^ 0x22222222) - 0x01010101) | ((x ^ 0x5c5c5c5c) - 0x01010101)) & 0x80808080;
    if (m !== 0) return p + ((31 - Math.clz32(m & -m)) >> 3);
    p += 4;
  }
  while (p < end && PLAIN[bytes[p]!] === 1) p++;
  return p;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function onlySpace(bytes: Uint8Array, from: number, end: number): boolean {
  for (let p = from; p < end; p++) {
    if (!isSpace(bytes[p]!)) return false;
  }
  return true;
}
