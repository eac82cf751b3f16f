/**
 * Request bodies: read whole within a bound, then to plain values by content type (contract: scan-protocol, preamble).
 *
 * Own reading instead of the framework's, because a body that is too large is answered (the rest of it is drained by the
 * server afterwards) instead of cut off, because a body that is still arriving must give way to a shutdown, and because
 * inline segments are to be copied once on their way to the workers.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import type { Config } from '../config/load.js';
import { copyBytes } from '../core/copy-bytes.js';
import { Refusal, type Problem } from '../core/error-codes.js';
import { SHARED_BODY_BYTES_MIN } from '../core/limits.js';
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
    { type: JSON_TYPE, limit: http.jsonBodyBytesMax, read: readJsonBody, isShared: false },
    { type: MSGPACK_TYPE, limit: http.msgpackBodyBytesMax, read: readMsgpackBody, isShared: true },
  ];
  app.removeAllContentTypeParsers();
  for (const { type, limit, read, isShared } of readers) {
    app.addContentTypeParser(type, async (request: FastifyRequest, body: FastifyRequest['raw']) => {
      if (isEncoded(request.headers)) throw new Refusal(unsupportedMediaType());
      const announced = request.headers['content-length'];
      if (announced !== undefined && Number(announced) > limit) {
        throw new Refusal(tooLarge(limit, Number(announced)));
      }
      const place =
        isShared && Number(announced) >= SHARED_BODY_BYTES_MIN ? new SharedPlace(Number(announced)) : new Pieces();
      return read(await readBody(body, limit, begin(request), place));
    });
  }
}

/** True for a compressed body and for a charset other than UTF-8. */
function isEncoded(headers: FastifyRequest['headers']): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1];
  const coding = headers['content-encoding'] ?? 'identity';
  return coding.toLowerCase() !== 'identity' || (charset !== undefined && charset.toLowerCase() !== 'utf-8');
}

/** Where a body is gathered. */
interface BodyPlace {
  add(piece: Buffer): void;
  whole(): Uint8Array;
}

/** Keeps the pieces as they came and joins them in the end. */
class Pieces implements BodyPlace {
  private readonly pieces: Buffer[] = [];

  add(piece: Buffer): void {
    this.pieces.push(piece);
  }

  whole(): Uint8Array {
    return Buffer.concat(this.pieces);
  }
}

/**
 * Shared memory for a body of announced length, so that inline segments stand where the workers see them. The memory is
 * taken with the first piece and, as zeroed memory is, mapped only as far as it is written: whoever announces much and
 * sends nothing takes nothing.
 */
class SharedPlace implements BodyPlace {
  private readonly announcedBytes: number;
  private memory: Uint8Array | undefined;
  private bytes = 0;

  constructor(announcedBytes: number) {
    this.announcedBytes = announcedBytes;
  }

  /** The parser of requests hands over no more than was announced. */
  add(piece: Buffer): void {
    this.memory ??= new Uint8Array(new SharedArrayBuffer(this.announcedBytes));
    copyBytes(piece, this.memory, this.bytes);
    this.bytes += piece.byteLength;
  }

  whole(): Uint8Array {
    return this.memory === undefined ? new Uint8Array(0) : this.memory.subarray(0, this.bytes);
  }
}

/**
 * Reads a whole body into `place`. Throws `too_large` with `limit` where the bound is passed (the rest is drained), `unavailable` when
 * `stopped` aborts, and `invalid_request` when the client breaks off.
 */
function readBody(body: Readable, limit: number, stopped: AbortSignal, place: BodyPlace): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const settle = (problem: Problem | null): void => {
      body.off('data', onData).off('end', onEnd).off('close', onClose);
      stopped.removeEventListener('abort', onStop);
      if (problem !== null) reject(new Refusal(problem));
      else resolve(place.whole());
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.byteLength;
      if (bytes > limit) settle(tooLarge(limit, bytes));
      else place.add(chunk);
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
