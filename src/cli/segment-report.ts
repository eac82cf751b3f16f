/**
 * Looks through one segment and says what it holds: frames, offsets, sizes, header keys, and damage with its place.
 *
 * The report is plain data in wire spelling, made for `winnow inspect`; the text form stands in
 * `segment-report-text.ts`. Memory does not grow with the segment: figures are summed up, and frames and header keys
 * are listed to a bound.
 */
import { createReader, type SegmentFormatName } from '../segment/formats.js';
import { describeFrameFault } from '../segment/frame-fault.js';
import { decodeHeaderBlock } from '../segment/header-block.js';
import {
  CURSOR_DAMAGED,
  CURSOR_FRAME,
  CURSOR_SKIPPED,
  CURSOR_TORN,
  FrameCursor,
  startMark,
} from '../source/frame-cursor.js';
import type { SegmentSource } from '../source/segment-source.js';
import type { Window } from '../source/window.js';
import { polledPartitionOf } from './segment-format-guess.js';

/** Header keys listed with their kinds; more are only counted. */
export const REPORT_KEYS_MAX = 1000;

export interface InspectOptions {
  readonly format: SegmentFormatName;
  /** `ndjson`: offset of the first line. */
  readonly baseOffset: number;
  /** False: an unfinished frame at the end is a torn tail, not damage. */
  readonly sealed: boolean;
  readonly verifyChecksums: boolean;
  /** Frames to list, from the first. */
  readonly framesListed: number;
}

export interface Spread {
  min: number;
  mean: number;
  max: number;
}

export interface ListedFrame {
  readonly offset: number;
  readonly position: number;
  readonly frame_bytes: number;
  readonly payload_bytes: number;
  readonly header_bytes: number;
  /** Microseconds as decimal text; absent in `ndjson`. */
  readonly timestamp?: string;
}

export interface HeaderKeyReport {
  /** Text, or hexadecimal for a key that is not text. */
  readonly key: string;
  readonly key_kind: number;
  /** Kinds of its values, in order of appearance. */
  readonly kinds: string[];
  entries: number;
}

export interface SegmentReport {
  readonly format: SegmentFormatName;
  readonly bytes: number;
  frames: number;
  first_offset?: number;
  last_offset?: number;
  /** Places where an offset is not the one before plus one. */
  gaps: number;
  frame_bytes?: Spread;
  payload_bytes?: Spread;
  header_bytes?: Spread;
  readonly header_keys: HeaderKeyReport[];
  header_keys_left_out: number;
  /** Frames whose header block does not parse. */
  malformed_header_blocks: number;
  /** `iggy_polled`: what the prefix says. */
  partition_id?: number;
  announced_offset?: number;
  checksums_verified: boolean;
  torn_bytes?: number;
  damage?: {
    readonly position: number;
    readonly fault: string;
    readonly detail: string;
    readonly offset_before?: number;
  };
  readonly listed: ListedFrame[];
}

/** Reads the whole segment. Damage is part of the report; only a failing store throws (`Refusal`). */
export function inspectSegment(source: SegmentSource, window: Window, options: InspectOptions): SegmentReport {
  const partitionId = options.format === 'iggy_polled' ? polledPartitionOf(source) : 0;
  const reader = createReader(options.format, { ...options, partitionId });
  const cursor = new FrameCursor(window);
  const visibility = { lastOffset: Number.POSITIVE_INFINITY, mayBeTorn: !options.sealed };
  cursor.open(source, reader, visibility, startMark());
  const report = emptyReport(source, options);
  if (options.format === 'iggy_polled') report.partition_id = partitionId;
  if (cursor.announcedOffset >= 0) report.announced_offset = cursor.announcedOffset;
  const sums = { frame: new Sum(), payload: new Sum(), headers: new Sum() };
  const keys = new Map<string, HeaderKeyReport>();
  for (;;) {
    const status = cursor.next();
    if (status === CURSOR_FRAME) takeFrame(cursor, report, sums, keys, options);
    else if (status !== CURSOR_SKIPPED) {
      if (status === CURSOR_TORN) report.torn_bytes = cursor.tornBytes;
      if (status === CURSOR_DAMAGED) report.damage = damageOf(cursor, report);
      break;
    }
  }
  if (report.frames > 0) {
    report.frame_bytes = sums.frame.spread();
    report.payload_bytes = sums.payload.spread();
    report.header_bytes = sums.headers.spread();
  }
  return report;
}

