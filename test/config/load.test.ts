/** Configuration: defaults, file, environment, and that everything unknown or out of range refuses by name. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { CONFIG_KEYS } from '../../src/config/keys.js';
import { problemOf } from '../../src/core/error-codes.js';

const folder = new URL('../../config/', import.meta.url);

function refusal(text: string, env: Record<string, string> = {}): string {
  try {
    loadConfig(text, env);
  } catch (thrown) {
    const problem = problemOf(thrown);
    expect(problem.code).toBe('invalid_request');
    return problem.detail;
  }
  throw new Error('the configuration was accepted');
}

describe('defaults', () => {
  it('config/default.toml equals the built-in defaults', () => {
    expect(loadConfig(readFileSync(new URL('default.toml', folder), 'utf8'), {})).toEqual(loadConfig('', {}));
  });

  it('config/default.toml and config/README.md name every key with its default', () => {
    const toml = readFileSync(new URL('default.toml', folder), 'utf8');
    const readme = readFileSync(new URL('README.md', folder), 'utf8');
    for (const row of CONFIG_KEYS) {
      const written = Array.isArray(row.fallback) ? '[]' : JSON.stringify(row.fallback);
      expect(toml).toContain(`\n${row.key} = ${written}\n`);
      expect(readme).toContain(`| \`${row.section}.${row.key}\` | \`${written.replaceAll('"', '')}\` |`);
    }
  });

  it('the default is loopback, sixteen scans a shard and no key', () => {
    const config = loadConfig('', {});
    expect(config.http.host).toBe('127.0.0.1');
    expect(config.admission.scansPerShard).toBe(16);
    expect(config.continuation.keys).toEqual([]);
    expect(config.slice).toEqual({ recordsMax: 4096, bytesMax: 1_048_576, timeMaxMs: 10, killAfterMs: 2000 });
    expect(config.http.msgpackBodyBytesMax).toBe(65 * 1_048_576);
  });

  it('the result is frozen all the way down', () => {
    const config = loadConfig('', { WINNOW_STORES_DATA: '/x' });
    expect(Object.isFrozen(config)).toBe(true);
    for (const part of Object.values(config)) expect(Object.isFrozen(part)).toBe(true);
    expect(Object.isFrozen(config.continuation.keys)).toBe(true);
  });
});

describe('reading', () => {
  it('the environment beats the file and the file beats the default', () => {
    const text = '[http]\nport = 1\n[slice]\ntime_max = "20ms"\n';
    const config = loadConfig(text, { WINNOW_HTTP_PORT: '0', PATH: '/bin' });
    expect(config.http.port).toBe(0);
    expect(config.slice.timeMaxMs).toBe(20);
  });

  it.each([
    ['64 MiB', 67_108_864],
    ['64MiB', 67_108_864],
    ['1.5 GiB', 1_610_612_736],
    ['2097152', 2_097_152],
  ])('a size of %s is read exactly', (written, bytes) => {
    expect(loadConfig('', { WINNOW_ADMISSION_INLINE_BYTES_MAX: written }).admission.inlineBytesMax).toBe(bytes);
  });

  it.each([
    ['500ms', 500],
    ['1.5s', 1500],
    ['1 m', 60_000],
  ])('a duration of %s is read exactly', (written, ms) => {
    expect(loadConfig('', { WINNOW_SLICE_KILL_AFTER: written }).slice.killAfterMs).toBe(ms);
  });

  it('a key that ends in _ms takes a bare number, another duration does not', () => {
    expect(loadConfig('[limits]\ndeadline_ms = 2500', {}).limits.deadline_ms).toBe(2500);
    expect(loadConfig('', { WINNOW_LIMITS_DEADLINE_MS: '2500' }).limits.deadline_ms).toBe(2500);
    expect(refusal('[slice]\nkill_after = 2')).toContain('slice.kill_after');
  });

  it.each(['127.0.0.1', '127.3.2.1', '::1', 'localhost'])('the host %s is loopback and needs no key', (host) => {
    expect(loadConfig('', { WINNOW_HTTP_HOST: host }).auth).toEqual({ keys: [], allowAnonymous: false });
  });

  it('another host is served with keys, or when anybody may ask', () => {
    const keys = `a sha256:${'0'.repeat(64)} admin`;
    expect(loadConfig('', { WINNOW_HTTP_HOST: '0.0.0.0', WINNOW_AUTH_KEYS: keys }).auth.keys).toHaveLength(1);
    expect(loadConfig('[http]\nhost = "::"\n[auth]\nallow_anonymous = true', {}).auth.allowAnonymous).toBe(true);
  });

  it('stores come from the file and from the environment', () => {
    const config = loadConfig('[stores]\ncold_1 = "/cold"', { WINNOW_STORES_DATA: '/x' });
    expect(config.stores).toEqual({ cold_1: '/cold', data: '/x' });
  });

  it('lists are comma-separated in the environment, newest key first', () => {
    const config = loadConfig('', { WINNOW_CONTINUATION_KEYS: 'a'.repeat(16) + ', ' + 'b'.repeat(20) });
    expect(config.continuation.keys.map((key) => Buffer.from(key).toString())).toEqual([
      'a'.repeat(16),
      'b'.repeat(20),
    ]);
  });
});

describe('refusals', () => {
  it.each([
    ['[http]\nprot = 1', 'http.prot'],
    ['[htpp]\nport = 1', 'htpp'],
    ['port = 1', 'port'],
    ['[http]\nport = 65536', 'http.port'],
    ['[http]\nport = -1', 'http.port'],
    ['[http]\nport = 1.5', 'http.port'],
    ['[http]\nport = true', 'http.port'],
    ['[http]\nhost = ""', 'http.host'],
    ['[http]\njson_body_max = "9 MiB"', 'http.json_body_max'],
    ['[http]\njson_body_max = "8 MB"', 'http.json_body_max'],
    ['[limits]\ncount = 1001', 'limits.count'],
    ['[limits]\ncount = 0', 'limits.count'],
    ['[log]\nlevel = "loud"', 'log.level'],
    ['[pool]\nengine = "fast"', 'pool.engine'],
    ['[stores]\ndata = "relative"', 'stores.data'],
    ['[stores]\nData = "/x"', 'stores.Data'],
    ['[stores.data]\nx = 1', 'stores.data'],
    ['[http.port]\nx = 1', 'http.port'],
    ['[continuation]\nkeys = "short"', 'continuation.keys'],
    ['[continuation]\nkeys = [1]', 'continuation.keys'],
    ['[http]\nport = 1\nport = 2', 'line 3'],
    ['[http]\nhost = "0.0.0.0"', 'http.host'],
    ['[http]\nhost = "::"', 'http.host'],
    ['[http]\nhost = "127.evil.example"', 'http.host'],
    ['[auth]\nkeys = ["hunter2"]', 'auth.keys'],
    ['[auth]\njwt_algorithm = "none"', 'auth.jwt_algorithm'],
    ['[auth]\njwt_algorithm = "HS256"', 'auth.jwt_key'],
    ['[auth]\njwt_algorithm = "HS256"', 'auth.jwt_issuer'],
    ['[auth]\njwt_algorithm = "HS256"', 'auth.jwt_audience'],
    ['[auth]\njwt_algorithm = "HS256"\njwt_key = "hunter2"', 'auth.jwt_key: a secret'],
    ['[auth]\njwt_key = "hunter2"', 'auth.jwt_algorithm: needed'],
    ['[auth]\nallow_anonymous = "yes"', 'auth.allow_anonymous'],
    [`[auth]\nallow_anonymous = true\nkeys = ["a sha256:${'0'.repeat(64)} admin"]`, 'auth.allow_anonymous'],
  ])('%j is refused and names the key', (text, name) => {
    expect(refusal(text)).toContain(name);
  });

  it.each(['WINNOW_HTTP_PROT', 'WINNOW_PORT', 'WINNOW_http_port', 'WINNOW_', 'WINNOW_HTTP_'])(
    'the variable %s is refused by its name',
    (variable) => {
      expect(refusal('', { [variable]: '1' })).toContain(variable);
    },
  );

  it('every fault is named at once', () => {
    const detail = refusal('[http]\nport = "x"\nnope = 1', { WINNOW_LIMITS_COUNT: 'many' });
    for (const name of ['http.port', 'http.nope', 'limits.count']) expect(detail).toContain(name);
  });

  it('a secret is never repeated, not even by a syntax error beside it', () => {
    expect(refusal('[continuation]\nkeys = ["hunter2"]')).not.toContain('hunter2');
    expect(refusal('[auth]\njwt_algorithm = "HS256"\njwt_key = "hunter2"')).not.toContain('hunter2');
    expect(refusal('[auth]\nkeys = ["hunter2", "name hunter2 scan hunter2"]')).not.toContain('hunter2');
    expect(refusal('[continuation]\nkeys = ["hunter2hunter2hunter2", }')).not.toContain('hunter2');
  });
});
