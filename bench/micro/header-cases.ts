/**
 * Header cases on one thread: frames and header blocks read in place, payloads never touched.
 */
import { ORBIT_GROUPS, selectivityFilter } from '../datasets/orbit-filters.js';
import { orbitDataset } from '../datasets/orbit.js';
import { segmentBytes } from '../datasets/write.js';
import { framesSide, headerBlocksSide } from '../frames.js';
import { type Case, once } from '../harness.js';
import { naiveSide, payloadsOf } from '../payloads.js';
import { ENGINES } from '../programs.js';

const HEADERS_ONLY = ORBIT_GROUPS.find((group) => group.filter.codec === 'headers_only')!.filter;

/** `scale` 1 is the real size; the smoke run passes a small fraction. */
export function headerCases(scale: number): Case[] {
  const records = Math.max(50, Math.round(40_000 * scale));
  const segment = once(() => segmentBytes(orbitDataset(), 'iggy', records));
  const payloads = once(() => payloadsOf(orbitDataset(), records));
  const size = () => ({ records, bytes: segment().length });
  return ENGINES.flatMap((engine): Case[] => [
    {
      name: "orbit, headers-only filter on frames, against the baseline's time per record",
      engine,
      size,
      ratio: 'speedup',
      ...(engine === 'kernel' ? { bar: 60 } : {}),
      unlikeWork: true,
      sides: () => [
        framesSide(engine, 'frames and headers', segment(), HEADERS_ONLY),
        naiveSide(payloads(), selectivityFilter(5)),
      ],
    },
    {
      name: 'orbit, header blocks and predicate alone, against frames with them',
      engine,
      size,
      ratio: 'cost',
      ...(engine === 'kernel' ? { nsPerRecordMax: 45 } : {}),
      sides: () => [
        headerBlocksSide(engine, 'header blocks', segment(), HEADERS_ONLY),
        framesSide(engine, 'frames and headers', segment(), HEADERS_ONLY),
      ],
    },
  ]);
}
