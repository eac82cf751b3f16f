/**
 * `winnow schema add | list | check`, and the commands that read records by a registry, as a person runs them: the built
 * program in a process of its own.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeHeaders } from '../../src/segment/header-encode.js';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { winnow } from '../support/command.js';

const SIGHTING = '{"type":"record","name":"Sighting","fields":[{"name":"count","type":"int"}]}';
const ABOVE_TEN = { pred: { field: 'count', op: 'gt', value: { kind: 'int', value: 10 } } };

let root: string;
let folder: string;
let sightings: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'winnow-schema-'));
  folder = join(root, 'schemas');
  mkdirSync(folder);
  sightings = join(root, 'sightings.avsc');
  writeFileSync(sightings, SIGHTING);
});
afterAll(() => rmSync(root, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(root, name);
  writeFileSync(path, content);
  return path;
}

describe('winnow schema', () => {
  it('adds a schema under an id, records it, and does it once', async () => {
    const added = await winnow(['schema', 'add', sightings, '--id', '7', '--folder', folder]);
    expect([added.code, added.out, added.error]).toEqual([0, 'added: 7.sightings.avsc\n', '']);
    expect(readFileSync(join(folder, '7.sightings.avsc'), 'utf8')).toBe(SIGHTING);
    expect(JSON.parse(readFileSync(join(folder, 'ids.json'), 'utf8'))).toHaveProperty('7');
    const again = await winnow(['schema', 'add', sightings, '--id', '7', '--folder', folder]);
    expect([again.code, again.out]).toEqual([0, 'already there: 7.sightings.avsc\n']);
  });

  it('keeps an id for what it stands for', async () => {
    const other = file('other.avsc', '"int"');
    const { code, error } = await winnow(['schema', 'add', other, '--id', '7', '--folder', folder]);
    expect(code).toBe(1);
    expect(error).toContain('The id 7 stands for another schema (7.sightings.avsc).');
  });

  it('adds .proto text with its message', async () => {
    const proto = file('plot.proto', 'syntax = "proto3"; package garden; message Plot { int32 row = 1; }');
    const without = await winnow(['schema', 'add', proto, '--id', '9', '--folder', folder]);
    expect(without.code).toBe(2);
    expect(without.error).toContain('--message is needed');
    const { code, out } = await winnow([
      'schema',
      'add',
      proto,
      '--id',
      '9',
      '--message',
      'garden.Plot',
      '--folder',
      folder,
    ]);
    expect([code, out]).toEqual([0, 'added: 9.garden.Plot.proto\n']);
  });

  it('refuses a schema that does not compile, by the place, and leaves nothing behind', async () => {
    const bad = file('bad.avsc', SIGHTING.replace('"int"', '"inty"'));
    const { code, error } = await winnow(['schema', 'add', bad, '--id', '10', '--folder', folder]);
    expect(code).toBe(1);
    expect(error).toContain('bad.avsc');
    expect(error).toContain('/fields/0/type');
    expect(existsSync(join(folder, '10.bad.avsc'))).toBe(false);
    expect(existsSync(join(folder, 'ids.json.tmp'))).toBe(false);
  });

  it.each<[string, string[]]>([
    ['a file that is not there', ['/nonexistent.avsc', '--id', '1']],
    ['an id that is none', ['sightings.avsc', '--id', '-1']],
    ['an id beyond 32 bits', ['sightings.avsc', '--id', '4294967296']],
    ['another ending', ['sightings.txt', '--id', '1']],
    ['a message for Avro', ['sightings.avsc', '--id', '1', '--message', 'a.B']],
    ['no id', ['sightings.avsc']],
  ])('is in trouble with %s', async (_name, [given, ...rest]) => {
    const path = given!.startsWith('/') ? given! : join(root, given!);
    expect((await winnow(['schema', 'add', path, ...rest, '--folder', folder])).code).toBe(2);
  });

  it('lists what there is', async () => {
    const { code, out } = await winnow(['schema', 'list', '--folder', folder]);
    expect(code).toBe(0);
    expect(out).toMatch(/^ *7 {2}avro +sightings +[0-9a-f]{12} +76$/m);
    expect(out).toMatch(/^ *9 {2}proto_text +garden\.Plot +[0-9a-f]{12} +66$/m);
    const json = await winnow(['schema', 'list', '--folder', folder, '--json']);
    expect(
      json.out
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: number }).id),
    ).toEqual([7, 9]);
    expect((await winnow(['schema', 'list', '--folder', join(root, 'gone')])).code).toBe(2);
  });

  it('checks a registry as a service would at its start', async () => {
    expect(await winnow(['schema', 'check', '--folder', folder])).toMatchObject({
      code: 0,
      out: '2 schemas compile\n',
    });
    writeFileSync(join(folder, '11.avsc'), '{"type":"record"}');
    const broken = await winnow(['schema', 'check', '--folder', folder]);
    expect([broken.code, broken.error]).toEqual([1, expect.stringContaining('11.avsc')]);
    rmSync(join(folder, '11.avsc'));
    writeFileSync(join(folder, '7.sightings.avsc'), SIGHTING.replace('count', 'total'));
    const changed = await winnow(['schema', 'check', '--folder', folder]);
    expect([changed.code, changed.error]).toEqual([1, expect.stringContaining('7.sightings.avsc')]);
    writeFileSync(join(folder, '7.sightings.avsc'), SIGHTING);
  });
});

describe('the commands that read records', () => {
  const filter = JSON.stringify({ v: 1, evaluator_version: 1, expr: ABOVE_TEN, codec: 'avro', schema_refs: [7] });
  let log: string;

  beforeAll(() => {
    const headers = encodeHeaders([{ key: 'agdx.sid', value: { kind: 'u32', value: 7 } }]);
    const records = [12, 3, 40].map((count, offset) => ({ offset, payload: Uint8Array.of(count * 2), headers }));
    log = file('sightings.log', encodeIggySegment(records));
  });

  it('find the schemas of payloads in a registry', async () => {
    const scanned = await winnow(['scan', log, '--filter', '-', '--count', '--schemas', folder], filter);
    expect([scanned.code, scanned.out]).toEqual([0, '2\n']);
    const previewed = await winnow(['preview', log, '--filter', '-', '--schemas', folder], filter);
    expect(previewed.out).toContain('examined 3 = 2 matched + 1 rejected');
    const validated = await winnow(['validate', '-', '--schemas', folder], filter.replace('"count"', '"cuont"'));
    expect([validated.code, validated.error]).toEqual([1, expect.stringContaining('did you mean `count`?')]);
  });

  it('refuse a filter whose schema is nowhere', async () => {
    const { code, error } = await winnow(['scan', log, '--filter', '-', '--count'], filter);
    expect([code, error]).toEqual([2, expect.stringContaining('There is no schema with the id 7')]);
    const validated = await winnow(['validate', '-'], filter);
    expect([validated.code, validated.out]).toEqual([0, expect.stringContaining('unknown_schema')]);
  });
});
