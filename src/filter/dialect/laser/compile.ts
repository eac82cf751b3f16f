/**
 * The `laser` dialect's front door: text → tree → checks → canonical text, digest and IR (contract: laser-filter §1).
 *
 * The order matters: cheap checks on shape and bounds come before anything whose cost grows with the filter, and the
 * regex engine sees a pattern only once everything else about the filter is right.
 */
import { Refusal, refuse } from '../../../core/error-codes.js';
import { readJson } from '../../../core/exact-json.js';
import { FILTER_CANONICAL_BYTES_MAX } from '../../../core/limits.js';
import type { CompiledFilter, CompileOptions } from '../../compiled-filter.js';
import type { RegexEngine } from '../../regex.js';
import { summarize } from '../../summary.js';
import { canonicalText, laserDigest } from './canonical.js';
import { lowerLaser } from './lower.js';
import { checkSchemas } from './check-schemas.js';
import { FilterReader } from './members.js';
import { parseLaser } from './parse.js';
import type { LaserNode, TextMatch } from './tree.js';
import { validateLaser } from './validate.js';
import { warnLaser } from './warn.js';

/**
 * Compiles the JSON text of a `laser` filter document.
 *
 * Throws a `Refusal`: `version_skew` for an integer `v` or `evaluator_version` other than 1, else `invalid_request`,
 * with `field` (pointer from the document), `position` (UTF-8 bytes into `text`), and `limit` and `given` where a limit
 * was passed. Where `options.schemas` are given, an id that stands for none of them and a path that none of the filter's
 * has are refused too.
 */
export function compileLaser(text: string, options: CompileOptions): CompiledFilter {
  const reader = new FilterReader(readJson(text), options.strict);
  const filter = parseLaser(reader);
  validateLaser(reader, filter);
  const canonical = canonicalText(filter);
  const canonicalBytes = Buffer.byteLength(canonical);
  if (canonicalBytes > FILTER_CANONICAL_BYTES_MAX) {
    reader.refuse(
      { json: reader.document.root, pointer: '' },
      `The canonical text of a filter has at most ${FILTER_CANONICAL_BYTES_MAX} bytes; this one has ${canonicalBytes}.`,
      { limit: FILTER_CANONICAL_BYTES_MAX, given: canonicalBytes },
    );
  }
  const warns = options.seeksMistakes === true;
  const ofSchemas = options.schemas === undefined ? [] : checkSchemas(reader, filter, options.schemas, warns);
  checkRegexes(reader, filter.expr, options.regex);
  const digest = laserDigest(canonical);
  const lowered = lowerLaser(filter, digest);
  const mistakes = warns ? warnLaser(filter, options.regex) : [];
  const warnings = [...reader.finishedWarnings(), ...mistakes, ...ofSchemas];
  return { lowered, canonical, digest, warnings, summary: summarize(lowered.root) };
}

function checkRegexes(reader: FilterReader, node: LaserNode, engine: RegexEngine): void {
  switch (node.node) {
    case 'all':
    case 'any':
      for (const child of node.children) checkRegexes(reader, child, engine);
      return;
    case 'not':
      checkRegexes(reader, node.child, engine);
      return;
    case 'text':
    case 'header_text':
      if (node.match.kind === 'regex') checkRegex(reader, node.match, engine);
      return;
    default:
  }
}

function checkRegex(
  reader: FilterReader,
  { pattern, patternSpot, caseInsensitive }: TextMatch,
  engine: RegexEngine,
): void {
  try {
    engine.compile(pattern, caseInsensitive);
  } catch (thrown) {
    if (!(thrown instanceof Refusal) || thrown.code !== 'invalid_request' || patternSpot.json.kind !== 'string') {
      throw thrown;
    }
    const index = faultIndex(thrown.problem.detail, pattern);
    const position = reader.document.positionOf(reader.document.indexInString(patternSpot.json, index));
    refuse('invalid_request', thrown.problem.detail, { field: patternSpot.pointer, position });
  }
}

/** Where the engine's message puts its first caret, as a UTF-16 index into the pattern; 0 where it shows none. */
function faultIndex(detail: string, pattern: string): number {
  const lines = detail.split('\n');
  const quoted = lines.findIndex((line) => line === `    ${pattern}`);
  const caret = /^ {4}( *)\^/.exec(lines[quoted + 1] ?? '');
  if (quoted === -1 || caret === null) return 0;
  return Array.from(pattern).slice(0, caret[1]!.length).join('').length;
}
