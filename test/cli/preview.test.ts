/**
 * `winnow preview` and `winnow diff` as a person runs them: what they print, and exit codes as `scan` and diff have
 * them. The README's worked example is run as it stands there.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ORBIT_GROUPS } from '../../bench/datasets/orbit-filters.js';
import { orbitDataset } from '../../bench/datasets/orbit.js';
import { writeSegmentFile } from '../../bench/datasets/write.js';
import type { DiffReply, PreviewReply } from '../../src/wire/preview.js';
import { winnow as run } from '../support/command.js';

const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
const RECORDS = 3_000;

let folder: string;

const winnow = (...parts: readonly string[]) => run(parts, '', folder);

/** Writes a filter and returns its file's name. */
function filterFile(name: string, expr: object, more: object = {}): string {
  writeFileSync(join(folder, name), JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json', ...more }));
  return name;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'winnow-preview-'));
  writeSegmentFile(orbitDataset(), 'iggy', RECORDS, join(folder, 'orbit.log'));
  writeFileSync(join(folder, 'broken.ndjson'), '{"a":1}\n{"a":2}\n{"a":\n{"b":4}\n');
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('winnow preview', () => {
  it('prints the tree with aligned counts and shares, marks the node that rejected most, and exits 0', async () => {
    const group = ORBIT_GROUPS.find(({ name }) => name === 'safe-mode-updates')!;
    writeFileSync(join(folder, 'safe.json'), JSON.stringify(group.filter));
    const { code, out } = await winnow('preview', 'orbit.log', '--filter', 'safe.json');
    expect(code).toBe(0);
    const lines = out.trimEnd().split('\n');
    expect(lines[0]).toBe('examined 3,000 = 90 matched + 2,910 rejected + 0 unevaluated + 0 dropped');
    expect(lines[1]).toMatch(/^looked to the end of the segment, \d\.\d MiB; next offset 3000$/);
    expect(lines[3]).toMatch(/^ {3}expression +match +no match .* rejected {2}rejected offsets$/);
    expect(lines[4]).toMatch(/^. {2}\w+ +90 +3% +2,910 +97%/);
    // Every count ends where its column's head ends.
    const end = lines[3]!.indexOf('no match') + 'no match'.length;
    for (const line of lines.slice(4, lines.indexOf('', 4))) {
      expect(line.slice(end, end + 2), line).toBe('  ');
      expect(line[end - 1], line).toMatch(/[% ]/);
    }
    expect(lines.filter((line) => line.startsWith('▶'))).toHaveLength(2);
    expect(lines.at(-1)).toMatch(
      /^▶ rejected most: .+, [\d,]+ of 3,000 records \(\d+%\), at offsets \d+, \d+, \d+, …$/,
    );
  });

  it('says the same to programs: one object, whose rejected nodes add up to the rejected records', async () => {
    const { code, out } = await winnow('preview', 'orbit.log', '--filter', 'safe.json', '--json', '--records', '2');
    expect(code).toBe(0);
    const reply = JSON.parse(out) as PreviewReply;
    expect(reply).toMatchObject({ examined: RECORDS, matched: 90, stop: 'end_of_visible' });
    expect(reply.records.map(({ verdict }) => verdict)).toEqual(['selected', 'selected']);
    type Node = PreviewReply['funnel']['root'];
    const sum = (node: Node): number =>
      (node.children ?? []).reduce((total, child) => total + sum(child), node.rejected);
    expect(sum(reply.funnel.root)).toBe(reply.rejected);
  });

  it('exits 1 when nothing would be delivered, and shows and explains records when asked', async () => {
    const filter = filterFile('none.json', { all: [{ present: 'table' }, { present: 'nowhere' }] });
    const parts = ['--from', '2990', '--examine', '5', '--records', '1', '--explain'];
    const { code, out } = await winnow('preview', 'orbit.log', '--filter', filter, ...parts);
    expect(code).toBe(1);
    expect(out).toContain('looked up to the limit of 5 records');
    expect(out).toContain('next offset 2995');
    expect(out).toContain('▶ rejected most: nowhere is present, 5 of 5 records (100%), at offsets 2990, 2991, 2992, …');
    expect(out).toMatch(/\noffset 2990 {2}rejected {2}\{.*\n {2}✗ all {2}no_match\n {4}✓ table is present {2}match\n/);
  });

  it('exits 2 where a fault stops it, after printing what it found', async () => {
    const { code, out, error } = await winnow(
      'preview',
      'broken.ndjson',
      '--filter',
      filterFile('stop.json', { present: 'a' }),
    );
    expect(code).toBe(2);
    expect(out).toContain('examined 2 = 2 matched');
    expect(error).toBe('stopped: malformed at offset 2\n');
  });

  it('names what could not be judged under the other fault policies', async () => {
    const filter = filterFile('drop.json', { present: 'a' }, { fault_policy: 'drop' });
    const { code, out } = await winnow('preview', 'broken.ndjson', '--filter', filter);
    expect(code).toBe(0);
    expect(out).toContain('examined 4 = 2 matched + 1 rejected + 0 unevaluated + 1 dropped');
    expect(out).toContain('not judged: malformed 1, at offsets 2');
    expect(out).toMatch(/unjudged/);
    expect(out).not.toContain('mismatch');
  });

  it('exits 2 for a bad filter, a missing file and a bad number', async () => {
    const bad = await winnow('preview', 'orbit.log', '--filter', filterFile('bad.json', { presence: 'a' }));
    expect(bad.code).toBe(2);
    expect(bad.error).toContain('winnow preview: ');
    expect((await winnow('preview', 'nothing.log', '--filter', 'stop.json')).code).toBe(2);
    expect((await winnow('preview', 'orbit.log', '--filter', 'stop.json', '--records', 'x')).code).toBe(2);
    expect((await winnow('preview', 'orbit.log')).code).toBe(2);
  });
});

describe('winnow diff', () => {
  it('exits 0 and says so when both deliver the same records', async () => {
    const { code, out } = await winnow('diff', 'orbit.log', '--filter', 'safe.json', '--with', 'safe.json');
    expect(code).toBe(0);
    expect(out).toMatch(/^both +90 +3% +[\d,]+ +\d+, \d+, \d+, …$/m);
    expect(out).toContain('the filters deliver the same records');
  });

  it('exits 1 with the four parts when they differ', async () => {
    const other = filterFile('tables.json', { present: 'table' });
    const { code, out } = await winnow('diff', 'orbit.log', '--filter', 'safe.json', '--with', other);
    expect(code).toBe(1);
    expect(out.trimEnd().split('\n').at(-1)).toBe('the filters differ on 2,910 of 3,000 records (97%)');
    const json = await winnow('diff', 'orbit.log', '--filter', 'safe.json', '--with', other, '--json');
    expect(json.code).toBe(1);
    const reply = JSON.parse(json.out) as DiffReply;
    expect(reply).toMatchObject({ only_a: { count: 0 }, only_b: { count: 2_910 }, both: { count: 90 } });
  });

  it('exits 2 where one of them stops, and says which', async () => {
    const parts = ['--filter', 'drop.json', '--with', 'stop.json'];
    const { code, error } = await winnow('diff', 'broken.ndjson', ...parts);
    expect({ code, error }).toEqual({ code: 2, error: 'stopped: malformed at offset 2, where filter B stops\n' });
    expect((await winnow('diff', 'broken.ndjson', '--filter', '-', '--with', '-')).code).toBe(2);
  });
});

describe('the worked example of the README', () => {
  /** Fenced blocks of the section, by what their first line says they are: a file to write, or a command and its output. */
  const section = README.split('\n## Why did nothing match?\n')[1]!.split('\n## ')[0]!;
  const files = [...section.matchAll(/`([a-z0-9-]+\.(?:json|ndjson))`[^`]*:\n\n```[a-z]+\n([\s\S]*?)```/g)];
  const commands = [...section.matchAll(/```console\n\$ npx winnow (.*)\n([\s\S]*?)```/g)];

  it('prints what the README says, to the letter', async () => {
    expect(files.map(([, name]) => name)).toEqual(['fleet.ndjson', 'low.json', 'low-as-number.json']);
    expect(commands).toHaveLength(2);
    for (const [, name, text] of files) writeFileSync(join(folder, name!), text!);
    for (const [, command, output] of commands) {
      expect((await winnow(...command!.split(' '))).out).toBe(output);
    }
  });
});
