/** A record that does not match costs no memory: counted over a million of them without a collection. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../dist/test/filter/million-records.js', import.meta.url));
/** The bound of the contract: a sixteenth of a byte per record, so anything that records allocate shows. */
const GROWTH_BYTES_MAX = 64 * 1024;

it('a million records that do not match allocate nothing, under leaves of every kind', () => {
  // A young generation that is never full is never collected, so garbage stays counted.
  const flags = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128'];
  const output = execFileSync(process.execPath, [
    ...flags,
    '--disallow-code-generation-from-strings',
    SCRIPT,
    '1000000',
  ]);
  const result = JSON.parse(output.toString()) as Record<string, number>;
  expect(result).toMatchObject({ records: 1_000_000, filters: 7, selected: 0, collections: 0 });
  expect(result['growth']).toBeLessThan(GROWTH_BYTES_MAX);
}, 300_000);
