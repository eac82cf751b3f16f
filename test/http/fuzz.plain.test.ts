/**
 * A seeded fuzz of whole requests: whatever is sent, the answer is one of the contract's, never 500, and nothing is held
 * afterwards. Bodies are mutations of valid ones, so that most of them get past the first check.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import fc from 'fast-check';
import { ERROR_CATALOGUE } from '../../src/core/error-codes.js';
import { encodeMsgpack } from '../../src/wire/msgpack.js';
import {
  ask,
  eventually,
  scanBody,
  serviceWith,
  stat,
  stopServices,
  type TestService,
} from '../support/http-service.js';

const SEED = Number(process.env['WINNOW_SEED'] ?? 20_261_130);

let service: TestService;

beforeAll(async () => {
  service = await serviceWith({ WINNOW_STORES_DATA: '/nonexistent' });
});
afterAll(stopServices);

const FILTER = { v: 1, evaluator_version: 1, expr: { present: 'a' }, codec: 'json' };
const BODIES: Readonly<Record<string, object>> = {
  '/v1/scan': JSON.parse(scanBody({ count: 2, start: 'first', reply: 'records', diagnostic: false })) as object,
  '/v1/filters/validate': { filter: FILTER, strict: true },
  '/v1/filters/test': { filter: FILTER, record: { payload_text: '{"a":1}', headers: [] }, limits: { max_depth: 3 } },
};

/** Values that stand where others are expected. */
const INTRUDERS: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  1e308,
  '',
  '..',
  'a'.repeat(2_000),
  '18446744073709551616',
  [],
  [[]],
  {},
  { '': null },
  { continue: 'AAAA' },
  { offset: '9007199254740993' },
  { timestamp: 1 },
  new Uint8Array(3),
];

/** Paths to every value of a body. */
function placesIn(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => placesIn(member, [...path, key]))];
}

function changed(
  body: unknown,
  path: readonly (string | number)[],
  change: (parent: Record<string, unknown>, key: string) => void,
): unknown {
  const copy: unknown = structuredClone(body);
  let parent = copy as Record<string, unknown>;
  for (const step of path.slice(0, -1)) parent = parent[step] as Record<string, unknown>;
  change(parent, String(path.at(-1)));
  return copy;
}

interface Shot {
  readonly path: string;
  readonly place: number;
  readonly how: 'replace' | 'remove' | 'add';
  readonly intruder: number;
  readonly encoding: 'json' | 'msgpack';
  readonly cut: number;
  readonly accept: string;
}

const shots: fc.Arbitrary<Shot> = fc.record({
  path: fc.constantFrom(...Object.keys(BODIES)),
  place: fc.nat(200),
  how: fc.constantFrom('replace' as const, 'remove' as const, 'add' as const),
  intruder: fc.nat(INTRUDERS.length - 1),
  encoding: fc.constantFrom('json' as const, 'msgpack' as const),
  cut: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(400) }),
  accept: fc.constantFrom('*/*', 'application/json', 'application/x-ndjson', 'application/msgpack', 'text/html'),
});

function bodyOf({ path, place, how, intruder, encoding, cut }: Shot): Uint8Array {
  const body = BODIES[path]!;
  const places = placesIn(body).filter((one) => one.length > 0);
  const value = INTRUDERS[intruder];
  const mutated = changed(body, places[place % places.length]!, (parent, key) => {
    if (how === 'remove' && !Array.isArray(parent)) delete parent[key];
    else if (how === 'add' && !Array.isArray(parent)) parent['intruder'] = value;
    else parent[key] = value;
  });
  const bytes = encoding === 'json' ? Buffer.from(JSON.stringify(mutated)) : Buffer.from(encodeMsgpack(mutated));
  return cut === 0 ? bytes : bytes.subarray(0, Math.max(bytes.length - cut, 0));
}

it('no request is answered with an internal fault, and every refusal is a problem of the catalogue', async () => {
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(shots, async (shot) => {
      const reply = await ask(service, {
        path: shot.path,
        body: bodyOf(shot),
        headers: { 'content-type': `application/${shot.encoding}`, accept: shot.accept },
      });
      seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1);
      expect(reply.status, reply.text).not.toBe(500);
      if (reply.status === 200) return;
      expect(reply.headers['content-type']).toBe('application/problem+json');
      const { code, status } = JSON.parse(reply.text) as { code: keyof typeof ERROR_CATALOGUE; status: number };
      expect(status).toBe(reply.status);
      expect([ERROR_CATALOGUE[code].status, 406, 415]).toContain(status);
    }),
    { seed: SEED, numRuns: 1_500 },
  );
  // The fuzz reached what it is for: successes, refusals of several kinds.
  for (const status of [200, 400, 406]) expect(seen.get(status) ?? 0, `status ${status}`).toBeGreaterThan(20);
  await eventually(async () => (await stat(service, 'winnow_scans_running')) === 0);
  expect(await stat(service, 'winnow_worker_restarts_total')).toBe(0);
  expect(service.lines.filter((line) => line.level === 'error')).toEqual([]);
});
