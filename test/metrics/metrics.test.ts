/** The metrics table: names of the contract, closed labels, conservation, and that both endpoints show the same numbers. */
import { describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE } from '../../src/core/error-codes.js';
import { STOP_NAMES } from '../../src/core/stop-names.js';
import { METRICS, ROUTE_LABELS, SHARD_LABELS_MAX } from '../../src/metrics/table.js';
import { Metrics } from '../../src/metrics/metrics.js';
import type { SliceFigures, StatSeries } from '../../src/metrics/metrics.js';
import { REFUSAL_REASONS } from '../../src/admission/fair-gate.js';

/** The names of scan-protocol §6. */
const CONTRACT_NAMES = [
  'requests_total',
  'request_seconds',
  'admission_refused_total',
  'admission_queue_depth',
  'admission_wait_seconds',
  'scans_running',
  'records_scanned_total',
  'bytes_scanned_total',
  'records_examined_total',
  'records_total',
  'record_faults_total',
  'bytes_examined_total',
  'bytes_returned_total',
  'bytes_avoided_total',
  'records_skipped_total',
  'pages_total',
  'slice_seconds',
  'stage_seconds',
  'filter_compile_seconds',
  'filter_cache_total',
  'workers',
  'worker_restarts_total',
];

const IDLE = { queueDepth: 0, workersBusy: 0, workersIdle: 2 };

function metrics(): Metrics {
  return new Metrics('0.1.0', 1, () => IDLE);
}

function slice(more: Partial<SliceFigures> = {}): SliceFigures {
  return {
    recordsScanned: 10,
    bytesScanned: 1000,
    examined: { json: 8, headers_only: 2 },
    matched: 3,
    rejected: 4,
    unevaluated: 2,
    dropped: 1,
    bytesExamined: 1000,
    skippedByIndex: 3,
    bytesReturned: 450,
    faults: { malformed: 2, type_mismatch: 1 },
    stagesMs: { read: 1, decode: 2, evaluate: 3, encode: 4 },
    compileMs: 5,
    filterCacheHits: 0,
    filterCacheMisses: 1,
    sliceMs: 10,
    ...more,
  };
}

function sum(series: readonly StatSeries[] | undefined): number {
  return (series ?? []).reduce((total, one) => total + (one.value ?? 0), 0);
}

describe('the table', () => {
  it('holds the metrics of the contract and no other', () => {
    expect(Object.keys(METRICS).toSorted()).toEqual([...CONTRACT_NAMES].toSorted());
  });

  it('refusals are labelled by the reasons that admission gives', () => {
    expect(METRICS.admission_refused_total.labels.reason).toEqual([...REFUSAL_REASONS]);
  });

  it('every series of a closed set exists from the start', async () => {
    const stats = await metrics().snapshot();
    expect(stats['winnow_pages_total']).toHaveLength(STOP_NAMES.length);
    expect(stats['winnow_requests_total']).toHaveLength(
      ROUTE_LABELS.length * (Object.keys(ERROR_CATALOGUE).length + 2),
    );
    expect(stats['winnow_request_seconds']).toHaveLength(ROUTE_LABELS.length);
  });

  it('build_info and the process defaults are there', async () => {
    const text = await metrics().exposition();
    expect(text).toContain('winnow_build_info{version="0.1.0",evaluator_version="1"} 1');
    expect(text).toContain('process_resident_memory_bytes');
  });
});

it('the engine that runs has a series that stands at 1', async () => {
  const sink = metrics();
  sink.noteEngine('walker');
  expect(await sink.exposition()).toContain('winnow_engine_info{engine="walker"} 1');
});

