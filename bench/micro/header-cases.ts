/**
 * Header cases on one thread: frames and header blocks walked in place, payloads never touched.
 */
import { ORBIT_GROUPS, selectivityFilter } from '../datasets/orbit-filters.js';
import { orbitDataset } from '../datasets/orbit.js';
import { segmentBytes } from '../datasets/write.js';
import { framesSide } from '../frames.js';
import type { Case } from '../harness.js';
import { naiveSide, payloadsOf, programOf } from '../payloads.js';

export function headerCases(scale: number): Case[] {
  const count = Math.max(50, Math.round(40_000 * scale));
  const segment = segmentBytes(orbitDataset(), 'iggy', count);
  const headersOnly = ORBIT_GROUPS.find((group) => group.filter.codec === 'headers_only')!.filter;
  return [
    {
      name: "orbit, headers-only filter on frames, against the baseline's time per record",
      records: count,
      bytes: segment.length,
      ratio: 'speedup',
      unlikeWork: true,
      sides: [
        framesSide('frames and headers', segment, programOf(headersOnly)),
        naiveSide(payloadsOf(orbitDataset(), count), selectivityFilter(5)),
      ],
    },
  ];
}
