/**
 * Every CBOR walker, for tests that say the same of all of them. The kernel's copies each payload to the same place of
 * its window, so that its slots and a test's bytes agree, and puts ever other bytes behind it.
 */
import { CborKernelWalker } from '../../src/codec/cbor/kernel-walker.js';
import { CborWalker } from '../../src/codec/cbor/walker.js';
import type { DecoderLimits, PayloadWalker } from '../../src/codec/walker.js';
import type { Path } from '../../src/core/path.js';
import type { Slots } from '../../src/core/slots.js';
import type { Reason } from '../../src/core/verdict.js';
import { newKernel } from './kernel.js';

export interface CborEngine {
  /** As test names and failures spell it. */
  readonly name: string;
  makeWalker(paths: readonly Path[], limits: DecoderLimits): PayloadWalker;
}

/** Heads, and bytes that begin, continue or break a character of UTF-8. */
const FILLERS = [0x00, 0x41, 0x61, 0x7f, 0x80, 0xa0, 0xa1, 0xbf, 0xc3, 0xf4, 0xf6, 0xff];
const REACH_BYTES = 64;

/** One instance for all, as a worker has: whoever comes next finds what the one before left. */
const kernel = newKernel();
let turn = 0;

class StagedWalker implements PayloadWalker {
  readonly isBarren = false;
  readonly slots: Slots;
  readonly elements: CborKernelWalker['elements'];
  readonly unescaped: Uint8Array;
  private readonly walker: CborKernelWalker;

  constructor(paths: readonly Path[], limits: DecoderLimits) {
    this.walker = new CborKernelWalker(kernel, paths, limits);
    this.slots = this.walker.slots;
    this.elements = this.walker.elements;
    this.unescaped = this.walker.unescaped;
  }

  unescape(): number {
    return this.walker.unescape();
  }

  /** What does not fit in the window is walked where it is. */
  walk(bytes: Uint8Array, start: number, end: number): Reason {
    const { window } = kernel;
    if (end > window.length) return this.walker.walk(bytes, start, end);
    // Byte by byte, since a test counts what is made on the heap.
    for (let at = start; at < end; at++) window[at] = bytes[at]!;
    window.fill(FILLERS[turn++ % FILLERS.length]!, end, end + REACH_BYTES);
    return this.walker.walk(window, start, end);
  }
}

export const CBOR_ENGINES: readonly CborEngine[] = [
  { name: 'TypeScript walker', makeWalker: (paths, limits) => new CborWalker(paths, limits) },
  { name: 'kernel', makeWalker: (paths, limits) => new StagedWalker(paths, limits) },
];
