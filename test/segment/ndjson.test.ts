/**
 * `ndjson` lines: line ends, blank lines, offsets, the open last line (contract: formats §4).
 */
import { describe, expect, it } from 'vitest';
import { FRAME_BYTES_MAX, OFFSET_MAX } from '../../src/core/limits.js';
import { createReader } from '../../src/segment/formats.js';
import {
  CURSOR_END,
  CURSOR_FRAME,
  CURSOR_SKIPPED,
  FrameCursor,
  startMark,
  WHOLE_SEGMENT,
} from '../../src/source/frame-cursor.js';
import { inlineSource } from '../../src/source/inline.js';
import { Window } from '../../src/source/window.js';
import { drain } from '../support/segment-drain.js';

const utf8 = new TextEncoder();
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function lines(segment: string, options: Parameters<typeof drain>[2] = {}) {
  const inPlace = drain('ndjson', utf8.encode(segment), options);
  const windowed = drain('ndjson', utf8.encode(segment), { ...options, windowBytes: 64 });
  expect(windowed).toEqual(inPlace);
  return { lines: inPlace.frames.map(text), offsets: inPlace.offsets, ending: inPlace.ending };
}

describe('ndjson lines', () => {
  it('stores a line without its line end, LF or CRLF', () => {
    expect(lines('{"a":1}\n{"b":2}\r\n 3 \n')).toEqual({
      lines: ['{"a":1}', '{"b":2}', ' 3 '],
      offsets: [0, 1, 2],
      ending: 'end',
    });
  });

  it('takes away one carriage return and only before a line feed', () => {
    expect(lines('1\r\r\n2\r').lines).toEqual(['1\r', '2\r']);
  });

  it('counts offsets from base_offset over lines that are not blank', () => {
    expect(lines('\n\r\n1\n \t\n2\n\n', { baseOffset: 70 })).toEqual({
      lines: ['1', '2'],
      offsets: [70, 71],
      ending: 'end',
    });
  });

  it('reads a last line without a newline in a sealed segment and calls it torn in an unsealed one', () => {
    expect(lines('1\n{"a"')).toEqual({ lines: ['1', '{"a"'], offsets: [0, 1], ending: 'end' });
    expect(lines('1\n\n{"a"', { sealed: false })).toEqual({ lines: ['1'], offsets: [0], ending: 'torn 4' });
    expect(lines('1\n', { sealed: false }).ending).toBe('end');
    expect(lines('1\n{"a"', { sealed: false, mayBeTorn: false }).ending).toBe('torn at 2');
  });

  it('takes white space after the last newline for nothing when sealed and for the start of a line when not', () => {
    expect(lines('1\n  ').ending).toBe('end');
    expect(lines('1\n  ', { sealed: false }).ending).toBe('torn 2');
    expect(lines('', { sealed: false }).ending).toBe('end');
  });

  it('passes on bytes that are not JSON: judging payloads is the codec’s part', () => {
    expect(lines('\ufeff1\nnot json\n').lines.length).toBe(2);
  });

  it('refuses an offset beyond 2^53 − 1', () => {
    expect(lines('1\n2\n3\n', { baseOffset: OFFSET_MAX - 1 })).toEqual({
      lines: ['1', '2'],
      offsets: [OFFSET_MAX - 1, OFFSET_MAX],
      ending: 'offset at 4',
    });
  });

  it('refuses a line above frame_bytes_max and accepts one of exactly that size', () => {
    const bytes = new Uint8Array(FRAME_BYTES_MAX + 5).fill(0x31);
    bytes[1] = 0x0a;
    bytes[FRAME_BYTES_MAX + 2] = 0x0a;
    for (const windowBytes of [undefined, 1024]) {
      const options = windowBytes === undefined ? {} : { windowBytes };
      expect(drain('ndjson', bytes, options)).toMatchObject({ offsets: [0, 1, 2], ending: 'end' });
    }
    bytes[FRAME_BYTES_MAX + 2] = 0x31;
    for (const sealed of [true, false]) {
      expect(drain('ndjson', bytes, { sealed })).toMatchObject({ offsets: [0], ending: 'length at 2' });
      expect(drain('ndjson', bytes, { sealed, windowBytes: 64 })).toMatchObject({
        offsets: [0],
        ending: 'length at 2',
      });
    }
  });

  it('hands back the loop during a long run of blank lines', () => {
    const bytes = new Uint8Array(300_002).fill(0x0a);
    bytes[300_000] = 0x31;
    const cursor = new FrameCursor(new Window(4096));
    const options = { partitionId: 0, baseOffset: 0, sealed: true, verifyChecksums: false };
    cursor.open(inlineSource(bytes), createReader('ndjson', options), WHOLE_SEGMENT, startMark());
    const statuses = new Map<number, number>();
    for (let status = cursor.next(); status !== CURSOR_END; status = cursor.next()) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(statuses.get(CURSOR_FRAME)).toBe(1);
    expect(statuses.get(CURSOR_SKIPPED)).toBe(4);
    expect(drain('ndjson', bytes, { windowBytes: 64 }).positions).toEqual([300_000]);
  });
});
