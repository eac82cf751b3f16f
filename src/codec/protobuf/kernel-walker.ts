/**
 * The Protobuf walker over the kernel, which runs the same plan in WebAssembly: one payload a call, into one row of slots
 * (design: house §5, kernel).
 *
 * What the kernel does not do, the portable walker does, into the same slots: bytes outside the window, payloads that the
 * kernel leaves to it (required fields that may be missing, maps whose keys are no strings, elements that stand in very
 * many runs), and everything where plans or slots do not fit the kernel's regions.
 *
 * Invariant: whatever walker used the kernel before, this one's image stands there before it walks.
 */
import type { Kernel } from '../../core/kernel.js';
import type { Path } from '../../core/path.js';
import { SLOT_BYTES, Slots } from '../../core/slots.js';
import { NO_REASON, type Reason } from '../../core/verdict.js';
import type { DecoderLimits, SchemaWalker } from '../walker.js';
import type { ProtobufElements } from './elements.js';
import { Runs } from './runs.js';
import type { ProtobufSchema } from './schema.js';
import { ProtobufWalker } from './walker.js';

export class ProtobufKernelWalker implements SchemaWalker {
  /** It looks for no needles. */
  readonly isBarren = false;
  readonly slots: Slots;
  readonly elements: ProtobufElements;
  readonly unescaped: Uint8Array;
  private readonly kernel: Kernel;
  private readonly portable: ProtobufWalker;
  /** Null where plans or slots do not fit the kernel's regions. */
  private readonly image: Uint8Array | null;
  /** Those that the kernel notes. */
  private readonly runs: Runs;
  private readonly asksWalker: number;
  private schema = 0;

  /** As that of `ProtobufWalker`. */
  constructor(kernel: Kernel, paths: readonly Path[], limits: DecoderLimits, schemas: readonly ProtobufSchema[]) {
    const { exports } = kernel;
    this.kernel = kernel;
    this.portable = new ProtobufWalker(paths, limits, schemas);
    this.elements = this.portable.elements;
    this.unescaped = this.portable.unescaped;
    this.asksWalker = exports.ASKS_WALKER.value;
    const runsMax = exports.PROTOBUF_RUNS.value;
    this.runs = new Runs(runsMax, { buffer: kernel.buffer, at: exports.PROTOBUF_RUNS_AT.value, count: runsMax });
    const fits = paths.length * SLOT_BYTES <= exports.PROTOBUF_SLOTS_BYTES.value && this.portable.lists <= runsMax;
    const place = { at: exports.PROTOBUF_IMAGE_AT.value, bytesMax: exports.PROTOBUF_IMAGE_BYTES.value };
    this.image = fits ? this.portable.kernelImage(place) : null;
    this.slots =
      this.image === null
        ? this.portable.slots
        : new Slots(paths.length, { buffer: kernel.buffer, at: exports.PROTOBUF_SLOTS_AT.value, rows: 1 });
  }

  unescape(): number {
    return 0;
  }

  chooseSchema(index: number): void {
    this.schema = index;
    this.portable.chooseSchema(index);
  }

  walk(bytes: Uint8Array, start: number, end: number): Reason {
    const { image, kernel } = this;
    if (image === null) return this.portable.walk(bytes, start, end);
    if (bytes === kernel.window) {
      if (kernel.protobufOwner !== this) this.load(image);
      const reason = kernel.exports.walkProtobuf(start, end, this.schema);
      if (reason !== this.asksWalker) {
        this.elements.readRuns(this.runs);
        return reason as Reason;
      }
    }
    return this.walkPortably(bytes, start, end);
  }

  private walkPortably(bytes: Uint8Array, start: number, end: number): Reason {
    const { portable } = this;
    this.elements.readRuns(portable.runs);
    const reason = portable.walk(bytes, start, end);
    if (reason === NO_REASON) this.slots.takeRow(portable.slots);
    return reason;
  }

  private load(image: Uint8Array): void {
    const { kernel } = this;
    new Uint8Array(kernel.buffer).set(image, kernel.exports.PROTOBUF_IMAGE_AT.value);
    kernel.protobufOwner = this;
  }
}
