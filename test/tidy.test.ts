/**
 * Style is a test, not a wish: the import table of the house, the absence of cycles, file sizes, and the short list of
 * banned things. Each rule says why it exists; a file that needs an exception is a design question, not an entry here.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

interface SourceFile {
  /** Path from the repository root, `/`-separated. */
  readonly path: string;
  readonly text: string;
  /** Specifiers as written. */
  readonly imports: readonly string[];
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

const IMPORT = /(?:^|\n)\s*(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g;

function load(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const imports = [...text.matchAll(IMPORT)].map((match) => (match[1] ?? match[2])!);
  return { path, text, imports };
}

/** Text without comments and string contents: good enough for the bans below, which name identifiers. */
function codeOnly(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''")
    .replaceAll(/\/\/[^\n]*/g, '');
}

function localTarget(file: SourceFile, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  const path = relative(ROOT, resolve(ROOT, dirname(file.path), specifier));
  // The kernel's compiler wants specifiers without an ending.
  return file.path.startsWith('workers/kernel/') ? `${path}.ts` : path.replace(/\.js$/, '.ts');
}

/** `src/filter/ir.ts` → `filter`; `src/service.ts` → `service.ts`; `workers/scan-worker.ts` → `workers`. */
function roomOf(path: string): string {
  const parts = path.split('/');
  return parts[0] === 'src' ? parts[1]! : parts[0]!;
}

const source = filesBelow('src').map(load);
const workers = filesBelow('workers')
  .filter((path) => !path.startsWith('workers/kernel/'))
  .map(load);
/** AssemblyScript: another compiler, another world, and rules of its own below. */
const kernel = filesBelow('workers/kernel').map(load);
const tests = filesBelow('test').map(load);
const benches = filesBelow('bench').map(load);
const product = [...source, ...workers];
const everything = [...product, ...kernel, ...tests, ...benches];

/** House §3. A room may always import itself. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  wire: ['core'],
  segment: ['core'],
  admission: ['core'],
  metrics: ['core'],
  config: ['core'],
  codec: ['core'],
  source: ['core', 'segment'],
  filter: ['core', 'codec'],
  scan: ['core', 'wire', 'segment', 'codec', 'filter', 'source'],
  catalog: ['core', 'wire', 'segment', 'codec', 'filter', 'source'],
  pool: ['core', 'wire', 'segment', 'codec', 'filter', 'scan'],
  run: ['core', 'wire', 'admission', 'pool', 'metrics', 'catalog', 'scan'],
  http: ['core', 'wire', 'run', 'catalog', 'admission', 'metrics', 'config'],
  client: ['core', 'wire', 'filter'],
  workers: ['core', 'wire', 'segment', 'codec', 'filter', 'source', 'scan'],
};

/** A library lives in one folder, so that swapping it changes one folder. */
const LIBRARY_HOME: Record<string, string> = {
  '@bufbuild/protobuf': 'codec',
  '@fastify/swagger': 'http',
  '@fastify/swagger-ui': 'http',
  '@node-rs/xxhash': 'segment',
  'close-with-grace': 'cli',
  commander: 'cli',
  fastify: 'http',
  jose: 'http',
  msgpackr: 'wire',
  pino: 'http',
  piscina: 'pool',
  'prom-client': 'metrics',
  protobufjs: 'codec',
  rregex: 'workers',
  'smol-toml': 'config',
  typebox: 'wire',
};

/** Interfaces and tables that a room may take of another only in part. */
const NARROWED: readonly { from: string; to: string; files: RegExp; why: string }[] = [
  {
    from: 'filter',
    to: 'codec',
    files: /^src\/codec\/(value|slots|walker|path-trie|schema-shape)\.ts$/,
    why: 'a filter knows values and slots, never a codec',
  },
  { from: 'pool', to: 'scan', files: /^src\/scan\/task\.ts$/, why: 'the pool carries tasks, it does not scan' },
  {
    from: 'run',
    to: 'scan',
    files: /^src\/scan\/(task|plan|plan-filter|plan-preview|progress|control)\.ts$/,
    why: 'a run plans and hands out tasks; scanning happens in workers',
  },
  {
    from: 'client',
    to: 'filter',
    files: /^src\/filter\/dialect\/[a-z]+\/build\.ts$/,
    why: 'the client ships builders only',
  },
];

/** Pure rooms: time, processes and timers come in as values (house §3). */
const PURE = ['core', 'wire', 'segment', 'codec', 'filter', 'admission'];

describe('the import table', () => {
  it('knows every room', () => {
    const rooms = new Set(product.map((file) => roomOf(file.path)));
    for (const room of ['service.ts', 'cli']) rooms.delete(room);
    expect([...rooms].filter((room) => !(room in MAY_IMPORT))).toEqual([]);
  });

  it('lets rooms import only what stands below them', () => {
    const faults: string[] = [];
    for (const file of product) {
      const room = roomOf(file.path);
      if (room === 'cli' || room === 'service.ts') continue;
      for (const specifier of file.imports) {
        const target = localTarget(file, specifier);
        if (target === null) continue;
        const targetRoom = roomOf(target);
        if (targetRoom === room) continue;
        if (!MAY_IMPORT[room]!.includes(targetRoom)) faults.push(`${file.path} → ${target}`);
        for (const rule of NARROWED) {
          if (rule.from === room && rule.to === targetRoom && !rule.files.test(target)) {
            faults.push(`${file.path} → ${target}: ${rule.why}`);
          }
        }
      }
    }
    expect(faults).toEqual([]);
  });

  it('keeps src free of workers, test and bench', () => {
    const faults = source.flatMap((file) =>
      file.imports
        .map((specifier) => localTarget(file, specifier))
        .filter((target) => target !== null && !target.startsWith('src/'))
        .map((target) => `${file.path} → ${target}`),
    );
    expect(faults).toEqual([]);
  });

  it('lets the kernel import nothing but itself', () => {
    const faults = kernel.flatMap((file) =>
      file.imports
        .filter((specifier) => !/^\.\/[a-z0-9-]+$/.test(specifier))
        .map((specifier) => `${file.path} → ${specifier}`),
    );
    expect(faults).toEqual([]);
    const outside = everything.filter((file) => !kernel.includes(file));
    const intruders = outside.filter((file) =>
      file.imports.some((specifier) => localTarget(file, specifier)?.startsWith('workers/kernel/')),
    );
    expect(intruders.map(({ path }) => path)).toEqual([]);
  });

  it('has no cycles', () => {
    const graph = new Map(
      [...product, ...kernel].map((file) => [
        file.path,
        file.imports.map((specifier) => localTarget(file, specifier)).filter((target) => target !== null),
      ]),
    );
    const state = new Map<string, 'open' | 'done'>();
    const cycles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (state.get(path) === 'done') return;
      if (state.get(path) === 'open') {
        cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
        return;
      }
      state.set(path, 'open');
      for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
      state.set(path, 'done');
    };
    for (const path of graph.keys()) visit(path, []);
    expect(cycles).toEqual([]);
  });

  it('gives each library one home', () => {
    const faults: string[] = [];
    for (const file of product) {
      for (const specifier of file.imports) {
        if (specifier.startsWith('.') || specifier.startsWith('node:')) continue;
        const library = specifier.startsWith('@')
          ? specifier.split('/').slice(0, 2).join('/')
          : specifier.split('/')[0]!;
        if (LIBRARY_HOME[library] !== roomOf(file.path)) faults.push(`${file.path} → ${library}`);
      }
    }
    expect(faults).toEqual([]);
  });

  it('ships the kernel with the package', () => {
    const { files, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    // Beside the compiled `workers/kernel-module.ts`, which looks for it there.
    expect(scripts['build:kernel']).toContain('--outFile dist/workers/kernel.wasm');
    expect(scripts.build).toContain('build:kernel');
    expect(files).toContain('dist');
  });

  it('names every dependency of the package', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(Object.keys(LIBRARY_HOME).sort()).toEqual(Object.keys(manifest.dependencies).sort());
  });

  it('lets the oracle and the program share only the tables of compare, paths, coerce and text', () => {
    const byPath = new Map(product.map((file) => [file.path, file]));
    const reach = (start: string): Set<string> => {
      const seen = new Set<string>();
      const queue = [start];
      while (queue.length > 0) {
        const path = queue.pop()!;
        if (seen.has(path)) continue;
        seen.add(path);
        const file = byPath.get(path);
        for (const specifier of file?.imports ?? []) {
          const target = localTarget(file!, specifier);
          if (target !== null) queue.push(target);
        }
      }
      return seen;
    };
    const oracle = reach('src/filter/evaluate.ts');
    const program = reach('src/filter/program.ts');
    const shared = [...oracle].filter((path) => program.has(path) && !path.startsWith('src/core/'));
    const allowed =
      /^src\/filter\/(ir|regex|(compare|paths|coerce|text)(-[a-z0-9-]+)?)\.ts$|^src\/codec\/(value|walker|slots)\.ts$/;
    expect(shared.filter((path) => !allowed.test(path))).toEqual([]);
    expect(oracle.has('src/filter/program.ts')).toBe(false);
    expect(program.has('src/filter/evaluate.ts')).toBe(false);
  });
});

