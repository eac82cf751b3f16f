/**
 * Writer schemas over HTTP (scan-protocol §1 `schemas`, §2): those of the registry and those that requests bring, the
 * statuses of what is wrong with them, and that a service does not start with a registry that is broken.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemaHash } from '../../src/codec/schema-source.js';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { decodeMsgpack, encodeMsgpack } from '../../src/wire/msgpack.js';
import { ask, serviceWith, stopServices, type Reply, type TestService } from '../support/http-service.js';

const SIGHTING = JSON.stringify({
  type: 'record',
  name: 'Sighting',
  fields: [
    { name: 'species', type: 'string' },
    { name: 'count', type: 'int' },
  ],
});
const LATER = SIGHTING.replace('"count"', '"number"');

/** `message Plot { int32 row = 1; }` as a FileDescriptorSet. */
const PLOTS = Buffer.from(
  '0a290a0a706c6f742e70726f746f22130a04506c6f74120b0a03726f77180120012805620670726f746f33',
  'hex',
);

function sighting(species: string, count: number): Uint8Array {
  return Uint8Array.from([species.length * 2, ...Buffer.from(species), count * 2]);
}

/** Offset 0 and 2 are of schema 7, 1 names none, 3 is of schema 8 (`row: 5`). */
const SEGMENT = encodeIggySegment(
  [
    { payload: sighting('siskin', 12), id: 7 },
    { payload: sighting('siskin', 40), id: undefined },
    { payload: sighting('wren', 1), id: 7 },
    { payload: Uint8Array.of(8, 5), id: 8 },
  ].map(({ payload, id }, offset) => ({
    offset,
    payload,
    ...(id === undefined ? {} : { headers: encodeHeaders([{ key: 'agdx.sid', value: { kind: 'u32', value: id } }]) }),
  })),
);

const SEGMENTS = [{ format: 'iggy', bytes: Buffer.from(SEGMENT).toString('base64') }];
const AVRO_7 = { id: 7, source: { kind: 'avro', schema: SIGHTING } };
const PLOT_8 = {
  id: 8,
  source: { kind: 'protobuf', descriptor_set: PLOTS.toString('base64'), message_type: 'Plot' },
};
const ABOVE_TEN = { pred: { field: 'count', op: 'gt', value: { kind: 'int', value: 10 } } };

function filterOf(expr: unknown, codec = 'avro', refs: readonly number[] = [7]): object {
  return { v: 1, evaluator_version: 1, expr, codec, schema_refs: refs };
}

function scanOf(filter: object, more: object = {}): object {
  return {
    v: 1,
    source: { stream: 's', topic: 't' },
    partition_id: 0,
    segments: SEGMENTS,
    filters: [{ id: 'f', filter }],
    ...more,
  };
}

async function post(service: TestService, path: string, body: object): Promise<Reply & { readonly json: any }> {
  const reply = await ask(service, { path, body: JSON.stringify(body) });
  return { ...reply, text: reply.text, json: JSON.parse(reply.text) };
}

const folders: string[] = [];

function registry(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-registry-'));
  folders.push(folder);
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  return folder;
}

let bare: TestService;
let service: TestService;

