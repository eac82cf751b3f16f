/**
 * Filters over `orbit` of every shape that the cost score tells apart: headers alone, one path and many, shallow and
 * deep, texts and regexes, cheap tests in front and behind, selective and not.
 *
 * They are written for variety of work, not to fit the score: each kind of leaf stands alone, in company, in front and
 * behind, and the groups are those of the other benchmarks.
 */
import { ORBIT_GROUPS, selectivityFilter, type FilterDocument } from './orbit-filters.js';

const s = (value: string) => ({ kind: 'string', value });
const n = (value: number) => ({ kind: 'int', value });
const list = (...values: string[]) => ({ kind: 'list', value: values.map(s) });
const pred = (field: string, op: string, value: object) => ({ pred: { field, op, value } });
const header = (key: string, op: string, value: object) => ({ header: { key, op, value } });
const headerText = (field: string, kind: string, pattern: string) => ({ header_text: { field, kind, pattern } });
const text = (field: string, kind: string, pattern: string, more: object = {}) => ({
  text: { field, kind, pattern, ...more },
});
const mass = (op: string, value: string) => ({
  pred_as: { pred: { field: 'cargo.mass_kg', op, value: s(value) }, coerce: { kind: 'number' } },
});
const all = (...children: object[]) => ({ all: children });
const any = (...children: object[]) => ({ any: children });
const not = (child: object) => ({ not: child });
const folded = { case_insensitive: true };

const satellites = pred('table', 'eq', s('satellites'));
const safe = pred('after.mode', 'eq', s('safe'));
const thruster = header('unit', 'eq', s('thruster'));
const severe = header('severity', 'gte', n(2));
const anyOfEverything = [
  pred('before.mode', 'eq', s('nowhere')),
  pred('before.id', 'lt', n(0)),
  pred('before.battery.charge', 'gt', n(5)),
  pred('before.orbit.alt_km', 'lt', n(0)),
  pred('after.battery.temp_c', 'gt', n(500)),
  pred('after.orbit.inc', 'lt', n(0)),
  pred('source.txid', 'lt', n(0)),
  pred('source.unit', 'eq', s('none')),
];
const WORD_REGEX = '\\bsafe\\b.*\\bmode\\b';

const HEADERS: readonly object[] = [
  thruster,
  severe,
  header('region', 'in', list('polar-7', 'polar-3', 'geo-5')),
  header('no.such.key', 'eq', s('x')),
  all(thruster, severe),
  any(thruster, severe, header('region', 'eq', s('geo-5'))),
  not(header('region', 'prefix', s('polar'))),
  headerText('event.type', 'suffix', 'deleted'),
  headerText('event.type', 'glob', '*.telemetry_*'),
  headerText('event.type', 'regex', '\\.(?:created|deleted)$'),
  all(headerText('region', 'prefix', 'polar'), severe, header('event.type', 'ne', s('satellite.created'))),
];

const PAYLOADS: readonly object[] = [
  // A header decides most records, or few.
  all(thruster, safe),
  all(thruster, text('remark', 'regex', WORD_REGEX)),
  all(header('severity', 'gte', n(1)), safe),
  any(header('severity', 'lte', n(2)), safe),
  all(header('no.such.key', 'eq', s('x')), satellites),
  // One leaf each.
  { present: 'no_such_member' },
  { absent: 'cargo.kind' },
  satellites,
  safe,
  pred('source.txid', 'gt', { kind: 'long', value: 9_007_199_254_740_991 }),
  pred('after.battery.charge', 'lt', { kind: 'double', value: 0.5 }),
  pred('changed', 'contains', s('mode')),
  pred('remark', 'contains', s('thermal')),
  pred('cargo.kind', 'in', list('hydrazine', 'xenon', 'water', 'oxygen')),
  pred('after.stations[1]', 'eq', s('kourou')),
  pred('before', 'ne', { kind: 'null' }),
  mass('gte', '1250.50'),
  text('source.region', 'glob', 'pol*-?'),
  text('remark', 'glob', '*safe*mode*'),
  text('source.region', 'regex', '^pol\\w+-[0-9]$'),
  text('remark', 'regex', WORD_REGEX),
  text('remark', 'regex', '(?:burn|slew) .*orbit', folded),
  text('source.unit', 'equals', 'GYRO', folded),
  text('remark', 'contains', 'THERMAL PASS', folded),
  // Several.
  all(satellites, pred('op', 'eq', s('u'))),
  all(satellites, pred('op', 'eq', s('u')), safe, pred('before.mode', 'ne', s('safe'))),
  all(satellites, pred('source.slot', 'gte', n(100)), pred('source.slot', 'lt', n(9000)), pred('op', 'ne', s('d'))),
  any(safe, pred('before.mode', 'eq', s('safe'))),
  any(...anyOfEverything),
  any(...anyOfEverything, pred('changed', 'contains', s('nothing')), mass('gte', '100000')),
  not(any(safe, pred('op', 'eq', s('d')))),
  all(any(safe, pred('after.mode', 'eq', s('imaging'))), any(satellites, pred('op', 'eq', s('u')))),
  all(satellites, text('remark', 'regex', WORD_REGEX)),
  all(safe, text('remark', 'regex', WORD_REGEX)),
  any(text('remark', 'regex', WORD_REGEX), text('source.region', 'regex', '^geo')),
  any(
    text('remark', 'regex', WORD_REGEX),
    text('remark', 'regex', 'drift\\s+slew'),
    text('remark', 'regex', '[0-9]{4}'),
    text('remark', 'regex', '^see'),
  ),
  any(text('remark', 'contains', 'no such words'), text('remark', 'contains', 'nor these')),
  all({ present: 'after' }, { present: 'before' }, { present: 'source.slot' }, { present: 'remark' }),
  all(pred('before.mode', 'ne', s('x')), pred('after.mode', 'ne', s('x')), mass('lt', '10')),
];

/** At least 40, each a whole document; those that read no payload say so. */
export const COST_FILTERS: readonly FilterDocument[] = [
  ...HEADERS.map((expr) => document(expr, 'headers_only')),
  ...PAYLOADS.map((expr) => document(expr, 'json')),
  ...ORBIT_GROUPS.map(({ filter }) => filter),
  selectivityFilter(5),
  selectivityFilter(100),
];

function document(expr: object, codec: string): FilterDocument {
  return { v: 1, evaluator_version: 1, expr, codec, fault_policy: 'drop' };
}