describe('conservation', () => {
  it('examined pairs are the sum of outcomes, examined bytes those returned and avoided', async () => {
    const sink = metrics();
    sink.recordSlice(slice(), ['laser']);
    sink.recordSlice(slice({ examined: { json: 5 }, matched: 0, rejected: 5, unevaluated: 0, dropped: 0 }), ['laser']);
    const stats = await sink.snapshot();
    expect(sum(stats['winnow_records_examined_total'])).toBe(15);
    expect(sum(stats['winnow_records_total'])).toBe(15);
    expect(sum(stats['winnow_bytes_examined_total'])).toBe(2000);
    expect(sum(stats['winnow_bytes_returned_total']) + sum(stats['winnow_bytes_avoided_total'])).toBe(2000);
  });

  it('pages are counted once each under their stop', async () => {
    const sink = metrics();
    for (const stop of ['filled', 'filled', 'end_of_visible']) sink.recordPage(stop);
    const pages = (await sink.snapshot())['winnow_pages_total'];
    expect(sum(pages)).toBe(3);
    expect(pages!.find((one) => one.labels['stop'] === 'filled')!.value).toBe(2);
  });
});

describe('labels', () => {
  it('a route outside the table is counted as other, a stop outside it is a programming error', async () => {
    const sink = metrics();
    sink.recordRequest('favicon' as 'other', 'not_found', 1);
    expect(sum((await sink.snapshot())['winnow_requests_total'])).toBe(1);
    expect(() => sink.recordPage('sometimes')).toThrow(/not a value of stop/);
  });

  it('shards make a bounded set of series and the rest is other', async () => {
    const sink = metrics();
    const ends = Array.from({ length: SHARD_LABELS_MAX + 10 }, (_, index) => sink.scanStarted(`shard-${index}`));
    const running = (await sink.snapshot())['winnow_scans_running']!;
    expect(running).toHaveLength(SHARD_LABELS_MAX + 1);
    expect(running.find((one) => one.labels['shard'] === 'other')!.value).toBe(10);
    expect(sum(running)).toBe(SHARD_LABELS_MAX + 10);
    for (const end of ends) end();
    expect(sum((await sink.snapshot())['winnow_scans_running'])).toBe(0);
  });

  it('a label whose shard is idle is given to a new shard', async () => {
    const sink = metrics();
    for (let index = 0; index < SHARD_LABELS_MAX; index += 1) sink.scanStarted(`shard-${index}`)();
    sink.scanStarted('newcomer');
    const running = (await sink.snapshot())['winnow_scans_running']!;
    expect(running.find((one) => one.labels['shard'] === 'newcomer')!.value).toBe(1);
    expect(running).toHaveLength(SHARD_LABELS_MAX + 1);
  });
});

describe('the two endpoints', () => {
  it('show the same numbers', async () => {
    const sink = metrics();
    sink.recordSlice(slice(), ['laser']);
    sink.recordPage('filled');
    sink.recordRequest('scan', 'ok', 12);
    sink.recordRefusal('shard_full');
    sink.recordAdmissionWait(3);
    sink.recordWorkerRestart('killed');
    const text = await sink.exposition();
    const stats = await sink.snapshot();
    let compared = 0;
    for (const name of Object.keys(METRICS).map((short) => `winnow_${short}`)) {
      for (const one of stats[name]!) {
        const labels = Object.entries(one.labels).map(([label, value]) => `${label}="${value}"`);
        const suffix = one.value === undefined ? '_count' : '';
        const line = `${name}${suffix}${labels.length > 0 ? `{${labels.join(',')}}` : ''} ${one.value ?? one.count}`;
        expect(text.split('\n')).toContain(line);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(200);
  });

  it('the compile time is noted only by a slice that compiled', async () => {
    const sink = metrics();
    sink.recordSlice(slice({ filterCacheHits: 1, filterCacheMisses: 0 }), ['laser']);
    sink.recordSlice(slice(), ['laser']);
    const compiled = (await sink.snapshot())['winnow_filter_compile_seconds']!;
    expect(compiled.find((one) => one.labels['dialect'] === 'laser')!.count).toBe(1);
  });
});
