/**
 * Every metric of the service as data (contract: scan-protocol §6): kind, labels with their closed sets, help, buckets.
 *
 * The registry, `/metrics` and `/stats` are built from this one table. Names stand here without the prefix `winnow_`.
 *
 * Invariants: a label takes only the values listed here (for `shard`, which callers choose, the registry bounds the set
 * and the rest is `other`); every series of a closed set exists from the start, at 0, so that a missing series never
 * has to be told apart from zero.
 */
import { ERROR_CATALOGUE } from '../core/error-codes.js';
import { STOP_NAMES } from '../core/stop-names.js';
import { REASON_NAMES } from '../core/verdict.js';

/** Routes as `requests_total` names them; anything else is `other`. */
export const ROUTE_LABELS = [
  'scan',
  'validate',
  'test',
  'preview',
  'diff',
  'schemas',
  'capabilities',
  'livez',
  'readyz',
  'metrics',
  'stats',
  'openapi',
  'other',
] as const;
export type RouteLabel = (typeof ROUTE_LABELS)[number];

/** How a request ended: `ok`, the code of its problem (also one in an error frame), or a client that went away. */
export const OUTCOME_LABELS = ['ok', ...Object.keys(ERROR_CATALOGUE), 'client_gone'] as const;

const CODEC_LABELS = ['json', 'cbor', 'avro', 'protobuf', 'headers_only'] as const;
const RECORD_OUTCOME_LABELS = ['matched', 'rejected', 'unevaluated', 'dropped'] as const;
const STAGE_LABELS = ['read', 'decode', 'evaluate', 'encode'] as const;
const DIALECT_LABELS = ['laser', 'net', 'iii'] as const;

/** Shards with a series of their own; the next ones share `other`. A series costs about 100 bytes a scrape. */
export const SHARD_LABELS_MAX = 64;

/** Seconds, from a refusal's 100 µs to the longest deadline. */
const REQUEST_BUCKETS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];
/** Seconds around a slice's 10 ms up to the 2 s after which it is killed. */
const SLICE_BUCKETS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2];

/** One row of the table. */
export interface MetricRow {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Label name → its closed set; `shard` is the one set that fills at run time. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
  readonly buckets?: readonly number[];
}

/** The table of scan-protocol §6 but `build_info` and the process defaults, which the registry adds. */
export const METRICS = {
  requests_total: counter('Requests by route and how they ended', { route: ROUTE_LABELS, outcome: OUTCOME_LABELS }),
  request_seconds: histogram('Time from arrival to the last byte', REQUEST_BUCKETS, { route: ROUTE_LABELS }),
  admission_refused_total: counter('Requests refused at admission', {
    reason: ['shard_full', 'queue_full', 'queue_deadline', 'draining', 'event_loop'],
  }),
  admission_queue_depth: gauge('Scans that wait for a slot or for inline bytes'),
  admission_wait_seconds: histogram('Time a scan waited for its slot and its inline bytes', REQUEST_BUCKETS),
  scans_running: gauge('Scans that hold a slot', { shard: ['other'] }),
  records_scanned_total: counter('Records passed over, once each however many filters look at them'),
  bytes_scanned_total: counter('Stored frame bytes passed over'),
  records_examined_total: counter('Record and filter pairs examined', { codec: CODEC_LABELS }),
  records_total: counter('Record and filter pairs by outcome', { outcome: RECORD_OUTCOME_LABELS }),
  record_faults_total: counter('Records that a filter could not judge', { reason: REASON_NAMES.slice(1) }),
  bytes_examined_total: counter('Stored frame bytes of examined pairs'),
  bytes_returned_total: counter('Stored frame bytes of delivered pairs'),
  bytes_avoided_total: counter('Stored frame bytes examined and not delivered'),
  records_skipped_total: counter('Record and filter pairs rejected without evaluation', { by: ['index', 'prefilter'] }),
  pages_total: counter('Pages by stop', { stop: STOP_NAMES }),
  slice_seconds: histogram('Time of a slice on its worker', SLICE_BUCKETS),
  stage_seconds: histogram('Time of a slice by stage', SLICE_BUCKETS, { stage: STAGE_LABELS }),
  filter_compile_seconds: histogram('Time to compile the filters of a scan', SLICE_BUCKETS, {
    dialect: DIALECT_LABELS,
  }),
  filter_cache_total: counter('Compiled filters found or made', { result: ['hit', 'miss'] }),
  workers: gauge('Worker threads', { state: ['busy', 'idle'] }),
  worker_restarts_total: counter('Workers replaced', { reason: ['crashed', 'out_of_memory', 'killed'] }),
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof METRICS;

function counter<const L extends MetricRow['labels'] = Record<never, never>>(help: string, labels?: L) {
  return { kind: 'counter' as const, help, labels: labels ?? ({} as L) };
}

function gauge<const L extends MetricRow['labels'] = Record<never, never>>(help: string, labels?: L) {
  return { kind: 'gauge' as const, help, labels: labels ?? ({} as L) };
}

function histogram<const L extends MetricRow['labels'] = Record<never, never>>(
  help: string,
  buckets: readonly number[],
  labels?: L,
) {
  return { kind: 'histogram' as const, help, labels: labels ?? ({} as L), buckets };
}
