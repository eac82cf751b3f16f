/**
 * Three projects (design: dependencies): `no-eval` runs our own code with code generation from strings forbidden, as the
 * workers do; `plain` runs what stands on libraries that generate code (the HTTP router, the regex second opinion).
 * `walker` runs what scans once more, over the portable engine instead of the kernel.
 * A file is `plain` by its name, `*.plain.test.ts`; everything else is `no-eval`.
 */
import { defineConfig } from 'vitest/config';

const root = new URL('..', import.meta.url).pathname;
const exclude = ['**/node_modules/**', 'dist/**'];

/** What runs over a scan's engine, and takes less than a minute together. */
const SCAN_TESTS = ['allocation', 'continuation', 'flush', 'many-filters', 'pages.property', 'preview', 'slice'].map(
  (name) => `test/scan/${name}.test.ts`,
);

export default defineConfig({
  root,
  test: {
    testTimeout: 120_000,
    hookTimeout: 60_000,
    projects: [
      {
        root,
        test: {
          name: 'no-eval',
          pool: 'forks',
          execArgv: ['--disallow-code-generation-from-strings', '--expose-gc'],
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, 'test/**/*.plain.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        root,
        test: {
          name: 'walker',
          pool: 'forks',
          execArgv: ['--disallow-code-generation-from-strings', '--expose-gc'],
          env: { WINNOW_TEST_ENGINE: 'walker' },
          include: SCAN_TESTS,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        root,
        test: {
          name: 'plain',
          pool: 'forks',
          execArgv: ['--expose-gc'],
          include: ['test/**/*.plain.test.ts'],
          exclude,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
