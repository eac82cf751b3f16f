/**
 * Who asks, and whether they may (contract: scan-protocol §3, `unauthenticated` and `forbidden`).
 *
 * Callers show a key or a token as `Authorization: Bearer …`. Without configured keys and tokens everybody may everything;
 * that is the default on loopback, and anywhere else the configuration has to say so.
 *
 * Invariants: a route that says nothing of its access is for `admin`; a request is refused from its headers, before it
 * takes a slot and before its body is read; a key is compared as a hash, in the same time whichever entry it is or
 * whether it is any; nothing of what was shown is logged or repeated.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isGranted, type Caller, type Scope } from '../config/grant.js';
import type { Config } from '../config/load.js';
import type { Clock } from '../core/clock.js';
import { refuse } from '../core/error-codes.js';
import { TokenReader } from './tokens.js';

/** What a route asks of its caller: nothing, to be known, or a scope. */
export type Access = 'open' | 'known' | Scope;

/** A source and its segments, as far as access looks at them. */
export interface Wanted {
  readonly source?: { readonly stream: string; readonly topic: string };
  readonly segments: readonly { readonly store?: string; readonly path?: string }[];
}

const REALM = 'Bearer realm="winnow"';

/** The scheme in any case, one space or more, and a token of RFC 6750's characters. */
const BEARER_PATTERN = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** Three parts of base64url: what may be a signed token. The third is empty where nothing signs it. */
const TOKEN_PATTERN = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** True where callers have to show who they are. */
export function isGuarded(auth: Config['auth']): boolean {
  return auth.keys.length > 0 || auth.jwt !== undefined;
}

/** Stands before every route. */
export class Guard {
  private readonly auth: Config['auth'];
  private readonly tokens: TokenReader | undefined;

  private constructor(auth: Config['auth'], tokens: TokenReader | undefined) {
    this.auth = auth;
    this.tokens = tokens;
  }

  /** Reads the keys of tokens. Refuses `invalid_request` where the configuration's are none. */
  static async open(auth: Config['auth'], clock: Clock): Promise<Guard> {
    return new Guard(auth, auth.jwt === undefined ? undefined : await TokenReader.open(auth.jwt, clock));
  }

  /** Refuses a request whose caller is not known (401) or may not ask for this route (403); else notes who asks. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const access = request.routeOptions.config.access ?? 'admin';
    if (access === 'open' || !isGuarded(this.auth)) return;
    const shown = request.headers.authorization;
    if (shown === undefined) {
      reply.header('www-authenticate', REALM);
      refuse('unauthenticated', 'This service asks who you are: Authorization: Bearer KEY, or a token.');
    }
    // Taken back below, once the caller is known.
    reply.header('www-authenticate', `${REALM}, error="invalid_token"`);
    const caller = await this.callerOf(BEARER_PATTERN.exec(shown)?.[1] ?? '');
    request.trace.caller = caller;
    if (access === 'known' || caller.grant.scopes.includes(access)) {
      reply.removeHeader('www-authenticate');
      return;
    }
    reply.header('www-authenticate', `${REALM}, error="insufficient_scope", scope="${access}"`);
    refuse('forbidden', `This route asks for the scope ${access}.`);
  }

  private async callerOf(shown: string): Promise<Caller> {
    const holder = keyHolder(shown, this.auth.keys);
    if (holder !== undefined) return holder;
    if (this.tokens !== undefined && TOKEN_PATTERN.test(shown)) return this.tokens.callerOf(shown);
    return refuse('unauthenticated', 'What was shown is not known here.');
  }
}

/** `wanted` itself; refuses (403) a source outside the caller's streams and a stored segment outside its stores. */
export function granted<W extends Wanted>(caller: Caller | undefined, wanted: W): W {
  if (caller === undefined) return wanted;
  const { source, segments } = wanted;
  const { streams, stores } = caller.grant;
  if (source !== undefined && !isGranted(streams, source.stream, source.topic)) {
    refuse('forbidden', 'The caller may not read this stream and topic.', { field: '/source' });
  }
  for (const [place, { store, path }] of segments.entries()) {
    // Half a place in a store is refused by the planner, which says what is missing.
    if (store === undefined || path === undefined || isGranted(stores, store, path)) continue;
    refuse('forbidden', 'The caller may not read this stored segment.', { field: `/segments/${place}/path` });
  }
  return wanted;
}

function keyHolder(shown: string, keys: Config['auth']['keys']): Caller | undefined {
  const sha256 = createHash('sha256').update(shown).digest();
  let holder: Caller | undefined;
  // No early end: the time says nothing of which entry it was.
  for (const key of keys) if (timingSafeEqual(sha256, key.sha256)) holder = key;
  return holder;
}
