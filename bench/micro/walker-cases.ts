/**
 * The kernel's walker by itself, without a program: against the portable one, and what it gains from walking rows ahead.
 */
import { type Case, Checksum, type Engine, once, type Side } from '../harness.js';
import { type Payloads, payloadsOf } from '../payloads.js';
import { ENGINES, kernelOf, LIMITS, regex, theKernel } from '../programs.js';
import { bringerOf } from '../stretches.js';
import { orbitDataset } from '../datasets/orbit.js';
import { comparePaths, type Path } from '../../src/core/path.js';
import { parsePath } from '../../src/filter/paths.js';
import { programInputs } from '../../src/scan/program-inputs.js';

/** Those that the sixteen filters of the many-filter case read. */
const EIGHT_PATHS = [
  'after.mode',
  'cargo.kind',
  'cargo.mass_kg',
  'changed',
  'op',
  'source.region',
  'source.slot',
  'table',
];

/** Empty where this machine has no kernel. `scale` 1 is the real size. */
export function walkerCases(scale: number): Case[] {
  if (!ENGINES.includes('kernel')) return [];
  const orbit = once(() => payloadsOf(orbitDataset(), Math.max(50, Math.round(40_000 * scale))));
  const size = () => ({ records: orbit().count, bytes: orbit().bytes.length });
  return [
    ...[['source.slot'], EIGHT_PATHS].map((paths): Case => ({
      name: `orbit JSON, walked for ${paths.length === 1 ? 'one path' : `${paths.length} paths`}, against the portable walker`,
      engine: 'kernel',
      size,
      ratio: 'speedup',
      sides: () => [walkSide('kernel', orbit(), paths), walkSide('walker', orbit(), paths)],
    })),
    {
      name: 'orbit JSON, walked one record in a call, against rows ahead',
      engine: 'kernel',
      size,
      ratio: 'cost',
      sides: () => [walkSide('kernel', orbit(), EIGHT_PATHS, true), walkSide('kernel', orbit(), EIGHT_PATHS)],
    },
  ];
}

/** Walks every payload for no path: what is left is validation. */
export function validateSide(engine: Engine, payloads: Payloads): Side {
  return { ...walkSide(engine, payloads, []), name: 'validate' };
}

/** Walks every payload; the checksum is of what kinds stand in the slots. `isSingly`: each record stands in no row. */
function walkSide(engine: Engine, payloads: Payloads, texts: readonly string[], isSingly = false): Side {
  const paths: Path[] = texts.map((text) => parsePath(text)).sort(comparePaths);
  const walker = programInputs(regex, LIMITS, kernelOf(engine)).makeWalker('json', paths, LIMITS);
  const bring = bringerOf(engine, payloads);
  return {
    name: isSingly ? 'one in a call' : engine,
    run() {
      const checksum = new Checksum();
      bring((_, bytes, start, end) => {
        if (isSingly) theKernel().frames.row = -1;
        const reason = walker.walk(bytes, start, end);
        const { kinds, base, count } = walker.slots;
        let sum: number = reason;
        for (let slot = base; slot < base + count; slot++) sum = sum * 13 + kinds[slot]!;
        checksum.add(sum);
      });
      return checksum.value;
    },
  };
}
