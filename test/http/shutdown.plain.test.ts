/**
 * The whole process: `winnow serve` says where it listens, ends a streamed scan with a valid page under SIGTERM and exits
 * 0, and refuses a bad configuration by name.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { encodeNdjson } from '../../src/segment/ndjson-writer.js';
import { ask, eventually, open, replyTo, scanBody, stat } from '../support/http-service.js';

const MAIN = new URL('../../dist/src/cli/main.js', import.meta.url).pathname;

const children: ChildProcess[] = [];
const folders: string[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function serve(env: Record<string, string>, args: string[] = []): ChildProcess {
  const child = spawn(process.execPath, [MAIN, 'serve', ...args], {
    env: { PATH: process.env['PATH'], WINNOW_HTTP_PORT: '0', WINNOW_POOL_WORKERS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

/** The address that the process says it listens on. */
async function listening(child: ChildProcess): Promise<{ port: number; address: string }> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const said = JSON.parse(line) as { msg: string; address: string };
    expect(said.msg).toBe('listening');
    return { port: Number(new URL(said.address).port), address: said.address };
  }
  throw new Error('the process ended without a word');
}

/** A folder with `log.ndjson`, which holds `payloads`. */
function folderWith(payloads: readonly Uint8Array[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-serve-'));
  folders.push(folder);
  writeFileSync(join(folder, 'log.ndjson'), encodeNdjson(payloads));
  return folder;
}

/** A scan of that log, page by page. */
function longScan(more: object = {}): string {
  return scanBody({
    segments: [{ format: 'ndjson', store: 'data', path: 'log.ndjson', sealed: true }],
    count: 1,
    pages: 10_000,
    max_examined: 1_000_000,
    deadline_ms: 60_000,
    ...more,
  });
}

/** The frames of a stream as they arrive. */
async function* framesOf(response: IncomingMessage): AsyncGenerator<Record<string, unknown>> {
  for await (const line of createInterface({ input: response })) yield JSON.parse(line) as Record<string, unknown>;
}

it('SIGTERM during a streamed scan ends it with a valid page, an end frame and cancelled, and the exit code is 0', async () => {
  // 10,000 pages of 4 KiB are more than all buffers between the two processes hold: the scan cannot be over before the
  // first frame has been read.
  const record = new TextEncoder().encode(`{"a":"${'x'.repeat(4096)}"}`);
  const folder = folderWith(Array.from({ length: 10_000 }, () => record));
  const child = serve({ WINNOW_STORES_DATA: folder });
  const exited = once(child, 'exit');
  const { port } = await listening(child);
  const request = open({ port }, { headers: { accept: 'application/x-ndjson' } });
  request.end(longScan());
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  const frames: Record<string, unknown>[] = [];
  for await (const frame of framesOf(response)) {
    if (frames.length === 0) child.kill('SIGTERM');
    frames.push(frame);
  }
  const [code] = (await exited) as [number];
  expect(code).toBe(0);
  const last = frames.at(-1)!;
  expect(last['frame']).toBe('end');
  const [filter] = last['filters'] as Record<string, unknown>[];
  expect(filter).toMatchObject({ id: 'f', stop: 'cancelled', continuation: expect.any(String) });
  const pages = frames.filter((frame) => frame['frame'] === 'page') as Record<string, number | string>[];
  expect(pages.at(-1)!['stop']).toBe('cancelled');
  for (const page of pages) {
    const sum = ['matched', 'rejected', 'unevaluated_count', 'dropped'].reduce(
      (total, name) => total + Number(page[name]),
      0,
    );
    expect(page['examined']).toBe(sum);
  }
  const totals = filter!['totals'] as Record<string, number>;
  expect(totals['pages']).toBe(pages.length);
  expect(totals['examined']).toBe(filter!['next_scan_offset']);
});

it('what was read before SIGTERM is continued by another process with the same key, without loss or repeat', async () => {
  const records = 400_000;
  const hit = new TextEncoder().encode('{"a":1}');
  const miss = new TextEncoder().encode('{"b":1,"c":"some more text that has to be looked through"}');
  const folder = folderWith(Array.from({ length: records }, (_, at) => (at % 100 === 0 ? hit : miss)));
  const env = {
    WINNOW_STORES_DATA: folder,
    WINNOW_SLICE_RECORDS_MAX: '100',
    WINNOW_CONTINUATION_KEYS: 'a key of at least sixteen bytes',
  };
  const first = serve(env);
  const { port } = await listening(first);
  const request = open({ port }, { headers: { accept: 'application/x-ndjson' } });
  request.end(longScan({ reply: 'offsets' }));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const offsets: number[] = [];
  let next = '';
  for await (const frame of framesOf(response)) {
    if (frame['frame'] === 'page') offsets.push(...(frame['offsets'] as number[]));
    if (offsets.length === 3) first.kill('SIGTERM');
    if (frame['frame'] === 'end') next = (frame['filters'] as { continuation: string }[])[0]!.continuation;
  }
  const second = await listening(serve({ ...env, WINNOW_SLICE_RECORDS_MAX: '4096' }));
  const rest = await ask(second, {
    body: longScan({ reply: 'offsets', start: { continue: next }, count: 1000 }),
    headers: { accept: 'application/x-ndjson' },
  });
  for (const line of rest.text.trimEnd().split('\n')) {
    const frame = JSON.parse(line) as { frame: string; offsets?: number[] };
    if (frame.frame === 'page') offsets.push(...frame.offsets!);
  }
  expect(offsets).toEqual(Array.from({ length: records / 100 }, (_, at) => at * 100));
});

it('SIGTERM refuses the body that is still arriving and exits 0', async () => {
  const child = serve({});
  const exited = once(child, 'exit');
  const { port } = await listening(child);
  const request = open({ port }, { headers: { 'content-length': '1000' } });
  request.write('{');
  await eventually(async () => (await stat({ port }, 'winnow_scans_running')) === 1);
  child.kill('SIGTERM');
  const reply = await replyTo(request);
  expect(reply.status).toBe(503);
  expect(JSON.parse(reply.text)).toMatchObject({ code: 'unavailable', retryable: true });
  expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(await exited).toEqual([0, null]);
});

it('a bad configuration exits 2 and names the key', async () => {
  const child = serve({ WINNOW_HTTP_PROT: '1' });
  const exited = once(child, 'exit');
  let said = '';
  for await (const chunk of child.stderr!) said += String(chunk);
  expect(said).toContain('WINNOW_HTTP_PROT');
  expect(await exited).toEqual([2, null]);
});

it('a file is read, a missing one is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-serve-'));
  folders.push(folder);
  const file = join(folder, 'winnow.toml');
  writeFileSync(file, '[limits]\ncount = 7\n');
  const { port } = await listening(serve({}, ['--config', file]));
  const { text } = await ask({ port }, { method: 'GET', path: '/v1/capabilities' });
  expect(JSON.parse(text)).toMatchObject({ caps: { count: 7 } });
  const missing = serve({}, ['--config', join(folder, 'absent.toml')]);
  const exited = once(missing, 'exit');
  let said = '';
  for await (const chunk of missing.stderr!) said += String(chunk);
  expect(said).toContain('absent.toml');
  expect(await exited).toEqual([2, null]);
});
