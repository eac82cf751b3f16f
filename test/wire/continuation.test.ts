/** Continuation tokens: golden text, tampering, key rotation and the order of checks (scan-protocol §1). */
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../src/core/error-codes.js';
import {
  type ContinuationBinding,
  readContinuation,
  TOKEN_CHARACTERS,
  writeContinuation,
} from '../../src/wire/continuation.js';

const OLD_KEY = Buffer.from('an old key of the house');
const NEW_KEY = Buffer.from('the new key of the house');
const BINDING: ContinuationBinding = {
  stream: 'ground',
  topic: 'telemetry',
  partitionId: 7,
  generation: 'g1',
  dialect: 'laser',
  digest: '42edfc6400ea7c7a63249a6b6063f0106c275691ace48bb20886d519e281b2d8',
  options: 'json,stop',
};

function codeOf(keys: readonly Uint8Array[], token: string, binding: ContinuationBinding): ErrorCode | 'accepted' {
  try {
    readContinuation(keys, token, binding, '/start/continue');
    return 'accepted';
  } catch (thrown) {
    return (thrown as { code: ErrorCode }).code;
  }
}

/** The token with one byte set, signed again with the right key. */
function forged(token: string, at: number, value: number): string {
  const bytes = Buffer.from(token, 'base64url');
  bytes[at] = value;
  createHmac('sha256', NEW_KEY)
    .update(bytes.subarray(0, -32))
    .digest()
    .copy(bytes, bytes.length - 32);
  return bytes.toString('base64url');
}

describe('a continuation', () => {
  test('has these bytes', () => {
    const token = writeContinuation(NEW_KEY, BINDING, { at: 'offset', offset: 4711 }, { segment: 2, position: 65_600 });
    expect(Buffer.from(token, 'base64url').toString('hex')).toMatchInlineSnapshot(
      `"010142edfc6400ea7c7a63249a6b6063f0106c275691ace48bb20886d519e281b2d809c91798ef2c91190ccfb732028d2bc4e7a5fe0cc819dbf0a02c9f9743c9fff01130922928feae7dda3eb6b68013ca514ac37a4d70abb459e66cfe332650c3a50700000000671200000000000001020000004000010000000000284f8d4130199907d7baa5d4b1a7dc22869f42dcfa4fdc130caec1827613fedf"`,
    );
  });

  test.each([
    { at: 'first' },
    { at: 'last' },
    { at: 'offset', offset: Number.MAX_SAFE_INTEGER },
    { at: 'timestamp', timestamp: '18446744073709551615' },
  ] as const)('carries the start %j', (start) => {
    const token = writeContinuation(NEW_KEY, BINDING, start);
    expect(readContinuation([NEW_KEY], token, BINDING, '')).toEqual({ start });
  });

  test('carries a hint', () => {
    const hint = { segment: 3, position: 2 ** 40 };
    const token = writeContinuation(NEW_KEY, BINDING, { at: 'offset', offset: 5 }, hint);
    expect(readContinuation([NEW_KEY], token, BINDING, '')).toEqual({ start: { at: 'offset', offset: 5 }, hint });
  });

  test('has the same length whatever the names, within 1,024 bytes', () => {
    const long = { ...BINDING, stream: 'é'.repeat(127), topic: 'x'.repeat(255), generation: 'y'.repeat(128) };
    const token = writeContinuation(NEW_KEY, long, { at: 'offset', offset: 5 });
    expect(token).toHaveLength(TOKEN_CHARACTERS);
    expect(TOKEN_CHARACTERS).toBeLessThanOrEqual(1024);
    expect(codeOf([NEW_KEY], token, long)).toBe('accepted');
  });

  test('is refused with any one character changed', () => {
    const token = writeContinuation(NEW_KEY, BINDING, { at: 'offset', offset: 4711 });
    for (let i = 0; i < token.length; i += 1) {
      const other = token[i] === 'A' ? 'B' : 'A';
      expect(codeOf([NEW_KEY], token.slice(0, i) + other + token.slice(i + 1), BINDING)).toBe('invalid_request');
    }
  });

  test('is refused with a bit flipped in any byte', () => {
    const bytes = Buffer.from(writeContinuation(NEW_KEY, BINDING, { at: 'offset', offset: 4711 }), 'base64url');
    for (let i = 0; i < bytes.length; i += 1) {
      const changed = Buffer.from(bytes);
      changed[i]! ^= 1 << (i % 8);
      expect(codeOf([NEW_KEY], changed.toString('base64url'), BINDING)).toBe('invalid_request');
    }
  });

  test('is refused in another spelling of the same bytes', () => {
    const token = writeContinuation(NEW_KEY, BINDING, { at: 'offset', offset: 1 });
    for (const text of [`${token}=`, `${token}\n`, ` ${token}`, token.slice(0, -4), '', 'AAAA']) {
      expect(codeOf([NEW_KEY], text, BINDING)).toBe('invalid_request');
    }
    const standard = Buffer.from(token, 'base64url').toString('base64');
    if (standard !== token) expect(codeOf([NEW_KEY], standard, BINDING)).toBe('invalid_request');
  });

  test('verifies under every configured key, and under no other', () => {
    const token = writeContinuation(OLD_KEY, BINDING, { at: 'offset', offset: 1 });
    expect(codeOf([NEW_KEY, OLD_KEY], token, BINDING)).toBe('accepted');
    expect(codeOf([NEW_KEY], token, BINDING)).toBe('invalid_request');
  });

  test('is checked in the order of the contract', () => {
    const token = writeContinuation(NEW_KEY, BINDING, { at: 'offset', offset: 1 });
    const other = {
      stream: 'x',
      topic: 'x',
      partitionId: 8,
      dialect: 'net',
      digest: '00'.repeat(32),
      options: 'x',
      generation: 'x',
    } as const;
    const order = ['stream', 'topic', 'partitionId', 'dialect', 'digest', 'options', 'generation'] as const;
    const codes = order.map((_, from) => {
      const binding: ContinuationBinding = { ...BINDING };
      for (const name of order.slice(from)) Object.assign(binding, { [name]: other[name] });
      try {
        readContinuation([NEW_KEY], token, binding, '/start/continue');
        return 'accepted';
      } catch (thrown) {
        return (thrown as Error).message;
      }
    });
    expect(codes).toEqual([
      'The continuation belongs to another stream.',
      'The continuation belongs to another topic.',
      'The continuation belongs to another partition.',
      'The continuation was made by a filter of another dialect.',
      'The continuation was made by another filter: the digests differ.',
      'The continuation was made under other options: codec, policies or schemas differ.',
      'The source has another generation than the continuation.',
    ]);
    const each = order.map((name) => codeOf([NEW_KEY], token, { ...BINDING, [name]: other[name] }));
    expect(each).toEqual([
      'invalid_request',
      'invalid_request',
      'invalid_request',
      'conflict',
      'conflict',
      'conflict',
      'source_changed',
    ]);
  });

  test('of another version is refused before anything else is looked at', () => {
    const token = writeContinuation(NEW_KEY, BINDING, { at: 'offset', offset: 1 });
    expect(() => readContinuation([NEW_KEY], forged(token, 0, 2), { ...BINDING, stream: 'x' }, '/f')).toThrow(
      /version/,
    );
  });
});
