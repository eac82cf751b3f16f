/**
 * The engine without the network: workers, admission and the runner, for commands that scan or compile on this machine.
 *
 * The same code path as the service's, so that a command can never answer differently. User text is compiled in the
 * worker only.
 */
import { randomBytes } from 'node:crypto';
import v8 from 'node:v8';
import { createAdmission } from '../admission/admission.js';
import type { RegisteredSchema } from '../catalog/schema-folder.js';
import type { IdentifiedSchema } from '../codec/schema-source.js';
import { loadConfig } from '../config/load.js';
import type { Clock } from '../core/clock.js';
import { VERSION } from '../core/version.js';
import { Metrics } from '../metrics/metrics.js';
import { loadModules } from '../pool/modules.js';
import { ScanPool } from '../pool/scan-pool.js';
import { checkSchemas } from '../run/check-schemas.js';
import { probeTask } from '../run/probe.js';
import { Runner } from '../run/runner.js';
import { TurnsAwaited } from '../run/turns-awaited.js';
import { EVALUATOR_VERSION } from '../wire/capabilities.js';

const CLOCK: Clock = { nowMs: () => performance.timeOrigin + performance.now() };

/** What a command gets to work with. */
export interface LocalEngine {
  readonly runner: Runner;
  readonly clock: Clock;
}

/** What an engine reads besides the request. */
export interface LocalMeans {
  /** Store name → absolute folder. */
  readonly stores?: Readonly<Record<string, string>>;
  /** The registry of writer schemas. */
  readonly schemas?: readonly (IdentifiedSchema & Pick<RegisteredSchema, 'file' | 'bytes'>)[];
}

/**
 * Starts one worker, hands the engine to `use`, and stops it whatever happens. Throws the refusal of a schema that does
 * not compile.
 */
export async function withLocalEngine<T>(
  { stores = {}, schemas = [] }: LocalMeans,
  use: (engine: LocalEngine) => Promise<T>,
): Promise<T> {
  const config = loadConfig('', {});
  // Workers refuse to start where text could become code.
  v8.setFlagsFromString('--disallow-code-generation-from-strings');
  const modules = await loadModules(config.pool.engine);
  const turns = new TurnsAwaited();
  const faults: Error[] = [];
  const pool = await ScanPool.start(
    {
      workers: 1,
      setup: {
        stores,
        schemas: schemas.map(({ id, hash, source }) => ({ id, hash, source })),
        continuationKeys: [randomBytes(32)],
        modules,
        turns: turns.cells,
      },
      killAfterMs: config.slice.killAfterMs,
      onRestart: (reason) => faults.push(new Error(`the worker ${reason}`)),
      onFault: (fault) => faults.push(fault),
    },
    probeTask(CLOCK),
  );
  const metrics = new Metrics(VERSION, EVALUATOR_VERSION, () => ({ queueDepth: 0, workersBusy: 0, workersIdle: 1 }));
  const runner = new Runner({
    pool,
    admission: createAdmission({ ...config.admission, workers: 1 }, (waiting) => turns.note(waiting)),
    metrics,
    clock: CLOCK,
    bounds: config.slice,
    caps: config.limits,
    inlineBytesMax: config.admission.inlineBytesMax,
  });
  try {
    await checkSchemas(pool, schemas);
    return await use({ runner, clock: CLOCK });
  } finally {
    await pool.close();
    metrics.close();
    for (const fault of faults) process.stderr.write(`winnow: ${fault.message}\n`);
  }
}
