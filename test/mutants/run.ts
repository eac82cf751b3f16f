/**
 * Plants each mutant of the list into a copy of the built tree and runs the checks there: `npm run mutants`.
 *
 * A mutant that fails the checks or runs out of time is caught. A survivor shows a hole in the tests and fails the run.
 */
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import type { Mutant } from './mutant.js';
import { MUTANTS } from './mutants.js';

const BUILT = resolve(import.meta.dirname, '../..');
const REPOSITORY = resolve(BUILT, '..');
/** A check takes up to ten seconds of an idle processor; a mutant that loops does not end at all. */
const CHECK_TIMEOUT_MS = 120_000;
/** Sources of the kernel, which are compiled as one into a binary. */
const KERNEL = 'workers/kernel';
const KERNEL_BINARY = 'workers/kernel.wasm';
const KERNEL_COMPILER = join(REPOSITORY, 'node_modules/assemblyscript/bin/asc.js');

export interface MutantResult {
  readonly name: string;
  readonly caught: boolean;
  /** First line of what gave it away, or `ran out of time`. */
  readonly evidence: string;
}

type Evidence = Pick<MutantResult, 'caught' | 'evidence'>;

/** Text of the mutant's file with the mutant planted. Throws unless its old text stands there exactly once. */
export function plant({ file, from, to }: Mutant): string {
  const text = readFileSync(join(REPOSITORY, file), 'utf8');
  const places = text.split(from).length - 1;
  if (places !== 1) throw new Error(`${file} holds ${JSON.stringify(from)} ${places} times, not once`);
  return text.replace(from, () => to);
}