beforeAll(async () => {
  bare = await serviceWith();
  service = await serviceWith({
    WINNOW_SCHEMAS_FOLDER: registry({ '7.sightings.avsc': SIGHTING, '8.Plot.desc': PLOTS }),
    WINNOW_CONTINUATION_KEYS: 'a-key-of-sixteen-bytes',
  });
});
afterAll(async () => {
  await stopServices();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

describe('a scan', () => {
  it('reads payloads by the schemas that the request brings', async () => {
    const { status, json } = await post(
      bare,
      '/v1/scan',
      scanOf(filterOf(ABOVE_TEN), { schemas: [AVRO_7], reply: 'offsets' }),
    );
    expect(status).toBe(200);
    expect(json).toMatchObject({ examined: 4, matched: 1, rejected: 3, offsets: [0] });
  });

  it('reads them by those of the registry', async () => {
    const row = { pred: { field: 'row', op: 'eq', value: { kind: 'int', value: 5 } } };
    const filters = [
      { id: 'avro', filter: filterOf(ABOVE_TEN) },
      { id: 'protobuf', filter: filterOf(row, 'protobuf', [8]) },
      { id: 'both', filter: { ...filterOf(ABOVE_TEN, 'avro', [7, 8]), foreign_policy: 'pass' } },
    ];
    const body = JSON.stringify({ ...scanOf({}, { reply: 'offsets' }), filters });
    const reply = await ask(service, { body, headers: { accept: 'application/x-ndjson' } });
    const pages = reply.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { frame: string; id: string; offsets: number[]; unevaluated?: unknown })
      .filter(({ frame }) => frame === 'page');
    expect(Object.fromEntries(pages.map(({ id, offsets }) => [id, offsets]))).toEqual({
      avro: [0],
      protobuf: [3],
      both: [0, 1, 3],
    });
    expect(pages.find(({ id }) => id === 'both')!.unevaluated).toEqual([
      { offset: 1, reason: 'missing_schema' },
      { offset: 3, reason: 'schema_mismatch' },
    ]);
  });

  it('takes bytes in MessagePack as they are, and byte numbers in JSON', async () => {
    const row = filterOf({ present: 'row' }, 'protobuf', [8]);
    const source = { ...PLOT_8.source, descriptor_set: [...PLOTS] };
    const { json } = await post(bare, '/v1/scan', scanOf(row, { schemas: [{ id: 8, source }], reply: 'offsets' }));
    expect(json.offsets).toEqual([3]);
    const packed = await ask(bare, {
      headers: { 'content-type': 'application/msgpack', accept: 'application/json' },
      body: encodeMsgpack({
        ...scanOf(row, { reply: 'offsets' }),
        segments: [{ format: 'iggy', bytes: SEGMENT }],
        schemas: [{ id: 8, source: { ...PLOT_8.source, descriptor_set: PLOTS } }],
      }),
    });
    expect(JSON.parse(packed.text)).toMatchObject({ offsets: [3] });
  });

  it('may bring what the registry holds, but nothing else under its id', async () => {
    const same = scanOf(filterOf(ABOVE_TEN), { schemas: [AVRO_7] });
    expect((await post(service, '/v1/scan', same)).status).toBe(200);
    const other = { id: 7, source: { kind: 'avro', schema: LATER } };
    const { status, json } = await post(service, '/v1/scan', scanOf(filterOf(ABOVE_TEN), { schemas: [PLOT_8, other] }));
    expect(status).toBe(409);
    expect(json).toMatchObject({ code: 'conflict', field: '/schemas/1/id', given: 7 });
  });

  it('is refused without a schema that a filter refers to', async () => {
    const { status, json } = await post(
      bare,
      '/v1/scan',
      scanOf(filterOf(ABOVE_TEN, 'avro', [7, 9]), { schemas: [AVRO_7] }),
    );
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'invalid_request', field: '/filters/0/filter/schema_refs/1', given: 9 });
  });

  it('is refused with a schema that does not compile, at the place inside', async () => {
    const schema = SIGHTING.replace('"int"', '"inty"');
    const avro = await post(
      bare,
      '/v1/scan',
      scanOf(filterOf(ABOVE_TEN), { schemas: [{ id: 7, source: { kind: 'avro', schema } }] }),
    );
    expect(avro.status).toBe(400);
    expect(avro.json).toMatchObject({ code: 'invalid_request', field: '/schemas/0/source/schema' });
    expect(avro.json.detail).toContain('/fields/1/type');
    const cut = { ...PLOT_8.source, descriptor_set: PLOTS.subarray(0, 20).toString('base64') };
    const protobuf = await post(
      bare,
      '/v1/scan',
      scanOf(filterOf(ABOVE_TEN), { schemas: [AVRO_7, { id: 8, source: cut }] }),
    );
    expect(protobuf.json).toMatchObject({ code: 'invalid_request', field: '/schemas/1/source/descriptor_set' });
  });

  it('is refused with a path that its schemas do not have', async () => {
    const wrong = { pred: { field: 'cuont', op: 'gt', value: { kind: 'int', value: 10 } } };
    const { status, json } = await post(service, '/v1/scan', scanOf(filterOf(wrong)));
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'invalid_request', field: '/filters/0/filter/expr/pred/field' });
    expect(json.detail).toContain('did you mean `count`?');
  });

  it('is not continued under another schema of the same id', async () => {
    const first = await post(bare, '/v1/scan', scanOf(filterOf(ABOVE_TEN), { schemas: [AVRO_7], max_examined: 1 }));
    expect(first.json.stop).toBe('budget');
    const start = { continue: first.json.continuation };
    const again = await post(bare, '/v1/scan', scanOf(filterOf(ABOVE_TEN), { schemas: [AVRO_7], start }));
    expect(again.json).toMatchObject({ examined: 3 });
    // The same names in another order: the filter is the same, what it reads is not.
    const schema = SIGHTING.replace('Sighting', 'Sighted');
    const other = { id: 7, source: { kind: 'avro', schema } };
    const { status, json } = await post(bare, '/v1/scan', scanOf(filterOf(ABOVE_TEN), { schemas: [other], start }));
    expect(status).toBe(409);
    expect(json).toMatchObject({ code: 'conflict', field: '/start/continue' });
  });

  it('keeps programs apart that have the same filters and other schemas', async () => {
    const filter = filterOf({ present: 'count' });
    const later = { id: 7, source: { kind: 'avro', schema: LATER } };
    expect((await post(bare, '/v1/scan', scanOf(filter, { schemas: [AVRO_7] }))).json).toMatchObject({ matched: 2 });
    expect((await post(bare, '/v1/scan', scanOf(filter, { schemas: [later] }))).status).toBe(400);
    expect((await post(bare, '/v1/scan', scanOf(filter, { schemas: [AVRO_7] }))).json).toMatchObject({ matched: 2 });
  });
});

