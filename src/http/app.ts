/**
 * The HTTP face: one Fastify instance with its hooks, body readers, routes and error replies (contract: scan-protocol).
 *
 * The framework routes and nothing else: it coerces no type, removes no member and compiles no schema. Route schemas
 * describe (for `/openapi.json`); the same schemas validate in the handlers, where faults become problems with pointers.
 *
 * Invariants: every reply that is not a success is `application/problem+json`; while the service drains, only the
 * operations are answered and every other request is refused.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import swagger from '@fastify/swagger';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Refusal, refuse, type Problem } from '../core/error-codes.js';
import { Guard, isGuarded } from './access.js';
import type { AppOptions } from './app-options.js';
import { addBodyReaders } from './body.js';
import { Connections } from './connections.js';
import { faultPlace } from './log.js';
import { openApiOptions, securityOf, SHARED_SCHEMAS } from './openapi.js';
import { registerDocumentPage } from './openapi-page.js';
import { problemOfError, replyWithProblem } from './problem-reply.js';
import { registerFilterRoutes } from './routes-filters.js';
import { registerOperationRoutes } from './routes-operations.js';
import { registerScanRoute } from './routes-scan.js';
import { RequestTrace } from './trace.js';

/** Methods that a path may know, for `Allow` under 405. */
const METHODS = ['GET', 'HEAD', 'POST'] as const;

const NOTHING_HERE: Problem = { code: 'not_found', detail: 'There is nothing at this path.' };

/** Builds the instance with all its routes; `ready()` has been awaited, nothing listens yet. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { http, auth } = options.config;
  const guard = await Guard.open(auth, options.clock);
  const connections = new Connections(http, options.clock, options.metrics, options.log);
  const waiting = new WeakMap<IncomingMessage, ServerResponse>();
  const app = Fastify({
    logger: false,
    forceCloseConnections: 'idle',
    // The service refuses by itself while it drains, with a problem; the framework's own 503 is none.
    return503OnClosing: false,
    requestTimeout: http.requestTimeoutMs,
    keepAliveTimeout: http.idleTimeoutMs,
    http: connections.serverOptions,
    clientErrorHandler: (error, socket) => connections.refuseBroken(error, socket),
    frameworkErrors: (error, request, reply) => {
      request.trace ??= traceOf(request as FastifyRequest, reply.raw);
      const problem = problemOfError(error) ?? { code: 'backend', detail: 'An internal fault ended this request.' };
      void replyWithProblem(request as FastifyRequest, reply, problem);
    },
  });
  connections.watch(app.server);
  // A client that waits before it sends its body is told to go on only when the body is wanted (`readBody`), so that a
  // refused scan is never uploaded.
  app.server.on('checkContinue', (request, reply) => {
    waiting.set(request, reply);
    app.routing(request, reply);
  });
  app.server.on('checkExpectation', app.routing);
  const traceOf = (request: FastifyRequest, raw: FastifyReply['raw']): RequestTrace => {
    const label = request.routeOptions.config?.label ?? 'other';
    const trace = new RequestTrace(label, raw, options.clock, options.metrics, options.log);
    connections.note(request.raw, trace);
    return trace;
  };

  app.setValidatorCompiler(() => (value: unknown) => ({ value }));
  app.setSerializerCompiler(() => (data: unknown) => JSON.stringify(data));
  app.decorateRequest('trace', null as unknown as RequestTrace);
  for (const schema of SHARED_SCHEMAS) app.addSchema(schema);

  app.addHook('onRequest', async (request, reply) => {
    request.trace = traceOf(request, reply.raw);
    refuseBroken(request);
    // Before the body is read: nothing here would want it.
    if (request.is404) refuseUnknown(app, request, reply);
    if (options.runner().stopped.aborted) {
      reply.header('connection', 'close');
      if (request.routeOptions.config?.isOperation !== true) refuse('unavailable', 'The service is shutting down.');
    }
    await guard.admit(request, reply);
  });
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOfError(error);
    if (problem !== undefined) return replyWithProblem(request, reply, problem);
    const { requestId, route } = request.trace;
    options.log.error({ request_id: requestId, route, fault: faultPlace(error) }, 'internal fault');
    return replyWithProblem(request, reply, { code: 'backend', detail: 'An internal fault ended this request.' });
  });
  // A page's file that is not there: its route is, so the check above does not meet it.
  app.setNotFoundHandler((request, reply) => replyWithProblem(request, reply, NOTHING_HERE));
  addBodyReaders(app, http, (request) => {
    waiting.get(request.raw)?.writeContinue();
    return options.runner().stopped;
  });
  if (isGuarded(auth)) {
    app.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, ...securityOf(route.config?.access ?? 'admin') };
    });
  }
  await app.register(swagger, openApiOptions(options.version, isGuarded(auth)));
  registerScanRoute(app, options);
  registerFilterRoutes(app, options);
  registerOperationRoutes(app, options);
  await registerDocumentPage(app, NOTHING_HERE);
  await app.ready();
  return app;
}

/** What HTTP itself asks of the headers of a request, where the platform would refuse without a problem. */
function refuseBroken({ raw, headers }: FastifyRequest): void {
  if (raw.httpVersion === '1.1' && headers.host === undefined) {
    refuse('invalid_request', 'A request of HTTP/1.1 has the header Host.');
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    refuse('invalid_request', 'The header Expect knows only 100-continue.');
  }
}

/** 404 for a path that is not there, 405 with `Allow` for one that takes other methods. */
function refuseUnknown(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): never {
  const path = request.url.split('?', 1)[0]!;
  const allowed = METHODS.filter((method) => app.hasRoute({ url: path, method })).join(', ');
  if (allowed === '') throw new Refusal(NOTHING_HERE);
  reply.header('allow', allowed);
  refuse('invalid_request', `This path takes ${allowed}, not ${request.method}.`, { status: 405 });
}
