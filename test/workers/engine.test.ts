/**
 * Which engine a process runs: what was asked for, what the machine has, and that a broken installation or a wish that
 * cannot be met is told to the operator instead of running slowly in silence.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EngineChoice } from '../../src/core/engine.js';
import { engineOf, loadModules } from '../../src/pool/modules.js';
import { hasWasmSimd, loadKernelModule } from '../../workers/kernel-module.js';

const MODULES = new URL('../../dist/workers/modules.js', import.meta.url);
const COMMAND = new URL('../../dist/src/cli/main.js', import.meta.url).pathname;
/** Takes from the processor what WebAssembly SIMD needs. */
const WITHOUT_SIMD = '--no-enable-sse4-1';

const folder = mkdtempSync(join(tmpdir(), 'winnow-engine-'));
const BROKEN = join(folder, 'broken.wasm');

beforeAll(() => writeFileSync(BROKEN, 'no module'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The engine that a process with these runtime flags chooses, or why it refuses. */
function chosen(flags: readonly string[], choice: EngineChoice): string {
  const script = `
    const { loadModules } = await import(${JSON.stringify(MODULES.href)});
    try { console.log(loadModules(${JSON.stringify(choice)}).kernel === null ? 'walker' : 'kernel'); }
    catch (thrown) { console.log(thrown.message); }
  `;
  return execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script], { encoding: 'utf8' }).trim();
}

describe('the engine', () => {
  test.each([
    ['auto', 'kernel'],
    ['kernel', 'kernel'],
    ['walker', 'walker'],
  ] as const)('with SIMD at hand and %s configured is the %s', async (choice, engine) => {
    expect(hasWasmSimd()).toBe(true);
    expect(engineOf(await loadModules(choice, MODULES))).toBe(engine);
  });

  test.each([
    ['auto', /^walker$/],
    ['kernel', /pool\.engine is "kernel".*no WebAssembly SIMD/],
    ['walker', /^walker$/],
  ] as const)('without SIMD and %s configured gives %s', (choice, outcome) => {
    expect(chosen([WITHOUT_SIMD], choice)).toMatch(outcome);
  });
});

describe('the binary of the kernel', () => {
  test.each([
    ['missing', join(folder, 'missing.wasm'), 'cannot be read'],
    ['no WebAssembly', BROKEN, 'is broken'],
  ])('that is %s is named, with the command that makes it', (_, path, why) => {
    expect(() => loadKernelModule(pathToFileURL(path))).toThrow(
      `the kernel's binary kernel.wasm ${why}: run "npm run build"`,
    );
  });
});

describe('the service', () => {
  test('that is to run the kernel where it cannot does not start, and says why', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [WITHOUT_SIMD, COMMAND, 'serve'], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], WINNOW_HTTP_PORT: '0', WINNOW_POOL_ENGINE: 'kernel' },
    });
    expect(status).toBe(2);
    expect(`${stdout}${stderr}`).toContain('no WebAssembly SIMD');
  });
});
