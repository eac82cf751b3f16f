/**
 * Runs whole scans in this thread, slice by slice, the way the service does over threads: the state crosses a
 * structured clone with its buffers transferred, and any of several runners may get the next slice.
 */
import { rustRegexEngine } from '../../src/filter/rust-regex.js';
import { planScan, type ScanPlan } from '../../src/scan/plan.js';
import { ScanProgress } from '../../src/scan/progress.js';
import { SliceRunner, type SliceDeps } from '../../src/scan/slice.js';
import {
  type Budgets,
  CONTROL_CELLS,
  type FilterPolicy,
  type FilterProgress,
  type OpenPageState,
  type ScanState,
  type SliceBounds,
  type SliceCounters,
} from '../../src/scan/task.js';
import type { Problem } from '../../src/core/error-codes.js';
import { inlineSource } from '../../src/source/inline.js';
import { checked } from '../../src/wire/check.js';
import { decodeMsgpack, decodeMsgpackFrames, encodeMsgpack } from '../../src/wire/msgpack.js';
import { type Page, PageFrameSchema, PageSchema } from '../../src/wire/page.js';
import { type ScanRequest, ScanRequestSchema } from '../../src/wire/scan-request.js';
import { loadRegexModule } from '../../workers/regex-module.js';
import { engineKernel } from './kernel.js';

export const CAPS: Budgets = {
  count: 1000,
  max_reply_bytes: 8 * 1024 * 1024,
  max_examined: 1_000_000_000,
  max_examined_bytes: 1024 ** 4,
  deadline_ms: 60_000,
  pages: 10_000,
  progress_ms: 60_000,
};

export const WIDE_BOUNDS: SliceBounds = { recordsMax: 4096, bytesMax: 1024 * 1024, timeMaxMs: 10_000 };

export const KEYS = [Buffer.from('newest continuation key'), Buffer.from('an older continuation key')];

const regex = rustRegexEngine(loadRegexModule());

/** A clock that moves on by `stepMs` whenever somebody looks. */
export class SteppingClock {
  ms = 0;
  stepMs: number;

  constructor(stepMs: number) {
    this.stepMs = stepMs;
  }

  nowMs(): number {
    this.ms += this.stepMs;
    return this.ms;
  }
}

/** A runner as a worker has it, over the engine of this run; a fault of ours fails the test. */
export function newRunner(more: Partial<SliceDeps> = {}): SliceRunner {
  return new SliceRunner({
    clock: new SteppingClock(0),
    regex,
    kernel: engineKernel(),
    continuationKeys: KEYS,
    openSegment({ place }, _index, { inline }) {
      if (!('inline' in place)) throw new Error('only inline segments here');
      return inlineSource(inline[place.inline]!);
    },
    onFault(fault) {
      throw fault;
    },
    ...more,
  });
}

export interface ScanOptions {
  readonly encoding?: 'json' | 'msgpack';
  readonly framed?: boolean;
  readonly bounds?: SliceBounds;
  /** A stream whose pages leave only when they are full. */
  readonly wantsWholePages?: boolean;
  /** Which of the runners gets slice number `n`; default the first. */
  readonly pickRunner?: (slice: number) => number;
  /** Called before each slice; true cancels the scan. */
  readonly cancelBefore?: (slice: number) => boolean;
  readonly arrivedAtMs?: number;
}

export interface ScanResult {
  readonly begin: readonly FilterPolicy[];
  /** Decoded pages, checked against the schema. */
  readonly pages: Page[];
  /** Encoded pages as they go on the wire. */
  readonly bytes: Uint8Array[];
  readonly filters: readonly FilterProgress[];
  readonly damage: Problem | undefined;
  readonly counters: readonly SliceCounters[];
  readonly slices: number;
}

let scans = 0;

/** Plans a request as the service does. */
export function planOf(request: object, options: ScanOptions = {}): ScanPlan {
  return planScan({
    request: checked(ScanRequestSchema, request) as ScanRequest,
    requestId: `request-${scans}`,
    arrivedAtMs: options.arrivedAtMs ?? 0,
    caps: CAPS,
    encoding: options.encoding ?? 'msgpack',
    framed: options.framed ?? false,
    wantsWholePages: options.wantsWholePages ?? false,
  });
}

