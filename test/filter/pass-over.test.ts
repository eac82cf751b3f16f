/** Records of a batch that headers alone make every filter reject are passed over, up to the first that some filter may not. */
import { describe, expect, it } from 'vitest';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { NO_REASON, outcome, REJECTED } from '../../src/core/verdict.js';
import { compileProgram } from '../../src/filter/program.js';
import { programInputs } from '../../src/scan/program-inputs.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { encodeIggySegment, type IggyRecord } from '../../src/segment/iggy-writer.js';
import { newKernel } from '../support/kernel.js';
import { DEFAULT_LIMITS } from '../support/program.js';
import { cachedRegexEngine } from '../support/regex-engine.js';
import { Seeded } from '../support/seeded.js';

const kernel = newKernel();
const { frames } = kernel;

const VALUES = ['a', 'b', 'c', 'd'] as const;
const text = (value: string) => ({ kind: 'string', value }) as const;
const header = (key: string, value: string) => ({ header: { key, op: 'eq', value: text(value) } });
const field = (name: string, value: string) => ({ pred: { field: name, op: 'eq', value: text(value) } });

function randomFilter(random: Seeded): string {
  const value = () => random.pick(VALUES);
  const [expr, codec] = random.pick([
    [header('h', value()), 'headers_only'],
    [{ all: [header('h', value()), header('g', value())] }, 'headers_only'],
    // The other header is text: a mismatch, which the policy lets pass.
    [
      { all: [header('h', value()), { header: { key: 'g', op: 'gte', value: { kind: 'int', value: 2 } } }] },
      'headers_only',
    ],
    [field('f', value()), 'json'],
    [{ all: [header('h', value()), field('f', value())] }, 'json'],
    [{ all: [field('f', value()), { present: 'g' }] }, 'json'],
  ]);
  const policy = random.pick(['pass', 'drop']);
  return JSON.stringify({ v: 1, evaluator_version: 1, expr, codec, fault_policy: policy, mismatch_policy: 'pass' });
}

/** Mostly records that no filter wants, now and then one that is wanted, broken, of another codec or of another type. */
function randomRecord(random: Seeded, offset: number): IggyRecord {
  const value = () => (random.chance(0.1) ? random.pick(VALUES) : 'other');
  const entries = [
    { key: 'h', value: text(value()) },
    { key: 'g', value: text(value()) },
  ];
  if (random.chance(0.02)) entries.push({ key: 'agdx.ct', value: { kind: 'u8', value: 3 } as never });
  const headers = encodeHeaders(entries);
  if (random.chance(0.02)) headers[random.below(headers.length)] = 0;
  const payload = random.chance(0.03) ? random.pick(['{"f":', '{"f":7}', '{}', '[]']) : `{"f":"${value()}","g":1}`;
  return { offset, headers, payload: Buffer.from(payload) };
}

describe('passing over rows', () => {
  it('ends before the first record that some filter does not plainly reject, and counts what it evaluated', () => {
    const random = new Seeded(Number(process.env['WINNOW_SEED'] ?? 17));
    let passed = 0;
    let met = 0;
    let evaluated = 0;
    for (let round = 0; round < 200; round++) {
      const filters = Array.from(
        { length: 1 + random.below(4) },
        () => compileLaser(randomFilter(random), { strict: true, regex: cachedRegexEngine }).lowered,
      );
      const wanted = compileProgram(filters, programInputs(cachedRegexEngine, DEFAULT_LIMITS));
      const program = compileProgram(filters, programInputs(cachedRegexEngine, DEFAULT_LIMITS, kernel));
      for (const filter of filters.keys()) {
        const isActive = random.chance(0.9);
        wanted.setActive(filter, isActive);
        program.setActive(filter, isActive);
      }
      const bytes = encodeIggySegment(Array.from({ length: 200 }, (_, offset) => randomRecord(random, offset)));
      kernel.window.set(bytes);
      frames.begin(kernel.exports.readFrames(0, bytes.length, 200));
      for (let row = 0; row < frames.count;) {
        const end = Math.min(frames.count, row + 1 + random.below(60));
        const count = program.passOver(frames, kernel.window, row, end);
        let candidates = 0;
        for (const to = row + count; row < to; row++) {
          wanted.begin(bytes, ...rangesOf(row));
          const found = wanted.select();
          candidates += found;
          for (const filter of wanted.candidates.subarray(0, found)) {
            expect(wanted.evaluate(filter), `round ${round}, row ${row}`).toBe(outcome(REJECTED, NO_REASON));
          }
          passed += 1;
        }
        expect(program.evaluatedInPassing).toBe(candidates);
        evaluated += candidates;
        if (row === end) continue;
        // Whoever is evaluated now sees its own record, whatever was read on the way.
        frames.row = row;
        program.begin(kernel.window, ...rangesOf(row));
        wanted.begin(bytes, ...rangesOf(row));
        expect(program.select()).toBe(wanted.select());
        for (const filter of filters.keys()) expect(program.evaluate(filter)).toBe(wanted.evaluate(filter));
        met += 1;
        row += 1;
      }
    }
    expect(passed).toBeGreaterThan(10_000);
    expect(met).toBeGreaterThan(2_000);
    expect(evaluated).toBeGreaterThan(100);
  });
});

function rangesOf(row: number): [number, number, number, number] {
  const payloadEnd = frames.payloadEnds[row]!;
  return [frames.payloadStarts[row]!, payloadEnd, payloadEnd, frames.frameEnds[row]!];
}
