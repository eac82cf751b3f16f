/**
 * Who may ask for what: keys, scopes, streams and stores, from the headers and before anything is held or opened.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ask,
  eventually,
  open,
  replyTo,
  scanBody,
  serviceWith,
  stopServices,
  type Reply,
  type TestService,
} from '../support/http-service.js';

const KEYS = { reader: 'reader-key-0123456789', admin: 'admin-key-0123456789', store: 'store-key-0123456789' } as const;
const hashOf = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;

let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winnow-access-'));
  writeFileSync(join(folder, 'a.ndjson'), '{"a":1}\n');
  writeFileSync(join(folder, 'b.ndjson'), '{"a":1}\n');
  service = await serviceWith({
    WINNOW_STORES_DATA: folder,
    WINNOW_AUTH_KEYS: [
      `reader ${hashOf(KEYS.reader)} scan stream:s/*`,
      `operator ${hashOf(KEYS.admin)} admin`,
      `store ${hashOf(KEYS.store)} scan stream:*/* store:data/a.*`,
    ].join(','),
  });
});
afterAll(async () => {
  await stopServices();
  rmSync(folder, { recursive: true });
});

function as(key: string | undefined, path: string, body?: string, more: Record<string, string> = {}): Promise<Reply> {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return ask(service, {
    method: body === undefined ? 'GET' : 'POST',
    path,
    headers: { ...authorization, ...more },
    ...(body === undefined ? {} : { body }),
  });
}

const filter = JSON.stringify({ filter: { v: 1, evaluator_version: 1, expr: { present: 'a' }, codec: 'json' } });

/** What a POST on a route is sent, so that nothing but access can refuse it. */
const BODIES: Record<string, string> = {
  '/v1/scan': scanBody(),
  '/v1/filters/validate': filter,
  '/v1/filters/test': filter.replace('}}', '},"record":{"payload_text":"{}"}}'),
  '/v1/filters/preview': filter.replace('}}', '},"segments":[]}'),
  '/v1/filters/diff': `{"a":${filter},"b":${filter},"segments":[]}`,
};

describe('a caller without a key', () => {
  it.each(['/livez', '/readyz', '/openapi.json', '/docs', '/docs/static/swagger-ui.css'])(
    'may ask for %s',
    async (path) => {
      expect((await as(undefined, path)).status).toBe(200);
    },
  );

  it.each(['/v1/capabilities', '/metrics', '/stats'])('is refused at %s and told how to be known', async (path) => {
    const reply = await as(undefined, path);
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toBe('Bearer realm="winnow"');
    expect(JSON.parse(reply.text)).toMatchObject({ code: 'unauthenticated', status: 401, retryable: false });
  });

  it.each(Object.keys(BODIES))('is refused at %s', async (path) => {
    expect((await as(undefined, path, BODIES[path])).status).toBe(401);
  });

  it('is refused before its body has arrived and without a slot', async () => {
    const request = open(service, { headers: { 'content-length': '1000' } });
    request.flushHeaders();
    expect((await replyTo(request)).status).toBe(401);
    request.destroy();
    const { text } = await as(KEYS.admin, '/stats');
    const stats = JSON.parse(text) as Record<string, { count?: number }[]>;
    expect(stats['winnow_admission_wait_seconds']![0]!.count).toBe(0);
  });

  it('still learns that a path is not there', async () => {
    expect((await as(undefined, '/v1/nothing')).status).toBe(404);
    expect((await as(undefined, '/v1/scan')).status).toBe(405);
  });
});

describe('what is shown', () => {
  it.each([
    `Bearer ${KEYS.reader}x`,
    `Bearer ${KEYS.reader.toUpperCase()}`,
    'Bearer',
    'Bearer  ',
    `Basic ${KEYS.reader}`,
    KEYS.reader,
    `Bearer ${KEYS.reader} ${KEYS.reader}`,
    `Bearer ${hashOf(KEYS.reader).slice(7)}`,
    'Bearer eyJhbGciOiJub25lIn0.eyJzY29wZSI6InNjYW4ifQ.',
  ])('%j is no key', async (authorization) => {
    const reply = await ask(service, { method: 'GET', path: '/v1/capabilities', headers: { authorization } });
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toBe('Bearer realm="winnow", error="invalid_token"');
  });

  it('the scheme may be written in any case', async () => {
    const headers = { authorization: `bEARER   ${KEYS.reader}` };
    expect((await ask(service, { method: 'GET', path: '/v1/capabilities', headers })).status).toBe(200);
  });
});

describe('a scope', () => {
  it.each(Object.keys(BODIES))('scan opens %s and admin does not', async (path) => {
    expect((await as(KEYS.reader, path, BODIES[path])).status).toBe(200);
    const refused = await as(KEYS.admin, path, BODIES[path]);
    expect(refused.status).toBe(403);
    expect(refused.headers['www-authenticate']).toContain('error="insufficient_scope", scope="scan"');
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'forbidden', status: 403, retryable: false });
  });

  it.each(['/metrics', '/stats'])('admin opens %s and scan does not', async (path) => {
    expect((await as(KEYS.admin, path)).status).toBe(200);
    expect((await as(KEYS.reader, path)).status).toBe(403);
  });

  it('every key may ask what the service can', async () => {
    for (const key of Object.values(KEYS)) expect((await as(key, '/v1/capabilities')).status).toBe(200);
  });

  it('is asked of HEAD as of GET', async () => {
    const headers = { authorization: `Bearer ${KEYS.reader}` };
    expect((await ask(service, { method: 'HEAD', path: '/stats', headers })).status).toBe(403);
    expect((await ask(service, { method: 'HEAD', path: '/stats' })).status).toBe(401);
  });
});

describe('a source', () => {
  const from = (stream: string, topic: string): string => scanBody({ source: { stream, topic } });

  it('within the allow list is scanned, another is refused with its pointer', async () => {
    expect((await as(KEYS.reader, '/v1/scan', from('s', 'any'))).status).toBe(200);
    for (const stream of ['S', 's2', '*', 's/']) {
      const reply = await as(KEYS.reader, '/v1/scan', from(stream, 'any'));
      expect(reply.status).toBe(403);
      expect(JSON.parse(reply.text)).toMatchObject({ code: 'forbidden', field: '/source' });
    }
  });

  it.each(['preview', 'diff'])('of a %s is looked at in the same way, and may be left out', async (name) => {
    const more = (members: object): string =>
      JSON.stringify({ ...(JSON.parse(BODIES[`/v1/filters/${name}`]!) as object), ...members });
    const segments = [{ format: 'ndjson', store: 'data', path: 'a.ndjson' }];
    const cases: [string, object, number][] = [
      [KEYS.reader, { source: { stream: 's', topic: 'x' } }, 200],
      [KEYS.reader, { source: { stream: 'other', topic: 'x' } }, 403],
      [KEYS.reader, { segments }, 403],
      [KEYS.store, { segments }, 200],
    ];
    for (const [key, members, status] of cases) {
      expect((await as(key, `/v1/filters/${name}`, more(members))).status).toBe(status);
    }
  });

  it('says nothing of what is read: a stored segment is granted by its place', async () => {
    const stored = (path: string): string => scanBody({ segments: [{ format: 'ndjson', store: 'data', path }] });
    expect((await as(KEYS.store, '/v1/scan', stored('a.ndjson'))).status).toBe(200);
    for (const [key, path] of [
      [KEYS.store, 'b.ndjson'],
      [KEYS.store, 'x/../b.ndjson'],
      [KEYS.reader, 'a.ndjson'],
    ] as const) {
      const reply = await as(key, '/v1/scan', stored(path));
      expect(reply.status).toBe(403);
      expect(JSON.parse(reply.text)).toMatchObject({ code: 'forbidden', field: '/segments/0/path' });
    }
    // Granted by its text, refused by the store: a path has no "..".
    expect((await as(KEYS.store, '/v1/scan', stored('a.x/../b.ndjson'))).status).toBe(400);
  });
});

describe('the record', () => {
  it('names the caller in its line, and no line holds what was shown', async () => {
    const reply = await as(KEYS.reader, '/v1/scan', scanBody());
    const { request_id: id } = JSON.parse(reply.text) as { request_id: string };
    await eventually(() => service.lines.some((line) => line['request_id'] === id));
    expect(service.lines.find((line) => line['request_id'] === id)).toMatchObject({ caller: 'reader', outcome: 'ok' });
    const everything = JSON.stringify(service.lines);
    for (const key of Object.values(KEYS)) {
      expect(everything).not.toContain(key);
      expect(everything).not.toContain(hashOf(key).slice(7));
    }
  });

  it('counts refusals under their codes', async () => {
    const { text } = await as(KEYS.admin, '/metrics');
    expect(text).toMatch(/winnow_requests_total\{route="scan",outcome="unauthenticated"\} [1-9]/);
    expect(text).toMatch(/winnow_requests_total\{route="scan",outcome="forbidden"\} [1-9]/);
  });
});

describe('the document', () => {
  it('says of every route what it asks of its caller', async () => {
    const document = JSON.parse((await as(undefined, '/openapi.json')).text) as {
      components: { securitySchemes: Record<string, unknown> };
      paths: Record<string, Record<string, { security: Record<string, string[]>[] }>>;
    };
    expect(document.components.securitySchemes).toHaveProperty('caller.scheme', 'bearer');
    const asked = Object.entries(document.paths).map(([path, methods]) => [path, Object.values(methods)[0]!.security]);
    expect(Object.fromEntries(asked)).toMatchObject({
      '/livez': [],
      '/readyz': [],
      '/openapi.json': [],
      '/metrics': [{ caller: ['admin'] }],
      '/stats': [{ caller: ['admin'] }],
      '/v1/capabilities': [{ caller: [] }],
      '/v1/scan': [{ caller: ['scan'] }],
      '/v1/filters/validate': [{ caller: ['scan'] }],
      '/v1/filters/test': [{ caller: ['scan'] }],
      '/v1/filters/preview': [{ caller: ['scan'] }],
      '/v1/filters/diff': [{ caller: ['scan'] }],
    });
  });
});

describe('tokens', () => {
  const SECRET = 'a-secret-of-at-least-thirty-two-bytes';
  const sign = (claims: JWTPayload): Promise<string> =>
    new SignJWT({ iss: 'issuer', aud: 'winnow', sub: 'subject', ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1 minute')
      .sign(new TextEncoder().encode(SECRET));

  it('are shown as keys are, beside them, and grant what their claims say', async () => {
    const mixed = await serviceWith({
      WINNOW_AUTH_KEYS: `operator ${hashOf(KEYS.admin)} admin`,
      WINNOW_AUTH_JWT_ALGORITHM: 'HS256',
      WINNOW_AUTH_JWT_KEY: SECRET,
      WINNOW_AUTH_JWT_ISSUER: 'issuer',
      WINNOW_AUTH_JWT_AUDIENCE: 'winnow',
    });
    const scan = async (shown: string): Promise<Reply> =>
      ask(mixed, { body: scanBody(), headers: { authorization: `Bearer ${shown}` } });
    const reader = await sign({ scope: 'scan', streams: ['s/*'] });
    expect((await scan(reader)).status).toBe(200);
    expect((await scan(await sign({ scope: 'scan', streams: ['other/*'] }))).status).toBe(403);
    expect((await scan(await sign({ streams: ['s/*'] }))).status).toBe(403);
    const [, claims] = reader.split('.');
    for (const shown of [`${reader}x`, `eyJhbGciOiJub25lIn0.${claims}.`, SECRET]) {
      const refused = await scan(shown);
      expect(refused.status).toBe(401);
      expect(refused.headers['www-authenticate']).toBe('Bearer realm="winnow", error="invalid_token"');
    }
    const headers = { authorization: `Bearer ${KEYS.admin}` };
    expect((await ask(mixed, { method: 'GET', path: '/stats', headers })).status).toBe(200);
    await eventually(() => mixed.lines.some((line) => line['caller'] === 'subject' && line['outcome'] === 'ok'));
    expect(JSON.stringify(mixed.lines)).not.toMatch(/eyJ|a-secret-of/);
  });

  it('a key of the configuration that is none refuses to start and says so without it', async () => {
    const refused = serviceWith({
      WINNOW_AUTH_JWT_ALGORITHM: 'RS256',
      WINNOW_AUTH_JWT_KEY: 'hunter2',
      WINNOW_AUTH_JWT_ISSUER: 'issuer',
      WINNOW_AUTH_JWT_AUDIENCE: 'winnow',
    });
    await expect(refused).rejects.toThrow(/^configuration refused: auth\.jwt_key: (?!.*hunter2)/);
  });
});

describe('without keys', () => {
  it('everybody may everything, whatever is shown', async () => {
    const free = await serviceWith();
    const headers = { authorization: 'Bearer anything' };
    for (const path of ['/stats', '/v1/capabilities']) {
      expect((await ask(free, { method: 'GET', path, headers })).status).toBe(200);
    }
    expect((await ask(free, { body: scanBody(), headers })).status).toBe(200);
  });

  it('a host that others reach is served only when that is said, with a warning at every start', async () => {
    await expect(serviceWith({ WINNOW_HTTP_HOST: '0.0.0.0' })).rejects.toThrow(/http\.host.*auth\.allow_anonymous/);
    const reachable = await serviceWith({ WINNOW_HTTP_HOST: '0.0.0.0', WINNOW_AUTH_ALLOW_ANONYMOUS: 'true' });
    expect((await ask(reachable, { body: scanBody() })).status).toBe(200);
    expect(reachable.lines.filter((line) => line['host'] === '0.0.0.0')).toMatchObject([{ level: 'warn' }]);
  });
});
