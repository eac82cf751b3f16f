/**
 * In-process passes over stored frames: cursor and program, no pages, no threads, no network. End-to-end figures are
 * measured against them.
 */
import type { FilterDocument } from './datasets/orbit-filters.js';
import { Checksum, type Engine, type Side } from './harness.js';
import { programOf } from './programs.js';
import { SELECTED, verdictOf } from '../src/core/verdict.js';
import { createReader } from '../src/segment/formats.js';
import { CURSOR_FRAME, FrameCursor, startMark, WHOLE_SEGMENT } from '../src/source/frame-cursor.js';
import { inlineSource } from '../src/source/inline.js';
import { Window } from '../src/source/window.js';

const READER = { verifyChecksums: false, partitionId: 0, baseOffset: 0, sealed: true };

/** Passes over an `iggy` segment in memory with a program of one filter. */
export function framesSide(engine: Engine, name: string, segment: Uint8Array, filter: FilterDocument): Side {
  const program = programOf(engine, filter);
  const cursor = openCursor(segment);
  return {
    name,
    run() {
      const checksum = new Checksum();
      cursor.open(inlineSource(segment), createReader('iggy', READER), WHOLE_SEGMENT, startMark());
      const { frame } = cursor;
      while (cursor.next() === CURSOR_FRAME) {
        program.begin(cursor.bytes, frame.payloadStart, frame.payloadEnd, frame.headersStart, frame.headersEnd);
        if (verdictOf(program.evaluate(0)) === SELECTED) checksum.add(frame.offset);
      }
      return checksum.value;
    },
  };
}

/** The program of a filter on headers over blocks whose places are known, so that frames are no part of what is timed. */
export function headerBlocksSide(engine: Engine, name: string, segment: Uint8Array, filter: FilterDocument): Side {
  const program = programOf(engine, filter);
  const blocks = headerPlaces(segment);
  return {
    name,
    run() {
      const checksum = new Checksum();
      for (let at = 0; at < blocks.length; at += 2) {
        program.begin(segment, blocks[at]!, blocks[at]!, blocks[at]!, blocks[at + 1]!);
        // Offsets of a dataset's segment count its records.
        if (verdictOf(program.evaluate(0)) === SELECTED) checksum.add(at >> 1);
      }
      return checksum.value;
    },
  };
}

function openCursor(segment: Uint8Array): FrameCursor {
  const cursor = new FrameCursor(new Window());
  cursor.open(inlineSource(segment), createReader('iggy', READER), WHOLE_SEGMENT, startMark());
  return cursor;
}

/** Start and end of every header block. */
function headerPlaces(segment: Uint8Array): Int32Array {
  const cursor = openCursor(segment);
  const places: number[] = [];
  while (cursor.next() === CURSOR_FRAME) places.push(cursor.frame.headersStart, cursor.frame.headersEnd);
  return Int32Array.from(places);
}
