/**
 * Tokens: what is accepted is exactly what the configured key signed by the configured algorithm, for us, in time; every
 * way around that which has a name is refused.
 */
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { exportJWK, SignJWT, type JWTPayload } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { isGranted } from '../../src/config/grant.js';
import { problemOf } from '../../src/core/error-codes.js';
import { TokenReader, type TokenConfig } from '../../src/http/tokens.js';
import { Seeded } from '../support/seeded.js';

const NOW_S = 1_800_000_000;
const CLOCK = { nowMs: () => NOW_S * 1000 };
const SECRET = 'a-secret-of-at-least-thirty-two-bytes';
const CLAIMS = { iss: 'issuer', aud: 'winnow', exp: NOW_S + 60, sub: 'broker-1', scope: 'openid scan' };

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const otherRsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pemOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();

function open(algorithm: TokenConfig['algorithm'], key: string, clockToleranceMs = 0): Promise<TokenReader> {
  return TokenReader.open({ algorithm, key, issuer: 'issuer', audience: 'winnow', clockToleranceMs }, CLOCK);
}

function sign(alg: string, key: KeyObject | string, claims: JWTPayload = CLAIMS, header: object = {}): Promise<string> {
  const signing = typeof key === 'string' ? new TextEncoder().encode(key) : key;
  return new SignJWT(claims).setProtectedHeader({ alg, ...header }).sign(signing);
}

