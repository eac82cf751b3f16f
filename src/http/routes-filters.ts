/**
 * `GET /v1/schemas`, `POST /v1/filters/validate`, `…/test`, `…/preview` and `…/diff` (contract: scan-protocol §2).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { shardOf } from '../admission/shard.js';
import { Refusal } from '../core/error-codes.js';
import { checked } from '../wire/check.js';
import { TestRequestSchema, ValidateRequestSchema } from '../wire/filter-request.js';
import { encodeMsgpack } from '../wire/msgpack.js';
import { DiffRequestSchema, PreviewRequestSchema, type DiffRequest, type PreviewRequest } from '../wire/preview.js';
import { Accept, JSON_TYPE, objectReplyType } from './accept.js';
import { granted } from './access.js';
import type { AppOptions } from './app-options.js';
import {
  diffRouteSchema,
  previewRouteSchema,
  schemasRouteSchema,
  testRouteSchema,
  validateRouteSchema,
} from './openapi.js';
import { notAcceptable } from './problem-reply.js';

export function registerFilterRoutes(app: FastifyInstance, { runner, schemas }: AppOptions): void {
  app.route({
    method: 'GET',
    url: '/v1/schemas',
    config: { label: 'schemas', access: 'scan' },
    schema: schemasRouteSchema,
    handler: async (request, reply) => sendObject(request, reply, schemas),
  });
  app.route({
    method: 'POST',
    url: '/v1/filters/validate',
    config: { label: 'validate', access: 'scan' },
    schema: validateRouteSchema,
    onRequest: checkHeaders,
    handler: async (request, reply) => {
      const { shard, arrivedAtMs, gone } = request.trace;
      const body = checked(ValidateRequestSchema, request.body);
      return sendObject(request, reply, await runner().validate(body, shard, arrivedAtMs, gone));
    },
  });
  app.route({
    method: 'POST',
    url: '/v1/filters/test',
    config: { label: 'test', access: 'scan' },
    schema: testRouteSchema,
    onRequest: checkHeaders,
    handler: async (request, reply) => {
      const { shard, arrivedAtMs, gone } = request.trace;
      const body = checked(TestRequestSchema, request.body);
      return sendObject(request, reply, await runner().test(body, shard, arrivedAtMs, gone));
    },
  });
  app.route({
    method: 'POST',
    url: '/v1/filters/preview',
    config: { label: 'preview', access: 'scan' },
    schema: previewRouteSchema,
    onRequest: checkHeaders,
    handler: async (request, reply) => {
      const { caller, gone } = request.trace;
      const wanted = (): PreviewRequest => granted(caller, checked(PreviewRequestSchema, takeBody(request)));
      return sendObject(request, reply, await runner().preview(wanted(), request.trace, gone));
    },
  });
  app.route({
    method: 'POST',
    url: '/v1/filters/diff',
    config: { label: 'diff', access: 'scan' },
    schema: diffRouteSchema,
    onRequest: checkHeaders,
    handler: async (request, reply) => {
      const { caller, gone } = request.trace;
      const wanted = (): DiffRequest => granted(caller, checked(DiffRequestSchema, takeBody(request)));
      return sendObject(request, reply, await runner().diff(wanted(), request.trace, gone));
    },
  });
}

/** The body, which nothing refers to any more while its work goes on: it may hold 64 MiB of segments. */
function takeBody(request: FastifyRequest): unknown {
  const { body } = request;
  request.body = undefined;
  return body;
}

/** Answers with one object in the form that the client accepts. */
export function sendObject(request: FastifyRequest, reply: FastifyReply, body: object): FastifyReply {
  const type = objectReplyType(new Accept(request.headers.accept));
  if (type === undefined) throw new Refusal(notAcceptable(OBJECT_FORMS));
  return reply.type(type).send(type === JSON_TYPE ? jsonText(body) : Buffer.from(encodeMsgpack(body)));
}

/** JSON of a reply: what is beyond 2^53−1 is a bigint, and in JSON decimal text. */
function jsonText(body: object): string {
  return JSON.stringify(body, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

const OBJECT_FORMS = 'The reply is application/json or application/msgpack.';

async function checkHeaders(request: FastifyRequest): Promise<void> {
  request.trace.shard = shardOf(request.headers['winnow-shard']);
  if (objectReplyType(new Accept(request.headers.accept)) === undefined) throw new Refusal(notAcceptable(OBJECT_FORMS));
}
