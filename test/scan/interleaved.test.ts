/**
 * Scans that share a worker, slice by slice and in any order: each answers what it answers alone. Nothing that one scan
 * leaves in the worker's window, caches or kernel is seen by another.
 */
import { expect, test } from 'vitest';
import { encodeIggySegment } from '../../src/segment/iggy-writer.js';
import { newRunner, planOf, type ScanOptions, slicesOf, WIDE_BOUNDS } from '../support/scan-harness.js';
import { PARTITION_ID, randomPartition } from '../support/scan-model.js';
import { randomFilter } from '../support/random-filter.js';
import { randomRecord } from '../support/random-record.js';
import { cachedRegexEngine } from '../support/regex-engine.js';
import { requestOf } from '../support/scan-requests.js';
import { Seeded } from '../support/seeded.js';

const SEED = Number(process.env['WINNOW_TEST_SEED'] ?? 4096);
const ROUNDS = 8;
const SCANS = 6;

interface Order {
  readonly request: object;
  readonly options: ScanOptions;
}

/** A scan with up to three filters over a partition of any format, or over records with anything in them. */
function randomOrder(random: Seeded): Order {
  const filters = Array.from({ length: 1 + random.below(3) }, (_, i) => ({
    id: `f${i}`,
    filter: randomFilter(random),
  }));
  return {
    request: requestOf(randomSegments(random), {
      partition_id: PARTITION_ID,
      filters,
      count: 1 + random.below(9),
      pages: 0,
    }),
    options: { framed: true, bounds: { ...WIDE_BOUNDS, recordsMax: 1 + random.below(12) } },
  };
}

function randomSegments(random: Seeded): object[] {
  if (random.chance(0.4)) return [...randomPartition(random).segments];
  const records = Array.from({ length: 20 + random.below(60) }, (_, offset) => {
    const { payload, headerBlock } = randomRecord(random);
    return { offset, payload, headers: headerBlock };
  });
  return [{ format: 'iggy', bytes: encodeIggySegment(records) }];
}

/** Patterns compiled once for all scans: they are most of the time otherwise. */
const runnerOf = () => newRunner({ regex: cachedRegexEngine });

/** Starts the scan on a runner; the id of a request is the number of its plan, so it is left out. */
function begin({ request, options }: Order, runner = runnerOf()) {
  const plan = planOf(request, options);
  const slices = slicesOf([runner], { ...plan, spec: { ...plan.spec, requestId: 'same' } }, options);
  return {
    /** The answer once there is one. */
    step(): object | undefined {
      const { done, value } = slices.next();
      if (done !== true) return undefined;
      if ('problem' in value) return value;
      const { pages, filters, damage } = value;
      return { pages, filters, damage };
    },
  };
}

function answerOf(order: Order): object {
  const scan = begin(order);
  for (;;) {
    const answer = scan.step();
    if (answer !== undefined) return answer;
  }
}

test(`scans take turns on one runner and answer as if each were alone (seed ${SEED})`, () => {
  const random = new Seeded(SEED);
  const runner = runnerOf();
  let changesOfTurn = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const orders = Array.from({ length: SCANS }, () => randomOrder(random));
    const wanted = orders.map(answerOf);
    const running = orders.map((order, index) => ({ index, scan: begin(order, runner) }));
    let last = -1;
    while (running.length > 0) {
      const turn = random.below(running.length);
      const { index, scan } = running[turn]!;
      if (index !== last) changesOfTurn += 1;
      last = index;
      const answer = scan.step();
      if (answer === undefined) continue;
      expect({ round, index, answer }).toEqual({ round, index, answer: wanted[index] });
      running.splice(turn, 1);
    }
  }
  expect(changesOfTurn).toBeGreaterThan(ROUNDS * SCANS * 2);
});
