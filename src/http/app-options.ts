/**
 * What the HTTP face is built from, and what it hangs on the framework's requests and routes.
 */
import type { Config } from '../config/load.js';
import type { Clock } from '../core/clock.js';
import type { EngineName } from '../core/engine.js';
import type { Metrics } from '../metrics/metrics.js';
import type { RouteLabel } from '../metrics/table.js';
import type { Runner } from '../run/runner.js';
import type { SchemaList } from '../wire/schema-list.js';
import type { Log } from './log.js';
import type { Access } from './access.js';
import type { RequestTrace } from './trace.js';

declare module 'fastify' {
  interface FastifyRequest {
    trace: RequestTrace;
  }
  interface FastifyContextConfig {
    /** How the metrics name the route; `other` without one. */
    label?: RouteLabel;
    /** What it asks of its caller; `admin` without one. */
    access?: Access;
    /** Answered while the service drains. */
    isOperation?: boolean;
  }
}

export interface AppOptions {
  readonly config: Config;
  readonly version: string;
  /** What the workers read records with. */
  readonly engine: EngineName;
  /** The registry of writer schemas, as it is listed. */
  readonly schemas: SchemaList;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  /** There from the moment the service listens; routes are built before (service.ts says why). */
  readonly runner: () => Runner;
  /** `/readyz`: workers up, one slice run, not draining. */
  readonly isReady: () => boolean;
}
