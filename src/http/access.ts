/**
 * Who asks, and whether they may (contract: scan-protocol §3, `unauthenticated` and `forbidden`).
 *
 * Callers show a key or a token as `Authorization: Bearer …`. Without configured keys everybody may everything; that is
 * the default on loopback, and anywhere else the configuration has to say so.
 *
 * Invariants: a route that says nothing of its access is for `admin`; a request is refused from its headers, before it
 * takes a slot and before its body is read; a key is compared as a hash, in the same time whichever entry it is or
 * whether it is any; nothing of what was shown is logged or repeated.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isGranted, type Grant, type Scope } from '../config/grant.js';
import type { Config } from '../config/load.js';
import { refuse } from '../core/error-codes.js';

/** What a route asks of its caller: nothing, to be known, or a scope. */
export type Access = 'open' | 'known' | Scope;

/** Who asks. */
export interface Caller {
  /** For the log: the name of a key, the subject of a token. */
  readonly name: string;
  readonly grant: Grant;
}

/** A source and its segments, as far as access looks at them. */
export interface Wanted {
  readonly source?: { readonly stream: string; readonly topic: string };
  readonly segments: readonly { readonly store?: string; readonly path?: string }[];
}

const REALM = 'Bearer realm="winnow"';

/** The scheme in any case, one space or more, and a token of RFC 6750's characters. */
const BEARER_PATTERN = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** True where callers have to show who they are. */
export function isGuarded(auth: Config['auth']): boolean {
  return auth.keys.length > 0;
}

/** What a route asks of its caller. */
export function accessOf(request: FastifyRequest): Access {
  return request.routeOptions.config.access ?? 'admin';
}

/** Refuses a request whose caller is not known (401) or may not ask for this route (403); else notes who asks. */
export async function admitCaller(request: FastifyRequest, reply: FastifyReply, auth: Config['auth']): Promise<void> {
  const access = accessOf(request);
  if (access === 'open' || !isGuarded(auth)) return;
  const shown = request.headers.authorization;
  if (shown === undefined) {
    reply.header('www-authenticate', REALM);
    refuse('unauthenticated', 'This service asks for a key: Authorization: Bearer KEY.');
  }
  const token = BEARER_PATTERN.exec(shown)?.[1];
  const caller = token === undefined ? undefined : keyHolder(token, auth.keys);
  if (caller === undefined) {
    reply.header('www-authenticate', `${REALM}, error="invalid_token"`);
    refuse('unauthenticated', 'The key that was shown is not known here.');
  }
  request.trace.caller = caller;
  if (access === 'known' || caller.grant.scopes.includes(access)) return;
  reply.header('www-authenticate', `${REALM}, error="insufficient_scope", scope="${access}"`);
  refuse('forbidden', `This route asks for the scope ${access}.`);
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

function keyHolder(token: string, keys: Config['auth']['keys']): Caller | undefined {
  const sha256 = createHash('sha256').update(token).digest();
  let holder: Caller | undefined;
  // No early end: the time says nothing of which entry it was.
  for (const key of keys) if (timingSafeEqual(sha256, key.sha256)) holder = key;
  return holder;
}
