/**
 * `winnow serve`: runs the service until a signal (contract: scan-protocol §5).
 *
 * Prints one JSON line with the address when it is ready. SIGTERM and SIGINT end running scans with a valid page and
 * exit 0 within the grace period; a configuration that is refused or an address that is taken exits 2.
 */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Config } from '../config/load.js';
import { problemOf } from '../core/error-codes.js';
import { SHUTDOWN_GRACE_MS } from '../core/limits.js';
import type { Log } from '../http/log.js';

/** Exit code when the service could not start. */
const EXIT_NOT_STARTED = 2;

export function register(program: Command): void {
  program
    .command('serve')
    .description('run the scan service')
    .option('--config <file>', 'TOML file; without one the built-in defaults hold')
    .action(async (options: { config?: string }) => serve(options.config));
}

async function serve(file: string | undefined): Promise<void> {
  // Loaded here, so that the other commands do not pay for the network and the router.
  const [{ loadConfig }, { faultPlace, openLog }, { startService }, { default: closeWithGrace }] = await Promise.all([
    import('../config/load.js'),
    import('../http/log.js'),
    import('../service.js'),
    import('close-with-grace'),
  ]);
  let config: Config;
  try {
    config = loadConfig(file === undefined ? '' : await readFile(file, 'utf8'), process.env);
  } catch (thrown) {
    const { code, detail } = problemOf(thrown);
    const reason = code === 'backend' ? `cannot read ${file}: ${messageOf(thrown)}` : detail;
    process.stderr.write(`winnow: ${reason}\n`);
    process.exitCode = EXIT_NOT_STARTED;
    return;
  }
  const log = openLog(config.log.level);
  // Neither stream is worth the service: workers report faults on standard error, and the line below stands on standard
  // output, which `winnow` otherwise takes for a reason to end.
  process.stderr.on('error', () => undefined);
  process.stdout
    .removeAllListeners('error')
    .on('error', (fault) => log.error({ fault: faultPlace(fault) }, 'standard output is lost'));
  try {
    const service = await startService(config, { log });
    closeWithGrace({ delay: SHUTDOWN_GRACE_MS, logger: false }, async ({ err, signal }) => {
      if (err !== undefined) log.error({ fault: faultPlace(err) }, 'fatal fault');
      else log.info({ signal }, 'shutting down');
      await service.close();
      await log.flush();
    });
    process.stdout.write(`${JSON.stringify({ msg: 'listening', address: service.address })}\n`);
  } catch (thrown) {
    await notStarted(log, thrown);
  }
}

async function notStarted(log: Log & { flush(): Promise<void> }, thrown: unknown): Promise<void> {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? `: ${messageOf(thrown.cause)}` : '';
  log.error({ fault: `${messageOf(thrown)}${cause}` }, 'the service could not start');
  await log.flush();
  process.exitCode = EXIT_NOT_STARTED;
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
