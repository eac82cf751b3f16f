/**
 * From a planned scan's bytes to what a slice runs: spec decoded, filters compiled, program made; kept per worker.
 *
 * User text is compiled here, in a worker, and nowhere else. A slice may come to any worker, so the compiled scan is
 * found again by its key, or made again from the same bytes. Programs are kept by their filters' text, because the same
 * group sends the same filters with every request.
 *
 * Invariants: a refusal points into the request (`field`), not into the filter; both caches are bounded.
 */
import type { IdentifiedSchema } from '../codec/schema-source.js';
import type { DecoderLimits } from '../codec/walker.js';
import type { WriterSchema } from '../codec/writer-schema.js';
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
import { SchemaShelf, type SeenSchemas } from './schema-shelf.js';
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
  /** The writer schemas that its filters may refer to. */
  readonly schemas: SeenSchemas;
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
  /** The writer schemas of this worker. */
  readonly shelf: SchemaShelf;

  /**
   * Programs run over `kernel` where one is given, else over the TypeScript walkers. `registered` are the writer schemas
   * that every request sees.
   */
  constructor(
    regex: RegexEngine,
    clock: Clock,
    isIndexed = true,
    kernel?: Kernel,
    registered: readonly IdentifiedSchema[] = [],
  ) {
    this.shelf = new SchemaShelf(registered);
    this.patterns = new PatternCache(regex);
    this.clock = clock;
    this.isIndexed = isIndexed;
    this.kernel = kernel;
  }

  /**
   * The compiled scan of `scanKey`. Throws a `Refusal` for a schema or filter that does not compile, `conflict` for a
   * digest that differs from the expected one and for a schema that differs from the registered one. Counts compile time
   * and cache hits.
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
   * Compiles one filter that sees `schemas`; for `validate` it also `seeksMistakes`, and ids that stand for no schema are
   * among them instead of refused. Throws as `compiled` does.
   */
  compileText(filter: FilterTextSpec, schemas: SeenSchemas, seeksMistakes = false): CompiledFilter {
    let compiled: CompiledFilter;
    try {
      compiled = compileFilter(filter.dialect, filter.text, {
        strict: filter.strict,
        regex: this.patterns,
        seeksMistakes,
        schemas: { find: (id) => schemas.find(id), mayLack: seeksMistakes },
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
    const schemas = this.shelf.seenBy(spec.schemas);
    const texts = JSON.stringify(spec.filters.map(({ dialect, strict, text }) => [dialect, strict, text]));
    const key = domainDigest('winnow.filter-set', `${schemas.key}\n${texts}`);
    const known = this.filterSets.get(key);
    if (known === undefined) counters.filterCacheMisses += spec.filters.length;
    else counters.filterCacheHits += spec.filters.length;
    const { filters, program, stages } = known ?? this.compileFilters(spec.filters, schemas);
    // Another request may expect another digest of the same text.
    if (known !== undefined) spec.filters.forEach((entry, i) => checkDigest(entry, known.filters[i]!));
    this.filterSets.set(key, { filters, program, stages }, weightOf(spec));
    const format = spec.segments[0]?.format;
    return {
      spec,
      frameFormat: format === undefined ? 'iggy' : SEGMENT_FORMATS[format].frameFormat,
      entries: filters.map((filter, i) => compiledEntry(spec, spec.filters[i]!, filter, schemas)),
      schemas,
      program,
      stages,
    };
  }

  private compileFilters(entries: readonly FilterEntrySpec[], schemas: SeenSchemas): CompiledFilters {
    const filters = entries.map((entry) => this.compileText(entry, schemas));
    checkPatterns(filters);
    const stages = new StageClock(this.clock);
    const inputs = programInputs(this.patterns, SCAN_LIMITS, this.kernel);
    const program = compileProgram(
      filters.map(({ lowered }) => lowered),
      {
        ...inputs,
        makeWalker: (...wanted) => stages.timed(inputs.makeWalker(...wanted)),
        makeSchemaWalker: (...wanted) => stages.timedBySchema(inputs.makeSchemaWalker(...wanted)),
      },
      { isIndexed: this.isIndexed, schemas: referredSchemas(filters, schemas) },
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

/** Every schema that some filter refers to; ids that stand for none have been refused. */
function referredSchemas(filters: readonly CompiledFilter[], schemas: SeenSchemas): ReadonlyMap<number, WriterSchema> {
  const ids = new Set(filters.flatMap(({ lowered }) => lowered.schemaRefs));
  return new Map([...ids].map((id) => [id, schemas.find(id)!.schema]));
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
  schemas: SeenSchemas,
): CompiledFilterEntry {
  const { codec, faultPolicy, foreignPolicy, mismatchPolicy, schemaRefs } = lowered;
  const hashes = schemaRefs.map((id) => [id, schemas.find(id)!.hash]);
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
      options: JSON.stringify([codec, faultPolicy, foreignPolicy, mismatchPolicy, hashes]),
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

/** What a compiled scan weighs in a cache: the text of its filters and the schemas that came with it. */
function weightOf({ filters, schemas }: ScanSpec): number {
  const texts = filters.reduce((sum, { text }) => sum + text.length, 0);
  return schemas.reduce((sum, { bytes }) => sum + bytes, texts);
}
