/**
 * The table of segment formats: name → reader. A new format is one file and one line here.
 *
 * Formats that the contract names and that are not built yet refuse as `unsupported`; anything else is a mistake of
 * the caller.
 */
import { refuse } from '../core/error-codes.js';
import type { FrameReader, ReaderOptions } from './frame.js';
import { iggyPolledReader } from './iggy-polled.js';
import { iggyReader } from './iggy.js';
import { ndjsonReader } from './ndjson.js';

/** How one format is read and what a request may say about it. */
export interface SegmentFormat {
  readonly createReader: (options: ReaderOptions) => FrameReader;
  /** True where `sealed: false` is refused (formats §1). */
  readonly isAlwaysSealed: boolean;
  /** False where records have no timestamp to start from (scan-protocol §1 `start`). */
  readonly hasTimestamps: boolean;
  /** Name of the stored frames in replies: `iggy` also for `iggy_polled`. */
  readonly frameFormat: 'iggy' | 'ndjson';
}

/** The formats that are built, by their wire names. */
export const SEGMENT_FORMATS = {
  iggy: { createReader: iggyReader, isAlwaysSealed: false, hasTimestamps: true, frameFormat: 'iggy' },
  iggy_polled: { createReader: iggyPolledReader, isAlwaysSealed: true, hasTimestamps: true, frameFormat: 'iggy' },
  ndjson: { createReader: ndjsonReader, isAlwaysSealed: false, hasTimestamps: false, frameFormat: 'ndjson' },
} as const satisfies Record<string, SegmentFormat>;

export type SegmentFormatName = keyof typeof SEGMENT_FORMATS;

/** Named by the contract, not built (formats §2, §5). */
export const SEGMENT_FORMATS_WAITING: readonly string[] = ['iggy_batch', 'kafka'];

/**
 * Checks a format name. Refuses `unsupported` for one that is known and not built, `invalid_request` for any other;
 * `field` is the JSON pointer of the name in the request.
 */
export function checkSegmentFormat(name: string, field: string): SegmentFormatName {
  if (isBuilt(name)) return name;
  if (SEGMENT_FORMATS_WAITING.includes(name)) {
    refuse('unsupported', `Segment format ${name} is not available in this version.`, { field, given: name });
  }
  const known = Object.keys(SEGMENT_FORMATS).join(', ');
  refuse('invalid_request', `Unknown segment format; known are ${known}.`, { field, given: name.slice(0, 64) });
}

/** Makes a reader of a format that {@link checkSegmentFormat} accepted. */
export function createReader(name: SegmentFormatName, options: ReaderOptions): FrameReader {
  return SEGMENT_FORMATS[name].createReader(options);
}

function isBuilt(name: string): name is SegmentFormatName {
  return Object.hasOwn(SEGMENT_FORMATS, name);
}
