/**
 * `POST /v1/filters/validate` and `…/test`, and the two of their kind that are not built (contract: scan-protocol §2).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { shardOf } from '../admission/shard.js';
import { Refusal, refuse } from '../core/error-codes.js';
import { checked } from '../wire/check.js';
import { TestRequestSchema, ValidateRequestSchema } from '../wire/filter-request.js';
import { encodeMsgpack } from '../wire/msgpack.js';
import { Accept, JSON_TYPE, objectReplyType } from './accept.js';
import type { AppOptions } from './app-options.js';
import { testRouteSchema, unbuiltRouteSchema, validateRouteSchema } from './openapi.js';
import { notAcceptable } from './problem-reply.js';

export function registerFilterRoutes(app: FastifyInstance, { runner }: AppOptions): void {
  app.route({
    method: 'POST',
    url: '/v1/filters/validate',
    config: { label: 'validate' },
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
    config: { label: 'test' },
    schema: testRouteSchema,
    onRequest: checkHeaders,
    handler: async (request, reply) => {
      const { shard, arrivedAtMs, gone } = request.trace;
      const body = checked(TestRequestSchema, request.body);
      return sendObject(request, reply, await runner().test(body, shard, arrivedAtMs, gone));
    },
  });
  for (const name of ['preview', 'diff']) {
    app.route({
      method: 'POST',
      url: `/v1/filters/${name}`,
      schema: unbuiltRouteSchema(name),
      onRequest: async () => refuse('unsupported', `/v1/filters/${name} is not available in this version.`),
      handler: () => undefined,
    });
  }
}

/** Answers with one object in the form that the client accepts. */
export function sendObject(request: FastifyRequest, reply: FastifyReply, body: object): FastifyReply {
  const type = objectReplyType(new Accept(request.headers.accept));
  if (type === undefined) throw new Refusal(notAcceptable(OBJECT_FORMS));
  return reply.type(type).send(type === JSON_TYPE ? JSON.stringify(body) : Buffer.from(encodeMsgpack(body)));
}

const OBJECT_FORMS = 'The reply is application/json or application/msgpack.';

async function checkHeaders(request: FastifyRequest): Promise<void> {
  request.trace.shard = shardOf(request.headers['winnow-shard']);
  if (objectReplyType(new Accept(request.headers.accept)) === undefined) throw new Refusal(notAcceptable(OBJECT_FORMS));
}
