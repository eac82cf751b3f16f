/**
 * `POST /v1/scan` (contract: scan-protocol §1, §4).
 *
 * Order matters: the slot is taken from the headers alone, before a byte of the body is read; the form of the reply is
 * chosen once the body says how many filters and pages; the status line waits for the first slice.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { shardOf } from '../admission/shard.js';
import { Refusal } from '../core/error-codes.js';
import { PAGES_DEFAULT } from '../core/limits.js';
import type { PreparedScan, ScanSlot } from '../run/runner.js';
import { checked } from '../wire/check.js';
import { ScanRequestSchema } from '../wire/scan-request.js';
import { Accept, acceptsAnyScanReply, scanReplyForm, type ScanReplyForm } from './accept.js';
import { granted } from './access.js';
import type { AppOptions } from './app-options.js';
import { cutWhenNotTaken, FrameStream, PageKeeper } from './frame-stream.js';
import { faultPlace } from './log.js';
import { scanRouteSchema } from './openapi.js';
import { notAcceptable } from './problem-reply.js';

export function registerScanRoute(app: FastifyInstance, options: AppOptions): void {
  app.route({
    method: 'POST',
    url: '/v1/scan',
    config: { label: 'scan', access: 'scan' },
    schema: scanRouteSchema,
    onRequest: (request, reply) => takeSlot(request, reply, options),
    handler: (request, reply) => scan(request, reply, options),
  });
}

async function takeSlot(request: FastifyRequest, reply: FastifyReply, { runner }: AppOptions): Promise<void> {
  const { trace } = request;
  trace.shard = shardOf(request.headers['winnow-shard']);
  if (!acceptsAnyScanReply(new Accept(request.headers.accept))) throw notAcceptableScan();
  trace.slot = await runner().admit(trace.shard, trace.arrivedAtMs, trace.gone);
  // The client left while it waited: there is nobody to answer.
  if (trace.slot === null) reply.hijack();
}

async function scan(request: FastifyRequest, reply: FastifyReply, options: AppOptions): Promise<FastifyReply> {
  const { trace } = request;
  const { slot } = trace;
  if (slot === null) return reply.hijack();
  // From here on this function gives the slot back, once the worker has stopped, not when the client hangs up.
  trace.slot = null;
  try {
    const { form, prepared } = await prepare(request, slot, options);
    if (form.framed) return await stream(request, reply, form, prepared, options);
    const keeper = new PageKeeper();
    trace.outcome = await options.runner().scan(prepared, keeper, trace.gone);
    if (keeper.body === undefined) return reply.hijack();
    cutWhenNotTaken(reply.raw, options.config.http.replyTimeoutMs, () => trace.cut());
    return reply.type(form.type).send(Buffer.from(keeper.body.buffer, keeper.body.byteOffset, keeper.body.byteLength));
  } finally {
    slot.release();
  }
}

/** In a function of its own, so that nothing refers to the body (up to 65 MiB) while the scan runs. */
async function prepare(
  request: FastifyRequest,
  slot: ScanSlot,
  { runner }: AppOptions,
): Promise<{ form: ScanReplyForm; prepared: PreparedScan }> {
  const { trace } = request;
  const body = granted(trace.caller, checked(ScanRequestSchema, request.body));
  const form = scanReplyForm(
    new Accept(request.headers.accept),
    body.filters.length === 1 && Number(body.pages ?? PAGES_DEFAULT) === 1,
  );
  if (form === undefined) throw notAcceptableScan();
  const { encoding, framed } = form;
  const prepared = await runner().prepare(
    { slot, request: body, requestId: trace.requestId, encoding, framed },
    trace.gone,
  );
  request.body = undefined;
  return { form, prepared };
}

async function stream(
  request: FastifyRequest,
  reply: FastifyReply,
  form: ScanReplyForm,
  prepared: PreparedScan,
  { runner, log, config }: AppOptions,
): Promise<FastifyReply> {
  const { trace } = request;
  try {
    trace.outcome = await runner().scan(prepared, new FrameStream(reply.raw, form.type), trace.gone);
    cutWhenNotTaken(reply.raw, config.http.replyTimeoutMs, () => trace.cut());
  } catch (thrown) {
    if (!reply.raw.headersSent) throw thrown;
    // A fault of ours in the middle of a reply: without a last frame the client knows that the stream was cut.
    log.error({ request_id: trace.requestId, route: trace.route, fault: faultPlace(thrown) }, 'internal fault');
    trace.outcome = 'backend';
    reply.raw.destroy();
  }
  return reply.hijack();
}

function notAcceptableScan(): Refusal {
  return new Refusal(
    notAcceptable(
      'A scan of one filter and one page is answered as application/json or application/msgpack, every scan as ' +
        'application/x-ndjson or application/vnd.winnow.frames+msgpack.',
    ),
  );
}
