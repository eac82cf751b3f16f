/**
 * On a log of many codecs no payload is looked into that need not be: one that another codec wrote, one whose schema is
 * not the filter's, one that headers have decided. Runs where code may be generated, for the libraries that encode it.
 */
import { beforeAll, expect, it } from 'vitest';
import { mixedDataset } from '../../bench/datasets/mixed.js';
import { inCodec, ORBIT_CODECS, type OrbitCodec } from '../../bench/datasets/orbit-codecs.js';
import type { FilterDocument } from '../../bench/datasets/orbit-filters.js';
import { ORBIT_SCHEMA_IDS } from '../../bench/datasets/orbit-schemas.js';
import { ORBIT_CARGO } from '../../bench/datasets/orbit.js';
import { orbitSchemasOf } from '../../bench/programs.js';
import type { PayloadWalker } from '../../src/codec/walker.js';
import { SELECTED, verdictOf } from '../../src/core/verdict.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { compileProgram } from '../../src/filter/program.js';
import { programInputs } from '../../src/scan/program-inputs.js';
import { decodeHeaderBlock, textHeaders } from '../../src/segment/header-block.js';
import { beginRecord, DEFAULT_LIMITS } from '../support/program.js';
import { cachedRegexEngine } from '../support/regex-engine.js';

const RECORDS = 1000;
const log = mixedDataset();

interface LogRecord {
  readonly form: ReturnType<typeof log.formOf>;
  readonly region: unknown;
  readonly payload: Uint8Array;
  readonly headers: Uint8Array;
}

let records: readonly LogRecord[];

beforeAll(() => {
  records = Array.from({ length: RECORDS }, (_, index) => {
    const { payload, headers } = log.record(index);
    const region = textHeaders(decodeHeaderBlock(headers, 0, headers.length)!).get('region')!.value;
    return { form: log.formOf(index), region, payload, headers };
  });
});

type Walks = Record<OrbitCodec, number>;

/** Payloads that each codec's walker looked into, and records selected, over the whole log. */
function walksOf(filters: readonly FilterDocument[]): { walks: Walks; selected: number } {
  const walks: Walks = { json: 0, cbor: 0, avro: 0, protobuf: 0 };
  const counted = <Walker extends PayloadWalker>(codec: OrbitCodec, walker: Walker): Walker => {
    const walk = walker.walk.bind(walker);
    walker.walk = (bytes, start, end) => {
      walks[codec] += 1;
      return walk(bytes, start, end);
    };
    return walker;
  };
  const inputs = programInputs(cachedRegexEngine, DEFAULT_LIMITS);
  const lowered = filters.map((filter) => {
    return compileLaser(JSON.stringify(filter), { strict: true, regex: cachedRegexEngine }).lowered;
  });
  const program = compileProgram(
    lowered,
    {
      ...inputs,
      makeWalker: (codec, ...more) => counted(codec, inputs.makeWalker(codec, ...more)),
      makeSchemaWalker: (codec, ...more) => counted(codec, inputs.makeSchemaWalker(codec, ...more)),
    },
    { schemas: orbitSchemasOf(filters) },
  );
  let selected = 0;
  for (const { payload, headers } of records) {
    beginRecord(program, payload, headers);
    for (let filter = 0; filter < program.count; filter++) {
      if (verdictOf(program.evaluate(filter)) === SELECTED) selected += 1;
    }
  }
  return { walks, selected };
}

const MODE = { pred: { field: 'after.mode', op: 'ne', value: { kind: 'string', value: 'nominal' } } };
const REGION = { header: { key: 'region', op: 'eq', value: { kind: 'string', value: ORBIT_CARGO.region } } };

function filterOf(expr: unknown, codec: OrbitCodec): FilterDocument {
  return inCodec({ v: 1, evaluator_version: 1, expr, codec: 'json', fault_policy: 'drop' }, codec);
}

/** Records that a filter of the codec has to look into: those it wrote, and those that no code or schema rules out. */
function readable(codec: OrbitCodec, isSo: (record: LogRecord) => boolean = () => true): number {
  const hasSchema = codec === 'avro' || codec === 'protobuf';
  return records.filter((record) => (record.form === codec || (record.form === 255 && !hasSchema)) && isSo(record))
    .length;
}

it('a payload is looked into by its own codec alone, once for all filters', () => {
  const twice = [MODE, { not: MODE }];
  const { walks, selected } = walksOf(ORBIT_CODECS.flatMap((codec) => twice.map((expr) => filterOf(expr, codec))));
  expect(walks).toEqual(Object.fromEntries(ORBIT_CODECS.map((codec) => [codec, readable(codec)])));
  // Each is selected by one of the two.
  expect(selected).toBe(records.filter(({ form }) => typeof form === 'string').length);
});

it('a payload behind a header that decides is not looked into', () => {
  const isRegion = ({ region }: LogRecord) => region === ORBIT_CARGO.region;
  // As written the payload comes first; headers are asked first all the same.
  const { walks } = walksOf(ORBIT_CODECS.map((codec) => filterOf({ all: [MODE, REGION] }, codec)));
  expect(walks).toEqual(Object.fromEntries(ORBIT_CODECS.map((codec) => [codec, readable(codec, isRegion)])));
  expect(walks.avro).toBeLessThan(readable('avro') / 2);
  const either = walksOf(ORBIT_CODECS.map((codec) => filterOf({ any: [MODE, REGION] }, codec)));
  const isOther = (record: LogRecord) => !isRegion(record);
  expect(either.walks).toEqual(Object.fromEntries(ORBIT_CODECS.map((codec) => [codec, readable(codec, isOther)])));
});

it('headers alone look into no payload', () => {
  const { walks, selected } = walksOf([{ ...filterOf(REGION, 'json'), codec: 'headers_only' }]);
  expect(walks).toEqual({ json: 0, cbor: 0, avro: 0, protobuf: 0 });
  expect(selected).toBe(records.filter(({ region }) => region === ORBIT_CARGO.region).length);
});

it('a payload of a schema that the filter does not refer to is not looked into', () => {
  const other = { ...filterOf(MODE, 'avro'), schema_refs: [ORBIT_SCHEMA_IDS.protobuf] };
  expect(walksOf([other])).toEqual({ walks: { json: 0, cbor: 0, avro: 0, protobuf: 0 }, selected: 0 });
});
