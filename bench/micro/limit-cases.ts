/**
 * How close to the limit: one filter against a pass that only validates, and beside it passes that only find a needle,
 * only sum the bytes, only copy them. All of them bring the same payloads through the kernel's window.
 */
import { readFileSync } from 'node:fs';
import { type Case, once, type Side } from '../harness.js';
import { copySide, engineSide, type Payloads, payloadsOf } from '../payloads.js';
import { validateSide } from './walker-cases.js';
import { ENGINES, theKernel } from '../programs.js';
import { WindowPieces } from '../stretches.js';
import { type FilterDocument, selectivityFilter } from '../datasets/orbit-filters.js';
import { orbitDataset } from '../datasets/orbit.js';
import { REVIEW_QUEUE } from '../datasets/webhook-groups.js';
import { webhooksDataset } from '../datasets/webhooks.js';

/** What `bench/limits/byte-passes.ts` exports. Addresses are from the start of the kernel's memory. */
interface BytePasses {
  sum(from: number, to: number): number;
  find(from: number, to: number, needle: number, length: number, first: number, second: number): number;
}

/** A text to look for, and the places in it of two bytes that are rare in the data. */
interface Needle {
  readonly text: string;
  readonly first: number;
  readonly second: number;
}

/** Empty where this machine has no kernel. `scale` 1 is the real size. */
export function limitCases(scale: number): Case[] {
  if (!ENGINES.includes('kernel')) return [];
  const sized = (count: number): number => Math.max(50, Math.round(count * scale));
  const orbit = once(() => payloadsOf(orbitDataset(), sized(40_000)));
  const webhooks = once(() => payloadsOf(webhooksDataset(), sized(3_290)));
  return [
    limits('orbit JSON', orbit, selectivityFilter(5), { text: '"safe"', first: 1, second: 3 }),
    limits('webhooks JSON', webhooks, REVIEW_QUEUE, { text: '"draft"', first: 1, second: 4 }),
  ];
}

function limits(name: string, payloads: () => Payloads, filter: FilterDocument, needle: Needle): Case {
  return {
    name: `${name}, how close to the limit: one filter, against validation alone`,
    engine: 'kernel',
    size: () => ({ records: payloads().count, bytes: payloads().bytes.length }),
    ratio: 'cost',
    unlikeWork: true,
    sides: () => [
      engineSide('kernel', 'one filter', payloads(), filter),
      validateSide('kernel', payloads()),
      needleSide(payloads(), needle),
      sumSide(payloads()),
      copySide(payloads(), theKernel().window),
    ],
  };
}

function sumSide(payloads: Payloads): Side {
  const kernel = theKernel();
  const passes = bytePasses();
  const pieces = new WindowPieces(kernel, payloads);
  const from = kernel.exports.WINDOW_AT.value;
  return {
    name: 'sum bytes',
    run() {
      let total = 0;
      pieces.forEachPiece((bytes) => {
        for (let at = 0; at < bytes; at += CALL_BYTES) {
          total = (total + passes.sum(from + at, from + Math.min(at + CALL_BYTES, bytes))) | 0;
        }
      });
      return total;
    },
  };
}

function needleSide(payloads: Payloads, { text, first, second }: Needle): Side {
  const kernel = theKernel();
  const passes = bytePasses();
  const pieces = new WindowPieces(kernel, payloads);
  const from = kernel.exports.WINDOW_AT.value;
  const needleAt = from + kernel.window.length + NEEDLE_DISTANCE;
  new Uint8Array(kernel.buffer, needleAt).set(Buffer.from(text));
  return {
    name: `find ${text}`,
    run() {
      let count = 0;
      pieces.forEachPiece((bytes) => {
        for (let at = 0; at < bytes; at += CALL_BYTES) {
          // What begins in this stretch may end in the next.
          const end = Math.min(at + CALL_BYTES + text.length - 1, bytes);
          count += passes.find(from + at, from + end, needleAt, text.length, first, second);
        }
      });
      return count;
    },
  };
}

/** Bytes for each call: few enough calls to cost nothing, and enough that the optimising compiler takes over. */
const CALL_BYTES = 16 << 10;

/** Behind the window, further than a pass over it reads. */
const NEEDLE_DISTANCE = 4096;

const bytePasses = once((): BytePasses => {
  const module = new WebAssembly.Module(readFileSync(new URL('../limits.wasm', import.meta.url)));
  const { memory } = theKernel().exports;
  return new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as BytePasses;
});
