/**
 * The configuration: one TOML text plus `WINNOW_<SECTION>_<KEY>` variables in, one frozen object out (contract:
 * scan-protocol §5). Reading the file and the environment is the caller's work; this stays a function of its inputs.
 *
 * Invariants: an unknown key, section or `WINNOW_` variable and a bad value refuse to start, and every fault is named
 * in one go; a variable beats the file, the file beats the built-in default; no message repeats a secret.
 */
import { TomlError, parse } from 'smol-toml';
import { isAbsolute } from 'node:path';
import { ENGINE_CHOICES, type EngineChoice } from '../core/engine.js';
import { Refusal } from '../core/error-codes.js';
import type { Problem } from '../core/error-codes.js';
import {
  CONFIG_KEYS,
  CONTINUATION_KEY_BYTES_MIN,
  HS256_BYTES_MIN,
  JWT_ALGORITHMS,
  LOG_LEVELS,
  STORES_MAX,
  STORES_SECTION,
  STORE_NAME_PATTERN,
} from './keys.js';
import { readApiKeys, type ApiKey } from './grant.js';
import type { KeyRow } from './keys.js';
import { BYTES_FORM, DURATION_FORM, INTEGER_FORM, readBytes, readDuration, readInteger } from './units.js';

/** The effective configuration: bytes and milliseconds as numbers, deeply frozen. See `config/README.md`. */
export interface Config {
  readonly http: {
    readonly host: string;
    readonly port: number;
    readonly jsonBodyBytesMax: number;
    readonly msgpackBodyBytesMax: number;
    readonly headersBytesMax: number;
    readonly headersTimeoutMs: number;
    readonly requestTimeoutMs: number;
    readonly idleTimeoutMs: number;
    readonly replyTimeoutMs: number;
    readonly connectionsMax: number;
  };
  /** `workers` 0: one per processor, decided when the service starts. */
  readonly pool: { readonly workers: number; readonly engine: EngineChoice };
  readonly admission: {
    readonly scansPerShard: number;
    readonly scansTotal: number;
    readonly queuePerShard: number;
    readonly inlineBytesMax: number;
    /** 0: nothing is shed. */
    readonly loopDelayMsMax: number;
  };
  readonly slice: {
    readonly recordsMax: number;
    readonly bytesMax: number;
    readonly timeMaxMs: number;
    readonly killAfterMs: number;
  };
  /** Caps of the request's budgets, in the request's own spelling. */
  readonly limits: {
    readonly count: number;
    readonly max_reply_bytes: number;
    readonly max_examined: number;
    readonly max_examined_bytes: number;
    readonly deadline_ms: number;
    readonly pages: number;
    readonly progress_ms: number;
  };
  /** Newest first: the first signs, all verify. Empty: the service makes a random one and warns. */
  readonly continuation: { readonly keys: readonly Uint8Array[] };
  readonly stores: Readonly<Record<string, string>>;
  /** Where the registry of writer schemas is; empty: there is none. */
  readonly schemas: { readonly folder: string };
  /** Without a key and without tokens nobody is asked who they are. */
  readonly auth: {
    readonly keys: readonly ApiKey[];
    readonly jwt?: {
      readonly algorithm: (typeof JWT_ALGORITHMS)[number];
      /** A secret, a PEM text or a JWK set; the service reads it when it starts. */
      readonly key: string;
      readonly issuer: string;
      readonly audience: string;
      readonly clockToleranceMs: number;
    };
    readonly allowAnonymous: boolean;
  };
  readonly log: { readonly level: (typeof LOG_LEVELS)[number] };
}

/** The prefix of every environment variable that the service reads. */
export const ENV_PREFIX = 'WINNOW_';

/** What was given, before it is read. */
interface Given {
  /** By `section.key`; the environment is collected last and wins. */
  readonly values: Map<string, unknown>;
  readonly stores: Map<string, unknown>;
  readonly faults: string[];
}

