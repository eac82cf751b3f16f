/** Where log lines go: in order, never waited for, and lost without harm where they cannot be written. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { LOG_BYTES_MAX } from '../../src/core/limits.js';
import { LogStream } from '../../src/http/log-stream.js';

const FLUSH_MS_MAX = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'winnow-log-'));
const file = join(folder, 'log');
let fd = openSync(file, 'w');

afterEach(() => {
  closeSync(fd);
  rmSync(folder, { recursive: true, force: true });
});

it('lines leave in order, what is too much at once is dropped, and a full disk loses lines and nothing else', async () => {
  const log = new LogStream(fd);
  const lines = Array.from({ length: 1_000 }, (_, at) => `line ${at}\n`);
  for (const line of lines) log.write(line);
  log.write('x'.repeat(LOG_BYTES_MAX));
  await log.flush(FLUSH_MS_MAX);
  expect(readFileSync(file, 'utf8')).toBe(lines.join(''));
  await log.flush(FLUSH_MS_MAX);
  closeSync(fd);

  fd = openSync('/dev/full', 'w');
  const full = new LogStream(fd);
  for (let round = 0; round < 3; round += 1) {
    for (const line of lines) full.write(line);
    await full.flush(FLUSH_MS_MAX);
  }
});
