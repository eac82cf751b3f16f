/**
 * From a planned scan's bytes to what a slice runs: spec decoded, filters compiled, program made; kept per worker.
 *
 * User text is compiled here, in a worker, and nowhere else. A slice may come to any worker, so the compiled scan is
 * found again by its key, or made again from the same bytes. Programs are kept by their filters' text, because the same
 * group sends the same filters with every request.
 *
 * Invariants: a refusal points into the request (`field`), not into the filter; both caches are bounded.
 */
import type { DecoderLimits } from '../codec/walker.js';
import type { Clock } from '../core/clock.js';
import { domainDigest } from '../core/digest.js';
import { type Problem, Refusal, refuse } from '../core/error-codes.js';
import type { Kernel } from '../core/kernel.js';
import {
  DEPTH_MAX,
  FILTER_TEXTS_CACHED_MAX,
  PATTERNS_PER_SCAN_MAX,
  PAYLOAD_BYTES_MAX,
  SCANS_CACHED_MAX,
} from '../core/limits.js';
import type { CompiledFilter } from '../filter/compiled-filter.js';
import { compileFilter } from '../filter/dialects.js';
import { forEachLeaf, type LoweredFilter } from '../filter/ir.js';
import { compileProgram, type Program } from '../filter/program.js';
import type { RegexEngine } from '../filter/regex.js';
import { SEGMENT_FORMATS } from '../segment/formats.js';
import type { ContinuationBinding } from '../wire/continuation.js';
import { decodeMsgpack } from '../wire/msgpack.js';
import { PatternCache, patternKey } from './pattern-cache.js';
import { programInputs } from './program-inputs.js';
import { RecentlyUsed } from './recently-used.js';
import type { FrameFormat } from './record-object.js';
import { StageClock } from './stage-clock.js';
import type { FilterEntrySpec, FilterPolicy, FilterTextSpec, ScanSpec, SliceCounters } from './task.js';

/** Decoder limits of every scan (laser-filter §4); only `test` may lower them. */
export const SCAN_LIMITS: DecoderLimits = { maxPayloadBytes: PAYLOAD_BYTES_MAX, maxDepth: DEPTH_MAX };

/** One filter of a compiled scan. */
export interface CompiledFilterEntry {
  readonly lowered: LoweredFilter;
  readonly policy: FilterPolicy;
  readonly binding: ContinuationBinding;
}

export interface CompiledScan {
  readonly spec: ScanSpec;
  readonly frameFormat: FrameFormat;
  readonly entries: readonly CompiledFilterEntry[];
  readonly program: Program;
  /** Times the decoding inside `program`. */
  readonly stages: StageClock;
}

interface CompiledFilters {
  readonly filters: readonly CompiledFilter[];
  readonly program: Program;
  readonly stages: StageClock;
}

export class ScanCompiler {
  private readonly clock: Clock;
  private readonly patterns: PatternCache;
  private readonly scans = new RecentlyUsed<CompiledScan>(SCANS_CACHED_MAX, FILTER_TEXTS_CACHED_MAX);
  private readonly filterSets = new RecentlyUsed<CompiledFilters>(SCANS_CACHED_MAX, FILTER_TEXTS_CACHED_MAX);
  private readonly isIndexed: boolean;
  private readonly kernel: Kernel | undefined;

  /** Programs run over `kernel` where one is given, else over the TypeScript walkers. */
  constructor(regex: RegexEngine, clock: Clock, isIndexed = true, kernel?: Kernel) {
    this.patterns = new PatternCache(regex);
    this.clock = clock;
    this.isIndexed = isIndexed;
    this.kernel = kernel;
  }

  /**
   * The compiled scan of `scanKey`. Throws a `Refusal` for a filter that does not compile, `conflict` for a digest that
   * differs from the expected one, `unsupported` for a codec that is not built. Counts compile time and cache hits.
   */
  compiled(scanKey: string, specBytes: SharedArrayBuffer, counters: SliceCounters): CompiledScan {
    const known = this.scans.get(scanKey);
    if (known !== undefined) return known;
    // A copy, because text is not decoded from shared memory.
    const spec = decodeMsgpack(new Uint8Array(specBytes).slice()) as ScanSpec;
    const startedAtMs = this.clock.nowMs();
    try {
      const scan = this.compileScan(spec, counters);
      this.scans.set(scanKey, scan, weightOf(scan.spec));
      return scan;
    } finally {
      counters.compileMs += this.clock.nowMs() - startedAtMs;
    }
  }

  /**
   * Compiles one filter, for `validate`, which `seeksMistakes`, and `test`. Throws as `compiled` does, but accepts every
   * codec.
   */
  compileText(filter: FilterTextSpec, seeksMistakes = false): CompiledFilter {
    let compiled: CompiledFilter;
    try {
      compiled = compileFilter(filter.dialect, filter.text, {
        strict: filter.strict,
        regex: this.patterns,
        seeksMistakes,
      });
    } catch (thrown) {
      if (thrown instanceof Refusal) throw new Refusal(inRequest(thrown.problem, filter));
      throw thrown;
    }
    checkDigest(filter, compiled);
    return compiled;
  }

