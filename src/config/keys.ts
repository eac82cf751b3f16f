/**
 * Every configuration key as data: section, name, kind, default as a person writes it, range, and what it means
 * (contract: scan-protocol §5). The reader, `config/default.toml`'s test and `config/README.md`'s test all run over
 * this one table, so a key cannot exist in one place only.
 *
 * Invariants: names are snake_case; sections hold no underscore, so `WINNOW_<SECTION>_<KEY>` splits in one way; the
 * section `stores` is not here because its keys are names that the operator chooses.
 */
import { ENGINE_CHOICES } from '../core/engine.js';
import {
  COUNT_MAX,
  DEADLINE_MS_MAX,
  JSON_BODY_BYTES_MAX,
  MAX_EXAMINED_BYTES_CAP,
  MAX_EXAMINED_CAP,
  MAX_REPLY_BYTES_MAX,
  MSGPACK_BODY_BYTES_MAX,
  PAGES_MAX,
  PROGRESS_MS_CAP,
  REPLY_FLUSH_MS_MAX,
  REQUEST_ARRIVAL_MS_MAX,
} from '../core/limits.js';
import { API_KEY_FORM } from './grant.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/**
 * How a value is written: `integer` 16 · `bytes` "64 MiB" · `duration` "10s" · `text` · `folder` absolute, or none ·
 * `level` · `flag` true ·
 * `engine` of workers · `algorithm` of tokens, or none · `secret` a text that is never shown · `secrets` a list of them.
 */
export type KeyKind =
  | 'integer'
  | 'bytes'
  | 'duration'
  | 'text'
  | 'folder'
  | 'level'
  | 'flag'
  | 'engine'
  | 'algorithm'
  | 'secret'
  | 'secrets';

/** One key. `min` and `max` are inclusive, in units, bytes or milliseconds; absent for texts. */
export interface KeyRow {
  readonly section: string;
  readonly key: string;
  readonly kind: KeyKind;
  /** As it stands in `config/default.toml`. */
  readonly fallback: string | number | boolean | readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly help: string;
}

/** Log levels, most severe first. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/** Shortest continuation key in bytes: 128 bits, below which a signature could be guessed offline. */
export const CONTINUATION_KEY_BYTES_MIN = 16;

/** Algorithms of tokens; one of them is configured. `none` is not one. */
export const JWT_ALGORITHMS = ['HS256', 'RS256', 'ES256'] as const;

/** Shortest secret of HS256 in bytes: as long as its hash, below which it could be guessed offline. */
export const HS256_BYTES_MIN = 32;