type Scalar = string | number | boolean | readonly string[];

/**
 * Reads a configuration.
 *
 * @param text The TOML file's text; empty means "no file".
 * @param env Variables; only those that start with {@link ENV_PREFIX} are looked at.
 * @throws Refusal `invalid_request` that names every offending key.
 */
export function loadConfig(text: string, env: Readonly<Record<string, string | undefined>>): Config {
  const given: Given = { values: new Map(), stores: new Map(), faults: [] };
  const { faults } = given;
  collectFile(text, given);
  collectEnv(env, given);

  const values = new Map<string, Scalar>();
  for (const row of CONFIG_KEYS) {
    const name = `${row.section}.${row.key}`;
    const value = readValue(row, given.values.has(name) ? given.values.get(name) : row.fallback);
    if (typeof value === 'object' && 'fault' in value) faults.push(`${name}: ${value.fault}`);
    else values.set(name, value);
  }
  const roots = readStores(given.stores, faults);
  const auth = readAuth(values, faults);
  if (faults.length > 0) throw new Refusal(problem(faults));
  return freeze(values, roots, auth);
}

function problem(faults: readonly string[]): Problem {
  return { code: 'invalid_request', detail: `configuration refused: ${faults.join('; ')}` };
}

function collectFile(text: string, given: Given): void {
  let root: Record<string, unknown>;
  try {
    root = parse(text);
  } catch (thrown) {
    // The parser's message quotes the lines around the fault, and a line may hold a key: only the place is repeated.
    const at = thrown instanceof TomlError ? ` at line ${thrown.line}, column ${thrown.column}` : '';
    given.faults.push(`the file is not TOML${at}`);
    return;
  }
  for (const [section, body] of Object.entries(root)) {
    if (typeof body !== 'object' || body === null || Array.isArray(body) || body instanceof Date) {
      given.faults.push(`${section}: unknown key outside a section`);
      continue;
    }
    for (const [key, value] of Object.entries(body)) place(section, key, value, `${section}.${key}`, given);
    if (section !== STORES_SECTION && !CONFIG_KEYS.some((row) => row.section === section)) {
      given.faults.push(`${section}: unknown section`);
    }
  }
}

function collectEnv(env: Readonly<Record<string, string | undefined>>, given: Given): void {
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(ENV_PREFIX) || value === undefined) continue;
    const parts = /^WINNOW_([A-Z]+)_([A-Z0-9_]+)$/.exec(variable);
    if (parts === null) given.faults.push(`${variable}: unknown variable`);
    else place(parts[1]!.toLowerCase(), parts[2]!.toLowerCase(), value, variable, given);
  }
}

/** Puts one value where it belongs; `source` is how the operator spelled the key. */
function place(section: string, key: string, value: unknown, source: string, given: Given): void {
  if (section === STORES_SECTION) given.stores.set(key, value);
  else if (CONFIG_KEYS.some((row) => row.section === section && row.key === key))
    given.values.set(`${section}.${key}`, value);
  else given.faults.push(`${source}: unknown key`);
}