function emptyReport(source: SegmentSource, options: InspectOptions): SegmentReport {
  return {
    format: options.format,
    bytes: source.length,
    frames: 0,
    gaps: 0,
    header_keys: [],
    header_keys_left_out: 0,
    malformed_header_blocks: 0,
    checksums_verified: options.verifyChecksums,
    listed: [],
  };
}

interface Sums {
  readonly frame: Sum;
  readonly payload: Sum;
  readonly headers: Sum;
}

function takeFrame(
  cursor: FrameCursor,
  report: SegmentReport,
  sums: Sums,
  keys: Map<string, HeaderKeyReport>,
  options: InspectOptions,
): void {
  const { frame } = cursor;
  const frameBytes = frame.frameEnd - frame.frameStart;
  const payloadBytes = frame.payloadEnd - frame.payloadStart;
  const headerBytes = frame.headersEnd - frame.headersStart;
  sums.frame.add(frameBytes);
  sums.payload.add(payloadBytes);
  sums.headers.add(headerBytes);
  report.first_offset ??= frame.offset;
  if (report.last_offset !== undefined && frame.offset !== report.last_offset + 1) report.gaps += 1;
  report.last_offset = frame.offset;
  report.frames += 1;
  if (headerBytes > 0) takeHeaders(cursor, report, keys);
  if (report.listed.length < options.framesListed) {
    const timestamp = (BigInt(frame.timestampHigh) << 32n) | BigInt(frame.timestampLow);
    report.listed.push({
      offset: frame.offset,
      position: cursor.framePosition,
      frame_bytes: frameBytes,
      payload_bytes: payloadBytes,
      header_bytes: headerBytes,
      ...(options.format === 'ndjson' ? {} : { timestamp: timestamp.toString() }),
    });
  }
}

function takeHeaders(cursor: FrameCursor, report: SegmentReport, keys: Map<string, HeaderKeyReport>): void {
  const { frame } = cursor;
  const entries = decodeHeaderBlock(cursor.bytes, frame.headersStart, frame.headersEnd);
  if (entries === undefined) {
    report.malformed_header_blocks += 1;
    return;
  }
  for (const { key, keyKind, value } of entries) {
    const text = typeof key === 'string' ? key : Buffer.from(key).toString('hex');
    const id = `${keyKind} ${text}`;
    let known = keys.get(id);
    if (known === undefined) {
      if (keys.size === REPORT_KEYS_MAX) {
        report.header_keys_left_out += 1;
        continue;
      }
      known = { key: text, key_kind: keyKind, kinds: [], entries: 0 };
      keys.set(id, known);
      report.header_keys.push(known);
    }
    known.entries += 1;
    if (!known.kinds.includes(value.kind)) known.kinds.push(value.kind);
  }
}

function damageOf(cursor: FrameCursor, report: SegmentReport): NonNullable<SegmentReport['damage']> {
  return {
    position: cursor.damagePosition,
    fault: cursor.fault,
    detail: describeFrameFault(cursor.fault),
    ...(report.last_offset === undefined ? {} : { offset_before: report.last_offset }),
  };
}

class Sum {
  #count = 0;
  #total = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;

  add(value: number): void {
    this.#count += 1;
    this.#total += value;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
  }

  spread(): Spread {
    return { min: this.#min, mean: Math.round((10 * this.#total) / this.#count) / 10, max: this.#max };
  }
}
