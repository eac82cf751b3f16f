/** Scans of many batches over the kernel and over the portable walkers: the same bytes in every page. */
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { newKernel } from './kernel.js';
import { randomFilter } from './random-filter.js';
import { randomRecord } from './random-record.js';
import { cachedRegexEngine } from './regex-engine.js';
import { newRunner, scan } from './scan-harness.js';
import { requestOf } from './scan-requests.js';
import type { Seeded } from './seeded.js';

/** The records in one segment, or in many small ones, whose batches are small. */
function randomSegments(random: Seeded, records: number): object[] {
  const segments: object[] = [];
  const most = random.chance(0.5) ? records : 40;
  for (let first = 0; first < records;) {
    const count = Math.min(most === records ? records : 1 + random.below(most), records - first);
    const stored = Array.from({ length: count }, (_, index) => {
      const { payload, headerBlock } = randomRecord(random);
      return { offset: first + index, payload, headers: headerBlock };
    });
    segments.push({ format: 'iggy', bytes: encodeIggySegment(stored), base_offset: first, sealed: true });
    first += count;
  }
  return segments;
}

/** Throws an `Error` where a page differs. */
export function compareEngineScans(random: Seeded, scans: number, records: number): void {
  const runners = [undefined, newKernel()].map((kernel) => newRunner({ regex: cachedRegexEngine, kernel }));
  for (let round = 0; round < scans; round += 1) {
    const segments = randomSegments(random, records);
    const filters = [0, 1].map((i) => ({ id: `f${i}`, filter: randomFilter(random) }));
    const request = requestOf(segments, { filters, count: 1000, pages: 0 });
    const [wanted, given] = runners.map((runner) => {
      const answer = scan([runner], request, { framed: true });
      if ('problem' in answer) return JSON.stringify(answer.problem);
      return answer.pages.map(({ request_id: _id, ...page }) => JSON.stringify(page)).join('\n');
    });
    if (given !== wanted) throw new Error(`scan ${round} over the kernel has other pages`);
  }
}