function readValue(row: KeyRow, value: unknown): Scalar | { readonly fault: string } {
  switch (row.kind) {
    case 'integer':
      return bounded(row, readInteger(value), INTEGER_FORM, value);
    case 'bytes':
      return bounded(row, readBytes(value), BYTES_FORM, value);
    case 'duration':
      return bounded(row, readDuration(value, row.key.endsWith('_ms')), DURATION_FORM, value);
    case 'text':
      return typeof value === 'string' && (value !== '' || row.fallback === '')
        ? value
        : { fault: `expected text${row.fallback === '' ? '' : ' that is not empty'}` };
    case 'algorithm':
      return value === '' || JWT_ALGORITHMS.some((one) => one === value)
        ? (value as string)
        : { fault: `expected one of ${JWT_ALGORITHMS.join(', ')} or nothing` };
    case 'secret':
      return typeof value === 'string' ? value : { fault: 'expected text' };
    case 'folder':
      return value === '' || (typeof value === 'string' && isAbsolute(value))
        ? value
        : { fault: `expected an absolute folder or nothing, given ${shown(value)}` };
    case 'level':
      return LOG_LEVELS.some((level) => level === value)
        ? (value as string)
        : { fault: `expected one of ${LOG_LEVELS.join(', ')}, given ${shown(value)}` };
    case 'engine':
      return ENGINE_CHOICES.some((one) => one === value)
        ? (value as string)
        : { fault: `expected one of ${ENGINE_CHOICES.join(', ')}, given ${shown(value)}` };
    case 'flag':
      return { true: true, false: false }[String(value)] ?? { fault: `expected true or false, given ${shown(value)}` };
    case 'secrets':
      return readSecrets(value, row.section === 'continuation' ? CONTINUATION_KEY_BYTES_MIN : 0);
  }
}

function bounded(
  row: KeyRow,
  value: number | undefined,
  form: string,
  given: unknown,
): number | { readonly fault: string } {
  if (value === undefined) return { fault: `expected ${form}, given ${shown(given)}` };
  if (value < row.min! || value > row.max!) {
    const unit = row.kind === 'bytes' ? ' bytes' : row.kind === 'duration' ? ' ms' : '';
    return { fault: `must lie in ${row.min!}…${row.max!}${unit}, given ${shown(given)}` };
  }
  return value;
}

function readSecrets(value: unknown, bytesMin: number): readonly string[] | { readonly fault: string } {
  const list = typeof value === 'string' ? (value === '' ? [] : value.split(',').map((item) => item.trim())) : value;
  if (!Array.isArray(list) || !list.every((item): item is string => typeof item === 'string' && !item.includes(','))) {
    return { fault: 'expected a list of texts without commas' };
  }
  const short = list.findIndex((item) => Buffer.byteLength(item) < bytesMin);
  if (short >= 0) return { fault: `entry ${short} is shorter than ${bytesMin} bytes` };
  return list;
}

/**
 * Who may ask. A host that others can reach has keys or tokens, or says that anybody may ask: everything else that this
 * service does by default is for its own machine.
 */
function readAuth(values: ReadonlyMap<string, Scalar>, faults: string[]): Config['auth'] {
  const read = readApiKeys((values.get('auth.keys') as readonly string[] | undefined) ?? []);
  if ('fault' in read) faults.push(`auth.keys: ${read.fault}`);
  const keys = 'fault' in read ? [] : read;
  const jwt = readJwt(values, faults);
  const isGuarded = 'fault' in read || keys.length > 0 || jwt !== undefined;
  const allowAnonymous = values.get('auth.allow_anonymous') === true;
  const host = values.get('http.host');
  if (isGuarded && allowAnonymous) {
    faults.push('auth.allow_anonymous: there are keys or tokens, which everybody would pass by');
  } else if (!isGuarded && !allowAnonymous && typeof host === 'string' && !isLoopback(host)) {
    faults.push(
      'http.host: it is not loopback, so set auth.keys or auth.jwt_algorithm, or auth.allow_anonymous = true to serve anybody',
    );
  }
  return { keys, ...(jwt === undefined ? {} : { jwt }), allowAnonymous };
}

