/**
 * The buffer through which a worker reads stored segments: one per worker, used again for every scan.
 *
 * A fresh page of memory can cost more than 10 µs on a virtual machine, so the ordinary buffer is touched once, when
 * it is made, and kept. A frame that does not fit gets a larger buffer of its own size, which is dropped at the next
 * refill that no longer needs it: one huge frame does not pin memory.
 *
 * Invariant: `bytes` never shrinks below the size it was made with, and holds at most what was asked for.
 */
import type { Kernel } from '../core/kernel.js';
import { FRAME_BYTES_MAX, WINDOW_BYTES } from '../core/limits.js';

/** A recycled byte window. `bytes` is another array after a `reserve` that changed its size. */
export class Window {
  /** Whose window this is in its ordinary size; undefined where the memory is its own. */
  readonly kernel: Kernel | undefined;
  readonly #ordinary: Uint8Array;
  readonly #ordinaryBytes: number;
  bytes: Uint8Array;

  /** `ordinaryBytes`: size kept between frames, 64 bytes … FRAME_BYTES_MAX; no more than the kernel has is used. */
  constructor(ordinaryBytes: number = WINDOW_BYTES, kernel?: Kernel) {
    if (ordinaryBytes < 64 || ordinaryBytes > FRAME_BYTES_MAX) throw new RangeError(`window of ${ordinaryBytes} bytes`);
    this.kernel = kernel;
    this.#ordinary = kernel?.window ?? new Uint8Array(ordinaryBytes);
    this.#ordinaryBytes = Math.min(ordinaryBytes, this.#ordinary.length);
    // Zeroed memory is mapped lazily: writing once here keeps page faults out of the first scan.
    this.#ordinary.fill(1);
    this.bytes = this.#ordinary;
  }

  /** True while a frame larger than the ordinary size holds a buffer of its own. */
  get isGrown(): boolean {
    return this.bytes !== this.#ordinary;
  }

  /** How much of `bytes` is there to be read into. */
  get capacity(): number {
    return this.isGrown ? this.bytes.length : this.#ordinaryBytes;
  }

  /**
   * Makes room for `neededBytes` from position 0 on and moves `bytes[from, to)` there. The caller has made sure that
   * the segment really has that many bytes, so a lying length cannot allocate.
   */
  reserve(neededBytes: number, from: number, to: number): void {
    const current = this.bytes;
    if (neededBytes <= this.#ordinaryBytes) {
      if (current === this.#ordinary) current.copyWithin(0, from, to);
      else this.#ordinary.set(current.subarray(from, to));
      this.bytes = this.#ordinary;
    } else if (this.isGrown && neededBytes <= current.length) {
      current.copyWithin(0, from, to);
    } else {
      this.bytes = new Uint8Array(neededBytes);
      this.bytes.set(current.subarray(from, to));
    }
  }
}
