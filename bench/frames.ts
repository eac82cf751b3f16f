/**
 * In-process passes over stored frames: cursor and program, no pages, no threads, no network. End-to-end figures are
 * measured against them.
 */
import type { FilterDocument } from './datasets/orbit-filters.js';
import { Checksum, type Engine, type Side } from './harness.js';
import { kernelOf, programOf } from './programs.js';
import { bringerOf, type Stretches, stretchesOf } from './stretches.js';
import { WINDOW_BYTES } from '../src/core/limits.js';
import { SELECTED, verdictOf } from '../src/core/verdict.js';
import { createReader } from '../src/segment/formats.js';
import { CURSOR_FRAME, FrameCursor, startMark, WHOLE_SEGMENT } from '../src/source/frame-cursor.js';
import { inlineSource } from '../src/source/inline.js';
import { Window } from '../src/source/window.js';

const READER = { verifyChecksums: false, partitionId: 0, baseOffset: 0, sealed: true };

/**
 * Passes over an `iggy` segment in memory with a program of some filters, as the scan loop does. The checksum is of what
 * each of them selects.
 */
export function framesSide(
  engine: Engine,
  name: string,
  segment: Uint8Array,
  ...filters: readonly FilterDocument[]
): Side {
  const program = programOf(engine, ...filters);
  for (let filter = 0; filter < filters.length; filter++) program.setActive(filter, true);
  const { candidates } = program;
  const cursor = new FrameCursor(new Window(WINDOW_BYTES, kernelOf(engine)));
  return {
    name,
    run() {
      const checksum = new Checksum();
      open(cursor, segment);
      const { frame, table } = cursor;
      for (let isQuiet = false; ;) {
        const ahead = isQuiet ? cursor.rowsAhead : 0;
        if (table !== null && ahead > 0) {
          const from = cursor.nextRow;
          const count = program.passOver(table, cursor.bytes, from, from + ahead);
          if (count > 0) cursor.takeRows(count);
          isQuiet = count === ahead;
        }
        if (cursor.next() !== CURSOR_FRAME) return checksum.value;
        program.begin(cursor.bytes, frame.payloadStart, frame.payloadEnd, frame.headersStart, frame.headersEnd);
        const count = program.select();
        isQuiet = count === 0;
        for (let place = 0; place < count; place++) {
          if (verdictOf(program.evaluate(candidates[place]!)) === SELECTED) checksum.add(frame.offset);
        }
      }
    },
  };
}

/**
 * The program of a filter on headers over blocks whose places are known, so that frames are no part of what is timed.
 * They stand back to back, and for the kernel in its window, into which they are copied.
 */
export function headerBlocksSide(engine: Engine, name: string, segment: Uint8Array, filter: FilterDocument): Side {
  const program = programOf(engine, filter);
  const stretches = headerBlocks(segment);
  const bring = bringerOf(engine, stretches, 'header blocks');
  return {
    name,
    run() {
      const checksum = new Checksum();
      bring((index, bytes, start, end) => {
        program.begin(bytes, start, start, start, end);
        // Offsets of a dataset's segment count its records.
        if (verdictOf(program.evaluate(0)) === SELECTED) checksum.add(index);
      });
      return checksum.value;
    },
  };
}

function open(cursor: FrameCursor, segment: Uint8Array): void {
  cursor.open(inlineSource(segment), createReader('iggy', READER), WHOLE_SEGMENT, startMark());
}

function headerBlocks(segment: Uint8Array): Stretches {
  const cursor = new FrameCursor(new Window());
  const blocks: Uint8Array[] = [];
  open(cursor, segment);
  while (cursor.next() === CURSOR_FRAME) {
    blocks.push(segment.subarray(cursor.frame.headersStart, cursor.frame.headersEnd));
  }
  return stretchesOf(blocks);
}
