/**
 * Requests that are broken before there is a request: bad syntax, headers too large, too slow (contract: scan-protocol
 * §3, where 400, 408 and 431 keep their status). Written by hand, because there is no reply object yet.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
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

/** The problem of a parser or timeout error. */
export function problemOfClientError(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { code: 'invalid_request', status: 431, detail: 'The headers are too large.' };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { code: 'too_large', detail: 'The chunk extensions of the body are too large.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'invalid_request', status: 408, detail: 'The request did not arrive in time.' };
    default:
      return { code: 'invalid_request', detail: 'This is not an HTTP request.' };
  }
}

/**
 * Answers on the socket and closes it; says nothing when the client is gone or one of `replies`, those at work on
 * this socket, has sent its status line and is not finished.
 */
export function answerClientError(
  error: { readonly code?: string },
  socket: Socket,
  replies: Iterable<ServerResponse>,
): void {
  const isReplying = [...replies].some((reply) => reply.headersSent && !reply.writableFinished);
  if (error.code === 'ECONNRESET' || !socket.writable || isReplying) {
    socket.destroy();
    return;
  }
  const problem = problemOfClientError(error.code);
  const status = statusOf(problem);
  const body = JSON.stringify(problemDocument(problem, randomUUID()));
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status]!}\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
    // The rest of what the client sends is of no use to anybody.
    () => socket.destroy(),
  );
}
