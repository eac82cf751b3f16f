/**
 * Many filters in one pass against one filter alone, through the worker's own scan loop on one thread.
 */
import { ORBIT_GROUPS, selectivityFilter, type FilterDocument } from '../datasets/orbit-filters.js';
import { ORBIT_CARGO, ORBIT_SLOTS, orbitDataset } from '../datasets/orbit.js';
import { sharedSegmentBytes } from '../datasets/write.js';
import { type Case, type Engine, once } from '../harness.js';
import { ENGINES } from '../programs.js';
import { sliceSide } from '../slices.js';

const EQUALITIES = 1000;

/** How many times one filter's pass may cost, by engine. */
const BARS: Record<Engine, { readonly groups: number; readonly sixteen: number; readonly equalities: number }> = {
  kernel: { groups: 1.5, sixteen: 2, equalities: 4 },
  walker: { groups: 1.5, sixteen: 2.5, equalities: 4 },
};

/** `scale` 1 is the real size; the smoke run passes a small fraction. */
export function manyCases(scale: number): Case[] {
  const records = Math.max(200, Math.round(40_000 * scale));
  const segment = once(() => sharedSegmentBytes(orbitDataset(), 'iggy', records));
  const group = ORBIT_GROUPS.find(({ name }) => name === 'safe-mode-updates')!.filter;
  const groups = [group, ...ORBIT_GROUPS.map(({ filter }) => filter).filter((filter) => filter !== group)];
  const equalities = Array.from({ length: EQUALITIES }, (_, i) => slotFilter(i * (ORBIT_SLOTS / EQUALITIES)));
  return ENGINES.flatMap((engine): Case[] => {
    const bars = BARS[engine];
    return [
      manyAgainstOne('orbit, four groups in one pass, against one payload filter', groups, bars.groups),
      manyAgainstOne('orbit, 16 filters over 8 paths, against one', SIXTEEN, bars.sixteen),
      manyAgainstOne('orbit, 1,000 equality filters, against one', equalities, bars.equalities),
    ];

    function manyAgainstOne(name: string, filters: readonly FilterDocument[], bar: number): Case {
      return {
        name,
        engine,
        size: () => ({ records, bytes: segment().byteLength }),
        ratio: 'cost',
        bar,
        sides: () => [
          sliceSide(engine, `${filters.length} filters`, segment(), filters),
          sliceSide(engine, 'the first alone', segment(), [filters[0]!]),
        ],
      };
    }
  });
}

const text = (value: string) => ({ kind: 'string', value });
const long = (value: number) => ({ kind: 'long', value });
const pred = (field: string, op: string, value: unknown) => ({ pred: { field, op, value } });

function document(expr: unknown): FilterDocument {
  return { v: 1, evaluator_version: 1, expr, codec: 'json', fault_policy: 'drop' };
}

function slotFilter(slot: number): FilterDocument {
  return document(pred('source.slot', 'eq', long(slot)));
}

/** Sixteen filters as sixteen teams would write them; together they read eight paths. */
const SIXTEEN: readonly FilterDocument[] = [
  selectivityFilter(5),
  ...['safe', 'eclipse', 'slewing', 'imaging'].map((mode) =>
    document({ all: [pred('table', 'eq', text('satellites')), pred('after.mode', 'eq', text(mode))] }),
  ),
  document({ all: [pred('op', 'eq', text('d')), pred('table', 'eq', text('satellites'))] }),
  document({ all: [pred('changed', 'contains', text('mode')), pred('after.mode', 'ne', text('nominal'))] }),
  document(pred('changed', 'contains', text('battery'))),
  ...ORBIT_CARGO.kinds.map((kind) => document(pred('cargo.kind', 'eq', text(kind)))),
  document({
    all: [
      pred('source.region', 'eq', text(ORBIT_CARGO.region)),
      { pred_as: { ...pred('cargo.mass_kg', 'gte', text(ORBIT_CARGO.massKg)), coerce: { kind: 'number' } } },
    ],
  }),
  document({ text: { field: 'source.region', kind: 'prefix', pattern: 'polar-' } }),
  document({ any: [pred('source.slot', 'gte', long(9_990)), pred('op', 'eq', text('r'))] }),
  document({ all: [{ present: 'after.mode' }, { absent: 'cargo.kind' }, pred('source.slot', 'lt', long(100))] }),
];
