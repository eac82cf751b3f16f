/**
 * The registry behind `/metrics` and `/stats` (contract: scan-protocol §6), and the only user of the metrics library.
 *
 * Invariants: what is recorded keeps the conservation laws by construction: avoided bytes are what was examined less
 * what was returned, in the same call. A label outside its closed set is recorded as `other` where the set has it, and
 * refused as a programming error where it does not; callers' names (shards) never make more than a bounded set of series.
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { EngineName } from '../core/engine.js';
import { METRICS, SHARD_LABELS_MAX } from './table.js';
import type { MetricName, MetricRow, RouteLabel } from './table.js';

/** Prefix of every metric of the table. */
export const METRIC_PREFIX = 'winnow_';

/** What a slice did, as `recordSlice` takes it; the counters that workers return have this shape. */
export interface SliceFigures {
  readonly recordsScanned: number;
  readonly bytesScanned: number;
  /** By codec name. */
  readonly examined: Readonly<Record<string, number>>;
  readonly matched: number;
  readonly rejected: number;
  readonly unevaluated: number;
  readonly dropped: number;
  readonly bytesExamined: number;
  readonly bytesReturned: number;
  readonly skippedByIndex: number;
  /** By reason name. */
  readonly faults: Readonly<Record<string, number>>;
  readonly stagesMs: Readonly<Record<'read' | 'decode' | 'evaluate' | 'encode', number>>;
  readonly compileMs: number;
  readonly filterCacheHits: number;
  readonly filterCacheMisses: number;
  readonly sliceMs: number;
}

/** Values that are looked up when somebody asks rather than counted as they change. */
export interface LiveFigures {
  readonly queueDepth: number;
  readonly workersBusy: number;
  readonly workersIdle: number;
}

/** One series of `/stats`. */
export interface StatSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Counters and gauges. */
  readonly value?: number;
  /** Histograms: cumulative counts by upper bound. */
  readonly count?: number;
  readonly sum?: number;
  readonly buckets?: Readonly<Record<string, number>>;
}

export class Metrics {
  private readonly registry = new Registry();
  private readonly counters = new Map<MetricName, Counter>();
  private readonly gauges = new Map<MetricName, Gauge>();
  private readonly histograms = new Map<MetricName, Histogram>();
  /** Running scans by shard label; insertion order is age, for reuse of labels that fell to 0. */
  private readonly scansByLabel = new Map<string, number>([['other', 0]]);
  private readonly live: () => LiveFigures;

  /** `live` is asked at every scrape. */
  constructor(version: string, evaluatorVersion: number, live: () => LiveFigures) {
    this.live = live;
    for (const name of Object.keys(METRICS) as MetricName[]) this.register(name);
    const info = new Gauge({
      name: `${METRIC_PREFIX}build_info`,
      help: 'Version of the service and of its evaluator',
      labelNames: ['version', 'evaluator_version'],
      registers: [this.registry],
    });
    info.set({ version, evaluator_version: String(evaluatorVersion) }, 1);
    collectDefaultMetrics({ register: this.registry });
  }

  /** Adds one slice of a scan. `dialects` are those of the filters it compiled, if it compiled any. */
  recordSlice(figures: SliceFigures, dialects: readonly string[]): void {
    this.add('records_scanned_total', {}, figures.recordsScanned);
    this.add('bytes_scanned_total', {}, figures.bytesScanned);
    for (const [codec, pairs] of Object.entries(figures.examined)) this.add('records_examined_total', { codec }, pairs);
    for (const outcome of ['matched', 'rejected', 'unevaluated', 'dropped'] as const) {
      this.add('records_total', { outcome }, figures[outcome]);
    }
    for (const [reason, count] of Object.entries(figures.faults)) this.add('record_faults_total', { reason }, count);
    this.add('bytes_examined_total', {}, figures.bytesExamined);
    this.add('bytes_returned_total', {}, figures.bytesReturned);
    this.add('bytes_avoided_total', {}, figures.bytesExamined - figures.bytesReturned);
    this.add('records_skipped_total', { by: 'index' }, figures.skippedByIndex);
    this.observe('slice_seconds', {}, figures.sliceMs);
    for (const stage of ['read', 'decode', 'evaluate', 'encode'] as const) {
      this.observe('stage_seconds', { stage }, figures.stagesMs[stage]);
    }
    this.add('filter_cache_total', { result: 'hit' }, figures.filterCacheHits);
    this.add('filter_cache_total', { result: 'miss' }, figures.filterCacheMisses);
    if (figures.filterCacheMisses === 0) return;
    for (const dialect of dialects) this.observe('filter_compile_seconds', { dialect }, figures.compileMs);
  }

  /** Counts one finished page. */
  recordPage(stop: string): void {
    this.add('pages_total', { stop }, 1);
  }

  /** Counts one finished request. `outcome` is `ok`, an error code or `client_gone`. */
  recordRequest(route: RouteLabel, outcome: string, ms: number): void {
    this.add('requests_total', { route, outcome }, 1);
    this.observe('request_seconds', { route }, ms);
  }

  /** Counts one refusal at admission. */
  recordRefusal(reason: string): void {
    this.add('admission_refused_total', { reason }, 1);
  }

  /** Notes how long an admitted scan waited in queues; 0 when it did not. */
  recordAdmissionWait(ms: number): void {
    this.observe('admission_wait_seconds', {}, ms);
  }

