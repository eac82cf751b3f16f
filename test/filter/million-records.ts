/**
 * Runs a program over a million records of which none matches and prints, as JSON, how much the heap grew. Started by
 * `no-allocation.test.ts` in a process whose young generation is too large to fill, so that nothing is ever collected
 * and every allocated byte still counts; collections are counted all the same.
 *
 * Arguments: how many records, then names of the filters below (default: all of them).
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { orbitDataset } from '../../bench/datasets/orbit.js';
import { SELECTED, verdictOf } from '../../src/core/verdict.js';
import { programOf } from '../support/program.js';

const string = (value: string) => ({ kind: 'string', value });
const long = (value: number) => ({ kind: 'long', value });
const double = (value: number) => ({ kind: 'double', value });
const pred = (field: string, op: string, value: unknown) => ({ pred: { field, op, value } });
const as = (coerce: object, field: string, op: string, value: unknown) => ({
  pred_as: { ...pred(field, op, value), coerce },
});
const NUMBER = { kind: 'number' };
const instant = (format: string) => ({ kind: 'timestamp', format });
const text = (kind: string, field: string, pattern: string, more = {}) => ({ text: { field, kind, pattern, ...more } });
const CI = { case_insensitive: true };

/** Alternatives of which none ever holds, so that each of them is evaluated for each record. */
const FILTERS: Readonly<Record<string, readonly object[]>> = {
  strings: [
    pred('table', 'eq', string('satellitez')),
    pred('remark', 'eq', string('never')),
    pred('remark', 'lt', string('')),
    pred('extra.escaped', 'eq', string('line\nbreaks')),
    pred('extra.escaped', 'contains', string('never')),
    pred('remark', 'prefix', string('Überf ')),
    { present: 'nowhere' },
    { absent: 'table' },
  ],
  lists: [
    pred('op', 'in', { kind: 'list', value: ['x', 'y', 'zz'].map(string) }),
    pred('source.txid', 'in', { kind: 'list', value: [1, 2].map(long) }),
    pred('changed', 'contains', string('never')),
    pred('after.stations', 'contains', string('troll2')),
    pred('extra.mixed', 'contains', double(7.25)),
    pred('extra.mixed', 'contains', string('never')),
  ],
  numbers: [
    pred('source.slot', 'lt', long(0)),
    pred('source.txid', 'eq', long(1)),
    { pred: { field: 'source.txid', op: 'lt', value: double(0.5) } },
    pred('after.battery.charge', 'gt', double(1.5)),
    pred('after.fuel', 'eq', long(-1)),
    pred('extra.seventeen', 'gt', double(1e6)),
    pred('extra.large', 'lt', long(5)),
    pred('extra.largest', 'lt', long(5)),
    pred('extra.lowest', 'gt', long(5)),
    pred('extra.tiny', 'gte', double(1)),
    pred('extra.list[1].deep', 'eq', long(3)),
  ],
  decimals: [
    as(NUMBER, 'cargo.mass_kg', 'lt', string('0')),
    as(NUMBER, 'extra.decimal', 'in', { kind: 'list', value: [string('1.5'), long(3)] }),
    as(NUMBER, 'after.battery.charge', 'gt', string('1.000000000000000000001')),
    as(NUMBER, 'extra.seventeen', 'eq', string('0.3000000000000000410')),
    as(NUMBER, 'extra.large', 'lt', string('0')),
    as(NUMBER, 'source.txid', 'lt', string('0')),
    as(NUMBER, 'source.slot', 'lt', string('-0.5')),
    as(NUMBER, 'extra.largest', 'lt', string('0')),
  ],
  instants: [
    as(instant('rfc3339'), 'extra.at', 'lt', string('1970-01-01T00:00:00Z')),
    as(instant('epoch_micros'), 'extra.large', 'lt', string('0')),
    as(instant('epoch_millis'), 'extra.millis', 'eq', string('1')),
    as(instant('epoch_seconds'), 'extra.seconds', 'gt', string('9000000000')),
    as(instant('epoch_micros'), 'extra.wide', 'lt', long(0)),
  ],
  texts: [
    text('glob', 'remark', '*never?*'),
    text('glob', 'extra.decimal', '?2*.*1', CI),
    text('regex', 'extra.at', '^\\d{5}'),
    text('regex', 'after.mode', '(?:un)?safest$', CI),
    text('contains', 'remark', 'never'),
    text('contains', 'extra.at', 'UTC', CI),
    text('equals', 'after.mode', 'SAFEST', CI),
    text('suffix', 'table', 'never'),
    text('prefix', 'extra.escaped', 'liné'),
  ],
  headers: [
    { header: { key: 'unit', op: 'eq', value: string('never') } },
    { header: { key: 'severity', op: 'gt', value: long(200) } },
    { header: { key: 'region', op: 'in', value: { kind: 'list', value: ['a', 'b'].map(string) } } },
    { header_text: { field: 'event.type', kind: 'glob', pattern: '*.never' } },
    { header_text: { field: 'event.type', kind: 'regex', pattern: '^never' } },
    { header: { key: 'missing', op: 'eq', value: string('never') } },
  ],
};

