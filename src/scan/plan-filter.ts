/**
 * Planning what `scan`, `preview`, `validate` and `test` share of a filter entry (contract: scan-protocol §1 "A filter entry", §2):
 * exactly one source of the filter, a dialect that is built, and nothing that belongs to another dialect. Pure; the
 * filter stays text, to be compiled in a worker.
 */
import { refuse } from '../core/error-codes.js';
import { FILTER_TEXT_BYTES_MAX } from '../core/limits.js';
import type { TestRequest, ValidateRequest } from '../wire/filter-request.js';
import type { FilterEntryInput } from '../wire/scan-request.js';
import { planSchemas } from './plan-schemas.js';
import type { FilterTextSpec, TestTask, ValidateTask } from './task.js';

type FilterMembers = Omit<FilterEntryInput, 'id' | 'start' | 'revision' | 'group'>;

/** Members that stand beside a filter only where its dialect has no place for them inside. */
const OTHER_DIALECTS_MEMBERS = [
  'codec',
  'schema_refs',
  'fault_policy',
  'foreign_policy',
  'mismatch_policy',
  'net_compat',
  'document',
] as const;

/** The filter of an entry at pointer `field` (empty for `validate` and `test`), or a refusal with its pointer. */
export function planFilterText(entry: FilterMembers, field: string): FilterTextSpec {
  const dialect = entry.dialect ?? 'laser';
  if (dialect !== 'laser') {
    refuse('unsupported', `The dialect ${dialect} is not available in this version.`, {
      field: `${field}/dialect`,
      given: dialect,
    });
  }
  for (const name of OTHER_DIALECTS_MEMBERS) {
    if (entry[name] !== undefined) {
      refuse('invalid_request', `${name} stands inside a laser filter, not beside it.`, { field: `${field}/${name}` });
    }
  }
  if ((entry.filter === undefined) === (entry.filter_text === undefined)) {
    refuse('invalid_request', 'An entry needs exactly one of filter and filter_text.', { field });
  }
  const asText = entry.filter_text !== undefined;
  const text = entry.filter_text ?? entry.filter!;
  const pointer = `${field}/${asText ? 'filter_text' : 'filter'}`;
  const given = Buffer.byteLength(text);
  if (given > FILTER_TEXT_BYTES_MAX) {
    refuse('invalid_request', `A filter is longer than ${FILTER_TEXT_BYTES_MAX} bytes.`, {
      field: pointer,
      limit: FILTER_TEXT_BYTES_MAX,
      given,
    });
  }
  return {
    dialect,
    text,
    pointer,
    asText,
    ...(entry.expect_digest === undefined ? {} : { expectDigest: entry.expect_digest.toLowerCase() }),
    strict: entry.strict ?? false,
  };
}

/** The task of `POST /v1/filters/validate`. */
export function planValidate(request: ValidateRequest): ValidateTask {
  for (const name of ['input_schema', 'output_schema'] as const) {
    if (request[name] !== undefined) {
      refuse('invalid_request', `${name} belongs to filters of dialect iii.`, { field: `/${name}` });
    }
  }
  return { kind: 'validate', filter: planFilterText(request, ''), schemas: planSchemas(request.schemas) };
}

/** The task of `POST /v1/filters/test`. */
export function planTest(request: TestRequest): TestTask {
  return {
    kind: 'test',
    filter: planFilterText(request, ''),
    schemas: planSchemas(request.schemas),
    record: request.record,
    ...(request.limits === undefined ? {} : { limits: request.limits }),
  };
}
