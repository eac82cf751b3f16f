/**
 * Random requests built from an OpenAPI document: bodies from its schemas, mutations of its examples, headers and paths
 * of its operations. Everything is bounded (a body is a few KiB, a list a few items) and comes from a seeded source.
 */
import { encodeMsgpack } from '../../src/wire/msgpack.js';
import type { Seeded } from './seeded.js';

type Schema = Readonly<Record<string, unknown>>;
type Json = unknown;

interface Media {
  readonly schema: Schema;
}
interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
}

/** As much of a document as requests are made of. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** How a request came about: from an example with changes, from an example that stays valid, from schemas alone. */
export type ShotKind = 'mutated' | 'valid' | 'random';

export interface Shot {
  readonly kind: ShotKind;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

/** Values that stand where others are expected. */
const INTRUDERS: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  1e308,
  '',
  '..',
  '\u0000',
  'a'.repeat(2_000),
  '18446744073709551616',
  [],
  [[]],
  {},
  { '': null },
  { __proto__x: 1 },
  { continue: 'AAAA' },
  { offset: '9007199254740993' },
  { timestamp: 1 },
  'first',
  'laser',
  new Uint8Array(3),
];

const ACCEPTS = [
  '*/*',
  'application/json',
  'application/x-ndjson',
  'application/msgpack',
  'application/vnd.winnow.frames+msgpack',
  'application/json;q=0.5, application/*',
  'text/html',
  ';;,',
] as const;

const OTHER_PATHS = [
  '/',
  '/v1',
  '/v1/scan/',
  '/v1/nothing',
  '/docs',
  '/docs/static/x',
  '/docs/json',
  '/%zz',
  '/livez?x=%',
  '//',
];
const OTHER_METHODS = ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'GET', 'POST'];

/** Small values that a budget of a scan may have: what a scan is asked for stays short. */
const BUDGETS: Readonly<Record<string, readonly Json[]>> = {
  count: [1, 2, 100, '5', 10 ** 9],
  max_reply_bytes: [1, 64, 4_096],
  max_examined: [1, 2, 1_000],
  max_examined_bytes: [1, 100, 10_000],
  deadline_ms: [1, 50, 60_000],
  pages: [0, 1, 2, 5],
  progress_ms: [1, 1_000],
  reply: ['records', 'headers', 'offsets', 'count'],
  diagnostic: [true, false],
  start: ['first', 'last', { offset: 1 }, { offset: '0' }, { offset: 10 ** 15 }],
};

/** Levels of a random value below which only leaves are made. */
const DEPTH_MAX = 6;

/** Makes the shots of one document, in an order that its source decides. */
export class RequestSource {
  private readonly document: OpenApiDocument;
  private readonly random: Seeded;
  /** Operations with a body, by path: the schema and the examples of it. */
  private readonly bodies: { readonly path: string; readonly schema: Schema; readonly examples: readonly Json[] }[] =
    [];

  constructor(document: OpenApiDocument, random: Seeded) {
    this.document = document;
    this.random = random;
    for (const [path, methods] of Object.entries(document.paths)) {
      const schema = methods['post']?.requestBody?.content['application/json']?.schema;
      if (schema === undefined) continue;
      const resolved = this.resolve(schema);
      this.bodies.push({ path, schema: resolved, examples: resolved['examples'] as readonly Json[] });
    }
  }

  next(kind: ShotKind): Shot {
    switch (kind) {
      case 'valid':
        return this.validScan();
      case 'mutated':
        return this.mutated();
      case 'random':
        return this.chance(0.15) ? this.bodyless() : this.fromSchema();
    }
  }

  /** An example of a scan with other budgets, which stays a scan that runs. */
  private validScan(): Shot {
    const { path, examples } = this.bodies.find((one) => one.path === '/v1/scan')!;
    const body = { ...(this.random.pick(examples) as Record<string, Json>) };
    for (const [name, values] of Object.entries(BUDGETS)) {
      if (this.chance(0.3)) body[name] = this.random.pick(values);
    }
    const accept = this.random.pick(['application/x-ndjson', 'application/vnd.winnow.frames+msgpack', '*/*']);
    return this.shot('valid', path, body, { accept });
  }

  private mutated(): Shot {
    const { path, schema, examples } = this.random.pick(this.bodies);
    let body = structuredClone(this.random.pick(examples));
    const changes = 1 + this.random.below(3);
    for (let change = 0; change < changes; change += 1) body = this.changed(body, schema);
    const shot = this.shot('mutated', path, body, this.headers());
    if (!this.chance(0.1)) return shot;
    const bytes = shot.body!;
    return { ...shot, body: bytes.subarray(0, this.random.below(bytes.length + 1)) };
  }

  private fromSchema(): Shot {
    const { path, schema } = this.random.pick(this.bodies);
    return this.shot('random', path, this.valueOf(schema, 0), this.headers());
  }

  private bodyless(): Shot {
    const documented = Object.keys(this.document.paths);
    const path = this.random.pick([...documented, ...documented, ...OTHER_PATHS]);
    const method = this.chance(0.6) ? 'GET' : this.random.pick(OTHER_METHODS);
    return { kind: 'random', method, path, headers: this.headers(), body: undefined };
  }

  private shot(kind: ShotKind, path: string, body: Json, headers: Record<string, string>): Shot {
    const isJson = this.chance(0.6);
    const bytes = isJson ? Buffer.from(JSON.stringify(body) ?? 'null') : encodeMsgpack(body);
    return {
      kind,
      method: 'POST',
      path,
      headers: { 'content-type': isJson ? 'application/json' : 'application/msgpack', ...headers },
      body: bytes,
    };
  }

