/**
 * `npm run profile -- TEXT`: where the time of a case goes, with names in the kernel's binary. Runs the judged side of the first case whose name holds the
 * text, over and over for `--seconds` (3) with `--engine` (the default one), and prints the functions by their own time.
 *
 * `npm run profile -- --service stored` does so for the main thread and the worker of a service that reads a stored log
 * at 5 %, `--service inline` for one that is sent bodies of 16 MiB, `--service pages` for pages of 1,000 records each.
 * `npm run profile -- --files A.cpuprofile,B.cpuprofile` prints profiles that were taken elsewhere.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CpuProfile, profileMarkdown, type ProfileRow, profileRows } from './cpu-profile.js';
import { readGroup } from './demo/read-group.js';
import type { Engine } from './harness.js';
import { inlineBody, PageReader, STORED_JOB } from './macro/loads.js';
import { ScanClient } from './macro/scan-client.js';
import { Services } from './macro/services.js';
import { casesAt } from './parts.js';
import { ENGINES } from './programs.js';
import type { ServiceProcess } from './service-process.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string', default: ENGINES[0]! },
    seconds: { type: 'string', default: '3' },
    service: { type: 'string' },
    files: { type: 'string' },
  },
});
const milliseconds = Number(options.seconds) * 1000;

if (options.files !== undefined) for (const path of options.files.split(',')) printFile(path);
else if (options.service !== undefined) await profileService(options.service);
else await profileCase(positionals.join(' '));

async function profileCase(text: string): Promise<void> {
  const one = casesAt(1).find(({ name, engine }) => name.includes(text) && engine === options.engine);
  if (one === undefined) throw new Error(`no case of the ${options.engine} has "${text}" in its name`);
  const [side] = await one.sides();
  await repeat(() => side.run());
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 200 });
  await session.post('Profiler.start');
  await repeat(() => side.run());
  const { profile } = await session.post('Profiler.stop');
  print(`${one.name} (${one.engine}), ${side.name}`, profileRows(profile as CpuProfile));
}

async function profileService(load: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-profile-'));
  const services = new Services(100_000, ['--cpu-prof', `--cpu-prof-dir=${folder}`]);
  try {
    const service = await services.with(options.engine as Engine, 1);
    const client = new ScanClient(service.address);
    const exchange = loadOf(load, service, client);
    await repeat(exchange);
    const from = Number(process.hrtime.bigint() / 1000n);
    await repeat(exchange);
    client.close();
    await services.close();
    for (const name of readdirSync(folder)) printFile(join(folder, name), from);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** One exchange of a kind of load. */
function loadOf(load: string, service: ServiceProcess, client: ScanClient): () => Promise<unknown> {
  switch (load) {
    case 'stored':
      return () => readGroup(service.address, { ...STORED_JOB, name: 'profile' });
    case 'inline': {
      const { body } = inlineBody(1);
      return () => client.scanToEnd(body);
    }
    case 'pages': {
      const pages = new PageReader(client);
      return () => pages.next();
    }
    default:
      throw new Error(`no load "${load}": give stored, inline or pages`);
  }
}

async function repeat(exchange: () => unknown): Promise<void> {
  for (const until = performance.now() + milliseconds; performance.now() < until;) await exchange();
}

function printFile(path: string, from = 0): void {
  print(threadOf(path), profileRows(JSON.parse(readFileSync(path, 'utf8')) as CpuProfile, from));
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