const EXTRA =
  '{"extra":{"escaped":"line\\nbreak \\u00e9 \\ud83d\\ude80","mixed":[1,"a",{"b":[2]},[3],4.5,null,"\\t"],"at":"2031-03-09T14:15:16.5+02:00",' +
  '"seventeen":0.30000000000000004,"large":1767225600000000,"largest":18446744073709551615,"lowest":-9223372036854775808,' +
  '"wide":9007199254740995,"tiny":1.25e-9,"decimal":"+0012.50","millis":1767225600000,"seconds":"1767225600","list":[0,{"deep":2}]},';

const count = Number(process.argv[2]);
const names = process.argv.length > 3 ? process.argv.slice(3) : Object.keys(FILTERS);
const program = programOf(
  names.map((name) =>
    JSON.stringify({
      v: 1,
      evaluator_version: 1,
      expr: { any: FILTERS[name] },
      codec: name === 'headers' ? 'headers_only' : 'json',
    }),
  ),
);

// A few hundred distinct records behind each other in one buffer, gone over again and again.
const DISTINCT = 500;
const dataset = orbitDataset();
const parts: Uint8Array[] = [];
const places = new Int32Array(DISTINCT * 3);
let end = 0;
for (let index = 0; index < DISTINCT; index++) {
  const { payload, headers } = dataset.record(index);
  const extended = Buffer.concat([Buffer.from(EXTRA), payload.subarray(1)]);
  parts.push(extended, headers);
  places.set([end, end + extended.length, end + extended.length + headers.length], index * 3);
  end += extended.length + headers.length;
}
const bytes = new Uint8Array(Buffer.concat(parts));

function scan(records: number): number {
  let selected = 0;
  for (let record = 0; record < records; record++) {
    const place = (record % DISTINCT) * 3;
    program.begin(bytes, places[place]!, places[place + 1]!, places[place + 1]!, places[place + 2]!);
    for (let index = 0; index < program.count; index++) {
      if (verdictOf(program.evaluate(index)) === SELECTED) selected++;
    }
  }
  return selected;
}

let collections = 0;
const observer = new PerformanceObserver((list) => {
  collections += list.getEntries().length;
});

// The engine's own one-time work (feedback, compilation) is over before anything is measured.
let selected = scan(count / 20);
await turn();
selected += scan(count / 20);
globalThis.gc!();
await turn();
observer.observe({ entryTypes: ['gc'] });
const before = process.memoryUsage().heapUsed;
selected += scan(count);
const growth = process.memoryUsage().heapUsed - before;
await turn();
observer.disconnect();
console.log(JSON.stringify({ records: count, filters: names.length, selected, growth, collections }));
