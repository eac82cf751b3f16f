/** The program as tests use it: filter texts in, one record at a time, verdicts as the corpus spells them. */
import { DEPTH_MAX, PAYLOAD_BYTES_MAX } from '../../src/core/limits.js';
import { type Outcome, REASON_NAMES, reasonOf, VERDICT_NAMES, verdictOf } from '../../src/core/verdict.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { compileProgram, type Program } from '../../src/filter/program.js';
import { cachedRegexEngine } from './regex-engine.js';
import { compiledSchemas, NO_SOURCES } from './schemas.js';
import { TYPESCRIPT_ENGINE, type WalkerEngine } from './walker-engine.js';

export const DEFAULT_LIMITS = { maxPayloadBytes: PAYLOAD_BYTES_MAX, maxDepth: DEPTH_MAX };

/** The program of `laser` documents, over the walkers of `engine`; `sources` are the schemas they refer to. */
export function programOf(
  filterTexts: readonly string[],
  limits = DEFAULT_LIMITS,
  engine: WalkerEngine = TYPESCRIPT_ENGINE,
  sources = NO_SOURCES,
): Program {
  const filters = filterTexts.map((text) => compileLaser(text, { strict: false, regex: cachedRegexEngine }).lowered);
  return compileProgram(filters, engine.programInputs(limits), { schemas: compiledSchemas(sources) });
}

/** Moves to a record that lies inside a larger buffer, with bytes around and between payload and headers. */
export function beginRecord(program: Program, payload: Uint8Array, headerBlock: Uint8Array): void {
  const bytes = new Uint8Array(payload.length + headerBlock.length + 9).fill(0x22);
  bytes.set(payload, 3);
  const headersStart = payload.length + 6;
  bytes.set(headerBlock, headersStart);
  program.begin(bytes, 3, 3 + payload.length, headersStart, headersStart + headerBlock.length);
}

/** As the corpus spells it: no reason is null. */
export function shown(outcome: Outcome): { verdict: string; reason: string | null } {
  const reason = reasonOf(outcome);
  return { verdict: VERDICT_NAMES[verdictOf(outcome)], reason: reason === 0 ? null : REASON_NAMES[reason] };
}
