/**
 * The JSON walker: one pass over a payload's bytes that validates all of it (RFC 8259, UTF-8, numbers, depth) and fills
 * the slots of the wanted paths, building no value (contract: laser-filter §5).
 *
 * Only containers with something wanted inside are walked here, entry by entry; everything else is one `skipValue`.
 *
 * Invariants: calls nest no deeper than the longest wanted path; reading a value first clears everything below it, so
 * that of a repeated key the last one counts and nothing of the record before stays; on a fault the reason is what the
 * contract's order gives (depth over all bytes before syntax), which costs a second look only at payloads that are
 * broken.
 */
import { DEPTH_CEILING } from '../../core/limits.js';
import type { Path } from '../../core/path.js';
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
import { isMarked, NONE, PathTrie } from '../path-trie.js';
import type { DecoderLimits, PayloadWalker } from '../walker.js';
import { JsonElements } from './elements.js';
import { captureNumber, finishNumbers } from './number.js';
import { QUOTE, skipPlain } from './plain-text.js';
import { exceedsDepth, finishString } from './scan-text.js';
import { BAD_SYNTAX, skipColon, skipPlainScalar, skipSpace, skipValue, TOO_MANY_LEVELS } from './skip-value.js';
import { Unescaper } from './unescape.js';

const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;
const ARRAY_OPEN = 0x5b;
const ARRAY_CLOSE = 0x5d;
const COMMA = 0x2c;
const ROOT = 0;

