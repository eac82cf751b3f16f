/**
 * The Avro walker over the kernel, which runs the same plan in WebAssembly: one payload a call, into one row of slots
 * (design: house §5, kernel).
 *
 * What the kernel does not do, the portable walker does, into the same slots: bytes outside the window, and everything
 * where plan or slots do not fit the kernel's regions.
 *
 * Invariant: whatever walker used the kernel before, this one's image stands there before it walks.
 */
import type { Kernel } from '../../core/kernel.js';
import type { Path } from '../../core/path.js';
import { SLOT_BYTES, Slots } from '../../core/slots.js';
import { NO_REASON, type Reason } from '../../core/verdict.js';
import type { DecoderLimits, SchemaWalker } from '../walker.js';
import type { AvroElements } from './elements.js';
import type { AvroSchema } from './schema.js';
import { AvroWalker } from './walker.js';

export class AvroKernelWalker implements SchemaWalker {
  /** It looks for no needles. */
  readonly isBarren = false;
  readonly slots: Slots;
  readonly elements: AvroElements;
  private readonly kernel: Kernel;
  private readonly portable: AvroWalker;
  /** Null where plan or slots do not fit the kernel's regions. */
  private readonly image: Uint8Array | null;
  private schema = 0;

  /** As that of `AvroWalker`. */
  constructor(kernel: Kernel, paths: readonly Path[], limits: DecoderLimits, schemas: readonly AvroSchema[]) {
    const { AVRO_IMAGE_BYTES, AVRO_SLOTS_AT, AVRO_SLOTS_BYTES } = kernel.exports;
    this.kernel = kernel;
    this.portable = new AvroWalker(paths, limits, schemas);
    const image = this.portable.kernelImage();
    const fits =
      image.length <= AVRO_IMAGE_BYTES.value &&
      paths.length * SLOT_BYTES <= AVRO_SLOTS_BYTES.value &&
      limits.maxPayloadBytes <= kernel.window.length;
    this.image = fits ? image : null;
    this.slots = fits
      ? new Slots(paths.length, { buffer: kernel.buffer, at: AVRO_SLOTS_AT.value, rows: 1 })
      : this.portable.slots;
    this.elements = fits ? this.portable.elementsOf(this.slots) : this.portable.elements;
  }

  get unescaped(): Uint8Array {
    return this.portable.unescaped;
  }

  unescape(bytes: Uint8Array, start: number, end: number): number {
    return this.portable.unescape(bytes, start, end);
  }

  chooseSchema(index: number): void {
    this.schema = index;
    this.portable.chooseSchema(index);
  }

  walk(bytes: Uint8Array, start: number, end: number): Reason {
    const { image, kernel } = this;
    if (image !== null && bytes === kernel.window) {
      if (kernel.avroOwner !== this) this.load(image);
      return kernel.exports.walkAvro(start, end, this.schema) as Reason;
    }
    const reason = this.portable.walk(bytes, start, end);
    if (image !== null && reason === NO_REASON) this.slots.takeRow(this.portable.slots);
    return reason;
  }

  private load(image: Uint8Array): void {
    const { kernel } = this;
    new Uint8Array(kernel.buffer).set(image, kernel.exports.AVRO_IMAGE_AT.value);
    kernel.avroOwner = this;
  }
}
