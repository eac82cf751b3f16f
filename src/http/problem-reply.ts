/**
 * Everything that went wrong, as `application/problem+json` (contract: scan-protocol §3).
 *
 * Refusals carry their problem. The framework's own errors are matched by code; an unknown one is `backend`, without its
 * text, which goes to the log instead.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ERROR_CATALOGUE, problemOf, type Problem } from '../core/error-codes.js';
import { problemDocument, statusOf } from '../wire/problem.js';
import { PROBLEM_TYPE } from './accept.js';

/** `Retry-After` where nothing measured says how long. */
const RETRY_AFTER_S_DEFAULT = 1;

/** The problem behind an error of the framework or of ours; `undefined` for an internal fault. */
export function problemOfError(error: unknown): Problem | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return unsupportedMediaType();
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return { code: 'invalid_request', detail: 'The body is not as long as announced.' };
    case 'FST_ERR_BAD_URL':
      return { code: 'invalid_request', detail: 'The path is not a valid URL path.' };
    default: {
      const problem = problemOf(error);
      return problem.code === 'backend' && !(error instanceof Error && 'problem' in error) ? undefined : problem;
    }
  }
}

/** 415: a body in a form that nothing here reads. */
export function unsupportedMediaType(): Problem {
  return {
    code: 'invalid_request',
    status: 415,
    detail: 'A body is application/json or application/msgpack, in UTF-8 and not compressed.',
  };
}

/** 406: no form of the reply is acceptable. */
export function notAcceptable(detail: string): Problem {
  return { code: 'invalid_request', status: 406, detail };
}

/** Answers a request with a problem and notes it as the request's outcome. */
export function replyWithProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  request.trace.outcome = problem.code;
  if (ERROR_CATALOGUE[problem.code].retryAfter) {
    reply.header('retry-after', problem.retry_after_s ?? RETRY_AFTER_S_DEFAULT);
  }
  const instance = request.url.split('?', 1)[0]!;
  const document = problemDocument(problem, request.trace.requestId, instance);
  // As bytes: to text the framework adds a charset, which this media type does not have.
  return reply
    .code(statusOf(problem))
    .type(PROBLEM_TYPE)
    .send(Buffer.from(JSON.stringify(document)));
}