/** Runs a planned scan to its end over one or several runners; a problem is returned, never thrown. */
export function runPlan(
  runners: readonly SliceRunner[],
  plan: ScanPlan,
  options: ScanOptions = {},
): ScanResult | { readonly problem: Problem } {
  const slices = slicesOf(runners, plan, options);
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return value;
  }
}

/** As {@link runPlan}, one slice at a step, so that other scans can run between two of them. */
export function* slicesOf(
  runners: readonly SliceRunner[],
  plan: ScanPlan,
  options: ScanOptions = {},
): Generator<void, ScanResult | { readonly problem: Problem }> {
  scans += 1;
  const shared = {
    kind: 'slice',
    scanKey: `scan-${scans}`,
    spec: sharedBytes(encodeMsgpack(plan.spec)),
    control: new SharedArrayBuffer(4 * CONTROL_CELLS),
    inline: plan.inline.map(sharedBytes),
    bounds: options.bounds ?? WIDE_BOUNDS,
    deadlineAtMs: plan.deadlineAtMs,
  } as const;
  const bytes: Uint8Array[] = [];
  const counters: SliceCounters[] = [];
  let begin: readonly FilterPolicy[] = [];
  let state: ScanState | null = null;
  const progress = new ScanProgress(plan.spec.filters.map(({ id }) => id));
  for (let slice = 0; ; slice += 1) {
    if (options.cancelBefore?.(slice) === true) Atomics.store(new Int32Array(shared.control), 0, 1);
    const reply = runners[options.pickRunner?.(slice) ?? 0]!.run({ ...shared, state });
    if ('problem' in reply) return reply;
    const { ok } = reply;
    if (ok.begin !== undefined) begin = ok.begin;
    bytes.push(...ok.pages.map((page) => page.bytes));
    counters.push(ok.counters);
    progress.apply(ok.state);
    if (ok.done) {
      const pages = bytes.map((one) => decodedPage(one, plan.spec.encoding, plan.spec.framed));
      return { begin, pages, bytes, filters: progress.all(), damage: ok.damage, counters, slices: slice + 1 };
    }
    const buffers = [ok.state.table.buffer, ...ok.state.pages.flatMap(buffersOf)];
    state = structuredClone(ok.state, { transfer: buffers });
    yield;
  }
}

function buffersOf({ bytes, places }: OpenPageState): ArrayBuffer[] {
  return [bytes.buffer as ArrayBuffer, places.buffer];
}

/** Plans and runs a request; a refusal of the plan is thrown. */
export function scan(
  runners: readonly SliceRunner[],
  request: object,
  options: ScanOptions = {},
): ScanResult | { readonly problem: Problem } {
  return runPlan(runners, planOf(request, options), options);
}

/** As {@link scan}, for scans that must not end in a problem. */
export function scanned(runners: readonly SliceRunner[], request: object, options: ScanOptions = {}): ScanResult {
  const result = scan(runners, request, options);
  if ('problem' in result) throw new Error(`unexpected problem: ${JSON.stringify(result.problem)}`);
  return result;
}

function decodedPage(bytes: Uint8Array, encoding: 'json' | 'msgpack', framed: boolean): Page {
  return checked(framed ? PageFrameSchema : PageSchema, decodedValue(bytes, encoding, framed)) as Page;
}

/** Integers beyond 2^53 as decimal text in both encodings, so that tests compare one form. */
function decodedValue(bytes: Uint8Array, encoding: 'json' | 'msgpack', framed: boolean): unknown {
  if (encoding === 'json') return JSON.parse(Buffer.from(bytes).toString('utf8'));
  return withTexts(framed ? decodeMsgpackFrames(bytes)[0] : decodeMsgpack(bytes));
}

function withTexts(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(withTexts);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withTexts(member)]));
}

function sharedBytes(bytes: Uint8Array): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(bytes.length);
  new Uint8Array(shared).set(bytes);
  return shared;
}
