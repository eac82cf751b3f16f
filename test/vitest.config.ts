/**
 * Four projects (design: dependencies). `no-eval` runs our own code with code generation from strings forbidden, as the
 * workers do; `plain`, files named `*.plain.test.ts`, what stands on libraries that generate code (the HTTP router, the
 * regex second opinion). `walker` runs what scans once more, over the portable engine instead of the kernel. `whole`
 * runs the built programs when all others are done, because they take every processor for minutes.
 */
import { defineConfig } from 'vitest/config';

const root = new URL('..', import.meta.url).pathname;
const exclude = ['**/node_modules/**', 'dist/**'];
const EVERY_TEST = 'test/**/*.test.ts';
const PLAIN_TESTS = 'test/**/*.plain.test.ts';
const WHOLE_TESTS = 'test/integration/*.test.ts';

/** What runs over a scan's engine, and takes less than a minute together. */
const SCAN_TESTS = ['allocation', 'continuation', 'flush', 'many-filters', 'pages.property', 'preview', 'slice'].map(
  (name) => `test/scan/${name}.test.ts`,
);

const common = { pool: 'forks', testTimeout: 120_000, hookTimeout: 60_000 } as const;
const noEval = { ...common, execArgv: ['--disallow-code-generation-from-strings', '--expose-gc'] };

export default defineConfig({
  root,
  test: {
    testTimeout: 120_000,
    hookTimeout: 60_000,
    projects: [
      {
        root,
        test: { ...noEval, name: 'no-eval', include: [EVERY_TEST], exclude: [...exclude, PLAIN_TESTS, WHOLE_TESTS] },
      },
      {
        root,
        test: { ...noEval, name: 'walker', include: SCAN_TESTS, env: { WINNOW_TEST_ENGINE: 'walker' } },
      },
      {
        root,
        test: { ...common, name: 'plain', execArgv: ['--expose-gc'], include: [PLAIN_TESTS], exclude },
      },
      {
        root,
        test: { ...common, name: 'whole', include: [WHOLE_TESTS], exclude, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
