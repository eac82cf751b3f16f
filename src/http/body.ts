/**
 * Request bodies: read whole within a bound, then to plain values by content type (contract: scan-protocol, preamble).
 *
 * Own reading instead of the framework's, because a body that is too large is answered (the rest of it is drained by the
 * server afterwards) instead of cut off, and because a body that is still arriving must give way to a shutdown.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import type { Config } from '../config/load.js';
import { Refusal, type Problem } from '../core/error-codes.js';
import { readJsonBody } from '../wire/body.js';
import { readMsgpackBody } from '../wire/msgpack-body.js';
import { JSON_TYPE, MSGPACK_TYPE } from './accept.js';
import { unsupportedMediaType } from './problem-reply.js';

/**
 * Makes the app read bodies of the two content types and no other. `begin` is called when a body is wanted; the signal
 * that it returns aborts when the service drains.
 */
export function addBodyReaders(
  app: FastifyInstance,
  http: Config['http'],
  begin: (request: FastifyRequest) => AbortSignal,
): void {
  const readers = [
    { type: JSON_TYPE, limit: http.jsonBodyBytesMax, read: readJsonBody },
    { type: MSGPACK_TYPE, limit: http.msgpackBodyBytesMax, read: readMsgpackBody },
  ];
  app.removeAllContentTypeParsers();
  for (const { type, limit, read } of readers) {
    app.addContentTypeParser(type, async (request: FastifyRequest, body: FastifyRequest['raw']) => {
      if (isEncoded(request.headers)) throw new Refusal(unsupportedMediaType());
      const announced = request.headers['content-length'];
      if (announced !== undefined && Number(announced) > limit) {
        throw new Refusal(tooLarge(limit, Number(announced)));
      }
      return read(await readBody(body, limit, begin(request)));
    });
  }
}

/** True for a compressed body and for a charset other than UTF-8. */
function isEncoded(headers: FastifyRequest['headers']): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1];
  const coding = headers['content-encoding'] ?? 'identity';
  return coding.toLowerCase() !== 'identity' || (charset !== undefined && charset.toLowerCase() !== 'utf-8');
}

/**
 * Reads a whole body. Throws `too_large` with `limit` where the bound is passed (the rest is drained), `unavailable` when
 * `stopped` aborts, and `invalid_request` when the client breaks off.
 */
export function readBody(body: Readable, limit: number, stopped: AbortSignal): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (problem: Problem | null): void => {
      body.off('data', onData).off('end', onEnd).off('close', onClose);
      stopped.removeEventListener('abort', onStop);
      if (problem !== null) reject(new Refusal(problem));
      else resolve(Buffer.concat(chunks, bytes));
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.byteLength;
      if (bytes > limit) settle(tooLarge(limit, bytes));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(null);
    const onClose = (): void => settle({ code: 'invalid_request', detail: 'The body broke off before its end.' });
    const onStop = (): void => settle({ code: 'unavailable', detail: 'The service is shutting down.' });
    if (stopped.aborted) return onStop();
    stopped.addEventListener('abort', onStop, { once: true });
    body.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

function tooLarge(limit: number, given: number): Problem {
  return { code: 'too_large', detail: `The body is larger than ${limit} bytes.`, limit, given };
}
