/**
 * The in-process pass over stored frames that end-to-end figures are measured against: cursor and program, no pages, no
 * threads, no network.
 */
import { Checksum, type Side } from './harness.js';
import type { Program } from '../src/filter/program.js';
import { SELECTED, verdictOf } from '../src/core/verdict.js';
import { createReader } from '../src/segment/formats.js';
import { CURSOR_FRAME, FrameCursor, startMark, WHOLE_SEGMENT } from '../src/source/frame-cursor.js';
import { inlineSource } from '../src/source/inline.js';
import { Window } from '../src/source/window.js';

const READER = { verifyChecksums: false, partitionId: 0, baseOffset: 0, sealed: true };

/** Passes over an `iggy` segment in memory with a program of one filter. */
export function framesSide(name: string, segment: Uint8Array, program: Program): Side {
  const cursor = new FrameCursor(new Window());
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
