/**
 * RFC 9457 problem documents (contract: scan-protocol §3): the catalogue's row of a code, completed for the wire.
 *
 * A `Problem` is what rooms exchange; only here does it gain `type`, `title`, `status`, `instance` and `request_id`.
 */
import Type from 'typebox';
import { ERROR_CATALOGUE, type ErrorCode, type Problem } from '../core/error-codes.js';
import { words } from './primitives.js';

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

const PROBLEM_MEMBERS = {
  code: words(CODES, 'From the closed catalogue.'),
  detail: Type.String(),
  field: Type.Optional(Type.String({ description: 'JSON pointer into the request body.' })),
  filter_field: Type.Optional(Type.String({ description: 'JSON pointer into the filter given as filter_text.' })),
  filter_code: Type.Optional(words(['INVALID_FILTER', 'INVALID_FILTER_PATH'], 'Only for iii.')),
  limit: Type.Optional(Type.Union([Type.Number(), Type.String()])),
  given: Type.Optional(Type.Union([Type.Number(), Type.String()])),
  position: Type.Optional(Type.Integer({ minimum: 0 })),
  segment: Type.Optional(Type.Integer({ minimum: 0 })),
  offset_before: Type.Optional(Type.Integer({ minimum: 0 })),
} as const;

export const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    instance: Type.Optional(Type.String()),
    ...PROBLEM_MEMBERS,
    retryable: Type.Boolean(),
    request_id: Type.String(),
    errors: Type.Optional(Type.Array(Type.Object(PROBLEM_MEMBERS))),
  },
  { $id: 'Problem' },
);
export type ProblemDocument = Type.Static<typeof ProblemSchema>;

/** HTTP status of a problem: its own where the contract keeps another (405, 406, …), else its code's. */
export function statusOf(problem: Problem): number {
  return problem.status ?? ERROR_CATALOGUE[problem.code].status;
}

/**
 * The document of a problem. `instance` is the path of the request, where there is one; 408 is retryable whatever its
 * code. `Retry-After` (`retry_after_s`) is a response header and does not stand in the document.
 */
export function problemDocument(problem: Problem, requestId: string, instance?: string): ProblemDocument {
  const row = ERROR_CATALOGUE[problem.code];
  const { status: _status, retryable, retry_after_s: _retryAfter, errors, ...members } = problem;
  const status = statusOf(problem);
  return {
    type: `urn:winnow:problem:${problem.code}`,
    title: row.title,
    status,
    ...(instance === undefined ? {} : { instance }),
    ...members,
    retryable: retryable ?? (row.retryable || status === 408),
    request_id: requestId,
    ...(errors === undefined ? {} : { errors: errors.map(membersOf) }),
  };
}

/** An entry of `errors[]`: the members of its own fault, without nesting. */
function membersOf(problem: Problem): NonNullable<ProblemDocument['errors']>[number] {
  const { status: _status, retryable: _retryable, retry_after_s: _after, errors: _errors, ...members } = problem;
  return members;
}
