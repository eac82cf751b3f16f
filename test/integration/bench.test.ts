/**
 * The demo, the benchmarks and the soak cannot rot: they run here in a small size, as the built programs they are.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');
const folder = mkdtempSync(join(tmpdir(), 'winnow-bench-test-'));

afterAll(() => rmSync(folder, { recursive: true }));

function run(parts: readonly string[]): Promise<{ code: number; out: string; error: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, parts, { timeout: 100_000 }, (fault, out, error) => {
      resolve({ code: fault === null ? 0 : Number(fault.code), out, error });
    });
  });
}

/** The rows of each Markdown table, without its head. */
function tablesIn(text: string): string[][] {
  const tables = text.split('\n\n').map((part) => part.split('\n').filter((line) => line.startsWith('| ')));
  return tables.filter((rows) => rows.length > 0).map((rows) => rows.slice(1));
}

it('the demo serves every group exactly what the independent evaluator selects', async () => {
  const { code, out, error } = await run([join(DIST, 'bench/demo/main.js'), '--orbit', '2000', '--webhooks', '329']);
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(out.match(/ equal$/gm)).toHaveLength(8);
  expect(out).not.toContain('DIFFERS');
});

it('every benchmark runs and both its sides select the same records', async () => {
  const json = join(folder, 'smoke.json');
  const { code, out } = await run(['--expose-gc', join(DIST, 'bench/main.js'), '--smoke', '--json', json]);
  expect(code).toBe(0);
  const [cases, figures] = tablesIn(out);
  for (const engine of ['kernel', 'walker']) {
    expect(cases!.filter((row) => row.includes(` | ${engine} | `)).length, engine).toBeGreaterThanOrEqual(24);
    expect(figures!.filter((row) => row.includes(` | ${engine} | `)).length, engine).toBeGreaterThanOrEqual(9);
  }
  for (const row of cases!) expect(row).toMatch(/\| \d+\.\d\d× \(/);
  const [, filters] = /^Cost score against time per record, (\d+) filters: ρ = -?\d\.\d{3} /m.exec(out)!;
  expect(Number(filters)).toBeGreaterThanOrEqual(40);
  expect(out).toMatch(
    /^A narrow scan beside 16 wide ones .*: p99 [\d.]+ ms .* worst gap between progress frames [\d.]+ ms/m,
  );

  const compared = await run([join(DIST, 'bench/compare.js'), json, json]);
  expect(compared.code).toBe(0);
  const [verdicts] = tablesIn(compared.out);
  expect(verdicts).toHaveLength(cases!.length + figures!.length);
  for (const verdict of verdicts!) expect(verdict).toMatch(/ \| \+0\.0 % \| ±\d+\.\d % \| same \|$/);
});

it('two builds are compared in turn', async () => {
  const args = ['--smoke', '--only', 'tiny', '--rounds', '2'];
  const { code, out } = await run([join(DIST, 'bench/compare.js'), ROOT, ROOT, ...args]);
  expect(code).toBe(0);
  expect(
    tablesIn(out)[0]!
      .map((row) => row.split(' | ')[0])
      .sort(),
  ).toEqual(['| tiny records (kernel)', '| tiny records (walker)']);
});

it('sixty-four scans at once for twenty seconds leave memory flat, and every page adds up', async () => {
  // So short a run has not collected everything it will: only growth that goes on for minutes is judged closely.
  const small = ['--seconds', '20', '--mib', '8', '--growth', '64'];
  const { code, out, error } = await run([join(DIST, 'bench/soak/main.js'), ...small]);
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(out).toMatch(/^64 scans at once .* passes complete, \d+ hang-ups, \d+ refused, 0 workers lost: flat\.$/m);
});

it('a case is profiled', async () => {
  const args = ['document records', '--engine', 'walker', '--seconds', '0.1'];
  const { code, out } = await run([join(DIST, 'bench/profile.js'), ...args]);
  expect(code).toBe(0);
  expect(tablesIn(out)[0]!.length).toBeGreaterThan(3);
  expect(out).toMatch(/^\| document records \(walker\), walker \| own time \|$/m);
});
