/**
 * Payload cases on one thread: the program over either engine against the baseline, same bytes, same selection.
 */
import { type Case, type Engine, once, type Sides } from '../harness.js';
import { copySide, engineSide, type Payloads, naiveSide, parseSide, payloadsOf } from '../payloads.js';
import { validateSide } from './walker-cases.js';
import { ENGINES, kernelOf } from '../programs.js';
import type { Dataset } from '../datasets/dataset.js';
import { ORBIT_GROUPS, selectivityFilter, type FilterDocument } from '../datasets/orbit-filters.js';
import { type OrbitOptions, orbitDataset } from '../datasets/orbit.js';
import { shapeDataset, type ShapeName } from '../datasets/shapes.js';
import { REVIEW_QUEUE } from '../datasets/webhook-groups.js';
import { webhooksDataset } from '../datasets/webhooks.js';

/** What an engine has to reach against the baseline, by kind of record; a shape that is not named has no bar. */
const SPEEDUP_BARS: Record<Engine, Partial<Record<'change' | 'webhook' | ShapeName, number>>> = {
  kernel: { change: 12, webhook: 10, tiny: 4.5, document: 15 },
  walker: { change: 4, webhook: 4 },
};

const SHAPES = ['tiny', 'document', 'numbers', 'escapes', 'deep', 'wide', 'long-text'] as const;

const SAFE_MODE = ORBIT_GROUPS.find((group) => group.name === 'safe-mode-entered')!.filter;

/** `scale` 1 is the real size; the smoke run passes a small fraction. */
export function jsonCases(scale: number): Case[] {
  const sized = (count: number): number => Math.max(50, Math.round(count * scale));
  const orbit = (options?: OrbitOptions) => once(() => payloadsOf(orbitDataset(options), sized(40_000)));
  const plain = orbit();
  const spaced = orbit({ isSpaced: true });
  const broken = orbit({ malformedPerMille: 10 });
  const stamped = orbit({ isStamped: true });
  const webhooks = once(() => payloadsOf(webhooksDataset(), sized(3_290)));
  const shapes = SHAPES.map((shape) => [shape, once(() => shapePayloads(shapeDataset(shape), sized))] as const);
  return ENGINES.flatMap((engine): Case[] => {
    const bars = SPEEDUP_BARS[engine];
    return [
      ...[0.1, 5, 50].map((percent) =>
        against(engine, `orbit JSON, one payload filter, ${percent} %`, plain, selectivityFilter(percent), bars.change),
      ),
      against(engine, 'orbit JSON, safe mode entered (0.2 %)', plain, SAFE_MODE, bars.change),
      against(engine, 'webhooks JSON, one filter', webhooks, REVIEW_QUEUE, bars.webhook),
      ...shapes.map(([shape, payloads]) => against(engine, `${shape} records`, payloads, idBelow(25), bars[shape])),
      costsNoMore(engine, 'orbit JSON with spaces, against without', plain, selectivityFilter(5), spaced),
      // The filter is one whose records are never the broken ones.
      costsNoMore(engine, 'orbit JSON with 1 % malformed, against without', plain, SAFE_MODE, broken),
      validation(engine, plain),
      ...textLeaves(engine, plain, stamped),
    ];
  });
}

/** About 16 MiB of a shape at full scale, whatever one record weighs. */
function shapePayloads(dataset: Dataset, sized: (count: number) => number): Payloads {
  const bytesEach = dataset.record(0).payload.length;
  return payloadsOf(dataset, Math.min(sized(Math.ceil((16 << 20) / bytesEach)), 60_000));
}

function document(expr: unknown): FilterDocument {
  return { v: 1, evaluator_version: 1, expr, codec: 'json', fault_policy: 'drop' };
}

function idBelow(count: number): FilterDocument {
  return document({ pred: { field: 'id', op: 'lt', value: { kind: 'int', value: count } } });
}

function against(
  engine: Engine,
  name: string,
  payloads: () => Payloads,
  filter: FilterDocument,
  bar: number | undefined,
): Case {
  return {
    size: () => sizeOf(payloads()),
    name,
    engine,
    ratio: 'speedup',
    ...(bar === undefined ? {} : { bar }),
    sides: () => [engineSide(engine, engine, payloads(), filter), naiveSide(payloads(), filter), parseSide(payloads())],
  };
}

/** The same records in another dress: what they cost more. The bar is the kernel's. */
function costsNoMore(
  engine: Engine,
  name: string,
  plain: () => Payloads,
  filter: FilterDocument,
  dressed: () => Payloads,
): Case {
  return {
    size: () => sizeOf(plain()),
    name,
    engine,
    ratio: 'cost',
    ...(engine === 'kernel' ? { bar: 1.15 } : {}),
    sides: () => [engineSide(engine, 'dressed', dressed(), filter), engineSide(engine, 'plain', plain(), filter)],
  };
}

/** What validating costs beside moving the bytes once: a copy's time ÷ the walk's time. The bar is the kernel's. */
function validation(engine: Engine, orbit: () => Payloads): Case {
  return {
    size: () => sizeOf(orbit()),
    name: 'orbit JSON, validation alone, as a share of a copy',
    engine,
    ratio: 'speedup',
    ...(engine === 'kernel' ? { bar: 0.08 } : {}),
    unlikeWork: true,
    sides: () => [validateSide(engine, orbit()), copySide(orbit(), kernelOf(engine)?.window ?? Buffer.alloc(1 << 20))],
  };
}

/** One more leaf on a text field over the same scan without it. */
function textLeaves(engine: Engine, plain: () => Payloads, stamped: () => Payloads): Case[] {
  const base = { pred: { field: 'source.slot', op: 'gte', value: { kind: 'int', value: 0 } } };
  const text = (kind: string, pattern: string): unknown => ({ text: { field: 'source.region', kind, pattern } });
  const coerced = (field: string, op: string, value: string, coerce: object): unknown => ({
    pred_as: { pred: { field, op, value: { kind: 'string', value } }, coerce },
  });
  const leaves: [string, unknown, () => Payloads][] = [
    ['glob', text('glob', 'pol*-?'), plain],
    ['regex', text('regex', '^pol\\w+-[0-9]$'), plain],
    ['decimal', coerced('cargo.mass_kg', 'gte', '1250.50', { kind: 'number' }), plain],
    ['rfc3339', coerced('source.at', 'gte', STAMP, { kind: 'timestamp', format: 'rfc3339' }), stamped],
  ];
  return leaves.map(([name, leaf, payloads]) => ({
    size: () => sizeOf(payloads()),
    name: `orbit JSON, one more ${name} leaf, against the same scan without it`,
    engine,
    ratio: 'cost',
    bar: 1.5,
    unlikeWork: true,
    sides: (): Sides => [
      engineSide(engine, `with ${name}`, payloads(), document({ all: [base, leaf] })),
      engineSide(engine, 'without', payloads(), document(base)),
    ],
  }));
}

/** In the midst of the stamps of the first records. */
const STAMP = '2026-01-01T00:00:20Z';

function sizeOf(payloads: Payloads): { records: number; bytes: number } {
  return { records: payloads.count, bytes: payloads.bytes.length };
}
