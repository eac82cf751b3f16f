/**
 * What crosses between the main thread and a worker for one slice of a scan: plain data only (house §2, §6).
 *
 * The main thread plans a scan once into a `ScanSpec`, encodes it (MessagePack) into a SharedArrayBuffer, and hands the same
 * buffer with every slice; a worker decodes and compiles it on first sight and caches it by `scanKey`. A slice may run
 * on any worker. What the filters have done so far rides in `ScanState`. Page bytes and open pages are transferred, never cloned.
 */
import type { IdentifiedSchema, SchemaSource } from '../codec/schema-source.js';
import type { Problem } from '../core/error-codes.js';
import type { SegmentFormatName } from '../segment/formats.js';
import type { CursorMark } from '../source/frame-cursor.js';
import type { OpenedBefore } from '../source/segment-source.js';
import type { FunnelState } from '../filter/funnel.js';
import type { StopName } from '../core/stop-names.js';
import type { PageFault } from '../wire/page.js';
import type { DiffPart, DiffReply, PreviewRecord, PreviewReply } from '../wire/preview.js';

export type ReplyForm = 'records' | 'headers' | 'offsets' | 'count';
/** `single`: one JSON/MessagePack page object; `frames`: NDJSON or MessagePack frames. */
export type ReplyEncoding = 'json' | 'msgpack';

/** The effective budgets of a response, as the reply announces them (scan-protocol §1). */
export interface Budgets {
  readonly count: number;
  readonly max_reply_bytes: number;
  readonly max_examined: number;
  readonly max_examined_bytes: number;
  readonly deadline_ms: number;
  /** 0: until a stop other than `filled`. */
  readonly pages: number;
  readonly progress_ms: number;
}

/** Where a filter starts; `pointer` is the member of the request that says so. */
export type StartSpec = { readonly pointer: string } & (
  | { readonly at: 'first' }
  | { readonly at: 'last' }
  | { readonly at: 'offset'; readonly offset: number }
  /** Microseconds as decimal text, u64. */
  | { readonly at: 'timestamp'; readonly timestamp: string }
  | { readonly at: 'continue'; readonly token: string }
);

/** One filter as the user wrote it: text, never parsed on the main thread. */
export interface FilterEntrySpec {
  readonly id: string;
  readonly dialect: 'laser';
  /** JSON text of the filter document. */
  readonly text: string;
  /** JSON pointer of the text in the request: `/filters/0/filter` or `/filters/0/filter_text`. */
  readonly pointer: string;
  /** True when the user sent `filter_text`: faults then carry `position` and `filter_field`. */
  readonly asText: boolean;
  readonly start: StartSpec;
  readonly expectDigest?: string;
  readonly strict: boolean;
}

/** A writer schema that a request brings, at its place in `/schemas`; compiled only in workers. */
export interface SchemaSpec {
  readonly id: number;
  readonly source: SchemaSource;
  /** Bytes of the source, as its bound counts them. */
  readonly bytes: number;
}

export interface SegmentSpec {
  readonly format: SegmentFormatName;
  /** Index into `SliceTask.inline`, or a path under a configured store root. */
  readonly place: { readonly inline: number } | { readonly store: string; readonly path: string };
  readonly baseOffset: number;
  readonly lastOffset?: number;
  readonly sealed: boolean;
  readonly verifyChecksums: boolean;
}

export interface ScanSpec {
  readonly requestId: string;
  readonly stream: string;
  readonly topic: string;
  readonly generation: string;
  readonly partitionId: number;
  readonly segments: readonly SegmentSpec[];
  readonly filters: readonly FilterEntrySpec[];
  readonly schemas: readonly SchemaSpec[];
  readonly reply: ReplyForm;
  readonly encoding: ReplyEncoding;
  /** True: frames with a `frame` member (NDJSON lines or MessagePack back to back); false: one bare page object. */
  readonly framed: boolean;
  /** True where pages may leave before they are full (`flushed`): in streams whose reader did not ask for whole ones. */
  readonly flushes: boolean;
  readonly diagnostic: boolean;
  readonly budgets: Budgets;
}

/** Bounds of one slice (scan-protocol §4). */
export interface SliceBounds {
  readonly recordsMax: number;
  readonly bytesMax: number;
  readonly timeMaxMs: number;
}

/** Int32 cells of `SliceTask.control`: set by the main thread with `Atomics.store`, looked at every N records. */
export const CONTROL_CANCEL = 0;
export const CONTROL_CELLS = 4;

/** The bytes of an inline segment, or a view of a body in shared memory: they cross threads without a copy. */
export type InlineBytes = SharedArrayBuffer | Uint8Array<SharedArrayBuffer>;