describe('validate', () => {
  it('warns of ids without a schema, and still says what the filter is', async () => {
    const { status, json } = await post(bare, '/v1/filters/validate', { filter: filterOf({ present: 'anything' }) });
    expect(status).toBe(200);
    expect(json.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(json.warnings).toEqual([expect.objectContaining({ pointer: '/schema_refs/0', reason: 'unknown_schema' })]);
  });

  it('warns of types that never compare, and refuses what the schemas rule out', async () => {
    const text = { pred: { field: 'count', op: 'eq', value: { kind: 'string', value: '12' } } };
    const warned = await post(service, '/v1/filters/validate', { filter: filterOf(text) });
    expect(warned.json.warnings).toEqual([
      expect.objectContaining({ pointer: '/expr/pred/value', reason: 'type_never_compares' }),
    ]);
    const brought = { filter_text: JSON.stringify(filterOf({ present: 'x' })), schemas: [AVRO_7] };
    expect((await post(bare, '/v1/filters/validate', brought)).json).toMatchObject({
      code: 'invalid_request',
      field: '/filter_text',
      filter_field: '/expr/present',
      position: brought.filter_text.indexOf('x"'),
    });
  });
});

describe('test, preview and diff', () => {
  const headers = [{ key: 'agdx.sid', value: { kind: 'uint', value: 7 } }];
  const record = { payload: Buffer.from(sighting('siskin', 12)).toString('base64'), headers };

  it('judge by the same schemas', async () => {
    const tested = await post(bare, '/v1/filters/test', { filter: filterOf(ABOVE_TEN), schemas: [AVRO_7], record });
    expect(tested.json.explanation).toMatchObject({ verdict: 'selected' });
    const previewed = await post(service, '/v1/filters/preview', { filter: filterOf(ABOVE_TEN), segments: SEGMENTS });
    expect(previewed.json).toMatchObject({ examined: 4, matched: 1 });
    const small = { pred: { field: 'count', op: 'lte', value: { kind: 'int', value: 10 } } };
    const diffed = await post(service, '/v1/filters/diff', {
      a: { filter: filterOf(ABOVE_TEN) },
      b: { filter: filterOf(small) },
      segments: SEGMENTS,
    });
    expect(diffed.json).toMatchObject({ only_a: { examples: [0] }, only_b: { examples: [2] }, neither: { count: 2 } });
  });

  it('refuse an id that stands for nothing', async () => {
    const { status, json } = await post(bare, '/v1/filters/test', { filter: filterOf(ABOVE_TEN), record });
    expect([status, json.field]).toEqual([400, '/filter/schema_refs/0']);
  });
});

describe('GET /v1/schemas', () => {
  const listed = [
    {
      id: 7,
      kind: 'avro',
      name: 'sightings',
      hash: schemaHash({ kind: 'avro', schema: SIGHTING }),
      bytes: SIGHTING.length,
    },
    {
      id: 8,
      kind: 'protobuf',
      message_type: 'Plot',
      hash: schemaHash({ kind: 'protobuf', descriptorSet: PLOTS, messageType: 'Plot' }),
      bytes: PLOTS.length,
    },
  ];

  it('lists the registry, in both encodings', async () => {
    const json = await ask(service, { method: 'GET', path: '/v1/schemas' });
    expect(JSON.parse(json.text)).toEqual({ schemas: listed });
    const packed = await ask(service, {
      method: 'GET',
      path: '/v1/schemas',
      headers: { accept: 'application/msgpack' },
    });
    expect(decodeMsgpack(packed.bytes)).toEqual({ schemas: listed });
    expect(JSON.parse((await ask(bare, { method: 'GET', path: '/v1/schemas' })).text)).toEqual({ schemas: [] });
  });

  it('is for callers that may scan', async () => {
    const hash = (key: string): string => createHash('sha256').update(key).digest('hex');
    const guarded = await serviceWith({
      WINNOW_AUTH_KEYS: `reader sha256:${hash('reader')} scan stream:*/*,operator sha256:${hash('operator')} admin`,
    });
    const as = (key: string): Promise<Reply> =>
      ask(guarded, { method: 'GET', path: '/v1/schemas', headers: { authorization: `Bearer ${key}` } });
    expect((await as('reader')).status).toBe(200);
    expect((await as('operator')).status).toBe(403);
    expect((await ask(guarded, { method: 'GET', path: '/v1/schemas' })).status).toBe(401);
  });
});

describe('a service', () => {
  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['a schema that does not compile', { '7.avsc': SIGHTING.replace('"int"', '"inty"') }, '/fields/1/type'],
    [
      '.proto text that does not parse',
      { '9.Plot.proto': 'syntax = "proto3";\nmessage Plot { int32 }' },
      '9.Plot.proto',
    ],
    ['a message that is not there', { '9.Plod.proto': 'syntax = "proto3"; message Plot { int32 row = 1; }' }, 'Plod'],
    ['a file that is no schema', { 'notes.txt': '' }, 'notes.txt'],
    [
      'a file that differs from its record',
      { '7.avsc': SIGHTING, 'ids.json': `{"7":"${'0'.repeat(64)}"}` },
      'ids.json',
    ],
  ])('does not start with %s, and names the file', async (_name, files, place) => {
    const fault = await serviceWith({ WINNOW_SCHEMAS_FOLDER: registry(files) }).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(fault?.message).toContain(Object.keys(files)[0]);
    expect(fault?.message).toContain(place);
  });

  it('does not start with a folder that is not there', async () => {
    await expect(serviceWith({ WINNOW_SCHEMAS_FOLDER: '/nonexistent' })).rejects.toThrow('/nonexistent');
  });
});
