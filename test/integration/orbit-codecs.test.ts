/**
 * One content in four codecs: the same filter selects the same offsets of `orbit` in all of them, and on a log in which
 * they are mixed each codec's filter selects its own records and passes over the others by its policy, over HTTP with
 * real workers. Runs where code may be generated, for the libraries that encode the records.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mixedDataset, type MixedForm } from '../../bench/datasets/mixed.js';
import { ORBIT_CODECS, type OrbitCodec, orbitInCodec } from '../../bench/datasets/orbit-codecs.js';
import { type FilterDocument, selectivityFilter } from '../../bench/datasets/orbit-filters.js';
import { ORBIT_AVRO, ORBIT_MESSAGE, ORBIT_SCHEMA_IDS, orbitDescriptorSet } from '../../bench/datasets/orbit-schemas.js';
import { writeSegmentFile } from '../../bench/datasets/write.js';
import { ask, framesOfText, serviceWith, stopServices, type TestService } from '../support/http-service.js';
import { filterText, ORBIT_FILTERS, oracleSelection } from '../support/orbit-scans.js';

const RECORDS = 4000;

/** The schemas of `orbit`, as a request brings them. */
const SCHEMAS = [
  { id: ORBIT_SCHEMA_IDS.avro, source: { kind: 'avro', schema: ORBIT_AVRO } },
  {
    id: ORBIT_SCHEMA_IDS.protobuf,
    source: {
      kind: 'protobuf',
      descriptor_set: Buffer.from(orbitDescriptorSet()).toString('base64'),
      message_type: ORBIT_MESSAGE,
    },
  },
];

/** Writing five logs and asking the oracle about one takes ten seconds of an idle processor. */
const SETUP_TIMEOUT_MS = 180_000;

const mixed = mixedDataset();
/** What each filter selects of the content, whatever codec it stands in. */
const wanted = new Map<string, number[]>();
const services: Record<string, TestService> = {};
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winnow-codecs-'));
  for (const codec of ORBIT_CODECS) {
    writeSegmentFile(orbitInCodec(codec), 'iggy', RECORDS, join(folder, `${codec}.log`));
  }
  writeSegmentFile(mixed, 'iggy', RECORDS, join(folder, 'mixed.log'));
  for (const filter of ORBIT_FILTERS) wanted.set(filter.id, oracleSelection(filter, RECORDS));
  for (const engine of ['kernel', 'walker']) {
    services[engine] = await serviceWith({ WINNOW_STORES_DATA: folder, WINNOW_POOL_ENGINE: engine });
  }
}, SETUP_TIMEOUT_MS);
afterAll(async () => {
  await stopServices();
  rmSync(folder, { recursive: true });
});

/** All that one filter got, over all its pages. */
interface Outcome {
  offsets: number[];
  unevaluated: { offset: number; reason: string }[];
  end: { stop: string; next_scan_offset: number; fault?: { offset: number }; totals: Record<string, number> };
}

/** Scans a whole log with filters by id, in one pass. */
async function scan(engine: string, log: string, filters: Record<string, string>): Promise<Record<string, Outcome>> {
  const body = {
    v: 1,
    source: { stream: 's', topic: log },
    partition_id: 0,
    segments: [{ format: 'iggy', store: 'data', path: `${log}.log`, sealed: true }],
    filters: Object.entries(filters).map(([id, text]) => ({ id, filter_text: text })),
    schemas: SCHEMAS,
    reply: 'offsets',
    count: 1000,
    pages: 0,
  };
  const headers = { accept: 'application/x-ndjson' };
  const { status, text } = await ask(services[engine]!, { body: JSON.stringify(body), headers });
  expect(status, text.slice(0, 500)).toBe(200);
  const frames = framesOfText(text);
  const last = frames.at(-1)! as { frame: string; filters: (Outcome['end'] & { id: string })[] };
  expect(last.frame, text.slice(-500)).toBe('end');
  return Object.fromEntries(
    last.filters.map(({ id, ...end }) => {
      const pages = frames.filter((frame) => frame['frame'] === 'page' && frame['id'] === id) as unknown as Outcome[];
      const all = <T>(of: (page: Outcome) => T[]): T[] => pages.flatMap(of);
      return [id, { offsets: all((page) => page.offsets), unevaluated: all((page) => page.unevaluated), end }];
    }),
  );
}

/** Offsets of the mixed log that `isSo` holds for. */
function offsetsWhere(isSo: (form: MixedForm, offset: number) => boolean): number[] {
  return Array.from({ length: RECORDS }, (_, offset) => offset).filter((offset) => isSo(mixed.formOf(offset), offset));
}

