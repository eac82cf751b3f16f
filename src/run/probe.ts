/**
 * One small slice that each worker runs before the service takes requests (contract: scan-protocol §5 `readyz`): it
 * goes the whole way of a scan, from compiling a filter to an encoded page.
 */
import type { Clock } from '../core/clock.js';
import { DEADLINE_MS_MAX, PROGRESS_MS_CAP } from '../core/limits.js';
import { planScan } from '../scan/plan.js';
import { CONTROL_CELLS, type SliceTask } from '../scan/task.js';
import { encodeMsgpack } from '../wire/msgpack.js';

const FILTER = '{"v":1,"evaluator_version":1,"expr":{"present":"a"},"codec":"json"}';
const SEGMENT = '{"a":1}\n{"b":1}\n';

/** The task; its answer is a value only if the page could be made. */
export function probeTask(clock: Clock): SliceTask {
  const { spec, inline, deadlineAtMs } = planScan({
    request: {
      v: 1,
      source: { stream: 'probe', topic: 'probe' },
      partition_id: 0,
      segments: [{ format: 'ndjson', bytes: new TextEncoder().encode(SEGMENT) }],
      filters: [{ id: 'probe', filter_text: FILTER }],
    },
    requestId: 'probe',
    arrivedAtMs: clock.nowMs(),
    caps: {
      count: 1,
      max_reply_bytes: 1024,
      max_examined: 2,
      max_examined_bytes: 1024,
      deadline_ms: DEADLINE_MS_MAX,
      pages: 1,
      progress_ms: PROGRESS_MS_CAP,
    },
    encoding: 'json',
    framed: false,
  });
  return {
    kind: 'slice',
    scanKey: 'probe',
    spec: shared(encodeMsgpack(spec)),
    control: new SharedArrayBuffer(CONTROL_CELLS * Int32Array.BYTES_PER_ELEMENT),
    inline: inline.map(shared),
    state: null,
    bounds: { recordsMax: 2, bytesMax: 1024, timeMaxMs: 1_000 },
    deadlineAtMs,
  };
}

function shared(bytes: Uint8Array): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(bytes.byteLength);
  new Uint8Array(memory).set(bytes);
  return memory;
}