describe('the files', () => {
  it('stay under 500 lines', () => {
    const long = everything
      .map((file) => ({ path: file.path, lines: file.text.split('\n').length }))
      .filter((file) => file.lines > 500);
    expect(long).toEqual([]);
  });

  it('open with their purpose', () => {
    const silent = everything.filter((file) => !/^(#!.*\n)?\/\*\*(\n \*)? \S/.test(file.text)).map((file) => file.path);
    expect(silent).toEqual([]);
  });

  it('are named in kebab-case by what they are', () => {
    const vague = /(^|\/)(utils?|helpers?|common|types|misc|manager|index)\.ts$/;
    const faults = everything
      .map((file) => file.path)
      // What the kernel's compiler is handed is called so by its convention.
      .filter((path) => path !== 'workers/kernel/index.ts')
      .filter((path) => vague.test(path) || !/^[a-z0-9/-]+(\.[a-z]+)*\.ts$/.test(path));
    expect(faults).toEqual([]);
  });

  it('hold nothing that generates code, skips a test or postpones work', () => {
    const bans: readonly { pattern: RegExp; where: readonly SourceFile[]; why: string }[] = [
      { pattern: /\beval\s*\(|\bnew Function\b/, where: product, why: 'user text never becomes code' },
      { pattern: /\b(it|test|describe)\.(skip|todo|only|skipIf|runIf)\b/, where: tests, why: 'no test is skipped' },
      { pattern: /\bas any\b|: any\b/, where: product, why: '`any` switches the compiler off' },
      { pattern: /@ts-(ignore|nocheck|expect-error)/, where: product, why: 'errors are mended, not hidden' },
      {
        pattern: /\bnew [A-Z]|\bheap\.|\bmemory\.grow\b/,
        where: kernel,
        why: 'the kernel allocates nothing: no objects, no growth',
      },
      { pattern: /catch\s*(\([^)]*\))?\s*\{\s*\}/, where: product, why: 'no error is swallowed' },
      {
        pattern: /\bprocess\.|\bsetTimeout\b|\bsetInterval\b|\bDate\.now\b|\bperformance\.now\b|\bMath\.random\b/,
        where: source.filter((file) => PURE.includes(roomOf(file.path))),
        why: 'pure rooms are handed time and chance',
      },
    ];
    const faults = bans.flatMap((ban) =>
      ban.where.filter((file) => ban.pattern.test(codeOnly(file.text))).map((file) => `${file.path}: ${ban.why}`),
    );
    // Marks of postponed work stand in comments, so they are looked for in the whole text.
    const marks = [...product, ...kernel]
      .filter((file) => /\b(TODO|FIXME|XXX)\b/.test(file.text))
      .map((file) => file.path);
    expect([...faults, ...marks]).toEqual([]);
  });
});
