/**
 * Payloads of a dataset laid out for in-process benchmarks, and what passes over them: the program with either engine,
 * and the baseline.
 *
 * All sides read the same bytes at the same positions and feed the same checksum.
 */
import type { Engine, Side } from './harness.js';
import { Checksum } from './harness.js';
import { compileNaive, type NaiveNode, parseOnly, scanNaive, type Utf8Bytes } from './naive.js';
import type { Dataset } from './datasets/dataset.js';
import type { FilterDocument } from './datasets/orbit-filters.js';
import { programOf, theKernel } from './programs.js';
import { WindowPieces } from './window-pieces.js';
import { SELECTED, verdictOf } from '../src/core/verdict.js';

/** Payloads back to back; record `i` stands at `positions[2i]`…`positions[2i+1]`. */
export interface Payloads {
  readonly bytes: Utf8Bytes;
  readonly positions: Int32Array;
  readonly count: number;
}

/** The first `count` payloads of a dataset. */
export function payloadsOf(dataset: Dataset, count: number): Payloads {
  const parts: Uint8Array[] = [];
  const positions = new Int32Array(count * 2);
  let at = 0;
  for (let index = 0; index < count; index++) {
    const { payload } = dataset.record(index);
    parts.push(payload);
    positions[index * 2] = at;
    at += payload.length;
    positions[index * 2 + 1] = at;
  }
  return { bytes: Buffer.concat(parts) as Utf8Bytes, positions, count };
}

/**
 * The program of one filter over payloads, full validation. The walker reads them where they stand; for the kernel they
 * are copied into its window, which is part of the time.
 */
export function engineSide(engine: Engine, name: string, payloads: Payloads, filter: FilterDocument): Side {
  return engine === 'kernel' ? kernelSide(name, payloads, filter) : walkerSide(name, payloads, filter);
}

function walkerSide(name: string, payloads: Payloads, filter: FilterDocument): Side {
  const program = programOf('walker', filter);
  const { bytes, positions, count } = payloads;
  return {
    name,
    run() {
      const checksum = new Checksum();
      for (let index = 0; index < count; index++) {
        program.begin(bytes, positions[index * 2]!, positions[index * 2 + 1]!, 0, 0);
        if (verdictOf(program.evaluate(0)) === SELECTED) checksum.add(index);
      }
      return checksum.value;
    },
  };
}

function kernelSide(name: string, payloads: Payloads, filter: FilterDocument): Side {
  const program = programOf('kernel', filter);
  const kernel = theKernel();
  const pieces = new WindowPieces(kernel, payloads);
  return {
    name,
    run() {
      const checksum = new Checksum();
      pieces.forEachRecord((index, start, end) => {
        program.begin(kernel.window, start, end, 0, 0);
        if (verdictOf(program.evaluate(0)) === SELECTED) checksum.add(index);
      });
      return checksum.value;
    },
  };
}

/** The baseline on the same filter. */
export function naiveSide(payloads: Payloads, filter: FilterDocument): Side {
  const test = compileNaive(filter.expr as NaiveNode);
  return {
    name: 'naive',
    run() {
      const checksum = new Checksum();
      scanNaive(payloads.bytes, payloads.positions, test, (index) => checksum.add(index));
      return checksum.value;
    },
  };
}

/** `JSON.parse` alone, so that a slow baseline cannot inflate a ratio. */
export function parseSide(payloads: Payloads): Side {
  return { name: 'JSON.parse alone', isAside: true, run: () => parseOnly(payloads.bytes, payloads.positions) };
}

/** Moves the bytes through `window` in pieces of its size, as reading a segment does, and does nothing with them. */
export function copySide({ bytes }: Payloads, window: Uint8Array): Side {
  return {
    name: 'copy',
    isAside: true,
    run() {
      for (let at = 0; at < bytes.length; at += window.length) window.set(bytes.subarray(at, at + window.length));
      return window[0]!;
    },
  };
}

/** A filter that no record passes and whose only member is nowhere: what is left is validation. */
export const VALIDATE: FilterDocument = {
  v: 1,
  evaluator_version: 1,
  expr: { present: 'no_such_member' },
  codec: 'json',
  fault_policy: 'drop',
};