/** A token of parts as they are, whoever signed it. */
function token(header: object, claims: object, signature: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part(header)}.${part(claims)}.${signature}`;
}

async function refusalOf(reader: TokenReader, shown: string): Promise<string> {
  try {
    await reader.callerOf(shown);
  } catch (thrown) {
    expect(problemOf(thrown).code).toBe('unauthenticated');
    return problemOf(thrown).detail;
  }
  throw new Error('the token was accepted');
}

async function startRefusal(opening: Promise<TokenReader>): Promise<string> {
  const thrown: unknown = await opening.catch((refused: unknown) => refused);
  expect(problemOf(thrown).code).toBe('invalid_request');
  return problemOf(thrown).detail;
}

describe.each(['HS256', 'RS256', 'ES256'] as const)('%s', (algorithm) => {
  const signing = { HS256: SECRET, RS256: rsa.privateKey, ES256: ec.privateKey }[algorithm];
  const verifying = { HS256: SECRET, RS256: pemOf(rsa.publicKey), ES256: pemOf(ec.publicKey) }[algorithm];
  let reader: TokenReader;
  beforeAll(async () => {
    reader = await open(algorithm, verifying);
  });

  it('accepts its own token and takes what it grants from the claims', async () => {
    const caller = await reader.callerOf(
      await sign(algorithm, signing, { ...CLAIMS, streams: ['s/*'], stores: ['d/x'] }),
    );
    expect(caller).toMatchObject({ name: 'broker-1', grant: { scopes: ['scan'] } });
    expect(isGranted(caller.grant.streams, 's', 'any')).toBe(true);
    expect(isGranted(caller.grant.streams, 't', 'any')).toBe(false);
    expect(isGranted(caller.grant.stores, 'd', 'x')).toBe(true);
  });

  it('grants nothing that no claim says', async () => {
    const { iss, aud, exp } = CLAIMS;
    const caller = await reader.callerOf(await sign(algorithm, signing, { iss, aud, exp }));
    expect(caller).toEqual({ name: 'token', grant: { scopes: [], streams: [], stores: [] } });
  });

  it.each([
    ['expired', { exp: NOW_S - 1 }, 'expired'],
    ['without an end', { exp: undefined }, 'exp'],
    ['not yet valid', { nbf: NOW_S + 10 }, 'nbf'],
    ['of another issuer', { iss: 'issuer2' }, 'iss'],
    ['without an issuer', { iss: undefined }, 'iss'],
    ['for another audience', { aud: 'other' }, 'aud'],
    ['without an audience', { aud: undefined }, 'aud'],
    ['with an end that is no number', { exp: 'never' }, 'exp'],
    ['with streams that are no list', { streams: '*/*' }, 'streams'],
    ['with a pattern that is none', { streams: ['*'] }, 'streams'],
    ['with a store that is no text', { stores: [1] }, 'stores'],
  ])('refuses a token %s and says which claim', async (_what, claims, says) => {
    const shown = await sign(algorithm, signing, { ...CLAIMS, ...claims } as unknown as JWTPayload);
    expect(await refusalOf(reader, shown)).toContain(says);
  });

  it('refuses a token whose claims, header or signature were changed', async () => {
    const [header, claims, signature] = (await sign(algorithm, signing)).split('.') as [string, string, string];
    const more = Buffer.from(JSON.stringify({ ...CLAIMS, scope: 'admin' })).toString('base64url');
    const flipped = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
    for (const shown of [`${header}.${more}.${signature}`, `${header}.${claims}.${flipped}`, `${header}.${claims}.`]) {
      expect(await refusalOf(reader, shown)).toBe('The token is not valid here.');
    }
  });

  it.each(['none', 'None', 'NONE', 'nOnE', ''])('refuses an unsigned token (alg %j)', async (alg) => {
    expect(await refusalOf(reader, token({ alg }, CLAIMS, ''))).toBe('The token is not valid here.');
  });

  it('refuses what is no token', async () => {
    for (const shown of ['a.b.c', '..', `${token({ alg: algorithm }, CLAIMS, 'AAAA')}.x`, 'e30.e30.e30']) {
      await refusalOf(reader, shown);
    }
  });

  it('refuses a header with demands that it does not know', async () => {
    const shown = token({ alg: algorithm, crit: ['x'], x: 1 }, CLAIMS, 'AAAA');
    expect(await refusalOf(reader, shown)).toBe('The token is not valid here.');
  });
});

describe('confusions', () => {
  it('a public key is no secret: HS256 signed with it is refused', async () => {
    const reader = await open('RS256', pemOf(rsa.publicKey));
    const pem = pemOf(rsa.publicKey);
    for (const secret of [pem, pem.trim(), rsa.publicKey.export({ type: 'spki', format: 'der' })]) {
      const unsigned = token({ alg: 'HS256', typ: 'JWT' }, CLAIMS, '').slice(0, -1);
      const signature = createHmac('sha256', secret).update(unsigned).digest('base64url');
      expect(await refusalOf(reader, `${unsigned}.${signature}`)).toBe('The token is not valid here.');
    }
  });

  it('another algorithm of the same key is refused', async () => {
    const reader = await open('RS256', pemOf(rsa.publicKey));
    for (const alg of ['PS256', 'RS384', 'RS512']) await refusalOf(reader, await sign(alg, rsa.privateKey));
    const secret = await open('HS256', SECRET.repeat(2));
    for (const alg of ['HS384', 'HS512']) await refusalOf(secret, await sign(alg, SECRET.repeat(2)));
  });

  it('a key that the token brings or points to is not looked at', async () => {
    const reader = await open('RS256', pemOf(rsa.publicKey));
    const jwk = await exportJWK(otherRsa.publicKey);
    for (const header of [
      { jwk },
      { jku: 'http://127.0.0.1:1/keys' },
      { x5u: 'http://127.0.0.1:1/x' },
      { kid: '../../x' },
    ]) {
      await refusalOf(reader, await sign('RS256', otherRsa.privateKey, CLAIMS, header));
    }
  });
});

describe('a key set', () => {
  const jwks = async (...keys: object[]): Promise<string> => JSON.stringify({ keys: await Promise.all(keys) });

  it('takes every key of it, picked by name where both sides name one', async () => {
    const [first, second] = [await exportJWK(rsa.publicKey), await exportJWK(otherRsa.publicKey)];
    const reader = await open('RS256', await jwks({ ...first, kid: 'new' }, { ...second, kid: 'old' }));
    for (const [key, kid] of [
      [rsa, 'new'],
      [otherRsa, 'old'],
      [rsa, undefined],
      [otherRsa, undefined],
    ] as const) {
      const header = kid === undefined ? {} : { kid };
      expect((await reader.callerOf(await sign('RS256', key.privateKey, CLAIMS, header))).name).toBe('broker-1');
    }
    await refusalOf(reader, await sign('RS256', rsa.privateKey, CLAIMS, { kid: 'old' }));
    await refusalOf(reader, await sign('RS256', rsa.privateKey, CLAIMS, { kid: 'unknown' }));
  });

  it('holds secrets for HS256', async () => {
    const k = Buffer.from(SECRET).toString('base64url');
    const reader = await open('HS256', await jwks({ kty: 'oct', k }));
    expect((await reader.callerOf(await sign('HS256', SECRET))).name).toBe('broker-1');
  });

  it.each([
    ['no JSON', async () => '{hunter2', 'JSON'],
    ['no set', async () => '{"kty":"oct","k":"hunter2"}', '"keys"'],
    ['an empty set', async () => jwks(), '1…16'],
    ['another kind', async () => jwks({ kty: 'oct', k: 'hunter2' }), 'key 0 is not of the kind RSA'],
    ['a private key', async () => jwks(await exportJWK(rsa.privateKey)), 'private'],
    ['a short key', async () => jwks({ kty: 'RSA', n: 'hunter2', e: 'AQAB' }), '2048 bits'],
    ['a key without its parts', async () => jwks({ kty: 'RSA', e: 'AQAB' }), 'key 0'],
  ])('that is %s refuses to start and is never repeated', async (_what, text, says) => {
    const detail = await startRefusal(open('RS256', await text()));
    expect(detail).toMatch(/auth\.jwt_key: /);
    expect(detail).toContain(says);
    expect(detail).not.toContain('hunter2');
  });
});

describe('the key of the configuration', () => {
  it.each([
    ['RS256', 'hunter2 hunter2'],
    ['RS256', pemOf(ec.publicKey)],
    ['ES256', pemOf(rsa.publicKey)],
    ['ES256', pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey)],
    ['RS256', rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['RS256', pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey)],
    ['HS256', `{"keys":[{"kty":"oct","k":"${Buffer.from('hunter2').toString('base64url')}"}]}`],
  ] as const)('of the wrong kind or size refuses to start (%s, case %#)', async (algorithm, key) => {
    const detail = await startRefusal(open(algorithm, key));
    expect(detail).toMatch(/auth\.jwt_key: /);
    expect(detail).not.toContain('hunter2');
  });
});

describe('random changes', () => {
  it('of a token are refused, or leave its claims as they were', async () => {
    const random = new Seeded(20_261_130);
    for (const [algorithm, signing, verifying] of [
      ['HS256', SECRET, SECRET],
      ['ES256', ec.privateKey, pemOf(ec.publicKey)],
    ] as const) {
      const reader = await open(algorithm, verifying);
      const shown = await sign(algorithm, signing);
      let refused = 0;
      for (let run = 0; run < 500; run += 1) {
        const characters = [...shown];
        const how = random.below(3);
        const place = random.below(characters.length);
        if (how === 0) characters.splice(place, 1 + random.below(20));
        else characters.splice(place, how - 1, random.pick([...'AZaz09-_.']));
        try {
          // The last character of a signature has bits that say nothing.
          expect((await reader.callerOf(characters.join(''))).grant.scopes).toEqual(['scan']);
        } catch (thrown) {
          expect(problemOf(thrown).code).toBe('unauthenticated');
          refused += 1;
        }
      }
      expect(refused).toBeGreaterThan(450);
    }
  });
});

describe('clocks', () => {
  it('may differ by the tolerance and no more', async () => {
    const reader = await open('HS256', SECRET, 5_000);
    expect((await reader.callerOf(await sign('HS256', SECRET, { ...CLAIMS, exp: NOW_S - 4 }))).name).toBe('broker-1');
    expect((await reader.callerOf(await sign('HS256', SECRET, { ...CLAIMS, nbf: NOW_S + 5 }))).name).toBe('broker-1');
    expect(await refusalOf(reader, await sign('HS256', SECRET, { ...CLAIMS, exp: NOW_S - 5 }))).toContain('expired');
    expect(await refusalOf(reader, await sign('HS256', SECRET, { ...CLAIMS, nbf: NOW_S + 6 }))).toContain('nbf');
  });
});