  private headers(): Record<string, string> {
    const headers: Record<string, string> = {};
    if (this.chance(0.5)) headers['accept'] = this.random.pick(ACCEPTS);
    if (this.chance(0.2))
      headers['winnow-shard'] = this.random.pick(['a', 'a/b:c', '', 'x'.repeat(65), 'a b', 'default']);
    if (this.chance(0.04))
      headers['content-type'] = this.random.pick(['text/plain', 'application/json; charset=utf-16', ';']);
    if (this.chance(0.03)) headers['content-encoding'] = this.random.pick(['gzip', 'identity', '']);
    if (this.chance(0.02)) headers['authorization'] = this.random.pick(['Bearer x', '', 'Basic y']);
    if (this.chance(0.02)) headers['if-match'] = '*';
    return headers;
  }

  /** A copy with one value replaced, removed, added or repeated. */
  private changed(body: Json, schema: Schema): Json {
    const places = placesIn(body);
    const path = this.random.pick(places);
    if (path.length === 0) return this.chance(0.5) ? this.random.pick(INTRUDERS) : this.valueOf(schema, 0);
    const copy = structuredClone(body) as Record<string, Json>;
    let parent: Record<string, Json> = copy;
    for (const step of path.slice(0, -1)) parent = parent[step] as Record<string, Json>;
    const key = path.at(-1)!;
    switch (this.random.below(5)) {
      case 0:
        if (Array.isArray(parent)) parent.push(structuredClone(parent[Number(key)]));
        else delete parent[key];
        return copy;
      case 1:
        if (!Array.isArray(parent))
          parent[this.random.pick(['intruder', '__proto__x', 'v', 'schemas', 'dialect'])] = this.random.pick(INTRUDERS);
        return copy;
      case 2:
        parent[key] = this.leafOr(parent[key]);
        return copy;
      default:
        parent[key] = this.random.pick(INTRUDERS);
        return copy;
    }
  }

  /** A value near the given one: what a person mistypes rather than what is absurd. */
  private leafOr(value: Json): Json {
    if (typeof value === 'number')
      return this.random.pick([value + 1, -value, value * 1e6, String(value), value + 0.5]);
    if (typeof value === 'string') {
      return this.random.pick([
        `${value} `,
        value.toUpperCase(),
        value.slice(1),
        value + value,
        value.replaceAll('=', '!'),
      ]);
    }
    return this.random.pick(INTRUDERS);
  }

  private valueOf(given: Schema, depth: number): Json {
    const schema = this.resolve(given);
    if (this.chance(0.02)) return this.random.pick(INTRUDERS);
    const variants = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined;
    if (variants !== undefined) return this.valueOf(this.random.pick(variants), depth);
    if (schema['enum'] !== undefined) return this.random.pick(schema['enum'] as readonly Json[]);
    if ('const' in schema) return schema['const'];
    if (schema['contentEncoding'] === 'base64') return Buffer.from(this.text(40)).toString('base64');
    switch (schema['type']) {
      case 'object':
        return this.objectOf(schema, depth);
      case 'array': {
        const items = (schema['items'] ?? {}) as Schema;
        const length = depth > DEPTH_MAX ? 0 : Number(schema['minItems'] ?? 0) + this.random.below(3);
        return Array.from({ length }, () => this.valueOf(items, depth + 1));
      }
      case 'integer':
      case 'number': {
        const least = Number(schema['minimum'] ?? -10);
        const most = Math.min(Number(schema['maximum'] ?? 1_000_000), least + 1_000_000);
        return least + this.random.below(most - least + 1);
      }
      case 'boolean':
        return this.chance(0.5);
      case 'string':
        return this.chance(0.3) ? String(this.random.below(10_000)) : this.text(Number(schema['maxLength'] ?? 20));
      default:
        return this.anything(depth);
    }
  }

  private objectOf(schema: Schema, depth: number): Json {
    const required = (schema['required'] ?? []) as readonly string[];
    const members = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Schema>>).filter(([name]) =>
      required.includes(name) ? !this.chance(0.02) : depth <= DEPTH_MAX && this.chance(0.2),
    );
    return Object.fromEntries(members.map(([name, member]) => [name, this.memberOf(name, member, depth)]));
  }

  /** What no schema can say (a filter is JSON of its own language) is taken from the examples now and then. */
  private memberOf(name: string, schema: Schema, depth: number): Json {
    const known = this.bodies.flatMap(({ examples }) => examples).map((example) => memberNamed(name, example));
    const found = known.filter((value) => value !== undefined);
    return found.length > 0 && this.chance(0.6) ? this.random.pick(found) : this.valueOf(schema, depth + 1);
  }

  private anything(depth: number): Json {
    if (depth > DEPTH_MAX || this.chance(0.6)) return this.random.pick(INTRUDERS);
    return { [this.text(6)]: this.anything(depth + 1), expr: this.anything(depth + 1) };
  }

  private text(lengthMax: number): string {
    const length = this.random.below(Math.min(lengthMax, 40) + 1);
    return Array.from({ length }, () => this.random.pick([...'ab.*/{}"\\\n:0é\u{1f6f0}'])).join('');
  }

  private resolve(schema: Schema): Schema {
    const reference = schema['$ref'];
    if (typeof reference !== 'string') return schema;
    return this.document.components.schemas[reference.split('/').at(-1)!]!;
  }

  private chance(of: number): boolean {
    return this.random.chance(of);
  }
}

/** The first member of that name anywhere in a value. */
function memberNamed(name: string, value: Json): Json {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, name)) return (value as Record<string, Json>)[name];
  for (const member of Object.values(value)) {
    const found = memberNamed(name, member);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Paths to every value of a body, itself first. */
function placesIn(value: Json, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => placesIn(member, [...path, key]))];
}
