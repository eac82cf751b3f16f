/**
 * A CPU profile as a table: which functions the processor was in, by their own time.
 */

/** What is read of the format that the inspector and `node --cpu-prof` write. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  /** Microseconds of the clock of `process.hrtime`. */
  readonly startTime: number;
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

export interface ProfileRow {
  /** `function file:line`; a function of WebAssembly has its number for a name unless it was built with names. */
  readonly place: string;
  readonly share: number;
}

const IDLE = new Set(['(idle)', '(program)']);

/**
 * Functions by falling share of the time in which the thread did something; shares add up to 1. Samples before `from`,
 * a time as `startTime` is one, are left out.
 */
export function profileRows({ nodes, startTime, samples, timeDeltas }: CpuProfile, from = 0): ProfileRow[] {
  const placeOf = new Map(nodes.map(({ id, callFrame }) => [id, placeText(callFrame)]));
  const times = new Map<string, number>();
  let total = 0;
  let at = startTime;
  for (const [index, id] of samples.entries()) {
    const place = placeOf.get(id)!;
    const microseconds = timeDeltas[index]!;
    at += microseconds;
    if (IDLE.has(place) || at < from) continue;
    times.set(place, (times.get(place) ?? 0) + microseconds);
    total += microseconds;
  }
  return [...times].map(([place, time]) => ({ place, share: time / total })).sort((a, b) => b.share - a.share);
}

/** The largest `count` rows as Markdown, and how much is left. */
export function profileMarkdown(title: string, rows: readonly ProfileRow[], count = 20): string {
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  const shown = rows.slice(0, count);
  const rest = rows.slice(count).reduce((sum, { share }) => sum + share, 0);
  return [
    `| ${title} | own time |`,
    '|---|---|',
    ...shown.map(({ place, share }) => `| ${place} | ${percent(share)} |`),
    `| all others | ${percent(rest)} |`,
  ].join('\n');
}

function placeText({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  if (url.startsWith('wasm:')) return `${name} (WebAssembly)`;
  return `${name} ${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`;
}
