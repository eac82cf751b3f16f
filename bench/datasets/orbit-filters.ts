/**
 * The filters that `orbit` is made for, as `laser` documents, with the selectivity each has by construction.
 */
import { ORBIT_CARGO } from './orbit.js';

/** A `laser` filter document. */
export interface FilterDocument {
  readonly v: 1;
  readonly evaluator_version: 1;
  readonly expr: unknown;
  readonly codec: string;
  readonly fault_policy?: 'stop' | 'pass' | 'drop';
  readonly foreign_policy?: 'reject' | 'pass';
  readonly schema_refs?: readonly number[];
}

export interface OrbitGroup {
  readonly name: string;
  readonly filter: FilterDocument;
  /** Selected records in each block of 1,000. */
  readonly perMille: number;
}

function text(value: string) {
  return { kind: 'string', value };
}

function pred(field: string, op: string, value: unknown) {
  return { pred: { field, op, value } };
}

function document(expr: unknown, codec = 'json'): FilterDocument {
  // `drop`: a broken record must not end a run over data that has some on purpose.
  return { v: 1, evaluator_version: 1, expr, codec, fault_policy: 'drop' };
}

/** The four groups, rarest first. */
export const ORBIT_GROUPS: readonly OrbitGroup[] = [
  {
    name: 'safe-mode-entered',
    perMille: 2,
    filter: document({
      all: [
        pred('table', 'eq', text('satellites')),
        pred('op', 'eq', text('u')),
        pred('changed', 'contains', text('mode')),
        pred('after.mode', 'eq', text('safe')),
        pred('before.mode', 'ne', text('safe')),
      ],
    }),
  },
  {
    name: 'thruster-alarms',
    perMille: 9,
    filter: document(
      {
        all: [
          { header: { key: 'unit', op: 'eq', value: text('thruster') } },
          { header: { key: 'severity', op: 'gte', value: { kind: 'int', value: 2 } } },
        ],
      },
      'headers_only',
    ),
  },
  {
    name: 'safe-mode-updates',
    perMille: 30,
    filter: document({
      all: [
        pred('table', 'eq', text('satellites')),
        pred('op', 'eq', text('u')),
        pred('after.mode', 'eq', text('safe')),
      ],
    }),
  },
  {
    name: 'heavy-cargo',
    perMille: 83,
    filter: document({
      all: [
        pred('source.region', 'eq', text(ORBIT_CARGO.region)),
        pred('cargo.kind', 'in', { kind: 'list', value: ORBIT_CARGO.kinds.map(text) }),
        {
          pred_as: {
            ...pred('cargo.mass_kg', 'gte', text(ORBIT_CARGO.massKg)),
            coerce: { kind: 'number' },
          },
        },
      ],
    }),
  },
];

/** Selects `percent` of every ORBIT_SLOTS records, 0…100 in hundredths: one comparison, two levels deep. */
export function selectivityFilter(percent: number): FilterDocument {
  return document(pred('source.slot', 'lt', { kind: 'int', value: Math.round(percent * 100) }));
}

/** The variants that the benchmarks run. */
export const SELECTIVITY_PERCENTS = [0, 0.1, 5, 50, 100] as const;