export interface SliceTask {
  readonly kind: 'slice';
  /** Unique in the process; the worker's cache key. */
  readonly scanKey: string;
  /** MessagePack of `ScanSpec`. */
  readonly spec: SharedArrayBuffer;
  readonly control: SharedArrayBuffer;
  readonly inline: readonly InlineBytes[];
  /** `null` on the first slice: the worker compiles, checks continuations and places the scan before it reads. */
  readonly state: ScanState | null;
  readonly bounds: SliceBounds;
  /** Instant on the process clock (`core/clock`), in milliseconds. */
  readonly deadlineAtMs: number;
}

export interface FilterTotals {
  pages: number;
  examined: number;
  matched: number;
  rejected: number;
  unevaluated_count: number;
  dropped: number;
  examined_bytes: number;
}

/** A filter after a slice, in wire spelling: the material of `progress`, `end` and `error` frames. */
export interface FilterProgress {
  readonly id: string;
  /** Absent while the filter still runs. */
  stop?: StopName;
  budget?: 'examined' | 'examined_bytes' | 'pages';
  /** With `budget: pages` too: what filled the last page. */
  filled_by?: 'count' | 'reply_bytes';
  fault?: PageFault;
  frontier?: number;
  totals: FilterTotals;
  next_scan_offset?: number;
  safe_ack_offset?: number;
  /**
   * Where the filter stands, for progress frames: past the last classified record, but never past a record that waits
   * on an open page, so that nobody who goes on there loses one.
   */
  reached_offset?: number | undefined;
  /** Token that resumes after the last finished page (or at the start, before the first). */
  continuation: string;
}

/** What a slice changed of a filter beside its numbers: what it says when it closes a page or leaves the pass. */
export type FilterChange = { readonly filter: number } & Partial<Omit<FilterProgress, 'id' | 'totals'>>;

/**
 * Carried from slice to slice. The main thread reads it through `ScanProgress` alone; the rest belongs to the worker.
 */
export interface ScanState {
  /** In a reply: the filters that this slice changed; of the first slice all of them. A worker reads none. */
  readonly changes: readonly FilterChange[];
  readonly cursor: ScanCursorState;
  /** The numbers of all filters, see `run-table.ts`. Rides in the transfer list. */
  readonly table: Float64Array<ArrayBuffer>;
  /** The open pages that hold something. */
  readonly pages: readonly OpenPageState[];
}

/** Where the pass is. */
export interface ScanCursorState {
  /** `locate`: looking for the last visible record, because a filter starts there. */
  readonly phase: 'locate' | 'scan';
  /** Index of the segment that `mark` is in; the number of segments when the pass is at the end. */
  readonly segment: number;
  readonly mark: CursorMark;
  /** What each segment was when it was opened; null where it was not needed. Fixed by the first slice. */
  readonly opened: readonly (OpenedBefore | null)[];
  /** The last visible record met while locating it. */
  readonly last: { readonly segment: number; readonly offset: number; readonly mark: CursorMark } | null;
  /** Highest offset known so far, −1 if none. */
  readonly frontier: number;
}

/** An open page between two slices; see `page.ts`. `bytes` and `places` ride in the transfer list. */
export interface OpenPageState {
  /** Index of the filter in the request. */
  readonly filter: number;
  readonly bytes: Uint8Array;
  readonly bytesUsed: number;
  readonly recordCount: number;
  readonly places: Float64Array<ArrayBuffer>;
  readonly unevaluated: { readonly offset: number; readonly reason: string }[];
}

export interface PageOut {
  /** Index of the filter in the request. */
  readonly filter: number;
  /** Complete frame or body in the reply's encoding, NDJSON line end included. */
  readonly bytes: Uint8Array;
  readonly stop: StopName;
}

/** Counters of one slice, added to the metrics by the main thread (scan-protocol §6). */
export interface SliceCounters {
  recordsScanned: number;
  bytesScanned: number;
  /** By codec name: record × filter pairs examined. */
  examined: Record<string, number>;
  matched: number;
  rejected: number;
  unevaluated: number;
  dropped: number;
  bytesExamined: number;
  bytesReturned: number;
  /** Examined pairs of a record and a filter that the index rejected without evaluating the filter. */
  skippedByIndex: number;
  /** Fault verdicts by reason, stopped ones included. */
  faults: Record<string, number>;
  /** Milliseconds by stage. */
  stagesMs: { read: number; decode: number; evaluate: number; encode: number };
  compileMs: number;
  filterCacheHits: number;
  filterCacheMisses: number;
  sliceMs: number;
}

