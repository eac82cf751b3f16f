/**
 * Payloads of a dataset laid out for in-process benchmarks, and the two engines that pass over them: the program with
 * its walker, and the baseline.
 *
 * Both sides read the same bytes at the same positions and feed the same checksum.
 */
import type { Side } from './harness.js';
import { Checksum } from './harness.js';
import { compileNaive, type NaiveNode, parseOnly, scanNaive, type Utf8Bytes } from './naive.js';
import type { Dataset } from './datasets/dataset.js';
import type { FilterDocument } from './datasets/orbit-filters.js';
import { DEPTH_MAX, PAYLOAD_BYTES_MAX } from '../src/core/limits.js';
import { SELECTED, verdictOf } from '../src/core/verdict.js';
import type { FilterCost } from '../src/filter/cost.js';
import { compileLaser } from '../src/filter/dialect/laser/compile.js';
import { compileProgram, type Program } from '../src/filter/program.js';
import { rustRegexEngine } from '../src/filter/rust-regex.js';
import { programInputs } from '../src/scan/program-inputs.js';
import { loadRegexModule } from '../workers/regex-module.js';

const regex = rustRegexEngine(loadRegexModule());

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

/** The program of one filter, as a worker compiles it. */
export function programOf(filter: FilterDocument): Program {
  const { lowered } = compileLaser(JSON.stringify(filter), { strict: true, regex });
  const limits = { maxPayloadBytes: PAYLOAD_BYTES_MAX, maxDepth: DEPTH_MAX };
  return compileProgram([lowered], programInputs(regex, limits));
}

/** The cost of one filter, as validation states it. */
export function costOf(filter: FilterDocument): FilterCost {
  return compileLaser(JSON.stringify(filter), { strict: true, regex }).summary.cost;
}

/** The program over TypeScript walkers, full validation. */
export function walkerSide(name: string, payloads: Payloads, filter: FilterDocument): Side {
  const program = programOf(filter);
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
