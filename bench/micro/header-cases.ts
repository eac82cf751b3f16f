/**
 * Header cases on one thread: frames and header blocks walked in place, payloads never touched.
 */
import { type Case, Checksum, type Side } from '../harness.js';
import { naiveSide, payloadsOf, programOf } from '../payloads.js';
import { ORBIT_GROUPS, selectivityFilter } from '../datasets/orbit-filters.js';
import { orbitDataset } from '../datasets/orbit.js';
import { segmentBytes } from '../datasets/write.js';
import { SELECTED, verdictOf } from '../../src/core/verdict.js';
import { createReader } from '../../src/segment/formats.js';
import { CURSOR_FRAME, FrameCursor, startMark, WHOLE_SEGMENT } from '../../src/source/frame-cursor.js';
import { inlineSource } from '../../src/source/inline.js';
import { Window } from '../../src/source/window.js';

const READER = { verifyChecksums: false, partitionId: 0, baseOffset: 0, sealed: true };

export function headerCases(scale: number): Case[] {
  const count = Math.max(50, Math.round(40_000 * scale));
  const segment = segmentBytes(orbitDataset(), 'iggy', count);
  const headersOnly = ORBIT_GROUPS.find((group) => group.filter.codec === 'headers_only')!.filter;
  const program = programOf(headersOnly);
  const cursor = new FrameCursor(new Window());
  const frames: Side = {
    name: 'frames and headers',
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
  return [
    {
      name: "orbit, headers-only filter on frames, against the baseline's time per record",
      records: count,
      bytes: segment.length,
      ratio: 'speedup',
      unlikeWork: true,
      sides: [frames, naiveSide(payloadsOf(orbitDataset(), count), selectivityFilter(5))],
    },
  ];
}
