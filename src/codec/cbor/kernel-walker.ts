/**
 * The CBOR walker over the kernel (design: house §5, kernel). What the kernel does not do, the portable walker does, into
 * the same slots: bytes outside the window, maps of very many keys, and everything where the paths do not fit the
 * kernel's tables.
 *
 * Invariants: as `PayloadWalker` wants them.
 */
import type { Kernel, KernelExports } from '../../core/kernel.js';
import type { Path } from '../../core/path.js';
import { SLOT_BYTES, Slots } from '../../core/slots.js';
import { NO_REASON, type Reason } from '../../core/verdict.js';
import { PathTrie } from '../path-trie.js';
import type { DecoderLimits, PayloadWalker } from '../walker.js';
import type { CborElements } from './elements.js';
import { cborTree } from './kernel-tree.js';
import { CborWalker } from './walker.js';

/** Slots are made missing eight at a time. */
const SLOTS_PADDING_BYTES = 8;

export class CborKernelWalker implements PayloadWalker {
  /** It looks for no needles. */
  readonly isBarren = false;
  readonly slots: Slots;
  readonly elements: CborElements;
  readonly unescaped: Uint8Array;
  private readonly kernel: Kernel;
  private readonly exports: KernelExports;
  private readonly window: Uint8Array;
  private readonly asksWalker: number;
  private readonly portable: CborWalker;
  /** Null where the paths do not fit the kernel's tables. */
  private readonly image: Uint8Array | null;

  /** As the portable walker's, over the bytes in the window of `kernel`. */
  constructor(kernel: Kernel, paths: readonly Path[], limits: DecoderLimits) {
    this.kernel = kernel;
    this.exports = kernel.exports;
    this.window = kernel.window;
    this.portable = new CborWalker(paths, limits);
    this.elements = this.portable.elements;
    this.unescaped = this.portable.unescaped;
    const { CBOR_IMAGE_AT, CBOR_IMAGE_BYTES, CBOR_SLOTS_AT, CBOR_SLOTS_BYTES, ASKS_WALKER } = kernel.exports;
    this.asksWalker = ASKS_WALKER.value;
    const count = paths.length;
    const image = cborTree(new PathTrie(paths), limits, count, CBOR_IMAGE_AT.value);
    const fits =
      image.length <= CBOR_IMAGE_BYTES.value && count * SLOT_BYTES + SLOTS_PADDING_BYTES <= CBOR_SLOTS_BYTES.value;
    this.image = fits ? image : null;
    this.slots = fits
      ? new Slots(count, { buffer: kernel.buffer, at: CBOR_SLOTS_AT.value, rows: 1 })
      : this.portable.slots;
  }

  /** No slot asks for it: there is no other spelling of text. */
  unescape(): number {
    return 0;
  }

  walk(bytes: Uint8Array, start: number, end: number): Reason {
    if (bytes !== this.window || this.image === null) return this.walkPortably(bytes, start, end);
    if (this.kernel.cborOwner !== this) this.load(this.image);
    const reason = this.exports.walkCbor(start, end);
    return reason === this.asksWalker ? this.walkPortably(bytes, start, end) : (reason as Reason);
  }

  private load(image: Uint8Array): void {
    const { kernel } = this;
    new Uint8Array(kernel.buffer).set(image, this.exports.CBOR_IMAGE_AT.value);
    kernel.cborOwner = this;
  }

  /** The defined slow path: the portable walker, and its slots taken over. */
  private walkPortably(bytes: Uint8Array, start: number, end: number): Reason {
    const { slots, portable } = this;
    const reason = portable.walk(bytes, start, end);
    if (reason === NO_REASON && slots !== portable.slots) slots.takeRow(portable.slots);
    return reason;
  }
}
