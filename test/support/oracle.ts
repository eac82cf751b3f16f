/**
 * The oracle as tests use it: a filter's text in, an evaluator out, and records in both forms in
 * which headers reach it.
 */
import type { HeaderValue } from '../../src/core/header-value.js';
import { compileLaser } from '../../src/filter/dialect/laser/compile.js';
import { Evaluator } from '../../src/filter/evaluate.js';
import type { EvaluatedRecord } from '../../src/filter/evaluate.js';
import { rustRegexEngine } from '../../src/filter/rust-regex.js';
import { decodeContentType, decodeHeaderBlock, textHeaders } from '../../src/segment/header-block.js';
import { loadRegexModule } from '../../workers/regex-module.js';
import type { HeaderEntry } from './cases.js';
import { decodersOf, NO_SOURCES } from './schemas.js';

export const regexEngine = rustRegexEngine(loadRegexModule());

/** The evaluator of a `laser` filter document. */
export function oracleOf(filterText: string, sources = NO_SOURCES): Evaluator {
  const { lowered } = compileLaser(filterText, { strict: false, regex: regexEngine });
  return new Evaluator(lowered, decodersOf(lowered, sources), regexEngine);
}

/** A record as a segment holds it: the header block is decoded as far as the filter needs it. */
export function storedRecord(headerBlock: Uint8Array, payload: Uint8Array): EvaluatedRecord {
  return {
    headers(need): ReadonlyMap<string, HeaderValue> | undefined {
      if (need === 'content_type') return decodeContentType(headerBlock, 0, headerBlock.length);
      const entries = decodeHeaderBlock(headerBlock, 0, headerBlock.length);
      return entries && textHeaders(entries);
    },
    payload,
  };
}

/** A record whose headers were given as values. */
export function givenRecord(headers: readonly HeaderEntry[], payload: Uint8Array): EvaluatedRecord {
  const last = new Map(headers.map(({ key, value }) => [key, value]));
  return { headers: () => last, payload };
}
