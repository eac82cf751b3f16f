/**
 * Tokens (JWT) as callers show them, and the only user of the token library (contract: scan-protocol §3).
 *
 * Invariants: exactly one algorithm is accepted, the configured one, and every key is of its kind and checked when the
 * service starts, so that no header of a token chooses how it is verified; keys come from the configuration alone (a
 * key inside a token, or an address of one, is not looked at); a token ends: one without `exp` is refused. What a claim
 * does not grant is not granted.
 */
import {
  errors,
  importJWK,
  importSPKI,
  jwtVerify,
  type CryptoKey,
  type JWTHeaderParameters,
  type JWTPayload,
} from 'jose';
import { HS256_BYTES_MIN } from '../config/keys.js';
import { readPattern, SCOPES, type Caller, type GrantPattern } from '../config/grant.js';
import type { Config } from '../config/load.js';
import type { Clock } from '../core/clock.js';
import { Refusal, refuse } from '../core/error-codes.js';

/** The configured side of tokens. */
export type TokenConfig = NonNullable<Config['auth']['jwt']>;

/** Keys of one set: the newest, those that are going out, and room. Each may be tried for one token. */
const KEYS_MAX = 16;

/** Shortest RSA modulus in bits that the algorithm allows. */
const RSA_BITS_MIN = 2048;

/** Longest name of a caller in the log, in characters. */
const NAME_LENGTH_MAX = 128;

/** What a JWK of each algorithm is. */
const KINDS = { HS256: 'oct', RS256: 'RSA', ES256: 'EC' } as const;

interface VerifyingKey {
  /** A token that names another is not for this key. */
  readonly kid: string | undefined;
  readonly key: CryptoKey | Uint8Array;
}

export class TokenReader {
  private readonly config: TokenConfig;
  private readonly keys: readonly VerifyingKey[];
  private readonly clock: Clock;

  private constructor(config: TokenConfig, keys: readonly VerifyingKey[], clock: Clock) {
    this.config = config;
    this.keys = keys;
    this.clock = clock;
  }

  /** Reads the configured keys. Refuses `invalid_request`, naming the key of the configuration and never its value. */
  static async open(config: TokenConfig, clock: Clock): Promise<TokenReader> {
    return new TokenReader(config, await readKeys(config), clock);
  }

  /** Whose token it is and what it grants. Refuses `unauthenticated`; says which claim, but only of a true signature. */
  async callerOf(token: string): Promise<Caller> {
    const { algorithm, issuer, audience, clockToleranceMs } = this.config;
    const options = {
      algorithms: [algorithm],
      issuer,
      audience,
      clockTolerance: clockToleranceMs / 1000,
      requiredClaims: ['exp'],
      currentDate: new Date(this.clock.nowMs()),
    };
    for (const { kid, key } of this.keys) {
      try {
        const { payload } = await jwtVerify(
          token,
          (header: JWTHeaderParameters) => {
            if (header.kid !== undefined && kid !== undefined && header.kid !== kid)
              throw new errors.JWKSNoMatchingKey();
            return key;
          },
          options,
        );
        return callerIn(payload);
      } catch (thrown) {
        if (!isOtherKeys(thrown)) throw refusalOf(thrown);
      }
    }
    return refuse('unauthenticated', NOT_VALID);
  }
}

const NOT_VALID = 'The token is not valid here.';

/** True where another key may still verify the token. */
function isOtherKeys(thrown: unknown): boolean {
  return thrown instanceof errors.JWKSNoMatchingKey || thrown instanceof errors.JWSSignatureVerificationFailed;
}

function refusalOf(thrown: unknown): unknown {
  if (!(thrown instanceof errors.JOSEError)) return thrown;
  const detail =
    thrown instanceof errors.JWTExpired
      ? 'The token has expired.'
      : thrown instanceof errors.JWTClaimValidationFailed
        ? `The claim ${thrown.claim} of the token is not accepted here.`
        : NOT_VALID;
  return new Refusal({ code: 'unauthenticated', detail });
}

