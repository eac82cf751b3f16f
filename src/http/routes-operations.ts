/**
 * What operators and clients ask about the service itself (contract: scan-protocol §2 `capabilities`, §5).
 */
import type { FastifyInstance } from 'fastify';
import {
  DEPTH_MAX,
  FILTERS_PER_SCAN_MAX,
  PAYLOAD_BYTES_MAX,
  REGEX_SUBJECT_BYTES_MAX,
  SEGMENTS_PER_SCAN_MAX,
} from '../core/limits.js';
import { refuse } from '../core/error-codes.js';
import {
  CODECS_BUILT,
  DIALECTS_BUILT,
  EVALUATOR_VERSION,
  FORMATS_BUILT,
  type Capabilities,
} from '../wire/capabilities.js';
import type { AppOptions } from './app-options.js';
import { capabilitiesRouteSchema, operationRouteSchema } from './openapi.js';
import { DOCUMENT_REPLY, METRICS_REPLY, STATS_REPLY, STATUS_REPLY } from './operation-replies.js';
import { sendObject } from './routes-filters.js';

export function registerOperationRoutes(app: FastifyInstance, options: AppOptions): void {
  const { metrics, isReady } = options;
  const capabilities = capabilitiesOf(options);
  app.get(
    '/v1/capabilities',
    { config: { label: 'capabilities', isOperation: true, access: 'known' }, schema: capabilitiesRouteSchema },
    async (request, reply) => sendObject(request, reply, capabilities),
  );
  app.get(
    '/livez',
    {
      config: { label: 'livez', isOperation: true, access: 'open' },
      schema: operationRouteSchema('The process answers.', STATUS_REPLY),
    },
    async () => ({ status: 'ok' }),
  );
  app.get(
    '/readyz',
    {
      config: { label: 'readyz', isOperation: true, access: 'open' },
      schema: operationRouteSchema('Workers are up, one slice has run, and the service is not draining.', STATUS_REPLY),
    },
    async () => (isReady() ? { status: 'ok' } : refuse('unavailable', 'The service is not ready for scans.')),
  );
  app.get(
    '/metrics',
    {
      config: { label: 'metrics', isOperation: true, access: 'admin' },
      schema: operationRouteSchema('Metrics in the Prometheus exposition format.', METRICS_REPLY),
    },
    async (_request, reply) => reply.type(metrics.contentType).send(await metrics.exposition()),
  );
  app.get(
    '/stats',
    {
      config: { label: 'stats', isOperation: true, access: 'admin' },
      schema: operationRouteSchema('The metrics as JSON.', STATS_REPLY),
    },
    async () => metrics.snapshot(),
  );
  app.get(
    '/openapi.json',
    {
      config: { label: 'openapi', isOperation: true, access: 'open' },
      schema: operationRouteSchema('This document.', DOCUMENT_REPLY),
    },
    async () => app.swagger(),
  );
}

function capabilitiesOf({ config, engine }: AppOptions): Capabilities {
  return {
    evaluator_versions: [EVALUATOR_VERSION],
    dialects: [...DIALECTS_BUILT],
    codecs: [...CODECS_BUILT],
    formats: [...FORMATS_BUILT],
    engine,
    limits: {
      max_payload_bytes: PAYLOAD_BYTES_MAX,
      max_depth: DEPTH_MAX,
      regex_subject_bytes_max: REGEX_SUBJECT_BYTES_MAX,
      filters_per_scan: FILTERS_PER_SCAN_MAX,
      segments_per_scan: SEGMENTS_PER_SCAN_MAX,
      json_body_max: config.http.jsonBodyBytesMax,
      msgpack_body_max: config.http.msgpackBodyBytesMax,
      inline_bytes_max: config.admission.inlineBytesMax,
      scans_per_shard: config.admission.scansPerShard,
      scans_total: config.admission.scansTotal,
    },
    caps: config.limits,
  };
}
