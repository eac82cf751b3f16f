/**
 * The error catalogue (contract: scan-protocol §3): one row per code, binding its HTTP status and whether a retry helps.
 *
 * Errors inside a thread are `Refusal`s carrying a plain `Problem`; only the `Problem` crosses a thread or the wire,
 * because a thrown class loses its fields on the way. Match on `code`, never on the class. A retired code is never
 * reused.
 */

/** Catalogue: HTTP status, title, whether a retry may help and whether the reply carries `Retry-After`. */
export const ERROR_CATALOGUE = {
  invalid_request: { status: 400, title: 'Invalid request', retryable: false, retryAfter: false },
  unauthenticated: { status: 401, title: 'Unauthenticated', retryable: false, retryAfter: false },
  forbidden: { status: 403, title: 'Forbidden', retryable: false, retryAfter: false },
  not_found: { status: 404, title: 'Not found', retryable: false, retryAfter: false },
  conflict: { status: 409, title: 'Conflict', retryable: false, retryAfter: false },
  source_changed: { status: 409, title: 'Source changed', retryable: false, retryAfter: false },
  version_skew: { status: 409, title: 'Version skew', retryable: false, retryAfter: false },
  too_large: { status: 413, title: 'Too large', retryable: false, retryAfter: false },
  source_corrupt: { status: 422, title: 'Source corrupt', retryable: false, retryAfter: false },
  capacity_exhausted: { status: 429, title: 'Capacity exhausted', retryable: true, retryAfter: true },
  backend: { status: 500, title: 'Internal fault', retryable: false, retryAfter: false },
  unsupported: { status: 501, title: 'Unsupported', retryable: false, retryAfter: false },
  unavailable: { status: 503, title: 'Unavailable', retryable: true, retryAfter: true },
  catalog_unavailable: { status: 503, title: 'Catalog unavailable', retryable: true, retryAfter: true },
  revision_disabled: { status: 503, title: 'Revision disabled', retryable: true, retryAfter: true },
} as const satisfies Record<string, { status: number; title: string; retryable: boolean; retryAfter: boolean }>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/**
 * A refusal as plain data: what crosses threads and, with `type, title, instance, request_id` added, the wire.
 *
 * `field` is an RFC 6901 pointer into the request body; while a filter is being compiled it is relative to the filter
 * and whoever embeds the filter prefixes it. `position` is a UTF-8 byte offset into the text that failed.
 */
export interface Problem {
  readonly code: ErrorCode;
  readonly detail: string;
  /** Overrides the catalogue's status where the contract keeps another (405, 406, 408, 415, 431). */
  readonly status?: number;
  readonly field?: string;
  /** With `filter_text`: the pointer inside the filter, while `field` names `/…/filter_text`. */
  readonly filter_field?: string;
  readonly filter_code?: 'INVALID_FILTER' | 'INVALID_FILTER_PATH';
  readonly limit?: string | number;
  readonly given?: string | number;
  readonly position?: number;
  readonly retryable?: boolean;
  readonly retry_after_s?: number;
  /** source_corrupt: index of the damaged segment in the request. */
  readonly segment?: number;
  /** source_corrupt: offset of the last whole frame before the damage. */
  readonly offset_before?: number;
  readonly errors?: readonly Problem[];
}

/** The one error class of the project. Its `problem` is what anyone outside the throwing function looks at. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.code = problem.code;
    this.problem = problem;
  }
}

/** Throws a {@link Refusal}. */
export function refuse(code: ErrorCode, detail: string, more: Omit<Problem, 'code' | 'detail'> = {}): never {
  throw new Refusal({ code, detail, ...more });
}

/** The problem behind anything thrown: a refusal's own, else `backend` without the inner text leaking to callers. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Error && 'problem' in thrown && isProblem(thrown.problem)) return thrown.problem;
  return { code: 'backend', detail: 'An internal fault ended this request.' };
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'code' in value && String(value.code) in ERROR_CATALOGUE;
}
