/**
 * What a caller may do, as the configuration and a token write it: scopes, streams, stored segments (scan-protocol §3,
 * `unauthenticated` and `forbidden`).
 *
 * Invariants: nothing widens: a scope, stream or store that is not written is not granted, and what all may read is
 * written `*`. A fault names the place, never the text: an operator may have put a secret there.
 */

/** Scopes: `scan` for everything that reads records or filters, `admin` for what the service says of itself. */
export const SCOPES = ['scan', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** One half of a pattern: literal pieces with any run of characters between each two. */
type Pieces = readonly string[];

/** `HEAD/TAIL` of a stream and topic, or of a store and path. */
export interface GrantPattern {
  readonly head: Pieces;
  readonly tail: Pieces;
}

export interface Grant {
  readonly scopes: readonly Scope[];
  /** `STREAM/TOPIC`: what a scan may say that it reads. */
  readonly streams: readonly GrantPattern[];
  /** `STORE/PATH`: which stored segments it may name. */
  readonly stores: readonly GrantPattern[];
}

/**
 * Reads `HEAD/TAIL`, split at the first `/`; `undefined` for anything else. In either half `*` stands for any run of
 * characters, also none and also `/`; a character that is special where the pattern stands is written `%XX`.
 */
export function readPattern(text: string): GrantPattern | undefined {
  const at = text.indexOf('/');
  if (at <= 0 || at === text.length - 1) return undefined;
  try {
    const [head, tail] = [text.slice(0, at), text.slice(at + 1)].map((half) => half.split('*').map(decodeURIComponent));
    return { head: head!, tail: tail! };
  } catch {
    // An escape that is none.
    return undefined;
  }
}

/** True where one of the patterns names `head` and `tail`. Linear in the text for every pattern. */
export function isGranted(patterns: readonly GrantPattern[], head: string, tail: string): boolean {
  return patterns.some((pattern) => matches(pattern.head, head) && matches(pattern.tail, tail));
}

function matches(pieces: Pieces, text: string): boolean {
  const first = pieces[0]!;
  if (pieces.length === 1) return text === first;
  const last = pieces.at(-1)!;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}

/** Who asks. */
export interface Caller {
  /** For the log: the name of a key, the subject of a token. */
  readonly name: string;
  readonly grant: Grant;
}

/** A key of the configuration, as what it hashes to. */
export interface ApiKey extends Caller {
  /** SHA-256 of the key's UTF-8 bytes. */
  readonly sha256: Uint8Array;
}

/** Keys that one configuration may name: each is compared at every request, which costs about a microsecond. */
export const API_KEYS_MAX = 256;

/** How an entry of `auth.keys` is written, for messages. */
export const API_KEY_FORM =
  'NAME sha256:HEX and then words of scan, admin, stream:STREAM/TOPIC, store:STORE/PATH, with spaces between';

const NAME_PATTERN = /^[A-Za-z0-9._-]{1,64}$/;
const HASH_PATTERN = /^sha256:([0-9a-fA-F]{64})$/;

/** Reads the entries of `auth.keys`; a fault names the entry by its place from 0. */
export function readApiKeys(entries: readonly string[]): readonly ApiKey[] | { readonly fault: string } {
  if (entries.length > API_KEYS_MAX) return { fault: `at most ${API_KEYS_MAX} keys, given ${entries.length}` };
  const keys: ApiKey[] = [];
  for (const [place, entry] of entries.entries()) {
    const read = readApiKey(entry);
    if ('fault' in read) return { fault: `entry ${place}: ${read.fault}` };
    if (keys.some(({ name }) => name === read.name)) return { fault: `entry ${place}: its name is taken` };
    if (keys.some(({ sha256 }) => Buffer.compare(sha256, read.sha256) === 0)) {
      return { fault: `entry ${place}: its key is another entry's too` };
    }
    keys.push(read);
  }
  return keys;
}

function readApiKey(entry: string): ApiKey | { readonly fault: string } {
  const [name = '', hash = '', ...words] = entry.trim().split(/\s+/);
  const hex = HASH_PATTERN.exec(hash)?.[1];
  if (!NAME_PATTERN.test(name)) return { fault: `expected ${API_KEY_FORM}; a name is 1…64 of [A-Za-z0-9._-]` };
  if (hex === undefined) return { fault: `expected ${API_KEY_FORM}; the hash is 64 hexadecimal digits` };
  const scopes = words.filter((word): word is Scope => SCOPES.some((scope) => scope === word));
  const given: Record<'stream' | 'store', GrantPattern[]> = { stream: [], store: [] };
  for (const [place, word] of words.entries()) {
    if (scopes.some((scope) => scope === word)) continue;
    const kind = (['stream', 'store'] as const).find((one) => word.startsWith(`${one}:`));
    const pattern = kind === undefined ? undefined : readPattern(word.slice(kind.length + 1));
    if (kind === undefined || pattern === undefined)
      return { fault: `expected ${API_KEY_FORM}; word ${place + 2} is none` };
    given[kind].push(pattern);
  }
  if (scopes.length === 0) return { fault: 'a key without a scope opens nothing' };
  if (scopes.includes('scan') && given.stream.length === 0) {
    return { fault: 'a key with the scope scan names the streams that it may read; stream:*/* is all of them' };
  }
  return { name, sha256: Buffer.from(hex, 'hex'), grant: { scopes, streams: given.stream, stores: given.store } };
}
