/** Admission over real HTTP: shards are isolated, slots come back on every path, refusals say when to come again. */
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import {
  ask,
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

const held: ClientRequest[] = [];

afterEach(async () => {
  for (const request of held.splice(0)) request.destroy();
  await stopServices();
});

function start(env: Record<string, string> = {}): Promise<TestService> {
  return serviceWith(env, { workerUrl: SCRIPTED_WORKER });
}

/** Scans whose bodies never end: each holds its slot. Resolves when the service has counted them all. */
async function holdSlots(service: TestService, shard: string, count: number): Promise<ClientRequest[]> {
  const requests = Array.from({ length: count }, () => open(service, { headers: { 'winnow-shard': shard } }));
  for (const request of requests) request.write('{');
  held.push(...requests);
  await eventually(async () => (await stat(service, 'winnow_scans_running', { shard })) === count);
  return requests;
}

it('the seventeenth concurrent scan of a shard gets 429 with Retry-After while another shard is served', async () => {
  const service = await start();
  await holdSlots(service, 'busy', 16);
  const refused = await ask(service, { headers: { 'winnow-shard': 'busy' }, body: scanBody() });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(refused.headers['content-type']).toBe('application/problem+json');
  expect(JSON.parse(refused.text)).toMatchObject({ code: 'capacity_exhausted', status: 429, retryable: true });
  const served = await ask(service, { headers: { 'winnow-shard': 'other' }, body: scanBody() });
  expect(served.status).toBe(200);
  expect(await stat(service, 'winnow_admission_refused_total', { reason: 'shard_full' })).toBe(1);
});

it('a full shard is refused from its headers, before its body has arrived', async () => {
  const service = await start({ WINNOW_ADMISSION_SCANS_PER_SHARD: '1' });
  await holdSlots(service, 'a', 1);
  const request = open(service, { headers: { 'winnow-shard': 'a', 'content-length': '1000' } });
  held.push(request);
  request.flushHeaders();
  expect((await replyTo(request)).status).toBe(429);
});

it('a client that waits with its body is told to send it only when the scan has its slot', async () => {
  const service = await start({ WINNOW_ADMISSION_SCANS_PER_SHARD: '1' });
  const expecting = { headers: { expect: '100-continue', 'content-length': String(scanBody().length) } };
  const served = open(service, expecting);
  const reply = replyTo(served);
  served.flushHeaders();
  await once(served, 'continue');
  const refused = open(service, expecting);
  held.push(refused);
  let isTold = false;
  refused.on('continue', () => (isTold = true)).flushHeaders();
  expect((await replyTo(refused)).status).toBe(429);
  expect(isTold).toBe(false);
  served.end(scanBody());
  expect((await reply).status).toBe(200);
});

it('a client that hangs up while its body arrives frees its slot', async () => {
  const service = await start({ WINNOW_ADMISSION_SCANS_PER_SHARD: '1' });
  const [request] = await holdSlots(service, 'a', 1);
  request!.destroy();
  await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
  expect((await ask(service, { headers: { 'winnow-shard': 'a' }, body: scanBody() })).status).toBe(200);
  expect(await stat(service, 'winnow_requests_total', { route: 'scan', outcome: 'client_gone' })).toBe(1);
});

it('a client that hangs up during its scan frees its slot and no further slice runs', async () => {
  const service = await start({ WINNOW_ADMISSION_SCANS_PER_SHARD: '1' });
  const request = open(service, {});
  request.end(scanBody({ ...script('endless'), deadline_ms: 60_000 }));
  await eventually(async () => (await stat(service, 'winnow_slice_seconds')) > 3);
  request.destroy();
  await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
  const slices = await stat(service, 'winnow_slice_seconds');
  expect((await ask(service, { body: scanBody() })).status).toBe(200);
  // The one slice more is that of the scan just served.
  expect(await stat(service, 'winnow_slice_seconds')).toBe(slices + 1);
  expect(await stat(service, 'winnow_workers', { state: 'busy' })).toBe(0);
});

it('every slot comes back, whether the scan was served, refused or broken off', async () => {
  const service = await start();
  for (const body of [scanBody(), scanBody({ v: 2 }), '{', scanBody({ filters: [] })]) await ask(service, { body });
  await ask(service, { body: scanBody(), headers: { 'content-type': 'text/plain' } });
  await ask(service, { body: scanBody(), headers: { accept: 'text/html' } });
  await ask(service, { body: scanBody(script('throws')), headers: { accept: 'application/x-ndjson' } });
  const [request] = await holdSlots(service, 'default', 1);
  request!.destroy();
  await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
});

it('scans over the total wait and are served when a slot comes back', async () => {
  const service = await start({ WINNOW_ADMISSION_SCANS_TOTAL: '1' });
  const [first] = await holdSlots(service, 'a', 1);
  const waiting = open(service, { headers: { 'winnow-shard': 'b' } });
  waiting.end(scanBody());
  await eventually(async () => (await stat(service, 'winnow_admission_queue_depth')) === 1);
  first!.destroy();
  expect((await replyTo(waiting)).status).toBe(200);
  expect(await stat(service, 'winnow_admission_queue_depth')).toBe(0);
});

it('a scan that waits past the deadline is refused with 429', async () => {
  const service = await start({ WINNOW_ADMISSION_SCANS_TOTAL: '1', WINNOW_LIMITS_DEADLINE_MS: '100ms' });
  await holdSlots(service, 'a', 1);
  const refused = await ask(service, { headers: { 'winnow-shard': 'b' }, body: scanBody() });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(await stat(service, 'winnow_admission_refused_total', { reason: 'queue_deadline' })).toBe(1);
});

it('a client that hangs up while it waits leaves the queue', async () => {
  const service = await start({ WINNOW_ADMISSION_SCANS_TOTAL: '1' });
  await holdSlots(service, 'a', 1);
  const waiting = open(service, { headers: { 'winnow-shard': 'b' } });
  waiting.end(scanBody());
  await eventually(async () => (await stat(service, 'winnow_admission_queue_depth')) === 1);
  waiting.destroy();
  await eventually(async () => (await stat(service, 'winnow_admission_queue_depth')) === 0);
});

it('inline bytes over what the service ever holds are too large, and the refusal names both numbers', async () => {
  const service = await start({ WINNOW_ADMISSION_INLINE_BYTES_MAX: '1 MiB' });
  const bytes = Buffer.alloc(1_048_577).toString('base64');
  const reply = await ask(service, { body: scanBody({ segments: [{ format: 'ndjson', bytes }] }) });
  expect(reply.status).toBe(413);
  expect(JSON.parse(reply.text)).toMatchObject({ code: 'too_large', limit: 1_048_576, given: 1_048_577 });
});

it('inline bytes wait for room and are given back when their scan ends', async () => {
  const service = await start({ WINNOW_ADMISSION_INLINE_BYTES_MAX: '1 MiB' });
  const segments = [{ format: 'ndjson', bytes: Buffer.alloc(700_000).toString('base64') }];
  const first = open(service, {});
  held.push(first);
  first.end(scanBody({ ...script('endless'), segments, deadline_ms: 60_000 }));
  await eventually(async () => (await stat(service, 'winnow_slice_seconds')) > 0);
  const second = open(service, {});
  second.end(scanBody({ segments }));
  await eventually(async () => (await stat(service, 'winnow_admission_queue_depth')) === 1);
  first.destroy();
  expect((await replyTo(second)).status).toBe(200);
  const slices = await stat(service, 'winnow_slice_seconds');
  const late = open(service, {});
  held.push(late);
  late.end(scanBody({ ...script('endless'), segments, deadline_ms: 60_000 }));
  // A running scan has its slot; only one that has run a slice has its inline bytes too.
  await eventually(async () => (await stat(service, 'winnow_slice_seconds')) > slices);
  const refused = await ask(service, { body: scanBody({ segments, deadline_ms: 50 }) });
  expect(refused.status).toBe(429);
});

it('a narrow scan is served while another shard runs many wide ones on the only worker', async () => {
  const service = await start();
  const wide = Array.from({ length: 16 }, () => open(service, { headers: { 'winnow-shard': 'wide' } }));
  held.push(...wide);
  for (const request of wide) request.end(scanBody({ ...script('endless'), deadline_ms: 60_000 }));
  await eventually(async () => (await stat(service, 'winnow_scans_running', { shard: 'wide' })) === 16);
  const before = await stat(service, 'winnow_slice_seconds');
  expect((await ask(service, { headers: { 'winnow-shard': 'narrow' }, body: scanBody() })).status).toBe(200);
  expect(await stat(service, 'winnow_slice_seconds')).toBeGreaterThan(before);
});

it.each(['', 'a b', 'x'.repeat(65)])('the shard %j is refused', async (shard) => {
  const service = await start();
  const reply = await ask(service, { headers: { 'winnow-shard': shard }, body: scanBody() });
  expect(reply.status).toBe(400);
  expect(JSON.parse(reply.text)).toMatchObject({ code: 'invalid_request' });
});

it('a request that arrives too slowly is answered 408 and gives its slot back', async () => {
  const service = await start({ WINNOW_HTTP_REQUEST_TIMEOUT: '200ms' });
  const request = open(service, { headers: { 'content-length': '100' } });
  held.push(request);
  request.write('{');
  const reply = await replyTo(request);
  expect(reply.status).toBe(408);
  expect(JSON.parse(reply.text)).toMatchObject({ code: 'invalid_request', status: 408, retryable: true });
  await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
});
