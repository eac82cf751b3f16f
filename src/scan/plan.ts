/**
 * Planning a scan (contract: scan-protocol §1 "Request"): a checked request, the configured caps and the instant of
 * arrival in, one `ScanSpec` out. Pure; it runs on the main thread and looks into no filter, schema or segment.
 *
 * The schema has checked shapes; here stand the rules between fields and what a schema cannot measure (bytes, 64-bit
 * text). Everything that the contract names and that is not built yet is refused as `unsupported`: nothing that was
 * asked for is left out silently. Values above a cap are lowered, never refused.
 */
import { refuse } from '../core/error-codes.js';
import {
  COUNT_DEFAULT,
  DEADLINE_MS_DEFAULT,
  FILTER_TEXTS_BYTES_MAX,
  MAX_EXAMINED_BYTES_DEFAULT,
  MAX_EXAMINED_DEFAULT,
  MAX_REPLY_BYTES_DEFAULT,
  OFFSET_MAX,
  PAGES_DEFAULT,
  PROGRESS_MS_DEFAULT,
} from '../core/limits.js';
import { checkSegmentFormat, SEGMENT_FORMATS, type SegmentFormatName } from '../segment/formats.js';
import type { ScanRequest, SegmentInput, StartInput } from '../wire/scan-request.js';
import { planFilterText } from './plan-filter.js';
import { planSchemas } from './plan-schemas.js';
import type { Budgets, FilterEntrySpec, ReplyEncoding, ScanSpec, SegmentSpec, StartSpec } from './task.js';

/** Bounds that names have in bytes of UTF-8; the schema's are in characters (scan-protocol §1). */
const SOURCE_NAME_BYTES_MAX = 255;
const GENERATION_BYTES_MAX = 128;
const FILTER_ID_BYTES_MAX = 128;

export interface PlanInput {
  /** Checked against `ScanRequestSchema`. */
  readonly request: ScanRequest;
  readonly requestId: string;
  /** Instant of arrival on the process clock, in milliseconds. */
  readonly arrivedAtMs: number;
  /** The configured caps, none above `core/limits`. */
  readonly caps: Budgets;
  /** What was negotiated for the reply. */
  readonly encoding: ReplyEncoding;
  readonly framed: boolean;
  /** Where true, no page of a stream leaves before it is full. Default false. */
  readonly wantsWholePages?: boolean;
}

export interface ScanPlan {
  readonly spec: ScanSpec;
  /** Inline segments in the order of `SegmentSpec.place.inline`: views of the body. */
  readonly inline: readonly Uint8Array[];
  /** Instant on the process clock, in milliseconds. */
  readonly deadlineAtMs: number;
}

/** Plans a scan, or throws a `Refusal` whose `field` points at the member that is wrong (scan-protocol §3). */
export function planScan(input: PlanInput): ScanPlan {
  const { request } = input;
  if (request.v !== 1) {
    refuse('version_skew', 'This version of the request is not known here.', {
      field: '/v',
      limit: 1,
      given: request.v,
    });
  }
  const source = planSource(request.source);
  const { segments, inline } = planSegments(request.segments);
  const filters = planFilters(request, segments);
  const schemas = planSchemas(request.schemas);
  const budgets = effectiveBudgets(request, input.caps);
  return {
    spec: {
      requestId: input.requestId,
      ...source,
      partitionId: request.partition_id,
      segments,
      filters,
      schemas,
      reply: request.reply ?? 'records',
      encoding: input.encoding,
      framed: input.framed,
      flushes: input.framed && input.wantsWholePages !== true,
      diagnostic: request.diagnostic ?? false,
      budgets,
    },
    inline,
    deadlineAtMs: input.arrivedAtMs + budgets.deadline_ms,
  };
}

/** What the source is called, its names measured in bytes. */
export function planSource(source: ScanRequest['source']): Pick<ScanSpec, 'stream' | 'topic' | 'generation'> {
  const { stream, topic, generation = '' } = source;
  checkBytes(stream, SOURCE_NAME_BYTES_MAX, '/source/stream');
  checkBytes(topic, SOURCE_NAME_BYTES_MAX, '/source/topic');
  checkBytes(generation, GENERATION_BYTES_MAX, '/source/generation');
  return { stream, topic, generation };
}

/**
 * Budgets as the reply announces them: what was asked for or the default, never above a cap. `pages: 0` stays 0: the
 * other budgets and the deadline bound such a response.
 */
export function effectiveBudgets(request: ScanRequest, caps: Budgets): Budgets {
  return {
    count: lowered(request.count, COUNT_DEFAULT, caps.count),
    max_reply_bytes: lowered(request.max_reply_bytes, MAX_REPLY_BYTES_DEFAULT, caps.max_reply_bytes),
    max_examined: lowered(request.max_examined, MAX_EXAMINED_DEFAULT, caps.max_examined),
    max_examined_bytes: lowered(request.max_examined_bytes, MAX_EXAMINED_BYTES_DEFAULT, caps.max_examined_bytes),
    deadline_ms: lowered(request.deadline_ms, DEADLINE_MS_DEFAULT, caps.deadline_ms),
    pages: lowered(request.pages, PAGES_DEFAULT, caps.pages),
    progress_ms: lowered(request.progress_ms, PROGRESS_MS_DEFAULT, caps.progress_ms),
  };
}

/** Text beyond 2^53 rounds on the way, but every cap is far below. */
function lowered(given: number | string | undefined, byDefault: number, cap: number): number {
  return Math.min(Number(given ?? byDefault), cap);
}

