/**
 * The built service as a process of its own on a free loopback port, for the demo and the end-to-end benchmarks.
 *
 * Invariant: whoever starts it stops it; `stop` ends exactly this process and fails if it did not end cleanly.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface ServiceProcess {
  readonly address: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Longest wait for the listening line: a cold start compiles and warms the workers. */
const START_TIMEOUT_MS = 30_000;

/**
 * Starts `winnow serve` with `settings` as environment over the defaults, and `nodeArguments` for the runtime. Rejects
 * with its stderr when it does not come up.
 */
export async function startService(
  settings: Record<string, string>,
  nodeArguments: readonly string[] = [],
): Promise<ServiceProcess> {
  const main = fileURLToPath(new URL('../src/cli/main.js', import.meta.url));
  const child = spawn(process.execPath, [...nodeArguments, main, 'serve'], {
    env: { ...foreignEnvironment(), WINNOW_HTTP_PORT: '0', WINNOW_LOG_LEVEL: 'warn', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
  const timer = setTimeout(() => child.kill(), START_TIMEOUT_MS);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const entry: unknown = line.startsWith('{') ? JSON.parse(line) : null;
      if (isListening(entry)) {
        child.stdout.resume();
        return { address: entry.address, pid: child.pid!, stop };
      }
    }
  } finally {
    clearTimeout(timer);
  }
  throw new Error(`the service did not start: ${errors.join('')}`);

  async function stop(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    if (child.exitCode !== 0)
      throw new Error(`the service ended with ${child.exitCode ?? child.signalCode}: ${errors.join('')}`);
  }
}

/** The environment without what would configure the service, so that a run depends on its `settings` alone. */
function foreignEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WINNOW_')));
}

function isListening(entry: unknown): entry is { address: string } {
  return (
    typeof entry === 'object' && entry !== null && 'msg' in entry && entry.msg === 'listening' && 'address' in entry
  );
}
