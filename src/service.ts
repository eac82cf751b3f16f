/**
 * The composition root of the main thread: a configuration in, a listening service out (house §2, §6).
 *
 * The order is the point. The HTTP router generates code when its routes are built; the workers must never be able to.
 * So: routes first, then code generation from strings is forbidden for every context that comes, then the workers are
 * spawned and each runs one slice, and only then the socket opens.
 */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import v8 from 'node:v8';
import { createAdmission } from './admission/admission.js';
import { LoopDelayGuard } from './admission/loop-delay.js';
import { listedSchema } from './catalog/listed-schema.js';
import { readSchemaFolder } from './catalog/schema-folder.js';
import { isLoopback, type Config } from './config/load.js';
import type { Clock } from './core/clock.js';
import { SHUTDOWN_GRACE_MS } from './core/limits.js';
import { VERSION } from './core/version.js';
import { isGuarded } from './http/access.js';
import { buildApp } from './http/app.js';
import { faultPlace, type Log } from './http/log.js';
import { Metrics } from './metrics/metrics.js';
import { engineOf, loadModules } from './pool/modules.js';
import { ScanPool } from './pool/scan-pool.js';
import { Runner } from './run/runner.js';
import { checkSchemas } from './run/check-schemas.js';
import { probeTask } from './run/probe.js';
import { TurnsAwaited } from './run/turns-awaited.js';
import { EVALUATOR_VERSION } from './wire/capabilities.js';

/** The HTTP instance, with its routes built. */
type App = Awaited<ReturnType<typeof buildApp>>;

/** A running service. */
export interface Service {
  readonly app: App;
  /** `http://HOST:PORT`, with the port that was taken. */
  readonly address: string;
  /**
   * Stops accepting, lets running scans end their page with `cancelled`, then ends the workers. Resolves within the
   * grace period: connections whose client does not take the rest are cut. Idempotent.
   */
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly log: Log;
  /** The workers' entry point and what loads it; default are the compiled ones beside this file. */
  readonly workerUrl?: URL;
  readonly threadUrl?: URL;
  /** What compiles the workers' WebAssembly; default as above. */
  readonly modulesUrl?: URL;
  /** Time for `close`, in ms; default `SHUTDOWN_GRACE_MS` less a margin for the process to exit. */
  readonly graceMs?: number;
}

/** Time between the last moment of `close` and the end of the grace period, in ms. */
const GRACE_MARGIN_MS = 2_000;

/** How often a closing service looks for connections that have become idle, in ms. */
const IDLE_CHECK_MS = 50;

/** How often the delay of the event loop is taken, in ms: under a twentieth of the window in which it is judged. */
const LOOP_DELAY_PERIOD_MS = 20;

/** Milliseconds since the epoch that never step back, comparable across threads (core/clock). */
const CLOCK: Clock = { nowMs: () => performance.timeOrigin + performance.now() };

/**
 * Starts a service. Rejects when a worker cannot start, the registry of schemas is refused or the address is taken;
 * nothing is left running then.
 */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const { log } = options;
  const workers = config.pool.workers === 0 ? availableParallelism() : config.pool.workers;
  const { folder } = config.schemas;
  const schemas = folder === '' ? [] : readSchemaFolder(folder);
  const modules = await loadModules(config.pool.engine, options.modulesUrl);
  const engine = engineOf(modules);
  const turns = new TurnsAwaited();
  const admission = createAdmission({ ...config.admission, workers }, (waiting) => turns.note(waiting));
  let pool: ScanPool | undefined;
  let runner: Runner | undefined;
  const metrics = new Metrics(VERSION, EVALUATOR_VERSION, () => ({
    queueDepth: admission.slots.waiting + admission.inlineBytes.waiting,
    workersBusy: pool?.busy ?? 0,
    workersIdle: Math.max((pool?.workers ?? 0) - (pool?.busy ?? 0), 0),
  }));
  metrics.noteEngine(engine);
  const app = await buildApp({
    config,
    version: VERSION,
    engine,
    schemas: { schemas: schemas.map(listedSchema) },
    metrics,
    clock: CLOCK,
    log,
    runner: () => runner!,
    isReady: () => (pool?.workers ?? 0) > 0 && runner?.stopped.aborted === false,
  });
  v8.setFlagsFromString('--disallow-code-generation-from-strings');
  pool = await ScanPool.start(
    {
      workers,
      setup: {
        stores: config.stores,
        schemas: schemas.map(({ id, hash, source }) => ({ id, hash, source })),
        continuationKeys: continuationKeys(config, log),
        modules,
        turns: turns.cells,
      },
      killAfterMs: config.slice.killAfterMs,
      onRestart: (reason) => {
        metrics.recordWorkerRestart(reason);
        log.error({ reason }, 'a worker was replaced');
      },
      onFault: (fault) => log.error({ fault: faultPlace(fault) }, 'worker fault'),
      ...(options.workerUrl === undefined ? {} : { workerUrl: options.workerUrl }),
      ...(options.threadUrl === undefined ? {} : { threadUrl: options.threadUrl }),
    },
    probeTask(CLOCK),
  );
  try {
    await checkSchemas(pool, schemas);
  } catch (thrown) {
    await pool.close();
    throw thrown;
  }
  log.info({ workers, engine }, 'workers started');
  if (folder !== '') log.info({ schemas: schemas.length }, 'writer schemas compiled');
  const loopDelays = monitorEventLoopDelay({ resolution: LOOP_DELAY_PERIOD_MS });
  loopDelays.enable();
  runner = new Runner({
    pool,
    admission,
    metrics,
    clock: CLOCK,
    bounds: config.slice,
    caps: config.limits,
    inlineBytesMax: config.admission.inlineBytesMax,
    loopDelay: new LoopDelayGuard(loopDelays, LOOP_DELAY_PERIOD_MS, config.admission.loopDelayMsMax),
  });
  if (!isGuarded(config.auth) && !isLoopback(config.http.host)) {
    log.warn(
      { host: config.http.host },
      'whoever reaches this address may scan and read every store: there are no keys',
    );
  }
  const stop = async (graceMs: number): Promise<void> => {
    await stopService(app, runner!, pool!, metrics, graceMs);
    loopDelays.disable();
  };
  try {
    const address = await app.listen({ host: config.http.host, port: config.http.port });
    let closed: Promise<void> | undefined;
    const graceMs = options.graceMs ?? SHUTDOWN_GRACE_MS - GRACE_MARGIN_MS;
    return { app, address, close: () => (closed ??= stop(graceMs)) };
  } catch (thrown) {
    await stop(0);
    throw thrown;
  }
}

function continuationKeys(config: Config, log: Log): readonly Uint8Array[] {
  if (config.continuation.keys.length > 0) return config.continuation.keys;
  log.warn({}, 'no continuation key is configured: a random one is used, and continuations end with this process');
  return [randomBytes(32)];
}

async function stopService(app: App, runner: Runner, pool: ScanPool, metrics: Metrics, graceMs: number): Promise<void> {
  const { server } = app;
  // From here on the socket accepts nothing, and what is running is told to end.
  const drained = runner.drain();
  const closed = app.close();
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  let grace: NodeJS.Timeout | undefined;
  const isOver = new Promise<void>((resolve) => {
    grace = setTimeout(resolve, graceMs);
  });
  await Promise.race([Promise.allSettled([drained, closed]), isOver]);
  clearTimeout(grace);
  // Slices that still run are answered with a problem, which is the last frame of their streams.
  await pool.close();
  await drained;
  await new Promise((resolve) => setImmediate(resolve));
  server.closeAllConnections();
  await closed;
  clearInterval(idle);
  metrics.close();
}
