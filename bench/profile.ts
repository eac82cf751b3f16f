/**
 * `npm run profile -- TEXT`: where the time of a case goes. Runs the judged side of the first case whose name holds the
 * text, over and over for `--seconds` (3) with `--engine` (the default one), and prints the functions by their own time.
 *
 * `npm run profile -- --service` does so for the main thread and the worker of a service that reads a stored log at 5 %.
 * `npm run profile -- --files A.cpuprofile,B.cpuprofile` prints profiles that were taken elsewhere.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CpuProfile, profileMarkdown, type ProfileRow, profileRows } from './cpu-profile.js';
import { selectivityFilter } from './datasets/orbit-filters.js';
import { orbitDataset } from './datasets/orbit.js';
import { writeSegmentFile } from './datasets/write.js';
import { readGroup } from './demo/read-group.js';
import { casesAt } from './parts.js';
import { ENGINES } from './programs.js';
import { startService } from './service-process.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string', default: ENGINES[0]! },
    seconds: { type: 'string', default: '3' },
    service: { type: 'boolean', default: false },
    files: { type: 'string' },
  },
});
const milliseconds = Number(options.seconds) * 1000;

if (options.files !== undefined) printFiles(options.files.split(','));
else if (options.service) await profileService();
else await profileCase(positionals.join(' '));

async function profileCase(text: string): Promise<void> {
  const one = casesAt(1).find(({ name, engine }) => name.includes(text) && engine === options.engine);
  if (one === undefined) throw new Error(`no case of the ${options.engine} has "${text}" in its name`);
  const [side] = await one.sides();
  const repeat = async (): Promise<void> => {
    for (const until = performance.now() + milliseconds; performance.now() < until;) await side.run();
  };
  await repeat();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 200 });
  await session.post('Profiler.start');
  await repeat();
  const { profile } = await session.post('Profiler.stop');
  print(`${one.name} (${one.engine}), ${side.name}`, profileRows(profile as CpuProfile));
}

async function profileService(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-profile-'));
  try {
    const path = 'orbit.log';
    writeSegmentFile(orbitDataset(), 'iggy', 100_000, join(folder, path));
    const settings = { WINNOW_STORES_DATA: folder, WINNOW_POOL_WORKERS: '1', WINNOW_POOL_ENGINE: options.engine };
    const service = await startService(settings, ['--cpu-prof', `--cpu-prof-dir=${folder}`]);
    const job = { name: 'profile', filter: selectivityFilter(5), topic: 'orbit', path };
    const read = async (): Promise<void> => {
      for (const until = performance.now() + milliseconds; performance.now() < until;) {
        await readGroup(service.address, job);
      }
    };
    await read();
    const from = Number(process.hrtime.bigint() / 1000n);
    await read();
    await service.stop();
    const names = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
    printFiles(
      names.map((name) => join(folder, name)),
      from,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function printFiles(paths: readonly string[], from = 0): void {
  for (const path of paths) {
    print(threadOf(path), profileRows(JSON.parse(readFileSync(path, 'utf8')) as CpuProfile, from));
  }
}

/** The runtime names its files `CPU.DATE.TIME.PROCESS.THREAD.NUMBER.cpuprofile`; thread 0 is the main one. */
function threadOf(path: string): string {
  const name = path.split('/').at(-1)!;
  const thread = name.split('.').at(-3);
  return `${thread === '0' ? 'main thread' : `thread ${thread}`}, ${name}`;
}

function print(title: string, rows: readonly ProfileRow[]): void {
  console.log(`${profileMarkdown(title, rows)}\n`);
}