  /** The engine behind the cache, for evaluators that compile patterns of their own. */
  get regex(): RegexEngine {
    return this.patterns;
  }

  private compileScan(spec: ScanSpec, counters: SliceCounters): CompiledScan {
    const texts = JSON.stringify(spec.filters.map(({ dialect, strict, text }) => [dialect, strict, text]));
    const key = domainDigest('winnow.filter-set', texts);
    const known = this.filterSets.get(key);
    if (known === undefined) counters.filterCacheMisses += spec.filters.length;
    else counters.filterCacheHits += spec.filters.length;
    const { filters, program, stages } = known ?? this.compileFilters(spec.filters);
    // Another request may expect another digest of the same text.
    if (known !== undefined) spec.filters.forEach((entry, i) => checkDigest(entry, known.filters[i]!));
    this.filterSets.set(key, { filters, program, stages }, weightOf(spec));
    const format = spec.segments[0]?.format;
    return {
      spec,
      frameFormat: format === undefined ? 'iggy' : SEGMENT_FORMATS[format].frameFormat,
      entries: filters.map((filter, i) => compiledEntry(spec, spec.filters[i]!, filter)),
      program,
      stages,
    };
  }

  private compileFilters(entries: readonly FilterEntrySpec[]): CompiledFilters {
    const filters = entries.map((entry) => this.compileText(entry));
    filters.forEach(({ lowered }, i) => checkCodec(entries[i]!, lowered));
    checkPatterns(filters);
    const stages = new StageClock(this.clock);
    const inputs = programInputs(this.patterns, SCAN_LIMITS, this.kernel);
    const program = compileProgram(
      filters.map(({ lowered }) => lowered),
      { ...inputs, makeWalker: (...wanted) => stages.timed(inputs.makeWalker(...wanted)) },
      { isIndexed: this.isIndexed },
    );
    return { filters, program, stages };
  }
}

/** Refuses `conflict` where the caller expected another filter than this text is. */
function checkDigest(filter: FilterTextSpec, { digest }: CompiledFilter): void {
  if (filter.expectDigest === undefined || filter.expectDigest === digest) return;
  refuse('conflict', `The filter has the digest ${digest}, not the expected one.`, {
    field: filter.pointer.replace(/\/[^/]*$/, '/expect_digest'),
    given: filter.expectDigest,
  });
}

/** Refuses `unsupported` for a codec whose payloads cannot be read yet. */
export function checkCodec(filter: FilterTextSpec, { codec }: LoweredFilter): void {
  if (codec === 'json' || codec === 'headers_only') return;
  const problem = {
    code: 'unsupported',
    detail: `Reading ${codec} payloads is not available in this version.`,
  } as const;
  throw new Refusal(inRequest({ ...problem, field: '/codec', given: codec }, filter));
}

function checkPatterns(filters: readonly CompiledFilter[]): void {
  const patterns = new Set<string>();
  for (const { lowered } of filters) {
    forEachLeaf(lowered.root, (leaf) => {
      if (leaf.node === 'text' && leaf.kind === 'regex') patterns.add(patternKey(leaf.pattern, leaf.caseInsensitive));
    });
  }
  if (patterns.size > PATTERNS_PER_SCAN_MAX) {
    refuse('invalid_request', `A scan has at most ${PATTERNS_PER_SCAN_MAX} distinct patterns.`, {
      field: '/filters',
      limit: PATTERNS_PER_SCAN_MAX,
      given: patterns.size,
    });
  }
}

/** What `begin` frames and pages say of a filter, and what its continuations are bound to. */
function compiledEntry(
  spec: ScanSpec,
  entry: FilterEntrySpec,
  { lowered, digest }: CompiledFilter,
): CompiledFilterEntry {
  const { codec, faultPolicy, foreignPolicy, mismatchPolicy, schemaRefs } = lowered;
  return {
    lowered,
    policy: { id: entry.id, policy: { dialect: entry.dialect, digest } },
    binding: {
      stream: spec.stream,
      topic: spec.topic,
      partitionId: spec.partitionId,
      generation: spec.generation,
      dialect: entry.dialect,
      digest,
      options: JSON.stringify([codec, faultPolicy, foreignPolicy, mismatchPolicy, schemaRefs]),
    },
  };
}

/**
 * A compiler's problem, whose `field` is relative to the filter, as one about the request: with `filter_text` the field
 * is that member and `filter_field`, `position` point into the text; else the field goes through the filter.
 */
function inRequest(problem: Problem, filter: FilterTextSpec): Problem {
  const { field = '', position, errors, ...rest } = problem;
  const inner = errors === undefined ? {} : { errors: errors.map((error) => inRequest(error, filter)) };
  if (!filter.asText) return { ...rest, ...inner, field: filter.pointer + field };
  return {
    ...rest,
    ...inner,
    field: filter.pointer,
    ...(field === '' ? {} : { filter_field: field }),
    ...(position === undefined ? {} : { position }),
  };
}

/** What a compiled scan weighs in a cache: the text of its filters. */
function weightOf({ filters }: ScanSpec): number {
  return filters.reduce((sum, { text }) => sum + text.length, 0);
}
