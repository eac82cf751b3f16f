/**
 * Payloads of a dataset laid out for in-process benchmarks, and what passes over them: the program with either engine,
 * and the baseline.
 *
 * All sides read the same bytes at the same positions and feed the same checksum.
 */
import type { Engine, Side } from './harness.js';
import { Checksum } from './harness.js';
import { compileNaive, type NaiveNode, parseOnly, scanNaive } from './naive.js';
import type { Dataset } from './datasets/dataset.js';
import type { FilterDocument } from './datasets/orbit-filters.js';
import { programOf } from './programs.js';
import { bringerOf, type Stretches, stretchesOf } from './stretches.js';
import { SELECTED, verdictOf } from '../src/core/verdict.js';

/** Payloads one after another, and nothing between them. */
export type Payloads = Stretches;

/** The first `count` payloads of a dataset. */
export function payloadsOf(dataset: Dataset, count: number): Payloads {
  return stretchesOf(Array.from({ length: count }, (_, index) => dataset.record(index).payload));
}

/** The program of one filter over payloads, full validation. */
export function engineSide(engine: Engine, name: string, payloads: Payloads, filter: FilterDocument): Side {
  const program = programOf(engine, filter);
  const bring = bringerOf(engine, payloads);
  return {
    name,
    run() {
      const checksum = new Checksum();
      bring((index, bytes, start, end) => {
        program.begin(bytes, start, end, 0, 0);
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
