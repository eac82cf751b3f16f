/**
 * Streams that do not go to their end by themselves: lost, stuck and throwing workers, clients that do not read, a
 * service that closes. The worker follows scripts (test/support/scripted-worker).
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ask,
  connections,
  eventually,
  open,
  replyTo,
  scanBody,
  script,
  SCRIPTED_WORKER,
  serviceWith,
  stat,
  stopServices,
  type TestService,
} from '../support/http-service.js';

afterEach(stopServices);

const STREAM = { accept: 'application/x-ndjson' };

function start(env: Record<string, string> = {}, more: { graceMs?: number } = {}): Promise<TestService> {
  return serviceWith(env, { workerUrl: SCRIPTED_WORKER, ...more });
}

function frames(text: string): Record<string, unknown>[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('a worker that is lost in the middle', () => {
  it.each([
    ['dies', 'crashed'],
    ['hangs', 'killed'],
  ])('by a slice that %s ends the stream with a retryable error frame and valid progress', async (topic, reason) => {
    const service = await start({ WINNOW_SLICE_KILL_AFTER: '300ms' });
    const reply = await ask(service, { body: scanBody(script(topic)), headers: STREAM });
    expect(reply.status).toBe(200);
    const all = frames(reply.text);
    expect(all.map((frame) => frame['frame'])).toEqual(['begin', 'page', 'page', 'error']);
    expect(all[3]).toMatchObject({
      problem: { code: 'backend', status: 500, retryable: true },
      filters: [{ id: 'f', next_scan_offset: 2, safe_ack_offset: 1, continuation: 'after-2' }],
    });
    expect((all[3]!['problem'] as { detail: string }).detail).toContain('Filter "f" at offset 2.');
    expect(await stat(service, 'winnow_worker_restarts_total', { reason })).toBe(1);
    expect(await stat(service, 'winnow_requests_total', { route: 'scan', outcome: 'backend' })).toBe(1);
    // The pool has healed: the next scan is served.
    expect((await ask(service, { body: scanBody() })).status).toBe(200);
  });

  it('a fault inside a slice ends the stream the same way and costs no worker', async () => {
    const service = await start();
    const reply = await ask(service, { body: scanBody(script('throws')), headers: STREAM });
    expect(frames(reply.text).at(-1)).toMatchObject({ frame: 'error', problem: { code: 'backend' } });
    expect(await stat(service, 'winnow_worker_restarts_total')).toBe(0);
    expect(reply.text).not.toContain('on purpose');
  });
});

describe('a client that does not read', () => {
  it('stops its own scan, holds no worker, and goes on where it stopped', async () => {
    const service = await start();
    const request = open(service, { headers: STREAM });
    request.end(scanBody({ ...script('chatty'), deadline_ms: 60_000 }));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    // The buffers between the two fill up, and then no slice runs although the worker is idle.
    let slices = -1;
    await eventually(async () => {
      const before = slices;
      slices = await stat(service, 'winnow_slice_seconds');
      await ask(service, { body: scanBody(), headers: { 'winnow-shard': 'other' } });
      return before + 1 === slices;
    });
    expect(await stat(service, 'winnow_workers', { state: 'busy' })).toBe(0);
    expect(await stat(service, 'winnow_scans_running', { shard: 'default' })).toBe(1);
    response.resume();
    await eventually(async () => (await stat(service, 'winnow_slice_seconds')) > slices + 10);
    request.destroy();
    await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
  });

  it('gets its last page by the deadline', async () => {
    const service = await start();
    const request = open(service, { headers: STREAM });
    request.end(scanBody({ ...script('chatty'), deadline_ms: 300 }));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
    let text = '';
    for await (const chunk of response) text += String(chunk);
    expect(frames(text).at(-1)).toMatchObject({ frame: 'end', filters: [{ stop: 'deadline' }] });
  });
});

describe('progress', () => {
  it('arrives as often as was asked for while no page fills, beside other scans of the only worker', async () => {
    const service = await start();
    const others = Array.from({ length: 4 }, () => open(service, { headers: { 'winnow-shard': 'others' } }));
    for (const other of others) other.end(scanBody({ ...script('endless'), deadline_ms: 60_000 }));
    const request = open(service, { headers: STREAM });
    request.end(scanBody({ ...script('endless'), pages: 0, progress_ms: 5, deadline_ms: 60_000 }));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    const seen: Record<string, unknown>[] = [];
    let rest = '';
    for await (const chunk of response) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop()!;
      for (const line of lines) seen.push(JSON.parse(line) as Record<string, unknown>);
      if (seen.length >= 5) break;
    }
    for (const one of [request, ...others]) one.destroy();
    expect(seen[0]).toMatchObject({ frame: 'begin', budgets: { pages: 0, progress_ms: 5 } });
    const progress = seen.slice(1);
    expect(progress.map((frame) => frame['frame'])).toEqual(progress.map(() => 'progress'));
    const scanned = progress.map((frame) => frame['records_scanned'] as number);
    expect(scanned).toEqual(scanned.toSorted((a, b) => a - b));
    await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
  });
});

describe('closing the service', () => {
  it('ends a stream with a page, an end frame and cancelled', async () => {
    const service = await start();
    const request = open(service, { headers: STREAM });
    const reply = replyTo(request);
    request.end(scanBody({ ...script('endless'), deadline_ms: 60_000 }));
    await eventually(async () => (await stat(service, 'winnow_slice_seconds')) > 3);
    await service.close();
    const all = frames((await reply).text);
    expect(all.slice(-2)).toMatchObject([
      { frame: 'page', stop: 'cancelled' },
      { frame: 'end', filters: [{ stop: 'cancelled' }] },
    ]);
  });

  it('ends a single page the same way', async () => {
    const service = await start();
    const request = open(service, {});
    const reply = replyTo(request);
    request.end(scanBody({ ...script('endless'), deadline_ms: 60_000 }));
    await eventually(async () => (await stat(service, 'winnow_slice_seconds')) > 3);
    await service.close();
    expect(JSON.parse((await reply).text)).toMatchObject({ stop: 'cancelled' });
  });

  it('refuses what waits for a slot', async () => {
    const service = await start({ WINNOW_ADMISSION_SCANS_TOTAL: '1' });
    const first = open(service, {});
    first.end(scanBody({ ...script('endless'), deadline_ms: 60_000 }));
    await eventually(async () => (await stat(service, 'winnow_slice_seconds')) > 0);
    const waiting = open(service, {});
    const refused = replyTo(waiting);
    waiting.end(scanBody());
    await eventually(async () => (await stat(service, 'winnow_admission_queue_depth')) === 1);
    const served = replyTo(first);
    await service.close();
    expect((await refused).status).toBe(503);
    expect((await served).status).toBe(200);
  });

  it('while it drains it is alive, not ready, and refuses scans on connections that are open', async () => {
    const service = await start({}, { graceMs: 1_000 });
    // A client that reads nothing keeps the service from ending before the grace period is over.
    const slow = open(service, { headers: STREAM });
    slow.end(scanBody({ ...script('chatty'), deadline_ms: 60_000 }));
    const [response] = (await once(slow, 'response')) as [IncomingMessage];
    response.on('error', () => undefined).pause();
    const asked = ['GET /livez', 'GET /readyz', 'POST /v1/scan'];
    const sockets = asked.map((line) => {
      const socket = connect(service.port, '127.0.0.1');
      socket.write(`${line} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n`);
      return socket;
    });
    await eventually(() => connections(service).then((count) => count === 1 + sockets.length));
    // What was written before this exchange has been read after it.
    await ask(service, { method: 'GET', path: '/livez' });
    const closed = service.close();
    const answers = await Promise.all(
      sockets.map(async (socket) => {
        let answer = '';
        socket.write('\r\n');
        for await (const chunk of socket) answer += String(chunk);
        return answer;
      }),
    );
    expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['200', '503', '503']);
    expect(answers[2]).toMatch(/retry-after: 1\r\n/i);
    expect(answers[2]).toContain('"code":"unavailable"');
    await closed;
  });

  it('does not wait for a stuck slice beyond the grace period: its stream ends with an error frame', async () => {
    const service = await start({ WINNOW_SLICE_KILL_AFTER: '60s' }, { graceMs: 200 });
    const request = open(service, { headers: STREAM });
    const reply = replyTo(request);
    request.end(scanBody(script('hangs')));
    await eventually(async () => (await stat(service, 'winnow_slice_seconds')) === 2);
    await service.close();
    expect(frames((await reply).text).at(-1)).toMatchObject({
      frame: 'error',
      problem: { code: 'backend', retryable: true },
      filters: [{ next_scan_offset: 2 }],
    });
  });

  it('cuts a client that takes nothing when the grace period is over', async () => {
    const service = await start({}, { graceMs: 200 });
    const request = open(service, { headers: STREAM });
    request.end(scanBody({ ...script('chatty'), deadline_ms: 60_000 }));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    await service.close();
    const ended = once(response, 'close');
    response.on('error', () => undefined).resume();
    await ended;
  });
});

describe('a service that cannot start', () => {
  it('says why and leaves nothing running', async () => {
    const first = await start();
    await expect(start({ WINNOW_HTTP_PORT: String(first.port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect((await ask(first, { body: scanBody() })).status).toBe(200);
  });
});