  /** Notes which engine the workers run: a series that stands at 1, beside the table as `build_info` does. */
  noteEngine(engine: EngineName): void {
    const info = new Gauge({
      name: `${METRIC_PREFIX}engine_info`,
      help: 'What the workers read records with',
      labelNames: ['engine'],
      registers: [this.registry],
    });
    info.set({ engine }, 1);
  }

  /** Counts one worker that was replaced. */
  recordWorkerRestart(reason: 'crashed' | 'out_of_memory' | 'killed'): void {
    this.add('worker_restarts_total', { reason }, 1);
  }

  /**
   * Notes that a scan took a slot; the returned function notes that it gave it back. A shard keeps its label while it
   * runs something, so the two always meet in one series.
   */
  scanStarted(shard: string): () => void {
    const label = this.shardLabel(shard);
    this.moveScans(label, 1);
    return () => this.moveScans(label, -1);
  }

  /** The text of `/metrics`. */
  async exposition(): Promise<string> {
    this.setLive();
    return this.registry.metrics();
  }

  /** Content type of {@link exposition}. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /** The same numbers as data, by metric name with its prefix: the body of `/stats`. */
  async snapshot(): Promise<Record<string, StatSeries[]>> {
    this.setLive();
    const stats: Record<string, StatSeries[]> = {};
    for (const metric of await this.registry.getMetricsAsJSON()) {
      const values = metric.values as readonly RawValue[];
      stats[metric.name] =
        String(metric.type) === 'histogram' ? histogramSeries(metric.name, values) : values.map(plainSeries);
    }
    return stats;
  }

  /** Forgets every metric; nothing is to be asked afterwards. */
  close(): void {
    this.registry.clear();
  }

  private register(name: MetricName): void {
    const row: MetricRow = METRICS[name];
    const labelNames = Object.keys(row.labels);
    const options = { name: METRIC_PREFIX + name, help: row.help, labelNames, registers: [this.registry] };
    if (row.kind === 'counter') {
      const metric = new Counter(options);
      for (const labels of combinations(row.labels)) metric.inc(labels, 0);
      this.counters.set(name, metric);
    } else if (row.kind === 'gauge') {
      const metric = new Gauge(options);
      for (const labels of combinations(row.labels)) metric.set(labels, 0);
      this.gauges.set(name, metric);
    } else {
      const metric = new Histogram({ ...options, buckets: [...row.buckets!] });
      for (const labels of combinations(row.labels)) metric.zero(labels);
      this.histograms.set(name, metric);
    }
  }

  private add(name: MetricName, labels: Record<string, string>, amount: number): void {
    if (amount > 0) this.counters.get(name)!.inc(closed(name, labels), amount);
  }

  private observe(name: MetricName, labels: Record<string, string>, ms: number): void {
    this.histograms.get(name)!.observe(closed(name, labels), ms / 1000);
  }

  private shardLabel(shard: string): string {
    if (this.scansByLabel.has(shard)) return shard;
    // `other` is one of the labels, so a full set is one more.
    if (this.scansByLabel.size > SHARD_LABELS_MAX) {
      const idle = [...this.scansByLabel].find(([label, running]) => running === 0 && label !== 'other');
      if (idle === undefined) return 'other';
      this.scansByLabel.delete(idle[0]);
      this.gauges.get('scans_running')!.remove({ shard: idle[0] });
    }
    return shard;
  }

  private moveScans(label: string, by: 1 | -1): void {
    const running = (this.scansByLabel.get(label) ?? 0) + by;
    this.scansByLabel.set(label, running);
    this.gauges.get('scans_running')!.set({ shard: label }, running);
  }

  private setLive(): void {
    const { queueDepth, workersBusy, workersIdle } = this.live();
    this.gauges.get('admission_queue_depth')!.set(queueDepth);
    this.gauges.get('workers')!.set({ state: 'busy' }, workersBusy);
    this.gauges.get('workers')!.set({ state: 'idle' }, workersIdle);
  }
}

/** Checks labels against the table: an unknown value becomes `other`, or fails where its set has none. */
function closed(name: MetricName, labels: Record<string, string>): Record<string, string> {
  const row: MetricRow = METRICS[name];
  for (const [label, value] of Object.entries(labels)) {
    const set = row.labels[label]!;
    if (set.includes(value)) continue;
    if (!set.includes('other')) throw new Error(`metric ${name}: ${value} is not a value of ${label}`);
    return closed(name, { ...labels, [label]: 'other' });
  }
  return labels;
}

function combinations(labels: MetricRow['labels']): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (rows, [label, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [label]: value }))),
    [{}],
  );
}

interface RawValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

function plainSeries({ labels, value }: RawValue): StatSeries {
  return { labels: texts(labels), value };
}

/** Gathers the library's flat bucket, sum and count rows into one series per label set. */
function histogramSeries(name: string, values: readonly RawValue[]): StatSeries[] {
  const series = new Map<
    string,
    { labels: Record<string, string>; count: number; sum: number; buckets: Record<string, number> }
  >();
  for (const { labels, value, metricName } of values) {
    const { le, ...rest } = texts(labels);
    const key = JSON.stringify(rest);
    const one = series.get(key) ?? { labels: rest, count: 0, sum: 0, buckets: {} };
    series.set(key, one);
    if (metricName === `${name}_count`) one.count = value;
    else if (metricName === `${name}_sum`) one.sum = value;
    else if (le !== undefined) one.buckets[le] = value;
  }
  return [...series.values()];
}

function texts(labels: RawValue['labels']): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, String(value)]));
}