/** The whole table but `stores`, in the order of `config/default.toml`. */
export const CONFIG_KEYS = [
  row('http', 'host', 'text', '127.0.0.1', 'address to listen on; loopback unless changed'),
  row('http', 'port', 'integer', 7373, 'port to listen on; 0 takes a free one', 0, 65_535),
  row('http', 'json_body_max', 'bytes', '8 MiB', 'largest JSON body', KIB, JSON_BODY_BYTES_MAX),
  row('http', 'msgpack_body_max', 'bytes', '65 MiB', 'largest MessagePack body', KIB, MSGPACK_BODY_BYTES_MAX),
  row(
    'http',
    'headers_max',
    'bytes',
    '16 KiB',
    'largest header block of a request, with its first line',
    KIB,
    64 * KIB,
  ),
  row(
    'http',
    'headers_timeout',
    'duration',
    '10s',
    'time for the headers of a request to arrive',
    10,
    REQUEST_ARRIVAL_MS_MAX,
  ),
  row('http', 'request_timeout', 'duration', '60s', 'time for a whole request to arrive', 10, REQUEST_ARRIVAL_MS_MAX),
  row('http', 'idle_timeout', 'duration', '75s', 'time that a connection may wait for its next request', 10, 3_600_000),
  row(
    'http',
    'reply_timeout',
    'duration',
    '30s',
    'time for a client to take the rest of a finished reply',
    10,
    REPLY_FLUSH_MS_MAX,
  ),
  row('http', 'connections_max', 'integer', 4096, 'connections open at once; further ones are closed', 1, 65_536),
  row('pool', 'workers', 'integer', 0, 'worker threads; 0 takes one per processor', 0, 256),
  row('pool', 'engine', 'engine', 'auto', `what reads records, one of ${ENGINE_CHOICES.join(', ')}`),
  row('admission', 'scans_per_shard', 'integer', 16, 'scans that one shard may run at once', 1, 65_536),
  row('admission', 'scans_total', 'integer', 64, 'scans that run at once over all shards', 1, 65_536),
  row('admission', 'queue_per_shard', 'integer', 0, 'scans that may wait when their shard is full', 0, 65_536),
  row('admission', 'inline_bytes_max', 'bytes', '256 MiB', 'inline segment bytes held at once', MIB, 64 * GIB),
  row('admission', 'loop_delay_max', 'duration', '500ms', 'event-loop delay that sheds scans; 0 never', 0, 60_000),
  row('slice', 'records_max', 'integer', 4096, 'records in one slice', 1, 1_000_000),
  row('slice', 'bytes_max', 'bytes', '1 MiB', 'stored frame bytes in one slice', KIB, 64 * MIB),
  row('slice', 'time_max', 'duration', '10ms', 'time of one slice', 1, 1_000),
  row('slice', 'kill_after', 'duration', '2s', 'a slice over this is killed with its worker', 10, 60_000),
  row('limits', 'count', 'integer', 1000, 'cap of `count`', 1, COUNT_MAX),
  row('limits', 'max_reply_bytes', 'bytes', '8 MiB', 'cap of `max_reply_bytes`', 1, MAX_REPLY_BYTES_MAX),
  row('limits', 'max_examined', 'integer', 1_000_000_000, 'cap of `max_examined`', 1, MAX_EXAMINED_CAP),
  row('limits', 'max_examined_bytes', 'bytes', '1 TiB', 'cap of `max_examined_bytes`', 1, MAX_EXAMINED_BYTES_CAP),
  row('limits', 'deadline_ms', 'duration', '60s', 'cap of `deadline_ms`', 1, DEADLINE_MS_MAX),
  row('limits', 'pages', 'integer', 10_000, 'cap of `pages`', 1, PAGES_MAX),
  row('limits', 'progress_ms', 'duration', '60s', 'cap of `progress_ms`', 1, PROGRESS_MS_CAP),
  row('continuation', 'keys', 'secrets', [], 'keys that sign continuations: the first signs, all verify'),
  row('auth', 'keys', 'secrets', [], `keys of callers: ${API_KEY_FORM}`),
  row(
    'auth',
    'jwt_algorithm',
    'algorithm',
    '',
    `the one algorithm of tokens, ${JWT_ALGORITHMS.join(', ')}; empty for no tokens`,
  ),
  row('auth', 'jwt_key', 'secret', '', 'secret of HS256, or public key (PEM) or JWK set that verifies tokens'),
  row('auth', 'jwt_issuer', 'text', '', 'claim `iss` of tokens'),
  row('auth', 'jwt_audience', 'text', '', 'what the claim `aud` of tokens holds'),
  row('auth', 'jwt_clock_tolerance', 'duration', '30s', 'how far clocks may differ for `exp` and `nbf`', 0, 300_000),
  row('auth', 'allow_anonymous', 'flag', false, 'serve a host that is not loopback although nobody has to show a key'),
  row('schemas', 'folder', 'folder', '', 'absolute folder of the writer schemas that filters refer to; empty for none'),
  row('log', 'level', 'level', 'info', `one of ${LOG_LEVELS.join(', ')}`),
] as const satisfies readonly KeyRow[];

function row<const Section extends string, const Key extends string, const Kind extends KeyKind>(
  section: Section,
  key: Key,
  kind: Kind,
  fallback: KeyRow['fallback'],
  help: string,
  min?: number,
  max?: number,
): KeyRow & { readonly section: Section; readonly key: Key; readonly kind: Kind } {
  return {
    section,
    key,
    kind,
    fallback,
    help,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  };
}

/** The section of folders that inline requests cannot name but stored segments can: NAME = absolute folder. */
export const STORES_SECTION = 'stores';

/** Names of stores (scan-protocol §5). */
export const STORE_NAME_PATTERN = /^[a-z][a-z0-9_]*$/;

/** Stores that one configuration may name: each becomes an open root in every worker. */
export const STORES_MAX = 64;
