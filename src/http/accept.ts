/**
 * What a client accepts, and which of our forms it gets (contract: scan-protocol §1 "Reply"). Pure.
 */
import type { ScanOrder } from '../run/runner.js';

/** Media types of replies. */
export const JSON_TYPE = 'application/json';
export const MSGPACK_TYPE = 'application/msgpack';
export const NDJSON_TYPE = 'application/x-ndjson';
export const MSGPACK_FRAMES_TYPE = 'application/vnd.winnow.frames+msgpack';
export const PROBLEM_TYPE = 'application/problem+json';

/** The media types of one reply form: a whole object, or frames. */
const OBJECT_TYPES = [JSON_TYPE, MSGPACK_TYPE] as const;
const FRAME_TYPES = [NDJSON_TYPE, MSGPACK_FRAMES_TYPE] as const;

interface MediaRange {
  readonly range: string;
  readonly quality: number;
}

/** A parsed `Accept` header. */
export class Accept {
  private readonly ranges: readonly MediaRange[];

  /** An absent header accepts everything; entries that are no media range are passed over. */
  constructor(header: string | undefined) {
    this.ranges = header === undefined ? [{ range: '*/*', quality: 1 }] : header.split(',').flatMap(rangeOf);
  }

  /** How much a type is wanted, 0…1: by its own name, else by its group, else by the wildcard for all. */
  qualityOf(type: string): number {
    const group = `${type.slice(0, type.indexOf('/'))}/*`;
    for (const name of [type, group, '*/*']) {
      const found = this.ranges.find(({ range }) => range === name);
      if (found !== undefined) return found.quality;
    }
    return 0;
  }

  /** True when the type itself is named and not refused. */
  names(type: string): boolean {
    return this.ranges.some(({ range, quality }) => range === type && quality > 0);
  }

  /** The most wanted of `types`, or `undefined`; among equals the one named first, then the first of `types`. */
  best<T extends string>(types: readonly T[]): T | undefined {
    const wanted = types.filter((type) => this.qualityOf(type) > 0);
    return wanted.toSorted((a, b) => this.qualityOf(b) - this.qualityOf(a) || this.place(a) - this.place(b))[0];
  }

  private place(type: string): number {
    const at = this.ranges.findIndex(({ range }) => range === type);
    return at < 0 ? this.ranges.length : at;
  }
}

function rangeOf(entry: string): MediaRange[] {
  const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
  if (!/^[^\s/]+\/[^\s/]+$/.test(name)) return [];
  const written = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  const quality = written === undefined ? 1 : Number(written);
  return [{ range: name, quality: quality >= 0 && quality <= 1 ? quality : 0 }];
}

/** The form of a scan's reply. */
export interface ScanReplyForm {
  readonly type: string;
  readonly framed: boolean;
  readonly encoding: ScanOrder['encoding'];
}

/**
 * Chooses the form of a scan's reply, or `undefined` for 406. `isSinglePage`: one filter and `pages` 1, so a page object
 * is possible; it is what the client gets unless it names a frame type.
 */
export function scanReplyForm(accept: Accept, isSinglePage: boolean): ScanReplyForm | undefined {
  const framed = !isSinglePage || FRAME_TYPES.some((type) => accept.names(type));
  const type = accept.best<string>(framed ? FRAME_TYPES : OBJECT_TYPES);
  return type === undefined ? undefined : { type, framed, encoding: encodingOf(type) };
}

/** True when some form of a scan's reply is acceptable, whatever the body asks for: known before it is read. */
export function acceptsAnyScanReply(accept: Accept): boolean {
  return accept.best([...OBJECT_TYPES, ...FRAME_TYPES]) !== undefined;
}

/** The form of a reply that is one object, or `undefined` for 406. */
export function objectReplyType(accept: Accept): (typeof OBJECT_TYPES)[number] | undefined {
  return accept.best(OBJECT_TYPES);
}

function encodingOf(type: string): ScanOrder['encoding'] {
  return type === JSON_TYPE || type === NDJSON_TYPE ? 'json' : 'msgpack';
}
