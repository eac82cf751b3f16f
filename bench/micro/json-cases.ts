/**
 * Payload cases on one thread: the program over TypeScript walkers against the baseline, same bytes, same selection.
 */
import type { Case, Side } from '../harness.js';
import { type Payloads, naiveSide, parseSide, payloadsOf, walkerSide } from '../payloads.js';
import type { Dataset } from '../datasets/dataset.js';
import { ORBIT_GROUPS, selectivityFilter, type FilterDocument } from '../datasets/orbit-filters.js';
import { orbitDataset } from '../datasets/orbit.js';
import { shapeDataset } from '../datasets/shapes.js';
import { WEBHOOK_GROUPS } from '../datasets/webhook-groups.js';
import { webhooksDataset } from '../datasets/webhooks.js';

/** The portable walker's bar on change records; the kernel's are higher and judge the same cases later. */
const WALKER_BAR = 4;

/** `scale` 1 is the real size; the smoke run passes a small fraction. */
export function jsonCases(scale: number): Case[] {
  const sized = (count: number): number => Math.max(50, Math.round(count * scale));
  const orbit = payloadsOf(orbitDataset(), sized(40_000));
  const webhooks = payloadsOf(webhooksDataset(), sized(3_290));
  const safeMode = ORBIT_GROUPS.find((group) => group.name === 'safe-mode-entered')!.filter;
  const review = WEBHOOK_GROUPS.find((group) => group.name === 'review-queue')!.filter;
  return [
    ...[0.1, 5, 50].map((percent) =>
      against(`orbit JSON, one payload filter, ${percent} %`, orbit, selectivityFilter(percent), WALKER_BAR),
    ),
    against('orbit JSON, safe mode entered (0.2 %)', orbit, safeMode, WALKER_BAR),
    against('webhooks JSON, one filter', webhooks, review, WALKER_BAR),
    ...(['tiny', 'document', 'numbers', 'escapes', 'deep', 'wide', 'long-text'] as const).map((shape) =>
      against(`${shape} records`, shapePayloads(shapeDataset(shape), sized), idBelow(25), undefined),
    ),
    spaced(orbit, sized(40_000)),
    broken(orbit, sized(40_000)),
    validation(orbit),
    ...textLeaves(orbit),
  ];
}

/** About 16 MiB of a shape at full scale, whatever one record weighs. */
function shapePayloads(dataset: Dataset, sized: (count: number) => number): Payloads {
  const bytesEach = dataset.record(0).payload.length;
  return payloadsOf(dataset, Math.min(sized(Math.ceil((16 << 20) / bytesEach)), 60_000));
}

function idBelow(count: number): FilterDocument {
  return {
    v: 1,
    evaluator_version: 1,
    expr: { pred: { field: 'id', op: 'lt', value: { kind: 'int', value: count } } },
    codec: 'json',
    fault_policy: 'drop',
  };
}

function against(name: string, payloads: Payloads, filter: FilterDocument, bar: number | undefined): Case {
  return {
    ...sizeOf(payloads),
    name,
    ratio: 'speedup',
    ...(bar === undefined ? {} : { bar }),
    sides: [walkerSide('walker', payloads, filter), naiveSide(payloads, filter), parseSide(payloads)],
  };
}

/** The same content with a space after `:` and `,`: more bytes to pass over, the same records selected. */
function spaced(orbit: Payloads, count: number): Case {
  const filter = selectivityFilter(5);
  return {
    ...sizeOf(orbit),
    name: 'orbit JSON with spaces, against without',
    ratio: 'cost',
    bar: 1.15,
    sides: [
      walkerSide('spaced', payloadsOf(orbitDataset({ isSpaced: true }), count), filter),
      walkerSide('compact', orbit, filter),
    ],
  };
}

/** One record in a hundred is no JSON; the filter is one whose records are never the broken ones. */
function broken(orbit: Payloads, count: number): Case {
  const filter = ORBIT_GROUPS[0]!.filter;
  return {
    ...sizeOf(orbit),
    name: 'orbit JSON with 1 % malformed, against without',
    ratio: 'cost',
    bar: 1.15,
    sides: [
      walkerSide('1 % malformed', payloadsOf(orbitDataset({ malformedPerMille: 10 }), count), filter),
      walkerSide('whole', orbit, filter),
    ],
  };
}

/** What validating costs beside moving the bytes once: a copy's time ÷ the walk's time. */
function validation(orbit: Payloads): Case {
  const target = Buffer.alloc(orbit.bytes.length);
  const copy: Side = {
    name: 'copy',
    run() {
      target.set(orbit.bytes);
      return target[0]!;
    },
  };
  const nothing: FilterDocument = {
    v: 1,
    evaluator_version: 1,
    expr: { present: 'no_such_member' },
    codec: 'json',
    fault_policy: 'drop',
  };
  return {
    ...sizeOf(orbit),
    name: 'orbit JSON, validation alone, as a share of a copy',
    ratio: 'speedup',
    unlikeWork: true,
    sides: [walkerSide('validate', orbit, nothing), copy],
  };
}

/** One more leaf on a text field over the same scan without it. */
function textLeaves(orbit: Payloads): Case[] {
  const base = { pred: { field: 'source.slot', op: 'gte', value: { kind: 'int', value: 0 } } };
  const filter = (expr: unknown): FilterDocument => ({ v: 1, evaluator_version: 1, expr, codec: 'json' });
  const text = (kind: string, pattern: string): unknown => ({ text: { field: 'source.region', kind, pattern } });
  const leaves: [string, unknown][] = [
    ['glob', text('glob', 'pol*-?')],
    ['regex', text('regex', '^pol\\w+-[0-9]$')],
    [
      'decimal',
      {
        pred_as: {
          pred: { field: 'cargo.mass_kg', op: 'gte', value: { kind: 'string', value: '1250.50' } },
          coerce: { kind: 'number' },
        },
      },
    ],
  ];
  return leaves.map(([name, leaf]) => ({
    ...sizeOf(orbit),
    name: `orbit JSON, one more ${name} leaf, against the same scan without it`,
    ratio: 'cost',
    bar: 1.5,
    unlikeWork: true,
    sides: [
      walkerSide(`with ${name}`, orbit, filter({ all: [base, leaf] })),
      walkerSide('without', orbit, filter(base)),
    ],
  }));
}

function sizeOf(payloads: Payloads): { records: number; bytes: number } {
  return { records: payloads.count, bytes: payloads.bytes.length };
}
