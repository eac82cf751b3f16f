/**
 * The commands as a person runs them: the built program in a process of its own, exit codes as grep has them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ORBIT_GROUPS } from '../../bench/datasets/orbit-filters.js';
import { orbitDataset } from '../../bench/datasets/orbit.js';
import { writeSegmentFile } from '../../bench/datasets/write.js';
import { VERSION } from '../../src/core/version.js';
import { winnow } from '../support/command.js';

const RECORDS = 3_000;

function filterText(expr: unknown, more: Record<string, unknown> = {}): string {
  return JSON.stringify({ v: 1, evaluator_version: 1, expr, codec: 'json', ...more });
}

describe('the commands', () => {
  let folder: string;
  let log: string;
  let broken: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'winnow-cli-'));
    log = join(folder, 'orbit.log');
    writeSegmentFile(orbitDataset(), 'iggy', RECORDS, log);
    broken = join(folder, 'broken.ndjson');
    writeFileSync(broken, '{"a":1}\n{"a":2}\n{"a":\n{"a":4}\n');
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it('scan prints every selected record as one JSON line and exits 0', async () => {
    const group = ORBIT_GROUPS.find(({ name }) => name === 'safe-mode-updates')!;
    const { code, out, error } = await winnow(['scan', log, '--filter', '-', '--json'], JSON.stringify(group.filter));
    const records = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { offset: number; payload_text: string });
    expect(code).toBe(0);
    expect(records).toHaveLength((RECORDS / 1000) * group.perMille);
    for (const { payload_text: payload } of records) expect(JSON.parse(payload).after.mode).toBe('safe');
    expect(error).toContain(`examined 3,000 = 90 matched + 2,910 rejected + 0 unevaluated + 0 dropped`);
    expect(error).toContain(`next offset ${RECORDS}`);
  });

  it('scan shows a table with a row per record, and stops after --limit', async () => {
    const { code, out } = await winnow(
      ['scan', log, '--filter', '-', '--limit', '2'],
      filterText({ present: 'table' }),
    );
    expect(code).toBe(0);
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/offset\s+time\s+headers\s+payload/);
    expect(lines[2]).toMatch(/^\s+1 {2}2026-01-01T00:00:00\.001Z/);
  });

  it('scan exits 1 when nothing matches, having examined everything', async () => {
    const { code, out, error } = await winnow(
      ['scan', log, '--filter', '-', '--count'],
      filterText({ present: 'nope' }),
    );
    expect({ code, out }).toEqual({ code: 1, out: '0\n' });
    expect(error).toContain('examined 3,000 = 0 matched + 3,000 rejected');
  });

  it('scan starts at --from', async () => {
    const parts = ['scan', log, '--filter', '-', '--count', '--from', '2990'];
    expect((await winnow(parts, filterText({ present: 'table' }))).out).toBe('10\n');
  });

  it('scan exits 2 at a broken record under fault_policy stop, after printing what came before it', async () => {
    const { code, out, error } = await winnow(
      ['scan', broken, '--filter', '-', '--json'],
      filterText({ present: 'a' }),
    );
    expect(code).toBe(2);
    expect(out.trimEnd().split('\n')).toHaveLength(2);
    expect(error).toContain('stopped: malformed at offset 2');
  });

  it('scan goes past a broken record under fault_policy drop and counts it', async () => {
    const parts = ['scan', broken, '--filter', '-', '--count', '--base-offset', '100'];
    const { code, out, error } = await winnow(parts, filterText({ present: 'a' }, { fault_policy: 'drop' }));
    expect({ code, out }).toEqual({ code: 0, out: '3\n' });
    expect(error).toContain('examined 4 = 3 matched + 0 rejected + 0 unevaluated + 1 dropped');
  });

  it('scan says what is wrong with a filter, a file or a command line, and exits 2', async () => {
    const bad = await winnow(['scan', log, '--filter', '-'], filterText({ presence: 'a' }));
    expect(bad.code).toBe(2);
    expect(bad.error).toContain('presence');
    const missing = await winnow(['scan', join(folder, 'nothing.log'), '--filter', '-'], filterText({ present: 'a' }));
    expect(missing.code).toBe(2);
    expect((await winnow(['scan', log])).code).toBe(2);
    expect((await winnow(['scan', log, '--filter', '-', '--limit', 'x'], filterText({ present: 'a' }))).code).toBe(2);
  });

  it('validate prints digest, reads, cost and warnings, exits 1 for a refused filter and 2 for a missing file', async () => {
    const good = await winnow(['validate', '-'], filterText({ present: 'a.b' }, { comment: 'x' }));
    expect(good.code).toBe(0);
    expect(good.out).toMatch(/^digest {4}[0-9a-f]{64}\nreads {5}a\.b\ncost/);
    expect(good.out).toContain('warning   /comment');
    expect((await winnow(['validate', '-', '--strict'], filterText({ present: 'a' }, { comment: 'x' }))).code).toBe(1);
    const cut = await winnow(['validate', '-'], '{"v":1,');
    expect(cut.code).toBe(1);
    expect(cut.error).toContain('^');
    expect((await winnow(['validate', join(folder, 'nothing.json')])).code).toBe(2);
  });

  it('test explains every node and its exit code is the verdict', async () => {
    const filter = join(folder, 'filter.json');
    const expr = {
      all: [
        { header: { key: 'severity', op: 'gte', value: { kind: 'int', value: 2 } } },
        { pred: { field: 'mode', op: 'eq', value: { kind: 'string', value: 'safe' } } },
      ],
    };
    writeFileSync(filter, filterText(expr));
    const parts = ['test', filter, '--payload', '-', '--header'];
    const selected = await winnow([...parts, 'severity:uint=3'], '{"mode":"safe"}');
    expect(selected.code).toBe(0);
    expect(selected.out).toContain('✓ header severity gte 2  match');
    const rejected = await winnow([...parts, 'severity:uint=1'], '{"mode":"safe"}');
    expect(rejected.code).toBe(1);
    expect(rejected.out).toContain('✗ header severity gte 2  no_match');
    const fault = await winnow([...parts, 'severity:uint=3'], '{"mode":');
    expect(fault.code).toBe(2);
    expect(fault.out).toContain('fault (malformed)');
  });

  it('names the version and helps without an error code', async () => {
    expect(await winnow(['--version'])).toMatchObject({ code: 0, out: `${VERSION}\n` });
    expect((await winnow(['scan', '--help'])).code).toBe(0);
    expect((await winnow(['nonsense'])).code).toBe(2);
  });
});
