/**
 * A service on a free loopback port for HTTP tests, and the little that they say to it. Everything that a test starts
 * here is stopped by `stopServices`.
 */
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { loadConfig } from '../../src/config/load.js';
import { startService, type Service } from '../../src/service.js';

/** The compiled workers: `npm test` builds before it runs. */
export const REAL_WORKER = new URL('../../dist/workers/scan-worker.js', import.meta.url);
export const FAULTY_WORKER = new URL('../../dist/test/support/faulty-worker.js', import.meta.url);
export const SCRIPTED_WORKER = new URL('../../dist/test/support/scripted-worker.js', import.meta.url);

const MODULES = new URL('../../dist/workers/modules.js', import.meta.url);
const THREAD = new URL('../../dist/src/pool/thread.js', import.meta.url);

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface TestService extends Service {
  readonly port: number;
  /** Everything logged so far. */
  readonly lines: LogLine[];
}

const running: Service[] = [];

/** Starts a service with `WINNOW_…` variables as its configuration. */
export async function serviceWith(
  env: Record<string, string> = {},
  more: { workerUrl?: URL; graceMs?: number } = {},
): Promise<TestService> {
  const lines: LogLine[] = [];
  const at = (level: string) => (fields: object, message: string) => lines.push({ level, message, ...fields });
  const service = await startService(loadConfig('', { WINNOW_HTTP_PORT: '0', WINNOW_POOL_WORKERS: '1', ...env }), {
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    workerUrl: REAL_WORKER,
    threadUrl: THREAD,
    modulesUrl: MODULES,
    ...more,
  });
  running.push(service);
  return { ...service, port: Number(new URL(service.address).port), lines };
}

/** Stops what the test started. */
export async function stopServices(): Promise<void> {
  await Promise.all(running.splice(0).map((service) => service.close()));
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  /** The body as text. */
  readonly text: string;
}

export interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
}

/** One whole exchange on a connection of its own. */
export async function ask(service: { readonly port: number }, { body, ...how }: Ask): Promise<Reply> {
  const request = open(service, how);
  request.end(body);
  return replyTo(request);
}

/** Begins a request whose body the test goes on writing, or not. */
export function open(
  { port }: { readonly port: number },
  { method = 'POST', path = '/v1/scan', headers = {} }: Ask,
): ClientRequest {
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    method,
    path,
    agent: false,
    headers: { 'content-type': 'application/json', ...headers },
  });
  // A test that destroys its request means it; one that waits for a reply sees the failure there.
  request.on('error', () => undefined);
  return request;
}

/** The whole reply to a request. */
export async function replyTo(request: ClientRequest): Promise<Reply> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return { status: response.statusCode!, headers: response.headers, bytes, text: bytes.toString() };
}

/** The frames of an NDJSON reply. */
export function framesOfText(text: string): Record<string, unknown>[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Connections that the service has. */
export function connections(service: Pick<TestService, 'app'>): Promise<number> {
  return new Promise((resolve, reject) =>
    service.app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}

/** A number of `/stats`: the sum of a metric's series whose labels hold all of `labels`. */
export async function stat(
  service: { readonly port: number },
  name: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const { text } = await ask(service, { method: 'GET', path: '/stats' });
  const stats = JSON.parse(text) as Record<
    string,
    { labels: Record<string, string>; value?: number; count?: number }[]
  >;
  return stats[name]!.filter((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value))
    .map((one) => one.value ?? one.count ?? 0)
    .reduce((sum, value) => sum + value, 0);
}

/** Asks again until `isTrue`, at most for ten seconds: for facts that another thread or socket brings about. */
export async function eventually(isTrue: () => Promise<boolean> | boolean): Promise<void> {
  const endAt = performance.now() + 10_000;
  while (!(await isTrue())) {
    if (performance.now() > endAt) throw new Error('it did not become true within ten seconds');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A scan request whose topic is a script of the scripted worker, or anything else for the real one. */
export function scanBody(more: object = {}): string {
  return JSON.stringify({
    v: 1,
    source: { stream: 's', topic: 'single' },
    partition_id: 0,
    segments: [{ format: 'ndjson', bytes: Buffer.from('{"a":1}\n{"b":1}\n{"a":2}\n').toString('base64') }],
    filters: [{ id: 'f', filter: { v: 1, evaluator_version: 1, expr: { present: 'a' }, codec: 'json' } }],
    ...more,
  });
}

/** The source that makes the scripted worker follow `script`. */
export function script(topic: string): { source: { stream: string; topic: string } } {
  return { source: { stream: 's', topic } };
}