export interface FilterPolicy {
  readonly id: string;
  readonly policy: { readonly dialect: string; readonly digest: string };
}

export interface SliceReply {
  /** Set on the first slice: what the `begin` frame says of each filter. */
  readonly begin?: readonly FilterPolicy[];
  /** Finished pages in the order they closed. */
  readonly pages: readonly PageOut[];
  readonly state: ScanState;
  /** True when every filter has stopped. */
  readonly done: boolean;
  /**
   * Damage met after some filter examined a record in this response (`done` is true): frames end with an error frame
   * that carries it; a single page says it by itself (`stop: corrupt`). Earlier damage, and every other fault, is the
   * reply's `problem` instead: an HTTP status while nothing was sent, else an error frame with the state before.
   */
  readonly damage?: Problem;
  readonly counters: SliceCounters;
}

/** `validate` and `test` run in a worker too, because user text is compiled only there. */
export interface ValidateTask {
  readonly kind: 'validate';
  readonly filter: FilterTextSpec;
  readonly schemas: readonly SchemaSpec[];
}

export interface TestTask {
  readonly kind: 'test';
  readonly filter: FilterTextSpec;
  readonly schemas: readonly SchemaSpec[];
  /** JSON text of the request's `record` member, read exactly in the worker. */
  readonly record: string;
  readonly limits?: { readonly max_payload_bytes?: number; readonly max_depth?: number };
}

export type FilterTextSpec = Pick<
  FilterEntrySpec,
  'dialect' | 'text' | 'pointer' | 'asText' | 'expectDigest' | 'strict'
>;

/**
 * A slice of `preview` or `diff` (scan-protocol §2): a slice of a scan over one filter whose records are judged by the
 * oracle. `slice.spec.filters` holds the filter, of a diff the entry `a`.
 */
export type WatchTask = PreviewTask | DiffTask;

export interface PreviewTask {
  readonly kind: 'preview';
  readonly slice: SliceTask;
  readonly maxRecords: number;
  readonly explain: boolean;
  /** What earlier slices found; `null` on the first. */
  readonly found: PreviewFound | null;
}

export interface DiffTask {
  readonly kind: 'diff';
  readonly slice: SliceTask;
  readonly other: FilterTextSpec;
  readonly found: DiffFound | null;
}

/** Carried from slice to slice of a preview. */
export interface PreviewFound {
  readonly funnel: FunnelState;
  /** At most `maxRecords` together, in the order of the reply's classes, each by offset. */
  readonly records: readonly (readonly PreviewRecord[])[];
}

/** Carried from slice to slice of a diff. */
export interface DiffFound {
  readonly parts: Readonly<Record<'only_a' | 'only_b' | 'both' | 'neither', DiffPart>>;
  stoppedBy?: 'a' | 'b' | 'both';
}

export interface WatchReply<Found, Answer> {
  readonly state: ScanState;
  readonly found: Found;
  /** The body of the reply, from the last slice. */
  readonly answer?: Answer;
  readonly counters: SliceCounters;
}

export type PreviewSliceReply = WatchReply<PreviewFound, PreviewReply>;
export type DiffSliceReply = WatchReply<DiffFound, DiffReply>;

/** Compiles one schema of the registry; its problem is about the schema alone. */
export interface SchemaTask {
  readonly kind: 'schema';
  readonly id: number;
}

export type WorkerTask = SliceTask | ValidateTask | TestTask | WatchTask | SchemaTask;

/** Every task answers with its value or a problem; nothing is thrown across. */
export type WorkerReply<T> = { readonly ok: T } | { readonly problem: Problem };

/** Int32 cell of `WorkerSetup.turns`: how many wait for a worker. */
export const TURNS_AWAITED = 0;
export const TURNS_CELLS = 1;

/** Handed to each worker once, at its start. */
export interface WorkerSetup {
  /** Store name → absolute root folder. */
  readonly stores: Readonly<Record<string, string>>;
  /** Continuation keys, newest first: it signs, all verify. Each at least 16 bytes. */
  readonly continuationKeys: readonly Uint8Array[];
  readonly modules: WorkerModules;
  /** The registry of writer schemas; none by default. */
  readonly schemas?: readonly IdentifiedSchema[];
  /** `TURNS_CELLS` Int32 cells, kept up to date by the main thread; without them every slice ends at its bounds. */
  readonly turns?: SharedArrayBuffer;
}

/** The WebAssembly that workers run, compiled once per process; compiled modules may cross threads. */
export interface WorkerModules {
  /** The Rust regex engine. */
  readonly regex: WebAssembly.Module;
  /** `null`: the TypeScript walkers do the work. */
  readonly kernel: WebAssembly.Module | null;
}