export class JsonWalker implements PayloadWalker {
  /** It looks for no needles. */
  readonly isBarren = false;
  readonly slots: Slots;
  readonly elements: JsonElements;
  private readonly trie: PathTrie;
  private readonly maxPayloadBytes: number;
  private readonly maxDepth: number;
  private readonly unescaper = new Unescaper();
  private bytes: Uint8Array = new Uint8Array(0);
  /** Covers `bytes`; made again only when another buffer comes. */
  private view: DataView = new DataView(new ArrayBuffer(0));
  private end = 0;
  /** True once a wanted number of this payload waits for the exact conversion. */
  private numbersLeft = false;

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
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.end = end;
    this.numbersLeft = false;
    const first = skipSpace(bytes, start, end);
    const past = first < end ? this.value(ROOT, first, this.maxDepth) : BAD_SYNTAX;
    if (past >= 0 && skipSpace(bytes, past, end) === end) {
      if (this.numbersLeft) finishNumbers(bytes, this.slots);
      return NO_REASON;
    }
    if (past === TOO_MANY_LEVELS || exceedsDepth(bytes, start, end, this.maxDepth)) return TOO_DEEP;
    return MALFORMED;
  }

  /** Past the value of `node` that starts at `from`, its slots filled; or BAD_SYNTAX or TOO_MANY_LEVELS. */
  private value(node: number, from: number, levels: number): number {
    const { bytes, view, end, trie, slots } = this;
    const slot = trie.slotOf[node]!;
    const byte = bytes[from]!;
    const isInner = trie.below[node]! < trie.belowEnd[node]!;
    if (isInner) this.clearBelow(node);
    if (byte === QUOTE) {
      let p = skipPlain(view, from + 1, end);
      if (p >= end) return BAD_SYNTAX;
      let kind = SLOT_STRING;
      if (bytes[p] !== QUOTE) {
        const found = finishString(bytes, view, p, end);
        if (found < 0) return BAD_SYNTAX;
        p = found >> 1;
        if ((found & 1) === 1) kind = SLOT_STRING_ESCAPED;
      }
      if (slot !== NONE) {
        slots.kinds[slot] = kind;
        slots.starts[slot] = from + 1;
        slots.ends[slot] = p;
      }
      return p + 1;
    }
    let past;
    if (byte === OBJECT_OPEN && isInner) past = this.object(node, from, levels);
    else if (byte === ARRAY_OPEN && trie.firstIndex[node]! !== NONE) past = this.array(node, from, levels);
    else past = skipValue(bytes, view, from, end, levels);
    if (past >= 0 && slot !== NONE) this.keep(slot, byte, from, past);
    return past;
  }

  /** Fills a slot from a valid value that is not text. */
  private keep(slot: number, byte: number, from: number, past: number): void {
    const { kinds, starts, ends } = this.slots;
    switch (byte) {
      case OBJECT_OPEN:
      case ARRAY_OPEN:
        kinds[slot] = byte === OBJECT_OPEN ? SLOT_OBJECT : SLOT_ARRAY;
        starts[slot] = from;
        ends[slot] = past;
        return;
      case 0x74:
        kinds[slot] = SLOT_TRUE;
        return;
      case 0x66:
        kinds[slot] = SLOT_FALSE;
        return;
      case 0x6e:
        kinds[slot] = SLOT_NULL;
        return;
      default:
        if (!captureNumber(this.bytes, from, past, this.slots, slot)) this.numbersLeft = true;
    }
  }

  /** As `value`, for an object at `from` under which some key is wanted. */
  private object(node: number, from: number, levels: number): number {
    if (levels === 0) return TOO_MANY_LEVELS;
    const { bytes, view, end, trie } = this;
    const marks = trie.keyMarks[node]!;
    let p = (from + 1) | 0;
    if (p < end && bytes[p] !== QUOTE) {
      p = skipSpace(bytes, p, end);
      if (p < end && bytes[p] === OBJECT_CLOSE) return p + 1;
    }
    for (;;) {
      if (p >= end || bytes[p] !== QUOTE) return BAD_SYNTAX;
      const keyStart = (p + 1) | 0;
      p = skipPlain(view, keyStart, end);
      if (p >= end) return BAD_SYNTAX;
      let child = NONE;
      if (bytes[p] === QUOTE) {
        if (isMarked(marks, bytes[keyStart]!, p - keyStart)) child = trie.childByKey(node, bytes, keyStart, p);
      } else {
        const found = finishString(bytes, view, p, end);
        if (found < 0) return BAD_SYNTAX;
        p = found >> 1;
        child = this.childByText(node, keyStart, p, (found & 1) === 1);
      }
      p = skipColon(bytes, (p + 1) | 0, end);
      if (p < 0) return BAD_SYNTAX;
      let byte = bytes[p]!;
      if (child !== NONE) {
        p = this.value(child, p, levels - 1);
      } else if (byte === QUOTE) {
        // PERF: scalars are stepped over here, since a call of `skipValue` would cost as much as they do.
        p = skipPlain(view, p + 1, end);
        if (p >= end) return BAD_SYNTAX;
        if (bytes[p] !== QUOTE) p = finishString(bytes, view, p, end) >> 1;
        p = p < 0 ? BAD_SYNTAX : p + 1;
      } else if (byte === OBJECT_OPEN || byte === ARRAY_OPEN) {
        p = skipValue(bytes, view, p, end, levels - 1);
      } else {
        p = skipPlainScalar(bytes, p, end);
      }
      if (p < 0) return p;
      if (p >= end) return BAD_SYNTAX;
      byte = bytes[p]!;
      if (byte <= 0x20) {
        p = skipSpace(bytes, p, end);
        if (p >= end) return BAD_SYNTAX;
        byte = bytes[p]!;
      }
      p = (p + 1) | 0;
      if (byte === OBJECT_CLOSE) return p;
      if (byte !== COMMA) return BAD_SYNTAX;
      if (p < end && bytes[p] !== QUOTE) p = skipSpace(bytes, p, end);
    }
  }

  /** As `value`, for an array at `from` of which some element is wanted. */
  private array(node: number, from: number, levels: number): number {
    if (levels === 0) return TOO_MANY_LEVELS;
    const { bytes, view, end, trie } = this;
    let p = skipSpace(bytes, from + 1, end);
    if (p < end && bytes[p] === ARRAY_CLOSE) return p + 1;
    let child = trie.firstIndex[node]!;
    for (let index = 0; ; index++) {
      if (p >= end) return BAD_SYNTAX;
      if (child !== NONE && trie.indexAt[child] === index) {
        p = this.value(child, p, levels - 1);
        child = trie.nextIndex[child]!;
      } else {
        p = skipValue(bytes, view, p, end, levels - 1);
      }
      if (p < 0) return p;
      p = skipSpace(bytes, p, end);
      if (p >= end) return BAD_SYNTAX;
      const byte = bytes[p]!;
      if (byte === ARRAY_CLOSE) return p + 1;
      if (byte !== COMMA) return BAD_SYNTAX;
      p = skipSpace(bytes, p + 1, end);
    }
  }

  /** The child for a key that holds escapes or non-ASCII text: keys are compared after unescaping. */
  private childByText(node: number, start: number, end: number, escaped: boolean): number {
    if (!escaped) return this.trie.childByKey(node, this.bytes, start, end);
    const length = this.unescaper.run(this.bytes, start, end);
    return this.trie.childByKey(node, this.unescaper.out, 0, length);
  }

  /** Forgets what an earlier entry under the same key, or the record before, left below `node`. */
  private clearBelow(node: number): void {
    const kinds = this.slots.kinds;
    const end = this.trie.belowEnd[node]!;
    for (let slot = this.trie.below[node]!; slot < end; slot++) kinds[slot] = SLOT_MISSING;
  }
}
