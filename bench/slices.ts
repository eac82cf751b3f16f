/**
 * A side that scans a segment with any number of filters through the worker's own code, slice by slice, on this thread:
 * compiled filters, scan loop, pages, state. Only the threads and the socket are left out.
 */
import { planScan } from '../src/scan/plan.js';
import { SliceRunner } from '../src/scan/slice.js';
import { CONTROL_CELLS, type ScanState } from '../src/scan/task.js';
import { inlineSource } from '../src/source/inline.js';
import { decodeMsgpackFrames, encodeMsgpack } from '../src/wire/msgpack.js';
import type { FilterDocument } from './datasets/orbit-filters.js';
import { Checksum, type Engine, type Side } from './harness.js';
import { kernelOf, regex } from './programs.js';

/** The bounds that the service has by default. */
const BOUNDS = { recordsMax: 4096, bytesMax: 1 << 20, timeMaxMs: 10 };

const CAPS = {
  count: 1000,
  max_reply_bytes: 8 << 20,
  max_examined: 1e9,
  max_examined_bytes: 1024 ** 4,
  deadline_ms: 60_000,
  pages: 10_000,
  progress_ms: 60_000,
};

/**
 * Scans `segment`, an inline iggy segment, with all filters in one pass. The checksum is of the offsets that the first
 * filter selects, so a side with more filters has to give it exactly what it gets alone.
 */
export function sliceSide(
  engine: Engine,
  name: string,
  segment: SharedArrayBuffer,
  filters: readonly FilterDocument[],
): Side {
  const runner = new SliceRunner({
    clock: performanceClock,
    regex,
    kernel: kernelOf(engine),
    continuationKeys: [Buffer.from('a key for benchmarks only')],
    openSegment: () => inlineSource(segment),
    onFault(fault) {
      throw fault;
    },
  });
  const { spec } = planScan({
    request: {
      v: 1,
      source: { stream: 's', topic: 't' },
      partition_id: 0,
      segments: [{ format: 'iggy', bytes: new Uint8Array(0) }],
      filters: filters.map((filter, i) => ({ id: `f${i}`, filter_text: JSON.stringify(filter) })),
      reply: 'offsets',
      count: CAPS.count,
      pages: CAPS.pages,
      max_examined: CAPS.max_examined,
      max_examined_bytes: CAPS.max_examined_bytes,
    },
    requestId: name,
    arrivedAtMs: 0,
    caps: CAPS,
    encoding: 'msgpack',
    framed: true,
    wantsWholePages: true,
  });
  const encoded = encodeMsgpack(spec);
  const specBytes = new SharedArrayBuffer(encoded.length);
  new Uint8Array(specBytes).set(encoded);
  return {
    name,
    run() {
      const checksum = new Checksum();
      const control = new SharedArrayBuffer(CONTROL_CELLS * Int32Array.BYTES_PER_ELEMENT);
      for (let state: ScanState | null = null; ;) {
        const reply = runner.run({
          kind: 'slice',
          scanKey: name,
          spec: specBytes,
          control,
          inline: [segment],
          state,
          bounds: BOUNDS,
          deadlineAtMs: Infinity,
        });
        if ('problem' in reply) throw new Error(`${name}: ${reply.problem.detail}`);
        for (const { filter, bytes } of reply.ok.pages) {
          if (filter !== 0) continue;
          const [page] = decodeMsgpackFrames(bytes) as { offsets: number[] }[];
          for (const offset of page!.offsets) checksum.add(offset);
        }
        if (reply.ok.done) return checksum.value;
        state = reply.ok.state;
      }
    },
  };
}

const performanceClock = { nowMs: () => performance.now() };
