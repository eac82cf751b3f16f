/**
 * Clients and workers at their worst, over real sockets: whatever one of them does, the others are served, every scan
 * ends with an end frame, an error frame or a closed socket, everything that was held comes back, and memory with it.
 * The worker follows scripts (test/support/scripted-worker).
 */
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ADMISSION_QUEUE_MAX } from '../../src/core/limits.js';
import {
  ask,
  connections,
  eventually,
  framesOfText,
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
import { LONG_SLICES } from '../support/scripted-worker.js';

const held: { destroy(): unknown }[] = [];

afterEach(async () => {
  for (const one of held.splice(0)) one.destroy();
  await stopServices();
});

const STREAM = { accept: 'application/x-ndjson' };

function start(env: Record<string, string> = {}): Promise<TestService> {
  const short = { WINNOW_HTTP_REPLY_TIMEOUT: '200ms' };
  return serviceWith({ ...short, ...env }, { workerUrl: SCRIPTED_WORKER });
}

/** A connection that has sent a scan of the script and that nobody reads from until the test does. */
function rawScan(service: TestService, topic: string, more: object = {}): Socket {
  const body = scanBody({ ...script(topic), ...more });
  const socket = connect({ port: service.port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(
    `POST /v1/scan HTTP/1.1\r\nHost: x\r\nAccept: ${STREAM.accept}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  held.push(socket);
  return socket;
}

/** Others are served at once, in a shard of their own. */
async function othersAreServed(service: TestService): Promise<void> {
  const reply = await ask(service, { body: scanBody(), headers: { 'winnow-shard': 'others' } });
  expect(reply.status).toBe(200);
}

/** Nothing is held any more: no slot, no place in a queue, no worker, and all inline bytes are free. */
async function nothingIsHeld(service: TestService): Promise<void> {
  await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
  await eventually(async () => (await stat(service, 'winnow_workers', { state: 'busy' })) === 0);
  expect(await stat(service, 'winnow_admission_queue_depth')).toBe(0);
  const bytes = Buffer.alloc(INLINE_BYTES).toString('base64');
  const all = await ask(service, { body: scanBody({ segments: [{ format: 'ndjson', bytes }] }) });
  expect(all.status).toBe(200);
}

/** More than a slow machine needs. */
const LONG = { ...script('long'), deadline_ms: 60_000 };

const INLINE_BYTES = 1024 * 1024;
const INLINE_ENV = { WINNOW_ADMISSION_INLINE_BYTES_MAX: '1 MiB' };

describe('a client', () => {
  it('that takes nothing holds up nobody, and is cut when it does not take the end of its scan', async () => {
    const service = await start(INLINE_ENV);
    const socket = rawScan(service, 'chatty', { deadline_ms: 3_000 });
    // The buffers between the two fill up, and then no slice runs but those of others.
    let slices = -1;
    await eventually(async () => {
      const before = slices;
      slices = await stat(service, 'winnow_slice_seconds');
      await othersAreServed(service);
      return before + 1 === slices;
    });
    await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
    await eventually(async () => (await connections(service)) === 0);
    expect(await stat(service, 'winnow_requests_total', { route: 'scan', outcome: 'client_gone' })).toBe(1);
    socket.resume();
    await once(socket, 'close');
    await nothingIsHeld(service);
  });

  it('that takes a byte at a time holds up nobody, and its scan ends by its deadline', async () => {
    const service = await start(INLINE_ENV);
    const socket = rawScan(service, 'chatty', { deadline_ms: 400 });
    let isOpen = true;
    let taken = 0;
    socket.on('close', () => (isOpen = false));
    const takeOne = (): void => {
      if (socket.read(1) !== null) taken += 1;
      if (isOpen) setImmediate(takeOne);
    };
    takeOne();
    await eventually(async () => (await stat(service, 'winnow_slice_seconds')) > 1);
    await othersAreServed(service);
    await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
    await eventually(() => !isOpen || taken > 1_000);
    socket.destroy();
    await nothingIsHeld(service);
  });

  it('that resets in the middle of a frame frees everything within a slice', async () => {
    const service = await start(INLINE_ENV);
    for (let count = 0; count < 10; count += 1) {
      const socket = rawScan(service, 'chatty', { deadline_ms: 60_000 });
      await once(socket, 'readable');
      socket.read(100);
      socket.resetAndDestroy();
    }
    await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
    const gone = { route: 'scan', outcome: 'client_gone' };
    await eventually(async () => (await stat(service, 'winnow_requests_total', gone)) === 10);
    await nothingIsHeld(service);
  });
});

describe('two hundred clients at once', () => {
  it('of thirteen shards are all served, each its whole scan', async () => {
    const service = await start(INLINE_ENV);
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        ask(service, { body: scanBody(LONG), headers: { ...STREAM, 'winnow-shard': `s${at % 13}` } }),
      ),
    );
    for (const { status, text } of replies) {
      expect(status).toBe(200);
      const kinds = framesOfText(text).map((frame) => frame['frame']);
      expect(kinds.filter((kind) => kind === 'page')).toHaveLength(LONG_SLICES);
      expect([kinds[0], kinds.at(-1)]).toEqual(['begin', 'end']);
    }
    await nothingIsHeld(service);
  });

  it('of one shard are served or told when to come back', async () => {
    const service = await start(INLINE_ENV);
    const replies = await Promise.all(
      Array.from({ length: 200 }, () => ask(service, { body: scanBody(LONG), headers: STREAM })),
    );
    const refused = replies.filter(({ status }) => status !== 200);
    expect(refused.length).toBeLessThan(200);
    for (const { status, headers, text } of refused) {
      expect([status, JSON.parse(text)]).toMatchObject([429, { code: 'capacity_exhausted', retryable: true }]);
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    }
    await nothingIsHeld(service);
  });

  it('and more than the queue takes: those past it are refused at once, the others are served in the end', async () => {
    const service = await start({ ...INLINE_ENV, WINNOW_ADMISSION_SCANS_TOTAL: '1' });
    const holder = open(service, {});
    held.push(holder);
    holder.write('{');
    await eventually(async () => (await stat(service, 'winnow_scans_running')) === 1);
    const clients = Array.from({ length: ADMISSION_QUEUE_MAX + 10 }, (_, at): ClientRequest => {
      const request = open(service, { headers: { 'winnow-shard': `s${at % 20}` } });
      request.end(scanBody());
      return request;
    });
    const replies = clients.map(replyTo);
    await eventually(
      async () => (await stat(service, 'winnow_admission_refused_total', { reason: 'queue_full' })) === 10,
    );
    expect(await stat(service, 'winnow_admission_queue_depth')).toBe(ADMISSION_QUEUE_MAX);
    holder.destroy();
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(ADMISSION_QUEUE_MAX);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    await nothingIsHeld(service);
  });
});

describe('a worker', () => {
  it.each([
    ['dies', 'crashed'],
    ['hangs', 'killed'],
    ['exhausts', 'out_of_memory'],
    ['hoards', 'out_of_memory'],
  ])('that %s in a slice costs the scan of that slice and no other', async (topic, reason) => {
    const killAfter = topic === 'hangs' ? '400ms' : '60s';
    const service = await start({ ...INLINE_ENV, WINNOW_POOL_WORKERS: '2', WINNOW_SLICE_KILL_AFTER: killAfter });
    const others = Array.from({ length: 6 }, (_, at) =>
      ask(service, { body: scanBody(LONG), headers: { ...STREAM, 'winnow-shard': `s${at}` } }),
    );
    const lost = await ask(service, { body: scanBody({ ...script(topic), deadline_ms: 60_000 }), headers: STREAM });
    const frames = framesOfText(lost.text).filter((frame) => frame['frame'] !== 'progress');
    expect(frames.map((frame) => frame['frame'])).toEqual(['begin', 'page', 'page', 'error']);
    expect(frames.at(-1)).toMatchObject({
      problem: { code: 'backend', retryable: true },
      filters: [{ id: 'f', next_scan_offset: 2, safe_ack_offset: 1, continuation: 'after-2' }],
    });
    for (const { text } of await Promise.all(others)) {
      const kinds = framesOfText(text).map((frame) => frame['frame']);
      expect(kinds.filter((kind) => kind === 'page')).toHaveLength(LONG_SLICES);
      expect(kinds.at(-1)).toBe('end');
    }
    await eventually(async () => (await stat(service, 'winnow_worker_restarts_total', { reason })) === 1);
    expect(await stat(service, 'winnow_worker_restarts_total')).toBe(1);
    await eventually(async () => (await stat(service, 'winnow_workers')) === 2);
    await nothingIsHeld(service);
  });
});

describe('an event loop that is late', () => {
  it('refuses new scans with 429 until it is on time again', async () => {
    const service = await start({ ...INLINE_ENV, WINNOW_ADMISSION_LOOP_DELAY_MAX: '50ms' });
    // The service runs on this thread's loop, so keeping the thread busy is the overload.
    const refused = open(service, {});
    held.push(refused);
    const reply = replyTo(refused);
    for (let turn = 0; turn < 30; turn += 1) {
      if (turn === 25) refused.end(scanBody());
      const endAt = performance.now() + 100;
      while (performance.now() < endAt);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await reply).status).toBe(429);
    expect(Number((await reply).headers['retry-after'])).toBe(1);
    expect(await stat(service, 'winnow_admission_refused_total', { reason: 'event_loop' })).toBe(1);
    await eventually(async () => (await ask(service, { body: scanBody() })).status === 200);
    await nothingIsHeld(service);
  });
});

it('memory returns to where it was after rounds of clients that stall, reset and crowd', async () => {
  const service = await start({ WINNOW_POOL_WORKERS: '2' });
  const round = async (): Promise<void> => {
    const stalled = Array.from({ length: 8 }, () => rawScan(service, 'chatty', { deadline_ms: 300 }));
    const resets = Array.from({ length: 8 }, async (): Promise<void> => {
      const socket = rawScan(service, 'chatty', { deadline_ms: 60_000 });
      await once(socket, 'readable');
      socket.resetAndDestroy();
    });
    const crowd = Array.from({ length: 60 }, (_, at) =>
      ask(service, { body: scanBody(LONG), headers: { ...STREAM, 'winnow-shard': `s${at % 13}` } }),
    );
    await Promise.all([...resets, ...crowd]);
    await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
    for (const socket of stalled) socket.destroy();
    await eventually(async () => (await connections(service)) === 0);
    held.length = 0;
  };
  const heldBytes = async (): Promise<number> => {
    // Twice, with a turn of the loop between: finalizers of the first free what the second collects.
    for (let count = 0; count < 2; count += 1) {
      globalThis.gc!();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  await round();
  await round();
  const before = await heldBytes();
  for (let count = 0; count < 4; count += 1) await round();
  // A page that stayed for every client would be 5 MiB a round.
  expect((await heldBytes()) - before).toBeLessThan(8 * 2 ** 20);
});

it('a reply in progress is the only thing that a lost client loses', async () => {
  const service = await start(INLINE_ENV);
  const request = open(service, { headers: STREAM });
  request.end(scanBody({ ...script('chatty'), deadline_ms: 60_000 }));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  await once(response, 'data');
  request.destroy();
  await othersAreServed(service);
  await nothingIsHeld(service);
});