describe.each(['kernel', 'walker'])('over the %s', (engine) => {
  it.each(ORBIT_CODECS)('every filter selects the same offsets of orbit in %s', async (codec) => {
    const texts = ORBIT_FILTERS.map((filter) => [filter.id, filterText(filter, codec)]);
    const outcomes = await scan(engine, codec, Object.fromEntries(texts) as Record<string, string>);
    for (const { id } of ORBIT_FILTERS) {
      const { offsets, unevaluated, end } = outcomes[id]!;
      // What is delivered is a selection, and not all or nothing.
      expect(offsets.length, id).toBeGreaterThan(0);
      expect(offsets.length, id).toBeLessThan(RECORDS);
      // A filter that meets its own codec alone evaluates every record.
      expect({ id, offsets, unevaluated, dropped: end.totals['dropped'] }).toEqual({
        id,
        offsets: wanted.get(id),
        unevaluated: [],
        dropped: 0,
      });
      expect(end).toMatchObject({ stop: 'end_of_visible', next_scan_offset: RECORDS });
      addsUp(end.totals);
    }
  });

  it('each codec’s filters select their own records of the mixed log and reject the others', async () => {
    const readers = ORBIT_CODECS.flatMap((codec) =>
      ORBIT_FILTERS.filter(({ document }) => document.codec !== 'headers_only').map((filter) => ({ codec, filter })),
    );
    const texts = readers.map(({ codec, filter }) => [`${filter.id} in ${codec}`, filterText(filter, codec)]);
    const outcomes = await scan(engine, 'mixed', Object.fromEntries(texts) as Record<string, string>);
    for (const { codec, filter } of readers) {
      const { offsets, unevaluated, end } = outcomes[`${filter.id} in ${codec}`]!;
      const own = wanted.get(filter.id)!.filter((offset) => mixed.formOf(offset) === codec);
      expect({ codec, id: filter.id, offsets, unevaluated }).toEqual({
        codec,
        id: filter.id,
        offsets: own,
        unevaluated: [],
      });
      expect(end).toMatchObject({ stop: 'end_of_visible', next_scan_offset: RECORDS });
      expect(end.totals).toMatchObject({ examined: RECORDS, matched: own.length });
      addsUp(end.totals);
    }
  });

  it('headers alone select the same records of the mixed log, opaque ones too', async () => {
    const [filter] = ORBIT_FILTERS.filter(({ document }) => document.codec === 'headers_only');
    const { alarms } = await scan(engine, 'mixed', { alarms: filterText(filter!, 'json') });
    expect(alarms!.offsets).toEqual(wanted.get(filter!.id));
    expect(alarms!.end.totals).toMatchObject({ examined: RECORDS, dropped: 0 });
  });

  it('a policy decides what becomes of records in other codecs, and of bytes that are none', async () => {
    const slots = { id: 'slots', document: selectivityFilter(5) };
    const own = new Set(oracleSelection(slots, RECORDS));
    const more: Partial<FilterDocument>[] = [
      { foreign_policy: 'pass', fault_policy: 'drop' },
      { foreign_policy: 'reject', fault_policy: 'pass' },
    ];
    const texts = ORBIT_CODECS.flatMap((codec) =>
      more.map((policies, place) => [`${codec} ${place}`, filterText(slots, codec, policies)]),
    );
    const outcomes = await scan(engine, 'mixed', Object.fromEntries(texts) as Record<string, string>);
    for (const codec of ORBIT_CODECS) {
      const [passed, looked] = [outcomes[`${codec} 0`]!, outcomes[`${codec} 1`]!];
      const matches = offsetsWhere((form, offset) => form === codec && own.has(offset));
      // 255 names no codec: JSON and CBOR look at the bytes; the others miss the id of a schema, which is foreign too.
      const hasSchemas = codec === 'avro' || codec === 'protobuf';
      const foreign = offsetsWhere((form) => form !== codec && (form !== 255 || hasSchemas));
      const broken = offsetsWhere((form) => form === 255 && !hasSchemas);
      const isForeign = new Set(foreign);
      expect(passed.unevaluated, codec).toEqual(
        foreign.map((offset) => ({
          offset,
          reason: mixed.formOf(offset) === 255 ? 'missing_schema' : 'foreign_codec',
        })),
      );
      expect(passed.offsets.filter((offset) => !isForeign.has(offset))).toEqual(matches);
      expect(passed.end.totals).toMatchObject({ matched: matches.length, dropped: broken.length });
      expect(looked.unevaluated, codec).toEqual(broken.map((offset) => ({ offset, reason: 'malformed' })));
      expect(looked.end.totals).toMatchObject({
        matched: matches.length,
        unevaluated_count: broken.length,
        dropped: 0,
      });
      for (const { end } of [passed, looked]) {
        expect(end).toMatchObject({ stop: 'end_of_visible', next_scan_offset: RECORDS });
        addsUp(end.totals);
      }
    }
  });

  it('a filter that stops at faults stops at broken bytes of its own codec only', async () => {
    const slots = { id: 'slots', document: selectivityFilter(5) };
    const texts = ORBIT_CODECS.map((codec) => [codec, filterText(slots, codec, { fault_policy: 'stop' })]);
    const outcomes = await scan(engine, 'mixed', Object.fromEntries(texts) as Record<OrbitCodec, string>);
    const [first] = offsetsWhere((form) => form === 255);
    for (const codec of ['json', 'cbor'] as const) {
      expect(outcomes[codec]!.end).toMatchObject({ stop: 'fault', fault: { offset: first }, next_scan_offset: first });
    }
    for (const codec of ['avro', 'protobuf'] as const) {
      expect(outcomes[codec]!.end).toMatchObject({ stop: 'end_of_visible', next_scan_offset: RECORDS });
    }
  });
});

/** Every examined record has one outcome. */
function addsUp(totals: Record<string, number>): void {
  const { examined, matched, rejected, unevaluated_count: unevaluated, dropped } = totals;
  expect({ examined, outcomes: matched! + rejected! + unevaluated! + dropped! }).toEqual({
    examined: RECORDS,
    outcomes: RECORDS,
  });
}