/** What looks for mistakes of the kernel and of its host first, of a codec, and what for all others. */
const KERNEL_CHECK = 'check-kernel.js';
const CODEC_CHECKS: readonly (readonly [files: RegExp, script: string])[] = [
  [/(?:codec\/(?:cbor\/|utf8-text)|kernel\/cbor)/, 'check-cbor.js'],
  [/(?:codec\/avro\/|kernel\/avro)/, 'check-avro.js'],
  [/kernel\/protobuf|protobuf\/kernel/, 'check-protobuf-kernel.js'],
  [/codec\/protobuf\//, 'check-protobuf.js'],
];
const PORTABLE_CHECK = 'check.js';

/** The checks that may notice a mistake in `file`, those first that do so soonest. */
function checksOf(file: string): readonly string[] {
  const codec = CODEC_CHECKS.find(([files]) => files.test(file));
  if (codec !== undefined) return [codec[1]];
  return file.includes('kernel') ? [KERNEL_CHECK, PORTABLE_CHECK] : [PORTABLE_CHECK];
}

/** Checks the tree as it is (null) and each mutant, `lanes` at a time, each lane in a copy of its own. */
export async function runMutants(
  mutants: readonly (Mutant | null)[],
  lanes: number,
  report: (result: MutantResult) => void,
): Promise<MutantResult[]> {
  const waiting = [...mutants];
  const results: MutantResult[] = [];
  const runLane = async (): Promise<void> => {
    const tree = copyOfTree();
    try {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const result = await runMutant(tree, mutant);
        results.push(result);
        report(result);
      }
    } finally {
      rmSync(tree, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  return results;
}

/** What the checks load: the compiled code without source maps, the corpora, and the packages by a link. */
function copyOfTree(): string {
  const tree = mkdtempSync(join(tmpdir(), 'winnow-mutants-'));
  for (const folder of ['src', 'workers', 'test/support', 'test/mutants']) {
    cpSync(join(BUILT, folder), join(tree, folder), {
      recursive: true,
      filter: (path) => !/\.(?:map|d\.ts)$/.test(path),
    });
  }
  mkdirSync(join(tree, 'test/conformance'), { recursive: true });
  cpSync(join(REPOSITORY, 'test/conformance'), join(tree, 'test/conformance'), { recursive: true });
  cpSync(join(REPOSITORY, KERNEL), join(tree, KERNEL), { recursive: true });
  symlinkSync(join(REPOSITORY, 'node_modules'), join(tree, 'node_modules'));
  writeFileSync(join(tree, 'package.json'), '{"type":"module"}');
  return tree;
}

async function runMutant(tree: string, mutant: Mutant | null): Promise<MutantResult> {
  if (mutant === null) {
    const every = [PORTABLE_CHECK, KERNEL_CHECK, ...CODEC_CHECKS.map(([, script]) => script)];
    return { name: 'the tree as it is', ...(await checkInTurn(tree, every)) };
  }
  const name = `${mutant.file}: ${mutant.from.trim()} → ${mutant.to.trim()}`;
  const isKernel = mutant.file.startsWith(`${KERNEL}/`);
  const compiled = join(tree, isKernel ? KERNEL_BINARY : mutant.file.replace(/\.ts$/, '.js'));
  const original = readFileSync(compiled);
  try {
    if (isKernel) await compileKernel(tree, mutant);
    else compile(compiled, mutant);
    return { name, ...(await checkInTurn(tree, checksOf(mutant.file))) };
  } finally {
    writeFileSync(compiled, original);
  }
}

function compile(compiled: string, mutant: Mutant): void {
  const { outputText } = ts.transpileModule(plant(mutant), {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  });
  writeFileSync(compiled, outputText);
}

/** Replaces the binary in `tree`. Rejects where the mutant does not compile: it is no mistake that could be made. */
async function compileKernel(tree: string, mutant: Mutant): Promise<void> {
  const source = join(tree, KERNEL, basename(mutant.file));
  const original = readFileSync(source);
  writeFileSync(source, plant(mutant));
  try {
    // Mistakes are as wrong without optimisation, which takes most of a build.
    const parts = [
      `${KERNEL}/index.ts`,
      '--config',
      `${KERNEL}/asconfig.json`,
      '--outFile',
      KERNEL_BINARY,
      '--optimizeLevel',
      '0',
    ];
    await promisify(execFile)(process.execPath, [KERNEL_COMPILER, ...parts], { cwd: tree });
  } finally {
    writeFileSync(source, original);
  }
}

/** The first check that notices something, or the last. */
async function checkInTurn(tree: string, scripts: readonly string[]): Promise<Evidence> {
  let found: Evidence = { caught: false, evidence: '' };
  for (const script of scripts) {
    found = await check(tree, script);
    if (found.caught) break;
  }
  return found;
}

function check(tree: string, script: string): Promise<Evidence> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [join(tree, 'test/mutants', script)], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, CHECK_TIMEOUT_MS);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', fail);
    child.on('close', (code) => {
      clearTimeout(timer);
      if (code === 0 && output.trim() === 'agree') done({ caught: false, evidence: 'agree' });
      else done({ caught: true, evidence: isLate ? 'ran out of time' : firstError(output) });
    });
  });
}

function firstError(output: string): string {
  const line = output.split('\n').find((text) => /^\w*Error\b/.test(text));
  return (line ?? output.trim().split('\n')[0] ?? '').slice(0, 160);
}

async function main(): Promise<void> {
  const from = Date.now();
  const wanted = process.argv.slice(2);
  const chosen = MUTANTS.filter(({ file }) => wanted.length === 0 || wanted.some((part) => file.includes(part)));
  const results = await runMutants([null, ...chosen], 2, ({ name, caught, evidence }) => {
    console.log(`${caught ? 'caught  ' : 'agrees  '} ${name}\n          ${evidence}`);
  });
  const survivors = results.filter(({ name, caught }) => !caught && name !== 'the tree as it is');
  const isSound = results.some(({ name, caught }) => name === 'the tree as it is' && !caught);
  console.log(`${chosen.length - survivors.length} of ${chosen.length} mutants caught in ${Date.now() - from} ms`);
  if (!isSound) console.log('the tree as it is does not pass the checks, so nothing is shown');
  process.exitCode = isSound && survivors.length === 0 ? 0 : 1;
}

if (process.argv[1] === import.meta.filename) await main();
