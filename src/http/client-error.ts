/**
 * Requests that are broken before there is a request: bad syntax, headers too large, too slow (contract: scan-protocol
 * §3, where 400, 408 and 431 keep their status). Written by hand, because there is no reply object yet.
 */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Problem } from '../core/error-codes.js';
import { problemDocument, statusOf } from '../wire/problem.js';
import { PROBLEM_TYPE } from './accept.js';

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
};

/** The parser's word for a connection that ended inside a request. */
const ENDED_EARLY = 'HPE_INVALID_EOF_STATE';

/** A request whose reply is not closed yet, as far as it matters here. */
export interface RequestAtWork {
  readonly requestId: string;
  /** `sending`: the status line has left and the end has not. */
  readonly replyState: 'not_begun' | 'sending' | 'sent';
  /** Told that it was answered with a problem on its bare connection. */
  answeredBelow(problem: Problem): void;
}

/** The problem of a parser or timeout error. `headersBytesMax` is named where headers were larger. */
export function problemOfClientError(code: string | undefined, headersBytesMax: number): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { code: 'invalid_request', status: 431, detail: 'The headers are too large.', limit: headersBytesMax };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { code: 'too_large', detail: 'The chunk extensions of the body are too large.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'invalid_request', status: 408, detail: 'The request did not arrive in time.' };
    default:
      return { code: 'invalid_request', detail: 'This is not an HTTP request.' };
  }
}

/**
 * Answers on the socket and closes it; says nothing when the client is gone or one of the requests `atWork` on this
 * socket is being answered. Where none of them can have been the broken one, returns what was said and under which id.
 */
export function answerClientError(
  error: { readonly code?: string },
  socket: Socket,
  atWork: Iterable<RequestAtWork>,
  headersBytesMax: number,
): { readonly problem: Problem; readonly requestId: string } | undefined {
  const requests = [...atWork];
  const isReplying = requests.some(({ replyState }) => replyState === 'sending');
  if (error.code === 'ECONNRESET' || !socket.writable || isReplying) {
    socket.destroy();
    return undefined;
  }
  const problem = problemOfClientError(error.code, headersBytesMax);
  const status = statusOf(problem);
  const broken = requests.findLast(({ replyState }) => replyState === 'not_begun');
  const requestId = broken?.requestId ?? randomUUID();
  const body = JSON.stringify(problemDocument(problem, requestId));
  // A client that ended in the middle of its request went away, whether or not it still reads.
  if (error.code !== ENDED_EARLY) broken?.answeredBelow(problem);
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status]!}\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
    // The rest of what the client sends is of no use to anybody.
    () => socket.destroy(),
  );
  return broken === undefined ? { problem, requestId } : undefined;
}
