/**
 * What compiling a filter gives, whatever its dialect: the interface between dialects and everything that runs or
 * shows filters (contract: scan-protocol §2, `validate`).
 */
import type { Path } from '../core/path.js';
import type { FilterCost } from './cost.js';
import type { LoweredFilter } from './ir.js';
import type { KnownSchemas } from './known-schemas.js';
import type { RegexEngine } from './regex.js';
import type { WarningReason } from './warning-reasons.js';

export interface CompileOptions {
  /**
   * Also look for what is legal but probably not meant. Default false: it takes about as long as compiling, and a scan of
   * thousands of filters shows its warnings to nobody.
   */
  readonly seeksMistakes?: boolean;
  /** Refuse unknown members instead of reporting them. */
  readonly strict: boolean;
  /** Compiles each `regex` pattern once, to find out whether it does; wrap it in a cache to keep what it made. */
  readonly regex: RegexEngine;
  /** The writer schemas that ids, paths and literals are checked against; without them nothing is. */
  readonly schemas?: KnownSchemas;
}

/** Something that a filter holds and probably does not mean. `pointer` starts at the filter document. */
export interface FilterWarning {
  readonly pointer: string;
  readonly reason: WarningReason;
  /** What happens and what to write instead, in whole sentences; texts of the user's are cut. */
  readonly hint: string;
}

/** What a filter reads and what it costs, without running it. Lists are distinct, in order of first appearance. */
export interface FilterSummary {
  readonly readsPayload: boolean;
  readonly readsHeaders: boolean;
  /** Paths in their text form. */
  readonly paths: readonly string[];
  /** The same paths, parsed. */
  readonly wantedPaths: readonly Path[];
  readonly headerKeys: readonly string[];
  readonly cost: FilterCost;
}

export interface CompiledFilter {
  readonly lowered: LoweredFilter;
  /** The one text of this filter, which the digest covers (laser-filter §1). */
  readonly canonical: string;
  /** Lower-case hex. */
  readonly digest: string;
  /** Ignored members, and what else there is to say under `seeksMistakes`. */
  readonly warnings: readonly FilterWarning[];
  readonly summary: FilterSummary;
}

/**
 * Compiles the text of a filter, or throws a `Refusal`: `invalid_request` (or `version_skew`) with `field` relative to
 * the filter document, `position` in bytes of the text, and `limit` and `given` where a limit was passed.
 */
export type CompileFilter = (text: string, options: CompileOptions) => CompiledFilter;