/** `scope` is words, of which others than ours are passed over; `streams` and `stores` are lists of patterns. */
function callerIn(payload: JWTPayload): Caller {
  const { sub, scope } = payload;
  const words = typeof scope === 'string' ? scope.split(' ') : [];
  return {
    name: typeof sub === 'string' ? sub.slice(0, NAME_LENGTH_MAX) : 'token',
    grant: {
      scopes: SCOPES.filter((one) => words.includes(one)),
      streams: patternsIn(payload, 'streams'),
      stores: patternsIn(payload, 'stores'),
    },
  };
}

function patternsIn(payload: JWTPayload, claim: 'streams' | 'stores'): GrantPattern[] {
  const texts: unknown = payload[claim] ?? [];
  const patterns = Array.isArray(texts)
    ? texts.map((text) => (typeof text === 'string' ? readPattern(text) : undefined))
    : [];
  if (!Array.isArray(texts) || patterns.includes(undefined)) {
    refuse('unauthenticated', `The claim ${claim} of the token is not a list of patterns.`);
  }
  return patterns as GrantPattern[];
}

async function readKeys({ algorithm, key: text }: TokenConfig): Promise<VerifyingKey[]> {
  if (text.trimStart().startsWith('{')) return readJwks(text, algorithm);
  if (algorithm === 'HS256') return [{ kid: undefined, key: new TextEncoder().encode(text) }];
  try {
    return [{ kid: undefined, key: fitting(await importSPKI(text.trim(), algorithm)) }];
  } catch (thrown) {
    if (thrown instanceof Refusal) throw thrown;
    return refuseKey(`expected a public key as PEM (BEGIN PUBLIC KEY) for ${algorithm}, or a JWK set`);
  }
}

async function readJwks(text: string, algorithm: TokenConfig['algorithm']): Promise<VerifyingKey[]> {
  const keys: VerifyingKey[] = [];
  for (const [place, jwk] of jwksIn(text).entries()) {
    if (jwk['kty'] !== KINDS[algorithm])
      refuseKey(`key ${place} is not of the kind ${KINDS[algorithm]} that ${algorithm} takes`);
    if (jwk['kty'] !== 'oct' && 'd' in jwk) refuseKey(`key ${place} is a private key, which has no place here`);
    const { kid } = jwk;
    try {
      const key = fitting((await importJWK({ ...jwk, alg: algorithm })) as CryptoKey | Uint8Array);
      keys.push({ kid: typeof kid === 'string' ? kid : undefined, key });
    } catch (thrown) {
      if (thrown instanceof Refusal) throw thrown;
      refuseKey(`key ${place} cannot be read as a key of ${algorithm}`);
    }
  }
  return keys;
}

function jwksIn(text: string): Record<string, unknown>[] {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may hold a secret.
    return refuseKey('a JWK set is JSON, and this is not');
  }
  const keys: unknown = (read as { readonly keys?: unknown }).keys;
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'object' && key !== null)) {
    return refuseKey('a JWK set is {"keys": [ … ]}');
  }
  if (keys.length < 1 || keys.length > KEYS_MAX) return refuseKey(`expected 1…${KEYS_MAX} keys, given ${keys.length}`);
  return keys as Record<string, unknown>[];
}

/** A key that is long enough for its algorithm. */
function fitting(key: CryptoKey | Uint8Array): CryptoKey | Uint8Array {
  if (key instanceof Uint8Array) {
    if (key.byteLength < HS256_BYTES_MIN) refuseKey(`a secret has at least ${HS256_BYTES_MIN} bytes`);
    return key;
  }
  const bits = (key.algorithm as { readonly modulusLength?: number }).modulusLength;
  if (bits !== undefined && bits < RSA_BITS_MIN) refuseKey(`an RSA key has at least ${RSA_BITS_MIN} bits`);
  return key;
}

function refuseKey(fault: string): never {
  return refuse('invalid_request', `configuration refused: auth.jwt_key: ${fault}`);
}
