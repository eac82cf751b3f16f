/**
 * A service whose log cannot be written (/dev/full): it serves, ends its scans, and exits 0 when it is told to.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterEach, expect, it } from 'vitest';
import { ask, scanBody, stat } from '../support/http-service.js';

const MAIN = new URL('../../dist/src/cli/main.js', import.meta.url).pathname;

let child: ChildProcess;
afterEach(() => {
  child.kill('SIGKILL');
});

it('serves two hundred requests at the most talkative level and exits 0', async () => {
  child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { PATH: process.env['PATH'], WINNOW_HTTP_PORT: '0', WINNOW_POOL_WORKERS: '1', WINNOW_LOG_LEVEL: 'trace' },
    stdio: ['ignore', 'pipe', openSync('/dev/full', 'w')],
  });
  const exited = once(child, 'exit');
  let port = 0;
  for await (const line of createInterface({ input: child.stdout! })) {
    port = Number(new URL((JSON.parse(line) as { address: string }).address).port);
    break;
  }
  for (let count = 0; count < 20; count += 1) {
    const bodies = [scanBody(), scanBody({ v: 2 }), '{'];
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, at) => ask({ port }, { body: bodies[at % bodies.length]! })),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map((_, at) => [200, 409, 400][at % bodies.length]));
  }
  expect(await stat({ port }, 'winnow_requests_total', { route: 'scan' })).toBe(200);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
