/**
 * Bounds and times of connections, with short times: whoever is slow, silent, too large or one too many is told so and
 * costs nothing afterwards.
 */
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { cutWhenNotTaken } from '../../src/http/frame-stream.js';
import {
  ask,
  eventually,
  scanBody,
  SCRIPTED_WORKER,
  serviceWith,
  stat,
  stopServices,
  type TestService,
} from '../support/http-service.js';

const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await stopServices();
});

function start(env: Record<string, string>): Promise<TestService> {
  return serviceWith(env, { workerUrl: SCRIPTED_WORKER });
}

async function dial({ port }: TestService): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  // Writing goes on while the service closes its side.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Writes one more byte of `what` every few milliseconds, until the connection closes. */
function drip(socket: Socket, what: string): void {
  const bytes = [...what];
  const timer = setInterval(() => socket.write(bytes.shift() ?? 'x'), 5);
  socket.once('close', () => clearInterval(timer));
}

function problemIn(answer: string): Record<string, unknown> {
  expect(answer).toContain('Content-Type: application/problem+json');
  return JSON.parse(answer.split('\r\n\r\n')[1]!) as Record<string, unknown>;
}

it('a connection that says nothing is answered 408 and closed', async () => {
  const service = await start({ WINNOW_HTTP_HEADERS_TIMEOUT: '100ms' });
  const answer = await text(await dial(service));
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(problemIn(answer)).toMatchObject({ code: 'invalid_request', status: 408, retryable: true });
});

it('headers that come a byte at a time are answered 408, however steadily they come', async () => {
  const service = await start({ WINNOW_HTTP_HEADERS_TIMEOUT: '100ms' });
  const socket = await dial(service);
  drip(socket, 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ');
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  const { request_id: id } = problemIn(answer);
  await eventually(async () => (await stat(service, 'winnow_requests_total', { outcome: 'invalid_request' })) === 1);
  expect(service.lines.find((line) => line['request_id'] === id)).toMatchObject({
    message: 'request',
    route: 'other',
    status: 408,
    outcome: 'invalid_request',
  });
});

it('a body that comes a byte at a time is answered 408 under its own id, and its slot comes back', async () => {
  const service = await start({ WINNOW_HTTP_REQUEST_TIMEOUT: '200ms' });
  const socket = await dial(service);
  socket.write('POST /v1/scan HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n');
  drip(socket, '{"v":1,');
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  const { request_id: id } = problemIn(answer);
  await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
  expect(service.lines.filter((line) => line['request_id'] === id)).toMatchObject([
    { message: 'request', route: 'scan', status: 408, outcome: 'invalid_request' },
  ]);
  expect(await stat(service, 'winnow_requests_total', { route: 'scan', outcome: 'invalid_request' })).toBe(1);
  expect(await stat(service, 'winnow_requests_total', { route: 'scan' })).toBe(1);
});

it('a connection without a next request is closed after the idle time, without a word', async () => {
  const service = await start({ WINNOW_HTTP_IDLE_TIMEOUT: '100ms' });
  const socket = await dial(service);
  socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*\{"status":"ok"\}$/);
});

it('headers within the limit are read, larger ones are answered 431 with the limit', async () => {
  const service = await start({ WINNOW_HTTP_HEADERS_MAX: '2 KiB' });
  const within = await ask(service, { method: 'GET', path: '/livez', headers: { 'x-long': 'x'.repeat(1_500) } });
  expect(within.status).toBe(200);
  const beyond = await ask(service, { method: 'GET', path: '/livez', headers: { 'x-long': 'x'.repeat(2_100) } });
  expect(beyond.status).toBe(431);
  expect(JSON.parse(beyond.text)).toMatchObject({ code: 'invalid_request', status: 431, limit: 2048 });
});

it('connections over the limit are closed, the others are served, and a freed place is taken', async () => {
  const service = await start({ WINNOW_HTTP_CONNECTIONS_MAX: '2' });
  const [first, second] = [await dial(service), await dial(service)];
  const third = await dial(service);
  expect(await text(third)).toBe('');
  second.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(await text(second)).toMatch(/^HTTP\/1\.1 200 /);
  await eventually(async () => (await ask(service, { body: scanBody() }).catch(() => null))?.status === 200);
  first.destroy();
  expect(service.lines.filter((line) => line.message.startsWith('connections over'))).toMatchObject([
    { level: 'warn', dropped: 1, limit: 2 },
  ]);
});

it('a finished reply that its client does not take is cut after the reply time, and not when it was taken', async () => {
  const reply = (): ServerResponse & { isCut: boolean } =>
    Object.assign(new EventEmitter(), {
      isCut: false,
      destroy(this: { isCut: boolean }) {
        this.isCut = true;
      },
    }) as unknown as ServerResponse & { isCut: boolean };
  const [stuck, taken] = [reply(), reply()];
  const said: string[] = [];
  cutWhenNotTaken(taken, 20, () => said.push('taken'));
  cutWhenNotTaken(stuck, 20, () => said.push('stuck'));
  taken.emit('close');
  await eventually(() => stuck.isCut);
  expect(taken.isCut).toBe(false);
  expect(said).toEqual(['stuck']);
});