/** The keys that belong together: all of them, or none. */
function readJwt(values: ReadonlyMap<string, Scalar>, faults: string[]): Config['auth']['jwt'] {
  const text = (name: string): string => String(values.get(`auth.jwt_${name}`) ?? '');
  const algorithm = JWT_ALGORITHMS.find((one) => one === text('algorithm'));
  const given = ['key', 'issuer', 'audience'].filter((name) => text(name) !== '');
  if (algorithm === undefined) {
    // A bad value has been named already.
    if (given.length > 0 && values.has('auth.jwt_algorithm')) {
      faults.push(`auth.jwt_algorithm: needed beside ${given.map((name) => `auth.jwt_${name}`).join(', ')}`);
    }
    return undefined;
  }
  for (const name of ['key', 'issuer', 'audience']) {
    if (text(name) === '') faults.push(`auth.jwt_${name}: needed beside auth.jwt_algorithm`);
  }
  const key = text('key');
  const isSet = key.trimStart().startsWith('{');
  if (algorithm === 'HS256' && key !== '' && !isSet && Buffer.byteLength(key) < HS256_BYTES_MIN) {
    faults.push(`auth.jwt_key: a secret has at least ${HS256_BYTES_MIN} bytes`);
  }
  const clockToleranceMs = values.get('auth.jwt_clock_tolerance') as number;
  return { algorithm, key, issuer: text('issuer'), audience: text('audience'), clockToleranceMs };
}

/** True for addresses that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function readStores(stores: ReadonlyMap<string, unknown>, faults: string[]): Record<string, string> {
  const roots: Record<string, string> = {};
  for (const [name, value] of stores) {
    if (!STORE_NAME_PATTERN.test(name))
      faults.push(`${STORES_SECTION}.${name}: a store's name is ${STORE_NAME_PATTERN}`);
    else if (typeof value !== 'string' || !isAbsolute(value)) {
      faults.push(`${STORES_SECTION}.${name}: expected an absolute folder, given ${shown(value)}`);
    } else roots[name] = value;
  }
  if (stores.size > STORES_MAX) faults.push(`${STORES_SECTION}: at most ${STORES_MAX}, given ${stores.size}`);
  return roots;
}

/** A value as it stands in a message: short, and never a structure. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 64));
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : typeof value;
}

function freeze(values: ReadonlyMap<string, Scalar>, stores: Record<string, string>, auth: Config['auth']): Config {
  const number = (name: string): number => values.get(name) as number;
  const keys = values.get('continuation.keys') as readonly string[];
  return Object.freeze({
    http: Object.freeze({
      host: values.get('http.host') as string,
      port: number('http.port'),
      jsonBodyBytesMax: number('http.json_body_max'),
      msgpackBodyBytesMax: number('http.msgpack_body_max'),
      headersBytesMax: number('http.headers_max'),
      headersTimeoutMs: number('http.headers_timeout'),
      requestTimeoutMs: number('http.request_timeout'),
      idleTimeoutMs: number('http.idle_timeout'),
      replyTimeoutMs: number('http.reply_timeout'),
      connectionsMax: number('http.connections_max'),
    }),
    pool: Object.freeze({
      workers: number('pool.workers'),
      engine: values.get('pool.engine') as EngineChoice,
    }),
    admission: Object.freeze({
      scansPerShard: number('admission.scans_per_shard'),
      scansTotal: number('admission.scans_total'),
      queuePerShard: number('admission.queue_per_shard'),
      inlineBytesMax: number('admission.inline_bytes_max'),
      loopDelayMsMax: number('admission.loop_delay_max'),
    }),
    slice: Object.freeze({
      recordsMax: number('slice.records_max'),
      bytesMax: number('slice.bytes_max'),
      timeMaxMs: number('slice.time_max'),
      killAfterMs: number('slice.kill_after'),
    }),
    limits: Object.freeze({
      count: number('limits.count'),
      max_reply_bytes: number('limits.max_reply_bytes'),
      max_examined: number('limits.max_examined'),
      max_examined_bytes: number('limits.max_examined_bytes'),
      deadline_ms: number('limits.deadline_ms'),
      pages: number('limits.pages'),
      progress_ms: number('limits.progress_ms'),
    }),
    continuation: Object.freeze({ keys: Object.freeze(keys.map((key) => new TextEncoder().encode(key))) }),
    stores: Object.freeze(stores),
    schemas: Object.freeze({ folder: values.get('schemas.folder') as string }),
    auth: Object.freeze(auth),
    log: Object.freeze({ level: values.get('log.level') as Config['log']['level'] }),
  });
}
