/**
 * The demo and the benchmarks cannot rot: both run here in a small size, as the built programs they are.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const DIST = join(import.meta.dirname, '../../dist');

function run(parts: readonly string[]): Promise<{ code: number; out: string; error: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, parts, { timeout: 100_000 }, (fault, out, error) => {
      resolve({ code: fault === null ? 0 : Number(fault.code), out, error });
    });
  });
}

it('the demo serves every group exactly what the independent evaluator selects', async () => {
  const { code, out, error } = await run([join(DIST, 'bench/demo/main.js'), '--orbit', '2000', '--webhooks', '329']);
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(out.match(/ equal$/gm)).toHaveLength(8);
  expect(out).not.toContain('DIFFERS');
});

it('every benchmark runs and both its sides select the same records', async () => {
  const { code, out } = await run(['--expose-gc', join(DIST, 'bench/main.js'), '--smoke']);
  expect(code).toBe(0);
  const rows = out.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| case'));
  expect(rows.length).toBeGreaterThanOrEqual(19);
  for (const row of rows) expect(row).toMatch(/\| \d+\.\d\d× \(/);
  const [, filters] = /^Cost score against time per record, (\d+) filters: ρ = -?\d\.\d{3} /m.exec(out)!;
  expect(Number(filters)).toBeGreaterThanOrEqual(40);
  expect(out).toMatch(
    /^A narrow scan beside 16 wide ones .*: p99 [\d.]+ ms .* worst gap between progress frames [\d.]+ ms/m,
  );
});
