/**
 * Filters over `orbit` that mean the same in every codec, as texts, and what the slow, obvious evaluator says they select
 * from its JSON.
 *
 * JSON and Avro have nulls where Protobuf has nothing, so the filters ask only what missing and null answer alike; CBOR
 * and JSON write whole doubles as integers, so they compare numbers, not their kinds.
 */
import { inCodec, type OrbitCodec } from '../../bench/datasets/orbit-codecs.js';
import { type FilterDocument, ORBIT_GROUPS, selectivityFilter } from '../../bench/datasets/orbit-filters.js';
import { orbitDataset } from '../../bench/datasets/orbit.js';
import { DEPTH_MAX, PAYLOAD_BYTES_MAX } from '../../src/core/limits.js';
import { SELECTED, verdictOf } from '../../src/core/verdict.js';
import { oracleOf, storedRecord } from './oracle.js';

export interface OrbitFilter {
  readonly id: string;
  /** The document, in which {@link exact} integers are still marked. */
  readonly document: FilterDocument;
}

/** An integer literal that a JSON writer would not keep exact; `filterText` puts its digits. */
function exact(value: bigint): string {
  return `#${value}`;
}

/** The text of a filter in a codec, with policies of its own. */
export function filterText({ document }: OrbitFilter, codec: OrbitCodec, more: Partial<FilterDocument> = {}): string {
  return JSON.stringify({ ...inCodec(document, codec), ...more }).replaceAll(/"#(\d+)"/g, '$1');
}

const text = (value: string) => ({ kind: 'string', value });
const int = (value: number) => ({ kind: 'int', value });
const double = (value: number) => ({ kind: 'double', value });
const long = (value: bigint) => ({ kind: 'long', value: exact(value) });
const pred = (field: string, op: string, value: unknown) => ({ pred: { field, op, value } });
const match = (field: string, kind: string, pattern: string) => ({ text: { field, kind, pattern } });
const header = (key: string, op: string, value: unknown) => ({ header: { key, op, value } });

/** Beyond 2^53; the transaction id of record 0 is this. */
const TXID = 9_007_199_254_740_993n;

const EXPRESSIONS: Readonly<Record<string, unknown>> = {
  'not-safe': { not: pred('after.mode', 'eq', text('safe')) },
  'replayed-null': pred('source.replayed', 'eq', { kind: 'null' }),
  'replayed-known': pred('source.replayed', 'ne', { kind: 'null' }),
  'not-replayed': { not: pred('source.replayed', 'eq', { kind: 'boolean', value: true }) },
  'no-cargo': { absent: 'cargo.kind' },
  'some-cargo': { present: 'cargo.mass_kg' },
  'one-transaction': pred('source.txid', 'eq', long(TXID + 77n)),
  'late-transactions': pred('source.txid', 'gt', long(TXID + 900n)),
  'transactions-by-text': {
    pred_as: { ...pred('source.txid', 'lte', text(String(TXID + 33n))), coerce: { kind: 'number' } },
  },
  charged: pred('after.battery.charge', 'gte', double(0.5)),
  cold: pred('before.battery.temp_c', 'lt', int(-20)),
  'empty-or-round': pred('after.fuel', 'in', { kind: 'list', value: [int(0), int(20), double(300), int(7)] }),
  'troll-before': pred('before.stations', 'contains', text('troll')),
  'second-station': pred('after.stations[1]', 'eq', text('kourou')),
  'no-third-station': { all: [{ absent: 'after.stations[2]' }, pred('before.stations[0]', 'ne', text('troll'))] },
  'not-updates': pred('op', 'in', { kind: 'list', value: [text('c'), text('d')] }),
  'updates-by-prefix': match('op', 'prefix', 'u'),
  'remarks-beyond-ascii': match('remark', 'contains', '衛星'),
  'remarks-with-escapes': match('remark', 'glob', '*"held"*'),
  'remarks-by-regex': match('remark', 'regex', '^(?:line\\n|path C:).*(?:burn|orbit)'),
  'two-modes': {
    any: [pred('after.mode', 'eq', text('imaging')), pred('before.mode', 'prefix', text('ec'))],
  },
  'header-first': { all: [pred('after.mode', 'ne', text('nominal')), header('severity', 'gte', int(3))] },
};

/** Each with a name. */
export const ORBIT_FILTERS: readonly OrbitFilter[] = [
  ...ORBIT_GROUPS.map(({ name, filter }) => ({ id: name, document: filter })),
  ...[0.1, 5, 50].map((percent) => ({ id: `slots-${percent}`, document: selectivityFilter(percent) })),
  ...Object.entries(EXPRESSIONS).map(([id, expr]): OrbitFilter => ({
    id,
    document: { v: 1, evaluator_version: 1, expr, codec: 'json', fault_policy: 'drop' },
  })),
];

/** Offsets of the first `count` records of `orbit` in JSON that the filter selects, by the evaluator. */
export function oracleSelection(filter: OrbitFilter, count: number): number[] {
  const oracle = oracleOf(filterText(filter, 'json'));
  const limits = { maxPayloadBytes: PAYLOAD_BYTES_MAX, maxDepth: DEPTH_MAX };
  const orbit = orbitDataset();
  return Array.from({ length: count }, (_, index) => index).filter((index) => {
    const { headers, payload } = orbit.record(index);
    return verdictOf(oracle.evaluate(storedRecord(headers, payload), limits)) === SELECTED;
  });
}