/** The segments of a request at `/segments`, and the inline ones as views of the body. */
export function planSegments(inputs: readonly SegmentInput[]): { segments: SegmentSpec[]; inline: Uint8Array[] } {
  const inline: Uint8Array[] = [];
  const segments = inputs.map((input, index) => {
    const field = `/segments/${index}`;
    const format = checkSegmentFormat(input.format, `${field}/format`);
    if (format !== inputs[0]!.format) {
      refuse('invalid_request', 'All segments of a scan have one format.', { field: `${field}/format`, given: format });
    }
    const place = planPlace(input, field, inline);
    const sealed = input.sealed ?? ('inline' in place || SEGMENT_FORMATS[format].isAlwaysSealed);
    if (!sealed && SEGMENT_FORMATS[format].isAlwaysSealed) {
      refuse('invalid_request', `Segments of format ${format} are always sealed.`, { field: `${field}/sealed` });
    }
    return {
      format,
      place,
      // Only lines count from a base; the frames of the other formats carry their offsets.
      baseOffset: input.base_offset === undefined ? 0 : offsetOf(input.base_offset, `${field}/base_offset`),
      ...(input.last_offset === undefined ? {} : { lastOffset: offsetOf(input.last_offset, `${field}/last_offset`) }),
      sealed,
      verifyChecksums: input.verify_checksums ?? false,
    };
  });
  return { segments, inline };
}

function planPlace(input: SegmentInput, field: string, inline: Uint8Array[]): SegmentSpec['place'] {
  if (input.bytes !== undefined) {
    if (input.store !== undefined || input.path !== undefined) {
      refuse('invalid_request', 'A segment is either inline (bytes) or stored (store and path), not both.', { field });
    }
    inline.push(bytesOf(input.bytes, `${field}/bytes`));
    return { inline: inline.length - 1 };
  }
  if (input.store === undefined || input.path === undefined) {
    refuse('invalid_request', 'A segment needs bytes, or store and path.', { field });
  }
  return { store: input.store, path: input.path };
}

function planFilters(request: ScanRequest, segments: readonly SegmentSpec[]): FilterEntrySpec[] {
  const ids = new Set<string>();
  const entries = request.filters.map((entry, index) => {
    const field = `/filters/${index}`;
    checkBytes(entry.id, FILTER_ID_BYTES_MAX, `${field}/id`);
    if (ids.has(entry.id))
      refuse('invalid_request', 'A filter id is given twice.', { field: `${field}/id`, given: entry.id });
    ids.add(entry.id);
    for (const name of ['revision', 'group'] as const) {
      if (entry[name] !== undefined) {
        refuse('unsupported', 'Durable filters are not available in this version.', { field: `${field}/${name}` });
      }
    }
    const start = planStart(
      entry.start ?? request.start ?? 'first',
      entry.start === undefined ? '/start' : `${field}/start`,
      segments,
    );
    return { id: entry.id, ...planFilterText(entry, field), start };
  });
  if (typeof request.start === 'object' && 'continue' in request.start && entries.length !== 1) {
    refuse('invalid_request', 'A continuation for the whole request needs exactly one filter.', {
      field: '/start/continue',
      limit: 1,
      given: entries.length,
    });
  }
  const given = entries.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (given > FILTER_TEXTS_BYTES_MAX) {
    refuse('too_large', `The filters of a scan have at most ${FILTER_TEXTS_BYTES_MAX} bytes together.`, {
      field: '/filters',
      limit: FILTER_TEXTS_BYTES_MAX,
      given,
    });
  }
  return entries;
}

function planStart(start: StartInput, field: string, segments: readonly SegmentSpec[]): StartSpec {
  if (start === 'first' || start === 'last') return { at: start, pointer: field };
  if ('offset' in start) return { at: 'offset', offset: offsetOf(start.offset, `${field}/offset`), pointer: field };
  if ('continue' in start) return { at: 'continue', token: start.continue, pointer: `${field}/continue` };
  checkTimestampStart(segments[0]?.format, `${field}/timestamp`);
  const timestamp = BigInt(start.timestamp);
  if (timestamp > U64_MAX) {
    refuse('invalid_request', 'A timestamp is beyond 64 bits.', {
      field: `${field}/timestamp`,
      limit: String(U64_MAX),
      given: String(timestamp),
    });
  }
  return { at: 'timestamp', timestamp: String(timestamp), pointer: field };
}

const U64_MAX = 2n ** 64n - 1n;

/** Refuses `invalid_request` where a scan may not start at a timestamp, because its records carry none. */
export function checkTimestampStart(format: SegmentFormatName | undefined, field: string): void {
  if (format === undefined || SEGMENT_FORMATS[format].hasTimestamps) return;
  refuse('invalid_request', `Records of format ${format} carry no timestamp to start from.`, { field });
}

/** An offset as a request may write it, refused beyond the largest possible one. */
export function offsetOf(input: number | string, field: string): number {
  const offset = Number(input);
  if (offset > OFFSET_MAX) {
    refuse('invalid_request', 'An offset is beyond the largest possible one.', {
      field,
      limit: OFFSET_MAX,
      given: String(input),
    });
  }
  return offset;
}

function bytesOf(input: string | Uint8Array, field: string): Uint8Array {
  if (typeof input !== 'string') {
    if (input instanceof Uint8Array) return input;
    return refuse('invalid_request', 'The bytes of a segment are base64 text in JSON and bin in MessagePack.', {
      field,
    });
  }
  if (input.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(input)) {
    refuse('invalid_request', 'The bytes of a segment are not base64.', { field });
  }
  return Buffer.from(input, 'base64');
}

function checkBytes(text: string, limit: number, field: string): void {
  const given = Buffer.byteLength(text);
  if (given > limit) refuse('invalid_request', `A name is longer than ${limit} bytes.`, { field, limit, given });
}
