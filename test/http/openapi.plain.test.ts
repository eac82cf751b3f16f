/** `/openapi.json`: complete, resolvable, and its examples run as they stand. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { VERSION } from '../../src/core/version.js';
import { ask, serviceWith, stopServices, type TestService } from '../support/http-service.js';

interface Media {
  readonly schema: { readonly $ref?: string };
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

it('has every route of the contract that is built, and the two known ones that are not', () => {
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
    ].toSorted(),
  );
});

it('refers only to schemas that it holds', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
  expect(references.length).toBeGreaterThan(20);
  for (const [, name] of references) expect(document.components.schemas).toHaveProperty([name!]);
});

it('its examples run as they stand', async () => {
  let run = 0;
  for (const [path, operations] of Object.entries(document.paths)) {
    const name = operations['post']?.requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1);
    for (const example of name === undefined ? [] : (document.components.schemas[name]!.examples ?? [])) {
      const reply = await ask(service, { path, body: JSON.stringify(example) });
      expect(reply.status, `${path}: ${reply.text}`).toBe(200);
      run += 1;
    }
  }
  expect(run).toBe(3);
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
