/**
 * The page at `/docs`: the document of `/openapi.json` for a person, where requests can be tried out.
 *
 * The library serves its own files and registers its own routes; here they get what every route has: a label, a place
 * among the operations, and refusals that are problems. Nothing on the page is loaded from elsewhere.
 */
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyError, FastifyInstance } from 'fastify';
import { Refusal, type Problem } from '../core/error-codes.js';
import { problemOfError, replyWithProblem } from './problem-reply.js';

/** Where the page is. */
const PAGE_PATH = '/docs';

/** The library's second form of the document: making it holds the event loop for a good tenth of a second. */
const YAML_PATH = `${PAGE_PATH}/yaml`;

/** What the page may load: its own files; the library draws icons from `data:` and sets styles on elements. */
const CONTENT_POLICY = {
  'default-src': "'self'",
  'img-src': ["'self'", 'data:'],
  'style-src': ["'self'", "'unsafe-inline'"],
  'object-src': "'none'",
  'base-uri': "'self'",
  'frame-ancestors': "'none'",
};

/** Conditions that a server may pass over; the file sender would refuse some with statuses that are not the contract's. */
const IGNORED_HEADERS = ['range', 'if-match', 'if-unmodified-since'] as const;

/** Registers the page. `nothingHere` is the problem of a path without a file. */
export async function registerDocumentPage(app: FastifyInstance, nothingHere: Problem): Promise<void> {
  await app.register(async (page) => {
    const inherited = page.errorHandler;
    page.addHook('onRoute', (route) => {
      route.config = { ...route.config, label: 'openapi', isOperation: true, access: 'open' };
    });
    page.addHook('onRequest', async (request) => {
      if (request.routeOptions.url === YAML_PATH) throw new Refusal(nothingHere);
      for (const name of IGNORED_HEADERS) delete request.headers[name];
    });
    page.setErrorHandler((error, request, reply) => {
      // What the file sender says of a path: it names no file, or one outside its folder.
      if (problemOfError(error) === undefined && isRefusedPath(error)) {
        return replyWithProblem(request, reply, nothingHere);
      }
      return inherited(error as FastifyError, request, reply);
    });
    await page.register(swaggerUi, {
      routePrefix: PAGE_PATH,
      staticCSP: CONTENT_POLICY,
      uiConfig: { deepLinking: true, tryItOutEnabled: true },
    });
  });
}

function isRefusedPath(error: unknown): boolean {
  return (
    error instanceof Error && 'statusCode' in error && Number(error.statusCode) >= 400 && Number(error.statusCode) < 500
  );
}
