/** `/openapi.json`: complete, resolvable, and its examples run as they stand. */
import { readFileSync } from 'node:fs';
import * as Schema from 'typebox/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/core/version.js';
import { decodeMsgpack, decodeMsgpackFrames, encodeMsgpack } from '../../src/wire/msgpack.js';
import { ask, serviceWith, stat, stopServices, type Reply, type TestService } from '../support/http-service.js';

interface Media {
  readonly schema: { readonly $ref?: string };
  readonly example?: unknown;
}
interface Operation {
  readonly requestBody?: { readonly content: Record<string, Media> };
  readonly responses: Record<string, { readonly content?: Record<string, Media> }>;
}
interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, { readonly examples?: unknown[] }> };
}

let service: TestService;
let document: OpenApi;

beforeAll(async () => {
  service = await serviceWith();
  document = JSON.parse((await ask(service, { method: 'GET', path: '/openapi.json' })).text) as OpenApi;
});
afterAll(stopServices);

it('names the version of the package', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect(VERSION).toBe(manifest.version);
  expect(document.info.version).toBe(VERSION);
  expect(document.openapi).toBe('3.1.0');
});

it('has every route of the contract that is built', () => {
  expect(Object.keys(document.paths).toSorted()).toEqual(
    [
      '/livez',
      '/metrics',
      '/openapi.json',
      '/readyz',
      '/stats',
      '/v1/capabilities',
      '/v1/filters/diff',
      '/v1/filters/preview',
      '/v1/filters/test',
      '/v1/filters/validate',
      '/v1/scan',
      '/v1/schemas',
    ].toSorted(),
  );
});

it('refers only to schemas that it holds', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
  expect(references.length).toBeGreaterThan(20);
  for (const [, name] of references) expect(document.components.schemas).toHaveProperty([name!]);
});

/** The operations of the document that are built, each with the bodies that it shows; a route without a body is asked once. */
function* operations(): Generator<{ path: string; method: string; operation: Operation; bodies: unknown[] }> {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.responses['200'] === undefined) continue;
      const name = operation.requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1);
      const bodies = name === undefined ? [undefined] : document.components.schemas[name]!.examples!;
      yield { path, method: method.toUpperCase(), operation, bodies };
    }
  }
}

/** True where `value` is what `schema`, which may refer into the document, says. */
function fits(schema: object, value: unknown): boolean {
  return Schema.Check({ ...schema, components: document.components } as object, value);
}

/** The values of a reply in one of the four forms, or its text. */
function valuesIn({ bytes, text }: Reply, type: string): unknown[] {
  if (type === 'application/json') return [JSON.parse(text)];
  if (type === 'application/msgpack') return [decodeMsgpack(bytes)];
  if (type === 'application/vnd.winnow.frames+msgpack') return decodeMsgpackFrames(bytes);
  if (type === 'application/x-ndjson')
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  return [text];
}

it('its examples run as they stand, in both encodings, and every reply is what the document says', async () => {
  const run = new Map<string, number>();
  for (const { path, method, operation, bodies } of operations()) {
    for (const body of bodies) {
      for (const [type, { schema }] of Object.entries(operation.responses['200']!.content!)) {
        for (const encoding of body === undefined ? ['none'] : ['json', 'msgpack']) {
          const reply = await ask(service, {
            method,
            path,
            headers: { accept: type, 'content-type': `application/${encoding}` },
            ...(body === undefined ? {} : { body: encoding === 'json' ? JSON.stringify(body) : encodeMsgpack(body) }),
          });
          // A scan has either a page or frames for an answer.
          if (reply.status === 406 && path === '/v1/scan') continue;
          expect(reply.status, `${path} ${type}: ${reply.text}`).toBe(200);
          expect(reply.headers['content-type']).toContain(type);
          for (const value of valuesIn(reply, type)) {
            expect(fits(schema, value), `${path} ${type}: ${JSON.stringify(value).slice(0, 400)}`).toBe(true);
          }
          run.set(`${method} ${path} ${type}`, (run.get(`${method} ${path} ${type}`) ?? 0) + 1);
        }
      }
    }
  }
  const documented = [...operations()].flatMap(({ path, method, operation }) =>
    Object.keys(operation.responses['200']!.content!).map((type) => `${method} ${path} ${type}`),
  );
  expect([...run.keys()].toSorted()).toEqual(documented.toSorted());
});

it('its examples of replies are what it says of replies, and each route has one or a body to send', () => {
  for (const { path, operation, bodies } of operations()) {
    const media = Object.values(operation.responses['200']!.content!);
    for (const { schema, example } of media) if (example !== undefined) expect(fits(schema, example), path).toBe(true);
    expect(bodies[0] !== undefined || media.some(({ example }) => example !== undefined), path).toBe(true);
  }
});

it('a refusal is what the document says of refusals', async () => {
  const reply = await ask(service, { body: '{' });
  expect(reply.status).toBe(400);
  expect(fits({ $ref: '#/components/schemas/Problem' }, JSON.parse(reply.text))).toBe(true);
});

describe('the page', () => {
  const get = (path: string, headers: Record<string, string> = {}): Promise<Reply> =>
    ask(service, { method: 'GET', path, headers });

  it('is there, with everything that it loads, and shows this document', async () => {
    const page = await get('/docs');
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, path]) => new URL(path!, 'http://localhost/docs').pathname,
    );
    expect(files.length).toBeGreaterThan(4);
    for (const file of files) expect((await get(file)).status, file).toBe(200);
    expect(JSON.parse((await get('/docs/json')).text)).toEqual(document);
  });

  it.each([
    '/docs/nothing',
    '/docs/yaml',
    '/docs/static/nothing.js',
    '/docs/static/..%2f..%2fpackage.json',
    '/docs/static/../../package.json',
    '/docs/static/%00',
    '/docs/static//',
    `/docs/static/${'a'.repeat(5_000)}`,
  ])('has nothing at %s, which is a problem like any other', async (path) => {
    const reply = await get(path);
    expect(reply.status).toBe(404);
    expect(JSON.parse(reply.text)).toMatchObject({ code: 'not_found', status: 404 });
  });

  it.each([
    { range: 'bytes=99999999-' },
    { 'if-match': 'x' },
    { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
  ])('its files come whole whatever is asked of them: %j', async (headers) => {
    expect((await get('/docs/static/swagger-ui.css', headers)).status).toBe(200);
  });

  it('counts as the document does', async () => {
    const before = await stat(service, 'winnow_requests_total', { route: 'openapi', outcome: 'ok' });
    await get('/docs');
    expect(await stat(service, 'winnow_requests_total', { route: 'openapi', outcome: 'ok' })).toBe(before + 1);
  });
});

it('the example of a scan selects one of two records', async () => {
  const example = document.components.schemas['ScanRequest']!.examples![0];
  const reply = await ask(service, { body: JSON.stringify(example) });
  expect(JSON.parse(reply.text)).toMatchObject({ examined: 2, matched: 1, rejected: 1, stop: 'end_of_visible' });
});

it('says that metrics are text, as they are', async () => {
  const { headers } = await ask(service, { method: 'GET', path: '/metrics' });
  expect(headers['content-type']).toContain('text/plain');
  expect(JSON.stringify(document.paths['/metrics'])).toContain('"text/plain"');
});
